package admission

import "time"

const (
	// batch is how many requests are judged together: questions differ in what
	// they need by two orders of magnitude.
	batch = 16
	// lateShare is how many of a batch may run out of time, and timeShare how
	// much of their time its requests may use on average.
	lateShare, timeShare = 0.25, 0.5
	// hardCut is what the limit loses when all are late, and as much less as
	// fewer are, as DCTCP has it (RFC 8257 §3.3); softCut when they only use too
	// much of their time.
	hardCut, softCut = 0.7, 0.2
	// crowded is how many times as long as in calm requests take that slow each
	// other down.
	crowded = 1.5
	// drift is by what share that rises with each batch: what is asked may change
	// for good.
	drift = 0.001
	// leastShare of the configured limit is always let in: requests that never
	// end in time must not shut out all others.
	leastShare = 1.0 / 32
	// plateau is after how many rounds of requests the limit is back at what it
	// was before it was cut.
	plateau = 8
)

// limit is how many requests run at once: the configured number, until they slow
// each other down so much that their time does not suffice. Then it is cut by a
// share, grows back fast, slowly around where it was cut, and fast again, as TCP
// CUBIC has it (RFC 9438 §4).
//
// That requests take long is no sign of load by itself, and that they take
// longer than in calm does no harm. Both together, with half of their time gone,
// are what can still be acted upon before requests are late.
type limit struct {
	most, least float64
	current     float64
	// start and before are the limit after and before it was cut; cutAt is when.
	// Requests that began before say nothing of the new one.
	start, before float64
	cutAt         time.Time
	// rounds of requests were done in time since then.
	rounds float64
	// calm is what a request takes on average when the least is going on; 0 where
	// that is not known yet.
	calm time.Duration
	seen seen
}

// seen is a batch that is not full yet.
type seen struct {
	requests, late int
	took           time.Duration
	share          float64 // of their time, added up
	peak           int     // the most that ran at once
}

// done is a request that ended.
type done struct {
	took time.Duration
	had  time.Duration // how much time it had; 0 for no end of it
	peak int           // the most that ran with it
	late bool
}

func newLimit(most int) limit {
	m := float64(most)
	return limit{most: m, least: max(1, m*leastShare), current: m, start: m, before: m}
}

func (l *limit) now() int { return int(l.current) }

// learn takes notice of a request that ended.
func (l *limit) learn(d done) {
	if time.Now().Add(-d.took).Before(l.cutAt) {
		return
	}
	if d.late && d.took < l.calm {
		return // it had less time than requests need: the caller's doing, not the load's
	}
	l.seen.add(d)
	if l.seen.requests < batch {
		return
	}
	b := l.seen
	l.seen = seen{}
	mean := b.took / batch
	slow := b.share > timeShare*batch && l.calm > 0 && float64(mean) > crowded*float64(l.calm)
	switch {
	case float64(b.peak) > l.least && float64(b.late) > lateShare*batch:
		l.cut(b.peak, hardCut*float64(b.late)/batch)
	case float64(b.peak) > l.least && slow:
		l.cut(b.peak, softCut)
	case b.peak >= l.now(): // else it says nothing of more
		l.grow()
	}
	if l.calm += time.Duration(drift * float64(l.calm)); b.late == 0 && (l.calm == 0 || mean < l.calm) {
		l.calm = mean
	}
}

func (s *seen) add(d done) {
	s.requests++
	s.took += d.took
	s.peak = max(s.peak, d.peak)
	if d.had > 0 {
		s.share += float64(d.took) / float64(d.had)
	}
	if d.late {
		s.late++
	}
}

func (l *limit) cut(peak int, by float64) {
	l.before = min(l.current, float64(peak))
	l.start = max(l.least, (1-by)*l.before)
	l.current, l.cutAt, l.rounds = l.start, time.Now(), 0
}

func (l *limit) grow() {
	l.rounds += batch / l.current
	x := l.rounds/plateau - 1
	span := l.before - l.start
	if x > 0 {
		span = l.before
	}
	l.current = min(l.most, max(l.current, l.before+span*x*x*x))
}
