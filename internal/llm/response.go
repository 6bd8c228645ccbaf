package llm

import (
	"errors"
	"io"
	"strings"
	"unicode"

	openai "github.com/sashabaranov/go-openai"

	"github.com/triplemesh/triplemesh/internal/llm/dialect"
	"github.com/triplemesh/triplemesh/internal/llm/guard"
)

const (
	// maxBytesPerToken exceeds the average of any script; an answer longer than its tokens allow
	// comes from a server that ignores the limit.
	maxBytesPerToken = 16
	// slackBytes is what a short answer may be longer.
	slackBytes = 1024
)

// errAborted ends the reading of an answer that the guard ended.
var errAborted = errors.New("answer aborted")

// delta is the next part of an answer; a whole answer is a single one.
type delta struct {
	model                            string
	choices                          int // 0 in a chunk that holds only the usage
	text, reasoning, refusal, called string
	tokens                           []Token
	finish                           string
	usage                            Usage
}

func streamDelta(c openai.ChatCompletionStreamResponse) delta {
	d := delta{model: c.Model, choices: len(c.Choices)}
	if c.Usage != nil {
		d.setUsage(*c.Usage)
	}
	if len(c.Choices) == 0 {
		return d
	}
	first := c.Choices[0]
	d.text, d.reasoning, d.refusal = first.Delta.Content, first.Delta.ReasoningContent, first.Delta.Refusal
	d.finish = string(first.FinishReason)
	d.setCalls(first.Delta.ToolCalls)
	if first.Logprobs == nil {
		return d
	}
	for _, t := range first.Logprobs.Content {
		out := Token{Text: t.Token, LogProb: t.Logprob}
		for _, a := range t.TopLogprobs {
			out.Top = append(out.Top, Alternative{Text: a.Token, LogProb: a.Logprob})
		}
		d.tokens = append(d.tokens, out)
	}
	return d
}

func wholeDelta(c openai.ChatCompletionResponse) delta {
	d := delta{model: c.Model, choices: len(c.Choices)}
	d.setUsage(c.Usage)
	if len(c.Choices) == 0 {
		return d
	}
	first := c.Choices[0]
	d.text, d.reasoning, d.refusal = first.Message.Content, first.Message.ReasoningContent, first.Message.Refusal
	d.finish = string(first.FinishReason)
	d.setCalls(first.Message.ToolCalls)
	if first.LogProbs == nil {
		return d
	}
	for _, t := range first.LogProbs.Content {
		out := Token{Text: t.Token, LogProb: t.LogProb}
		for _, a := range t.TopLogProbs {
			out.Top = append(out.Top, Alternative{Text: a.Token, LogProb: a.LogProb})
		}
		d.tokens = append(d.tokens, out)
	}
	return d
}

func (d *delta) setUsage(u openai.Usage) {
	d.usage = Usage{PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens}
	if details := u.PromptTokensDetails; details != nil {
		d.usage.ReusedTokens = min(max(details.CachedTokens, 0), max(u.PromptTokens, 0))
	}
}

func (d *delta) setCalls(calls []openai.ToolCall) {
	for _, c := range calls {
		d.called += c.Function.Arguments
	}
}

// reader assembles an answer from its deltas.
type reader struct {
	endpointName string
	model        string // as requested
	req          Request
	maxBytes     int // of the text
	maxThoughts  int // bytes of reasoning
	guard        *guard.Guard

	resp     Response
	choices  int
	thoughts int  // bytes
	begun    bool // the text after the thoughts
	refused  bool
	called   strings.Builder // arguments of tool calls
}

func newReader(e *endpoint, req Request, model string, prompt guard.Prompt) *reader {
	most := int(e.cfg.MaxResponseBytes)
	if req.MaxTokens > 0 {
		most = min(most, req.MaxTokens*maxBytesPerToken+slackBytes)
	}
	return &reader{
		endpointName: e.name, model: model, req: req,
		maxBytes: most, maxThoughts: most + e.cfg.ReasoningTokens*maxBytesPerToken,
		guard: guard.New(guard.Config{MaxBytes: most, Prompt: prompt, AllowToolCalls: req.Schema != nil}),
	}
}

// guardedPrompt returns the parts of a request that an answer must not repeat.
func guardedPrompt(req Request) guard.Prompt {
	var out guard.Prompt
	messages := req.Messages[:len(req.Messages)-req.retryMessages]
	for i, m := range messages {
		switch {
		case m.Role == RoleSystem:
			out.Instructions = append(out.Instructions, m.Content)
		case i == len(messages)-1:
			out.Question = m.Content
		case m.Role == RoleUser:
			out.Questions = append(out.Questions, m.Content)
		case req.Schema == nil:
			out.Answers = append(out.Answers, m.Content)
		}
	}
	return out
}

