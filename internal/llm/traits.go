package llm

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// format is how an answer is constrained to JSON, from tight to loose.
type format int

const (
	formatSchema format = iota // response_format json_schema
	formatObject               // response_format json_object and the schema in words
	formatWords                // the schema in words alone
)

// traits are what a model at an endpoint lacks.
type traits struct {
	format        format
	noLogProbs    bool
	noStream      bool
	noStreamUsage bool
	noSeed        bool
	noTemperature bool
	// newTokenLimit: max_completion_tokens instead of max_tokens.
	newTokenLimit bool
}

// initialTraits are those that the configuration says.
func initialTraits(c Capabilities) traits {
	t := traits{noLogProbs: c.LogProbs == "no", noStream: c.Streaming == "no"}
	if c.JSONSchema == "no" {
		t.format = formatObject
	}
	return t
}

// String names what is lacking, for a log line.
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

// without reads from a refusal which feature to do without, if any. Each can be
// given up once, so asking again ends.
func (t traits) without(err *Error, req Request) (traits, bool) {
	before := t
	switch {
	case errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated):
		t.newTokenLimit = true
	case errors.Is(err, openai.ErrReasoningModelLimitationsLogprobs):
		t.noLogProbs = true
	case errors.Is(err, openai.ErrReasoningModelLimitationsOther):
		t.noTemperature = true
	case errors.Is(err, openai.ErrReasoningSamplingUnsupported):
		t.noTemperature, t.noLogProbs = true, true
	case !errors.Is(err, ErrRefused) || !refusesFeature(err.status):
		return t, false
	case !t.newTokenLimit && strings.Contains(err.said, "max_completion_tokens"):
		t.newTokenLimit = true
	case !t.noLogProbs && req.TopLogProbs > 0 && strings.Contains(err.said, "logprob"):
		t.noLogProbs = true
	case !t.noStreamUsage && streams(req) && strings.Contains(err.said, "stream_options"):
		t.noStreamUsage = true
	case !t.noStream && streams(req) && strings.Contains(err.said, "stream"):
		t.noStream = true
	case !t.noSeed && strings.Contains(err.said, "seed"):
		t.noSeed = true
	case !t.noTemperature && strings.Contains(err.said, "temperature"):
		t.noTemperature = true
	case req.Schema != nil && t.format < formatWords:
		t.format++
	}
	return t, t != before
}

// refusesFeature tells statuses that say "not like this" from "not you".
func refusesFeature(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotImplemented
}

// isLocal tells the library's own refusals, made before anything is sent.
func isLocal(err error) bool {
	for _, known := range []error{
		openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsLogprobs,
		openai.ErrReasoningModelLimitationsOther, openai.ErrReasoningSamplingUnsupported,
		openai.ErrReasoningEffortUnsupported, openai.ErrChatCompletionInvalidModel,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// mostModels bounds what is remembered: callers may name models freely.
const mostModels = 256

// traitBook remembers traits by model.
type traitBook struct {
	first traits
	caps  Capabilities

	mu      sync.Mutex
	byModel map[string]learned
}

type learned struct {
	traits
	// takesSchemas once a schema was taken: a later refusal is that schema's
	// fault and is not held against the model.
	takesSchemas bool
}

func (b *traitBook) get(model string) traits {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.byModel[model]; ok {
		return l.traits
	}
	return b.first
}

// learn remembers what a request that was answered had to do without.
func (b *traitBook) learn(model string, t traits, req Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.byModel[model]
	if !ok {
		if len(b.byModel) >= mostModels {
			return
		}
		l.traits = b.first
	}
	if req.Schema != nil && t.format == formatSchema {
		l.takesSchemas = true
	}
	if l.takesSchemas || b.caps.JSONSchema == "yes" {
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
		b.byModel = make(map[string]learned)
	}
	b.byModel[model] = l
}
