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
	// fewer are, as DCTCP has it (RFC 8257 §3.3). softCut is the least that it loses
	// when they only slow each other down; by how much they do says how many too
	// many there are.
	hardCut, softCut = 0.7, 0.2
	// crowded is how many times as long as in calm requests take that slow each
	// other down. Above tooCrowded those of which the kind is known do little else
	// than wait for each other, even where they have all the time in the world.
	crowded, tooCrowded = 1.5, 2.5
	// leastShare of the configured limit is always let in: requests that never
	// end in time must not shut out all others.
	leastShare = 1.0 / 64
	// firstShare of the configured limit is where it begins, or at a batch: how
	// much can be done is not known yet, and what was begun cannot be taken back.
	// Until it is cut for the first time it grows by firstGrowth at most with each
	// batch: where to grow back to is not known either.
	firstShare, firstGrowth = 1.0 / 16, 1.5
	// plateau is after how many rounds of requests the limit is back at what it
	// was before it was cut.
	plateau = 8
)

// limit is how many requests run at once. It grows from a part of the configured
// number to all of it while that many run and do not slow each other down. When
// they do, it is cut by a share, grows back fast, slowly around where it was cut,
// and fast again, as TCP CUBIC has it (RFC 9438 §4).
//
// That requests take long is no sign of load by itself, and that they take a
// little longer than in calm does no harm. Both together, with half of their time
// gone, are what can still be acted upon before requests are late. That they take
// much longer than in calm is a sign by itself: what is begun beyond what can be
// done only waits inside, where it cannot be refused any more, and is still there
// when the burst is over.
type limit struct {
	most, least float64
	current     float64
	// start and before are the limit after and before it was cut; cutAt is when.
	// Requests that began before say nothing of the new one.
	start, before float64
	cutAt         time.Time
	// rounds of requests were done in time since then.
	rounds float64
	calm   calms
	seen   seen
}

// seen is a batch that is not full yet.
type seen struct {
	requests, late int
	share          float64 // of their time, added up
	// longer is how many times as long as in calm they took, added up over those
	// of which that is known.
	longer float64
	known  int
	named  int // those of a kind
	peak   int // the most that ran at once
}

// crowd is how many times as long as in calm they took on average; 0 where that
// is not known.
func (s seen) crowd() float64 { return s.longer / float64(max(s.known, 1)) }

// slow tells whether they slow each other down so much that there are too many.
func (s seen) slow() bool {
	return s.crowd() > tooCrowded && s.named > batch/2 || s.crowd() > crowded && s.share > timeShare*batch
}

// done is a request that ended.
type done struct {
	kind string
	took time.Duration
	had  time.Duration // how much time it had; 0 for no end of it
	peak int           // the most that ran with it
	late bool
}

func newLimit(most int) limit {
	m := float64(most)
	first := max(m*firstShare, min(m, batch))
	return limit{most: m, least: max(1, m*leastShare), current: first, start: first, before: m, calm: calms{}}
}

func (l *limit) now() int { return int(l.current) }

// learn takes notice of a request that ended.
func (l *limit) learn(d done) {
	if time.Now().Add(-d.took).Before(l.cutAt) {
		return
	}
	calm := l.calm.of(d.kind)
	if d.late && d.took < calm.mean {
		return // it had less time than requests need: the caller's doing, not the load's
	}
	l.seen.add(d, calm.mean)
	if !d.late {
		calm.add(d.took, float64(d.peak) <= l.least)
	}
	if l.seen.requests < batch {
		return
	}
	b := l.seen
	l.seen = seen{}
	switch {
	case float64(b.peak) > l.least && float64(b.late) > lateShare*batch:
		l.cut(b.peak, hardCut*float64(b.late)/batch)
	case float64(b.peak) > l.least && b.slow():
		l.cut(b.peak, min(max(1-crowded/b.crowd(), softCut), hardCut))
	case b.peak >= l.now(): // else it says nothing of more
		l.grow()
	}
}

func (s *seen) add(d done, calm time.Duration) {
	s.requests++
	s.peak = max(s.peak, d.peak)
	if d.had > 0 {
		s.share += float64(d.took) / float64(d.had)
	}
	if d.kind != "" {
		s.named++
	}
	if calm > 0 {
		s.longer += float64(d.took) / float64(calm)
		s.known++
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
	grown := max(l.current, l.before+span*x*x*x)
	if l.cutAt.IsZero() {
		grown = min(grown, firstGrowth*l.current)
	}
	l.current = min(l.most, grown)
}
