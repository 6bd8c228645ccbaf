package admission

import "time"

const (
	// batch is the number of requests evaluated together: their latencies differ by two orders of
	// magnitude.
	batch = 16
	// lateShare of a batch may be late, and timeShare of their time may be used on average, before
	// the limit is cut.
	lateShare, timeShare = 0.25, 0.5
	// hardCut is the share of the limit that is cut when all requests are late, in proportion when
	// fewer are, as in DCTCP (RFC 8257 §3.3). softCut is the least cut when they only slow each
	// other down.
	hardCut, softCut = 0.7, 0.2
	// softSlowdown is how many times as long as in calm requests take that slow each other down, if
	// half of their time is used. Above hardSlowdown the limit is cut whatever time they have, to
	// what brings them to targetSlowdown. A lower one leaves replicas idle: N requests that choose
	// among K replicas keep N/(N+K-1) of them busy.
	softSlowdown, hardSlowdown, targetSlowdown = 1.5, 4, 2
	// floorShare of the configured limit is always let in: requests that never
	// end in time must not shut out all others.
	floorShare = 1.0 / 64
	// firstShare of the configured limit is where it begins, or at a batch: how much can be done is
	// not known yet, and what was begun cannot be taken back. Until it is cut for the first time it
	// grows with each batch by half of itself, and by no more than the batch, so that it no more than
	// doubles in the time that a request takes.
	firstShare = 1.0 / 16
	// probeGrowth is the growth in each MaxWait until the first request ends.
	probeGrowth = 1.25
	// plateauRounds is after how many rounds of requests the limit is back at what it
	// was before it was cut.
	plateauRounds = 8
)

// limit is how many requests run at once. It grows from a part of the configured number to all of
// it while that many run and do not slow each other down. When they do, it is cut by a share, grows
// back fast, slowly around where it was cut, and fast again, as TCP CUBIC has it (RFC 9438 §4).
//
// That requests take long is no sign of load by itself, and that they take a little longer than in
// calm does no harm. Both together, with half of their time gone, are what can still be acted upon
// before requests are late. That they take much longer than in calm is a sign by itself: what is
// begun beyond what can be done only waits inside, where it cannot be refused any more, and is
// still there when the burst is over.
type limit struct {
	ceiling, floor float64
	current        float64
	// start and before are the limit after and before it was cut; cutAt is when.
	// Requests that began before say nothing of the new one.
	start, before float64
	cutAt         time.Time
	// rounds of requests were done in time since then.
	rounds    float64
	baselines baselines
	seen      batchStats
}

// batchStats is a batch that is not full yet.
type batchStats struct {
	requests, late int
	timeUsed       float64 // of their time, added up
	// slowdowns is how many times as long as in calm they took, added up over those
	// of which that is known.
	slowdowns    float64
	withBaseline int
	withKind     int // those of a kind
	peak         int // the most that ran at once
}

// meanSlowdown is how many times as long as in calm they took on average; 0 where that
// is not known.
func (s batchStats) meanSlowdown() float64 { return s.slowdowns / float64(max(s.withBaseline, 1)) }

// isOverloaded reports whether the requests slow each other down so much that there are too many.
func (s batchStats) isOverloaded() bool {
	return s.meanSlowdown() > hardSlowdown && s.withKind > batch/2 || s.meanSlowdown() > softSlowdown &&
		s.timeUsed > timeShare*batch
}

// outcome is a request that ended.
type outcome struct {
	kind   string
	took   time.Duration
	budget time.Duration // how much time it had; 0 for no end of it
	peak   int           // the most that ran with it
	late   bool
}

func newLimit(most int) limit {
	m := float64(most)
	first := max(m*firstShare, min(m, batch))
	return limit{ceiling: m, floor: max(1, m*floorShare), current: first, start: first, before: m,
		baselines: baselines{}}
}

func (l *limit) value() int { return int(l.current) }

// probe raises the limit before any request has ended.
func (l *limit) probe() bool {
	if len(l.baselines) > 0 || l.current >= l.ceiling {
		return false
	}
	l.current = min(l.ceiling, max(l.current+1, probeGrowth*l.current))
	return true
}