// add takes the next delta. It returns errAborted when the guard ends the answer.
func (r *reader) add(d delta) error {
	if d.model != "" {
		r.resp.Model = d.model
	}
	if d.usage != (Usage{}) {
		r.resp.Usage = d.usage
	}
	r.choices += d.choices
	r.refused = r.refused || d.refusal != ""
	r.thoughts += len(d.reasoning)
	if r.called.Len() < r.maxBytes {
		r.called.WriteString(d.called)
	}
	r.resp.Tokens = append(r.resp.Tokens, d.tokens...)
	if r.thoughts > 0 && !r.begun { // vLLM leaves the blank lines that separate thoughts from the text
		d.text = strings.TrimLeft(d.text, " \t\r\n")
		r.begun = d.text != ""
	}
	text, reason := r.guard.Add(d.text)
	r.emit(text)
	if reason == guard.None && r.thoughts > r.maxThoughts {
		reason = guard.Length
	}
	if reason != guard.None {
		r.resp.FinishReason = string(reason)
		return errAborted
	}
	if d.finish != "" {
		r.resp.FinishReason = normaliseFinish(d.finish)
	}
	return nil
}

func (r *reader) emit(text string) {
	if text != "" && r.req.Delta != nil {
		r.req.Delta(text)
	}
}

// finish returns the answer; err is why reading ended, nil at the end of the answer.
func (r *reader) finish(err error) (Response, error) {
	if !errors.Is(err, errAborted) {
		text, reason := r.guard.Close()
		r.emit(text)
		if reason != guard.None {
			r.resp.FinishReason = string(reason)
		}
	}
	if r.resp.Text = r.guard.Text(); r.req.Schema == nil {
		r.resp.Text = unfence(r.resp.Text)
	}
	r.resp.Tokens = alignTokens(r.resp.Tokens, r.resp.Text)
	if name := r.resp.Model; name == "" || len(name) > 128 || strings.ContainsFunc(name, unicode.IsControl) {
		r.resp.Model = r.model
	}
	switch {
	case errors.Is(err, errAborted):
	case isFailure(r.resp.FinishReason):
		return r.resp, io.ErrUnexpectedEOF
	case err == nil, r.resp.FinishReason != "":
		// An answer with a finish reason is complete, however the stream ends.
	case errors.Is(err, dialect.ErrTruncated):
		return r.resp, io.ErrUnexpectedEOF
	case errors.Is(err, dialect.ErrTooLarge) && r.resp.Text != "":
		r.resp.FinishReason = FinishLength
	default:
		return r.resp, err
	}
	return r.resp, r.check()
}

// check returns an error for a response without an answer. If JSON was requested, the arguments of
// a tool call are the answer, although no tool was offered.
func (r *reader) check() error {
	if r.choices == 0 {
		return errorf(ErrUnavailable, "call the model at %s: the answer holds no choice; check that llm.base_url is "+
			"an OpenAI-compatible endpoint", r.endpointName).retry()
	}
	called := strings.TrimSpace(r.called.String())
	if strings.TrimSpace(r.resp.Text) == "" && r.req.Schema != nil && called != "" {
		r.resp.Text = called
	}
	problem := ""
	switch empty := strings.TrimSpace(r.resp.Text) == ""; {
	case r.refused || isRefusal(r.resp.Text):
		problem = "the model refuses to answer"
	case r.resp.FinishReason == "content_filter":
		problem = "the provider's content filter withheld the answer"
	case !empty:
		return nil
	case called != "" || r.guard.CalledTool():
		problem = "the model calls a tool instead of answering"
	case r.resp.FinishReason == FinishLeak:
		problem = "the model repeats its prompt instead of answering"
	case r.resp.FinishReason == FinishRepetition:
		problem = "the model repeats white space"
	case r.resp.FinishReason == FinishLength:
		problem = "the answer is empty: all its tokens were used before the first word; raise the request's tokens " +
			"or lower llm.reasoning_effort"
	default:
		problem = "the answer is empty"
	}
	err := errorf(ErrUnusable, "call the model at %s: %s (finish reason %q)", r.endpointName, problem,
		r.resp.FinishReason)
	if strings.TrimSpace(r.resp.Text) == "" && !r.refused && (r.resp.FinishReason == FinishLength || r.thoughts > 0) {
		err.cause = ErrCut
	}
	return err
}

// alignTokens returns the tokens of a text from which thoughts or template marks were removed.
func alignTokens(tokens []Token, text string) []Token {
	var all strings.Builder
	for _, t := range tokens {
		all.WriteString(t.Text)
	}
	whole := all.String()
	begin := strings.LastIndex(whole, text)
	if len(whole) == len(text) || begin < 0 {
		return tokens
	}
	from, at := 0, 0
	for from < len(tokens) && at+len(tokens[from].Text) <= begin {
		at += len(tokens[from].Text)
		from++
	}
	to := from
	for to < len(tokens) && at < begin+len(text) {
		at += len(tokens[to].Text)
		to++
	}
	return tokens[from:to]
}
