package eval

import (
	"fmt"
	"strings"
	"time"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// budget is what one command may spend on all its evaluations; 0 is without
// bound. What the cache answers is free.
type budget struct {
	calls  uint64
	tokens uint64
	usd    float64
	time   time.Duration

	now     func() time.Time
	started time.Time
	spent   spending
	dearest spending // what the dearest question of this evaluation took
	known   bool     // whether any question of it was asked
}

// spending is what questions took.
type spending struct {
	calls, tokens uint64
	usd           float64
}

func newSpending(u *llmv1.Usage) spending {
	return spending{uint64(u.GetCalls()), u.GetPromptTokens() + u.GetCompletionTokens(), u.GetCostUsd()}
}

func (s spending) plus(t spending) spending {
	return spending{s.calls + t.calls, s.tokens + t.tokens, s.usd + t.usd}
}

// begin starts an evaluation: its questions cost what they cost, whatever those
// of another method did.
func (b *budget) begin() { b.dearest, b.known = spending{}, false }

// add counts a question.
func (b *budget) add(s spending) {
	b.spent, b.known = b.spent.plus(s), true
	b.dearest = spending{max(b.dearest.calls, s.calls), max(b.dearest.tokens, s.tokens), max(b.dearest.usd, s.usd)}
}

// admits reports whether one more question fits beside those under way, each of
// them taken to be as dear as the dearest so far. Until that is known they go
// alone. No question is given less than it needs: it would be answered worse,
// and the figures would not be the method's.
func (b *budget) admits(inFlight int) bool {
	bounded := b.calls > 0 || b.tokens > 0 || b.usd > 0
	return len(b.exhausted(inFlight)) == 0 && (b.known || !bounded || inFlight == 0)
}

// exhausted names the bounds that keep another question from being asked.
func (b *budget) exhausted(inFlight int) []string {
	n := uint64(inFlight + 1)
	var out []string
	if b.calls > 0 && (b.spent.calls >= b.calls || b.spent.calls+n*b.dearest.calls > b.calls) {
		out = append(out, fmt.Sprintf("--max-calls %d (%d made)", b.calls, b.spent.calls))
	}
	if b.tokens > 0 && (b.spent.tokens >= b.tokens || b.spent.tokens+n*b.dearest.tokens > b.tokens) {
		out = append(out, fmt.Sprintf("--max-tokens %d (%d used)", b.tokens, b.spent.tokens))
	}
	if b.usd > 0 && (b.spent.usd >= b.usd || b.spent.usd+float64(n)*b.dearest.usd > b.usd) {
		out = append(out, fmt.Sprintf("--max-cost %v ($%.4f spent)", b.usd, b.spent.usd))
	}
	if took := b.now().Sub(b.started); b.time > 0 && took >= b.time {
		out = append(out, fmt.Sprintf("--max-time %v", b.time))
	}
	return out
}

// StoppedByBudget is the error of an evaluation that its budget ended: the same
// command resumes it.
type StoppedByBudget struct {
	// Bounds are the bounds reached.
	Bounds []string
	// Left is the number of questions not yet answered, over all evaluations.
	Left int
}

func (e *StoppedByBudget) Error() string {
	return fmt.Sprintf("stopped by %s with %d questions left; give the same command again to go on with a new budget",
		strings.Join(e.Bounds, " and "), e.Left)
}
