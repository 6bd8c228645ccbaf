package llm

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// format is how an answer is constrained to JSON, from strict to loose.
type format int

const (
	formatSchema format = iota // response_format json_schema
	formatObject               // response_format json_object, with the schema in the prompt
	formatWords                // only the schema in the prompt
)

// traits are the features that a model at an endpoint lacks.
type traits struct {
	format        format
	noLogProbs    bool
	noStream      bool
	noStreamUsage bool
	noSeed        bool
	noTemperature bool
	// newTokenLimit: max_completion_tokens instead of max_tokens.
	newTokenLimit bool
	// thinks: the model used up the tokens of an answer before its first word, so it gets
	// Config.ReasoningTokens more. No feature that it lacks, but learned in the same way.
	thinks bool
}

func initialTraits(c Capabilities) traits {
	t := traits{noLogProbs: c.LogProbs == "no", noStream: c.Streaming == "no"}
	if c.JSONSchema == "no" {
		t.format = formatObject
	}
	return t
}

// String lists the missing features, for a log line.
func (t traits) String() string {
	var lacks []string
	for name, lacking := range map[string]bool{
		"json_schema": t.format > formatSchema, "json_object": t.format > formatObject,
		"logprobs": t.noLogProbs, "streaming": t.noStream, "stream usage": t.noStreamUsage,
		"seed": t.noSeed, "temperature": t.noTemperature, "max_tokens": t.newTokenLimit,
	} {
		if lacking {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	return strings.Join(lacks, ", ")
}

// giveUpFeature returns the traits after a failure: the feature that a refusal complains about is given
// up, and an answer that was cut before its first word shows that the model thinks. Each trait changes
// once, so retries end.
func (t traits) giveUpFeature(err *Error, req Request, reasoningTokens int) (traits, bool) {
	before := t
	switch {
	case errors.Is(err, ErrCut):
		t.thinks = min(req.MaxTokens, reasoningTokens) > 0
	case errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated):
		t.newTokenLimit = true
	case errors.Is(err, openai.ErrReasoningModelLimitationsLogprobs):
		t.noLogProbs = true
	case errors.Is(err, openai.ErrReasoningModelLimitationsOther):
		t.noTemperature = true
	case errors.Is(err, openai.ErrReasoningSamplingUnsupported):
		t.noTemperature, t.noLogProbs = true, true
	case !errors.Is(err, ErrRefused) || !isFeatureRefusal(err.status):
		return t, false
	case !t.newTokenLimit && strings.Contains(err.response, "max_completion_tokens"):
		t.newTokenLimit = true
	case !t.noLogProbs && req.TopLogProbs > 0 && strings.Contains(err.response, "logprob"):
		t.noLogProbs = true
	case !t.noStreamUsage && wantsStream(req) && strings.Contains(err.response, "stream_options"):
		t.noStreamUsage = true
	case !t.noStream && wantsStream(req) && strings.Contains(err.response, "stream"):
		t.noStream = true
	case !t.noSeed && strings.Contains(err.response, "seed"):
		t.noSeed = true
	case !t.noTemperature && strings.Contains(err.response, "temperature"):
		t.noTemperature = true
	case req.Schema != nil && t.format < formatWords:
		t.format++
	}
	return t, t != before
}

// isFeatureRefusal distinguishes a status that refuses a feature from one that refuses the caller.
func isFeatureRefusal(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity ||
		status == http.StatusNotImplemented
}

// isLocalRefusal reports whether the library refused a request before sending it.
func isLocalRefusal(err error) bool {
	for _, refusal := range []error{
		openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsLogprobs,
		openai.ErrReasoningModelLimitationsOther, openai.ErrReasoningSamplingUnsupported,
		openai.ErrReasoningEffortUnsupported, openai.ErrChatCompletionInvalidModel,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// maxModels bounds the memory: callers may name models freely.
const maxModels = 256

// traitBook remembers the traits of models.
type traitBook struct {
	initial traits
	caps    Capabilities

	mu      sync.Mutex
	byModel map[string]modelTraits
}

type modelTraits struct {
	traits
	// acceptsSchemas is set once a schema was accepted: a later refusal is that schema's fault, not
	// the model's.
	acceptsSchemas bool
}

func (b *traitBook) get(model string) traits {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.byModel[model]; ok {
		return l.traits
	}
	return b.initial
}

// learn records the traits with which a request was answered.
func (b *traitBook) learn(model string, t traits, req Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.byModel[model]
	if !ok {
		if len(b.byModel) >= maxModels {
			return
		}
		l.traits = b.initial
	}
	if req.Schema != nil && t.format == formatSchema {
		l.acceptsSchemas = true
	}
	if l.acceptsSchemas || b.caps.JSONSchema == "yes" {
		t.format = l.format
	}
	if b.caps.LogProbs == "yes" {
		t.noLogProbs = l.noLogProbs
	}
	if b.caps.Streaming == "yes" {
		t.noStream = l.noStream
	}
	l.traits = t
	if b.byModel == nil {
		b.byModel = make(map[string]modelTraits)
	}
	b.byModel[model] = l
}

// Finish reasons of truncated answers. Other reasons are passed on as the endpoint names them.
const (
	// FinishLength: the tokens were used up.
	FinishLength = "length"
	// FinishRepetition: the model repeated itself and was stopped.
	FinishRepetition = "repetition"
	// FinishLeak: the model repeated its prompt and was stopped.
	FinishLeak = "prompt_leak"
)

// finishSynonyms maps other servers' names to the two usual reasons.
var finishSynonyms = map[string]string{
	"eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop", "end_of_turn": "stop",
	"completed":  "stop",
	"max_tokens": FinishLength, "max_output_tokens": FinishLength, "model_length": FinishLength,
	"truncated": FinishLength,
}

// normaliseFinish returns a server's finish reason in the usual spelling.
func normaliseFinish(reason string) string {
	reason = strings.ToLower(strings.TrimSpace(reason))
	if usual := finishSynonyms[reason]; usual != "" {
		return usual
	}
	const maxLen = 32
	return strings.ToValidUTF8(reason[:min(len(reason), maxLen)], "")
}

// isFailure reports whether a finish reason is a failure: vLLM's abort, OpenRouter's error,
// DeepSeek's lack of resources.
func isFailure(reason string) bool {
	switch reason {
	case "abort", "aborted", "error", "cancelled", "canceled", "insufficient_system_resource":
		return true
	}
	return false
}

// Truncated reports whether an answer ended early, so that its last line may be incomplete.
func (r Response) Truncated() bool {
	return r.FinishReason == FinishLength || r.FinishReason == FinishRepetition || r.FinishReason == FinishLeak
}

// Warnings returns why a truncated answer ended early; nothing for complete ones.
func (r Response) Warnings() []*llmv1.Warning {
	why := map[string]string{
		FinishLength:     "the model's answer was cut at its length",
		FinishRepetition: "the model repeated itself and was stopped",
		FinishLeak:       "the model repeated its instructions and was stopped",
	}[r.FinishReason]
	if why == "" {
		return nil
	}
	return []*llmv1.Warning{Warn(WarnTruncated, "%s; what came before was used", why)}
}

// fencePattern matches a code fence; one cut off by the end of the text is closed there.
var fencePattern = regexp.MustCompile("(?s)(?:^|\n)[ \t]*```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)(?:\n[ \t]*```[ " +
	"\t]*(?:\n|$)|$)")

// unfence returns the content of a text's only code fence; a text with no fence, or with several,
// unchanged.
func unfence(text string) string {
	if strings.Count(text, "```") > 2 {
		return text
	}
	if found := fencePattern.FindStringSubmatch(text); found != nil && strings.TrimSpace(found[1]) != "" {
		return found[1]
	}
	return text
}

// maxRefusalBytes exceeds the length of refusals; a longer answer contains something.
const maxRefusalBytes = 600

// refusalPattern matches how models decline: words that start no name, title or factual sentence.
// A song may be called "I Can't Help Myself", so the pattern includes what is declined.
var refusalPattern = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
	`(?:i[’']?m |i am |we[’']re )?(?:very |so |truly |really )?(?:sorry|afraid)[,.:;]?\s*(?:but |that )?` +
		`(?:as an ai[^,.]*,? ?)?(?:i|we)(?: am|[’']m)?\s*(?:can(?:no|[’'])t|can not|could not|couldn[’']t|will not|` +
		`won[’']t|(?:am |[’']m )?(?:unable|not able|not allowed|not permitted)|must decline|do(?:n[’']t|` +
		` not) (?:have|know))`,
	`(?:unfortunately,? )?(?:i|we) (?:can(?:no|[’'])t|can not|am unable to|am not able to|will not|won[’']t|` +
		`must decline to|must refuse to) (?:help (?:you )?(?:with|on)|assist|answer|comply|fulfill?|provide|discuss|` +
		`engage|continue with|participate|do (?:that|this)|process (?:that|this)|respond to|share)`,
	`i[’']m (?:unable|not able) to (?:help|assist|answer|comply|fulfill?|provide|discuss|engage|respond|share)`,
	`as an? (?:ai|artificial intelligence|(?:large )?language model)\b`,
	`i (?:do not|don[’']t) (?:know\b|have (?:access to|(?:any |enough |sufficient |specific |that |` +
		`the )*(?:information|data|knowledge)))`,
	`(?:lo siento|je suis désolée?|es tut mir leid|mi dispiace|desculpe|sinto muito|het spijt me)[,.]?\s*(?:pero |` +
		`mais |aber |ma |mas |maar )?(?:no puedo|je ne (?:peux|suis)|(?:das |dabei )?` +
		`(?:ich )?kann (?:ich )?|non posso|não posso|ik kan)`,
	`(?:抱歉|对不起|很抱歉|對不起)[，,]?\s*我?(?:不能|无法|無法)`,
	`(?:申し訳(?:ありません|ございません)|すみません)(?:が|。|、)?.{0,40}(?:できません|お手伝いできません|お答えできません)`,
	`(?:죄송하지만|죄송합니다)`,
	`(?:извините|к сожалению)[,.]?\s*(?:но )?я не (?:могу|в состоянии)`,
}, "|") + `)`)

// isRefusal reports whether an answer is only a refusal. One that contains an answer in braces, or
// JSON, is not.
func isRefusal(text string) bool {
	text = strings.TrimLeft(strings.TrimSpace(text), "\"'*_“ ")
	return len(text) <= maxRefusalBytes && !strings.ContainsAny(text, "{}|") && refusalPattern.MatchString(text)
}