// learn takes notice of a request that ended.
func (l *limit) learn(d outcome) {
	if time.Now().Add(-d.took).Before(l.cutAt) {
		return
	}
	calm := l.baselines.forKind(d.kind)
	if d.late && d.took < calm.mean {
		return // it had less time than requests need: the caller's doing, not the load's
	}
	l.seen.add(d, calm.mean)
	if !d.late {
		calm.add(d.took, float64(d.peak) <= l.floor)
	}
	if l.seen.requests < batch {
		return
	}
	b := l.seen
	l.seen = batchStats{}
	switch {
	case float64(b.peak) > l.floor && float64(b.late) > lateShare*batch:
		l.cut(b.peak, hardCut*float64(b.late)/batch)
	case float64(b.peak) > l.floor && b.isOverloaded():
		l.cut(b.peak, min(max(1-targetSlowdown/b.meanSlowdown(), softCut), hardCut))
	case b.peak >= l.value(): // else it says nothing of more
		l.grow()
	}
}

func (s *batchStats) add(d outcome, calm time.Duration) {
	s.requests++
	s.peak = max(s.peak, d.peak)
	if d.budget > 0 {
		s.timeUsed += float64(d.took) / float64(d.budget)
	}
	if d.kind != "" {
		s.withKind++
	}
	if calm > 0 {
		s.slowdowns += float64(d.took) / float64(calm)
		s.withBaseline++
	}
	if d.late {
		s.late++
	}
}

func (l *limit) cut(peak int, by float64) {
	l.before = min(l.current, float64(peak))
	l.start = max(l.floor, (1-by)*l.before)
	l.current, l.cutAt, l.rounds = l.start, time.Now(), 0
}

func (l *limit) grow() {
	if l.cutAt.IsZero() {
		l.current = min(l.ceiling, l.current+min(batch, l.current/2))
		return
	}
	l.rounds += batch / l.current
	x := l.rounds/plateauRounds - 1
	span := l.before - l.start
	if x > 0 {
		span = l.before
	}
	l.current = min(l.ceiling, max(l.current, l.before+span*x*x*x))
}

const (
	// maxKinds bounds the number of baselines; all further kinds share one.
	maxKinds = 64
	// fallShare is the share of the difference by which a faster batch lowers the baseline: not all
	// of it, since the fastest of many batches is fast by chance. riseShare is the share of itself
	// by which a slower batch raises it, so that it follows a lasting change.
	fallShare, riseShare = 0.25, 0.001
	// maxRise bounds the relative rise by a batch that ran without contention.
	maxRise = 0.25
)

// baselines holds the baseline latency by kind: methods differ by a factor of fifteen, and a change
// of the mix must not look like overload.
type baselines map[string]*baseline

func (c baselines) forKind(kind string) *baseline {
	if found := c[kind]; found != nil {
		return found
	}
	if len(c) >= maxKinds {
		kind = ""
	}
	if c[kind] == nil {
		c[kind] = &baseline{}
	}
	return c[kind]
}

// baseline is the mean latency of a kind without load.
type baseline struct {
	mean time.Duration // 0 until the first batch is full
	// The current batch; busy if any of its requests ran above the floor of the limit.
	requests int
	took     time.Duration
	busy     bool
}

func (c *baseline) add(took time.Duration, idle bool) {
	c.requests++
	c.took += took
	c.busy = c.busy || !idle
	if c.requests < batch {
		return
	}
	mean := c.took / batch
	switch {
	case c.mean == 0:
		c.mean = mean
	case mean < c.mean:
		c.mean -= time.Duration(fallShare * float64(c.mean-mean))
	case !c.busy:
		c.mean = min(mean, c.mean+time.Duration(maxRise*float64(c.mean)))
	default:
		c.mean += time.Duration(riseShare * float64(c.mean))
	}
	*c = baseline{mean: c.mean}
}

// paceWeight is the weight of the newest interval in the pace.
const paceWeight = 0.03

// pace measures how fast places are freed while requests are queued. Without a queue the rate is
// that of the arrivals.
type pace struct {
	every time.Duration // between two freed places; 0 if unknown
	last  time.Time     // when a place was freed with requests queued; zero otherwise
}

// recordEnd records the end of a request, and whether others were queued.
func (p *pace) recordEnd(waited bool) {
	now := time.Now()
	if !p.last.IsZero() {
		took := now.Sub(p.last)
		if p.every == 0 {
			p.every = took
		}
		p.every += time.Duration(paceWeight * float64(took-p.every))
	}
	p.last = time.Time{}
	if waited {
		p.last = now
	}
}

// estimate returns the time until n more places are free; 0 if unknown.
func (p *pace) estimate(n int) time.Duration { return time.Duration(n) * p.every }
