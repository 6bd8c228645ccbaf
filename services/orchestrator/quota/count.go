package quota

import (
	"slices"

	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

// minute is how long a question counts against questions_per_minute, in seconds. The second in
// which it was asked counts in full, so that no 60 seconds exceed the quota.
const minute = 60

// count is the usage of one tenant through one orchestrator.
type count struct {
	// The current UTC day.
	Questions uint64  `json:"questions"`
	Tokens    uint64  `json:"tokens"`
	CostUSD   float64 `json:"cost_usd"`
	Feedback  uint64  `json:"feedback,omitempty"`
	// The last minute, oldest first.
	Recent []second `json:"recent,omitempty"`
	// In flight.
	Running uint32 `json:"running,omitempty"`
}

// second is the number of questions of one second.
type second struct {
	At int64  `json:"at"` // of the Unix epoch
	N  uint32 `json:"n"`
}

// counts reports whether s lies within a minute of now; another orchestrator's clock may be ahead.
func (s second) counts(now int64) bool { return s.At >= now-minute && s.At <= now+minute }

// ask records a question.
func (c *count) ask(now int64) {
	c.Questions++
	c.Running++
	if n := len(c.Recent); n > 0 && c.Recent[n-1].At == now {
		c.Recent[n-1].N++
		return
	}
	c.forget(now)
	c.Recent = append(c.Recent, second{now, 1})
}

// forget drops expired seconds.
func (c *count) forget(now int64) {
	c.Recent = slices.DeleteFunc(c.Recent, func(s second) bool { return !s.counts(now) })
}

func (c *count) charge(u *llmv1.Usage) {
	c.Tokens += u.GetPromptTokens() + u.GetCompletionTokens()
	c.CostUSD += max(u.GetCostUsd(), 0)
}

func (c *count) newDay() { c.Questions, c.Tokens, c.CostUSD, c.Feedback = 0, 0, 0, 0 }

// add adds the usage through another orchestrator.
func (c *count) add(o count) {
	c.Questions += o.Questions
	c.Tokens += o.Tokens
	c.CostUSD += o.CostUSD
	c.Feedback += o.Feedback
	c.Running += o.Running
	c.Recent = append(c.Recent, o.Recent...)
}

// inMinute returns the number of questions in the last minute and the second in which it falls
// below limit; 0 if it already is.
func (c *count) inMinute(now int64, limit uint32) (n uint64, room int64) {
	recent := slices.Clone(c.Recent)
	slices.SortFunc(recent, func(a, b second) int { return int(a.At - b.At) })
	for _, s := range recent {
		if s.counts(now) {
			n += uint64(s.N)
		}
	}
	left := n
	for _, s := range recent {
		if left < uint64(limit) {
			break
		}
		if s.counts(now) {
			left -= uint64(s.N)
			room = s.At + minute + 1
		}
	}
	return n, room
}
