package load

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// times are a distribution from a microsecond to an hour, to three digits.
type times struct{ h *hdrhistogram.Histogram }

func newTimes() times { return times{hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 3)} }

// add records a time; one beyond an hour counts as an hour.
func (t times) add(d time.Duration) {
	_ = t.h.RecordValue(min(max(d.Microseconds(), 1), t.h.HighestTrackableValue()))
}

func (t times) quantiles() Quantiles {
	ms := func(us int64) float64 { return float64(us) / 1e3 }
	q := t.h.ValueAtPercentilesSlice([]float64{50, 90, 99})
	return Quantiles{Count: t.h.TotalCount(), P50: ms(q[0]), P90: ms(q[1]), P99: ms(q[2]), Max: ms(t.h.Max())}
}

// tally counts the outcome of the questions of one tenant, or of all, in a step.
type tally struct {
	mu       sync.Mutex
	counts   Counts
	turned   map[Refusal]int
	failures map[string]int
	took     times // of whole answers
	turning  times // of refusals
	behind   times // from when questions should have been asked to when they were
	stages   map[string]times
	order    []string
}

func newTally() *tally {
	return &tally{
		turned: map[Refusal]int{}, failures: map[string]int{}, stages: map[string]times{},
		took: newTimes(), turning: newTimes(), behind: newTimes(),
	}
}

func (t *tally) ended(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch o.kind {
	case whole:
		t.counts.Whole++
		t.took.add(o.took)
		for _, s := range o.stages {
			t.stage(s)
		}
	case partial:
		t.counts.Partial++
	case late:
		t.counts.Late++
	case refused:
		t.counts.Refused++
		t.turned[Refusal{Code: o.code.String(), RetryInfo: o.hint, ByClient: o.byClient}]++
		t.turning.add(o.took)
	case failed:
		t.counts.Failed++
		t.failures[o.code.String()]++
	}
}

func (t *tally) stage(s stageTime) {
	if _, ok := t.stages[s.name]; !ok {
		t.stages[s.name] = newTimes()
		t.order = append(t.order, s.name)
	}
	t.stages[s.name].add(s.took)
}

// stepTally is the tally of a step: that of all, and of each tenant where there
// are several.
type stepTally struct {
	Step
	at      time.Duration // when it began, from the start of the run
	length  time.Duration // how long it lasted: less than wanted if it was cut
	all     *tally
	tenants []*tally
	names   []string
}

func newStepTally(s Step, at time.Duration, tenants []Tenant) *stepTally {
	t := &stepTally{Step: s, at: at, all: newTally()}
	for _, tenant := range tenants {
		t.names = append(t.names, tenant.Name)
		t.tenants = append(t.tenants, newTally())
	}
	return t
}

// tallies returns the tallies that a tenant's question counts in.
func (t *stepTally) tallies(tenant int) []*tally {
	if len(t.tenants) == 1 {
		return []*tally{t.all}
	}
	return []*tally{t.all, t.tenants[tenant]}
}

func (t *stepTally) count(tenant int, change func(*tally)) {
	for _, c := range t.tallies(tenant) {
		c.mu.Lock()
		change(c)
		c.mu.Unlock()
	}
}

func (t *stepTally) unsent(tenant int) {
	t.count(tenant, func(c *tally) { c.counts.Unsent++ })
}

func (t *stepTally) countSent(tenant int, behind time.Duration) {
	t.count(tenant, func(c *tally) { c.counts.Sent++; c.behind.add(behind) })
}

func (t *stepTally) cut(tenant int) {
	t.count(tenant, func(c *tally) { c.counts.Cut++ })
}

func (t *stepTally) ended(tenant int, o outcome) {
	for _, c := range t.tallies(tenant) {
		c.ended(o)
	}
}

// result returns what the step came to. Once all of its questions have ended nobody
// changes the tallies any more.
func (t *stepTally) result(seconds []Second) Result {
	r := Result{Name: t.Name, Rate: t.Rate, At: t.at.Seconds(), Length: t.length.Seconds(),
		Figures: t.all.figures(t.length)}
	r.Goodput = cameBetween(seconds, t.at, t.length)
	if len(t.tenants) > 1 {
		for i, c := range t.tenants {
			r.Tenants = append(r.Tenants, TenantResult{Name: t.names[i], Figures: c.figures(t.length)})
		}
	}
	return r
}

func (t *tally) figures(length time.Duration) Figures {
	f := Figures{
		Counts: t.counts, Failures: t.failures,
		Latency: t.took.quantiles(), RefusalLatency: t.turning.quantiles(), Behind: t.behind.quantiles(),
	}
	if length > 0 {
		f.WholePerSecond = float64(t.counts.Whole) / length.Seconds()
	}
	for refusal, n := range t.turned {
		refusal.Count = n
		f.Refusals = append(f.Refusals, refusal)
	}
	slices.SortFunc(f.Refusals, Refusal.compare)
	for _, name := range t.order {
		f.Stages = append(f.Stages, StageFigures{Stage: name, Quantiles: t.stages[name].quantiles()})
	}
	return f
}
