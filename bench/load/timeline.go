package load

import (
	"slices"
	"sync"
	"time"
)

// Second is one second of a run.
type Second struct {
	// At is which, from 0.
	At int `json:"at"`
	// Sent are the questions that were to be asked in it, Whole those of them that
	// were answered wholly in their time, and Refused those turned away.
	Sent    int `json:"sent"`
	Whole   int `json:"whole"`
	Refused int `json:"refused"`
	// Came is how many whole answers came in it, whenever they were asked for.
	Came int `json:"came"`
	// P99 is the 99th percentile of the time of the questions of this second that
	// were answered, whole or not, in milliseconds; 0 if there are none.
	P99 float64 `json:"p99_ms"`
}

// timeline counts by seconds. Safe for concurrent use.
type timeline struct {
	mu      sync.Mutex
	seconds []Second
	took    [][]time.Duration
}

func newTimeline() *timeline { return &timeline{} }

// second returns the second that a time lies in. t.mu is held.
func (t *timeline) second(at time.Duration) int {
	n := int(at / time.Second)
	for len(t.seconds) <= n {
		t.seconds = append(t.seconds, Second{At: len(t.seconds)})
		t.took = append(t.took, nil)
	}
	return n
}

func (t *timeline) countSent(at time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seconds[t.second(at)].Sent++
}

func (t *timeline) ended(at time.Duration, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.second(at)
	switch o.kind {
	case whole:
		t.seconds[n].Whole++
		t.seconds[t.second(at+o.took)].Came++
		t.took[n] = append(t.took[n], o.took)
	case refused:
		t.seconds[n].Refused++
	case partial, late:
		t.took[n] = append(t.took[n], o.took)
	case failed:
	}
}

// elapsed returns the seconds that are over.
func (t *timeline) elapsed(length time.Duration) []Second {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.second(length)
	for n, took := range t.took {
		if len(took) > 0 {
			slices.Sort(took)
			t.seconds[n].P99 = float64(took[min(len(took)*99/100, len(took)-1)]) / float64(time.Millisecond)
		}
	}
	return slices.Clone(t.seconds)
}

// last returns the second that ended last, of which answers may still come.
func (t *timeline) last(now time.Duration) Second {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seconds[max(t.second(now)-1, 0)]
}

// cameBetween returns how many whole answers came per second in a stretch of time,
// of which parts of seconds count as parts.
func cameBetween(seconds []Second, from, length time.Duration) float64 {
	if length <= 0 {
		return 0
	}
	sum := 0.0
	for _, s := range seconds {
		begin, end := time.Duration(s.At)*time.Second, time.Duration(s.At+1)*time.Second
		if part := min(end, from+length) - max(begin, from); part > 0 {
			sum += float64(s.Came) * part.Seconds()
		}
	}
	return sum / length.Seconds()
}
