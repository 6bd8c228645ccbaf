package testkit

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// Rule is the script for some requests: each call of a Reply or fault method
// adds a step. Every request takes the next one; the last is kept for all
// further ones.
type Rule struct {
	llm      *LLM
	matchers []Matcher
	steps    []step
	calls    int
}

// step is one answer.
type step struct {
	text   func(Request) string
	pieces []string // of a stream; nil: word by word
	tokens []llm.Token
	finish string
	usage  *llm.Usage
	delay  time.Duration
	serve  func(http.ResponseWriter, *http.Request, Request) // a fault instead
}

// Reply answers with a text.
func (r *Rule) Reply(text string) *Rule {
	return r.ReplyFunc(func(Request) string { return text })
}

// ReplyJSON answers with a value as JSON.
func (r *Rule) ReplyJSON(v any) *Rule {
	r.llm.tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		r.llm.tb.Fatalf("script a JSON reply: %v", err)
	}
	return r.Reply(string(data))
}

// ReplyFunc answers with what f makes of the request.
func (r *Rule) ReplyFunc(f func(Request) string) *Rule { return r.add(step{text: f}) }

// ReplyChoice answers with the likeliest of some one-token texts, and gives all
// their probabilities (0 to 1) when asked for them.
func (r *Rule) ReplyChoice(probabilities map[string]float64) *Rule {
	texts := slices.SortedFunc(maps.Keys(probabilities), func(a, b string) int {
		return cmp.Or(cmp.Compare(probabilities[b], probabilities[a]), cmp.Compare(a, b))
	})
	if len(texts) == 0 {
		r.llm.tb.Fatal("script a choice: no text to choose")
	}
	first := llm.Token{Text: texts[0], LogProb: math.Log(probabilities[texts[0]])}
	for _, t := range texts {
		// JSON has no infinity; no real server says more than this either.
		first.Top = append(first.Top, llm.Alternative{Text: t, LogProb: max(math.Log(probabilities[t]), -9999)})
	}
	return r.Reply(texts[0]).LogProbs(first)
}

// LogProbs gives the last reply its tokens, sent when they are asked for.
func (r *Rule) LogProbs(tokens ...llm.Token) *Rule {
	return r.last(func(s *step) { s.tokens = tokens })
}

// Pieces says how the last reply is cut when it is streamed.
func (r *Rule) Pieces(pieces ...string) *Rule { return r.last(func(s *step) { s.pieces = pieces }) }

// Finish gives the last reply a finish reason other than "stop".
func (r *Rule) Finish(reason string) *Rule { return r.last(func(s *step) { s.finish = reason }) }

// Usage gives the last reply its token counts; without, words are counted.
// Below 0 the server reports no usage at all.
func (r *Rule) Usage(prompt, completion int) *Rule {
	return r.last(func(s *step) { s.usage = &llm.Usage{PromptTokens: prompt, CompletionTokens: completion} })
}

// Slow delays the last step.
func (r *Rule) Slow(d time.Duration) *Rule { return r.last(func(s *step) { s.delay = d }) }

// Times takes the last step n times before the next.
func (r *Rule) Times(n int) *Rule {
	r.llm.mu.Lock()
	defer r.llm.mu.Unlock()
	last := r.steps[len(r.steps)-1]
	for range n - 1 {
		r.steps = append(r.steps, last)
	}
	return r
}

func (r *Rule) add(s step) *Rule {
	r.llm.mu.Lock()
	defer r.llm.mu.Unlock()
	r.steps = append(r.steps, s)
	return r
}

func (r *Rule) last(change func(*step)) *Rule {
	r.llm.tb.Helper()
	r.llm.mu.Lock()
	defer r.llm.mu.Unlock()
	if len(r.steps) == 0 {
		r.llm.tb.Fatal("script a model: say what to reply before how")
	}
	change(&r.steps[len(r.steps)-1])
	return r
}

// matches and next run under the server's lock.
func (r *Rule) matches(req Request) bool {
	return len(r.steps) > 0 && !slices.ContainsFunc(r.matchers, func(m Matcher) bool { return !m(req) })
}

func (r *Rule) next() step {
	s := r.steps[min(r.calls, len(r.steps)-1)]
	r.calls++
	return s
}

// cut makes the pieces of a streamed reply.
func (s step) cut(text string) []string {
	if s.pieces != nil {
		return s.pieces
	}
	if len(s.tokens) > 0 {
		var pieces []string
		for _, t := range s.tokens {
			pieces = append(pieces, t.Text)
		}
		return pieces
	}
	return strings.SplitAfter(text, " ")
}
