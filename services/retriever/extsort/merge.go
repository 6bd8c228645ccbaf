package extsort

// Source hands out the next value of a sorted sequence into head, which it may
// reuse what is in. key is the beginning of the value's order: where the keys
// of two values differ, so do the values, the same way; 0 for all will do. ok
// is false after the last one.
type Source[E any] func(head *E) (key uint64, ok bool, err error)

// Merge merges sorted sequences with a loser tree, which knows the least of
// their heads after one comparison per level (Knuth, The Art of Computer
// Programming, vol. 3, §5.4.1).
type Merge[E any] struct {
	sources []head[E]
	// losers[0] is the winner, losers[i] who lost at inner node i.
	losers  []int
	compare func(a, b *E) int
}

// head is the value in front of a sequence.
type head[E any] struct {
	value E
	key   uint64
	over  bool
	next  Source[E]
}

func (h *head[E]) advance() (err error) {
	var ok bool
	h.key, ok, err = h.next(&h.value)
	h.over = !ok
	return err
}

// NewMerge reads the first value of each sequence. Equal values come out in no
// order that is promised.
func NewMerge[E any](sources []Source[E], compare func(a, b *E) int) (*Merge[E], error) {
	m := &Merge[E]{sources: make([]head[E], len(sources)), losers: make([]int, max(1, len(sources))), compare: compare}
	for i, next := range sources {
		m.sources[i].next = next
		if err := m.sources[i].advance(); err != nil {
			return nil, err
		}
	}
	if len(sources) > 0 {
		m.losers[0] = m.play(1)
	}
	return m, nil
}

// play finds the winner below an inner node. The leaves are the nodes from
// len(sources) on.
func (m *Merge[E]) play(node int) int {
	n := len(m.sources)
	if node >= n {
		return node - n
	}
	a, b := m.play(2*node), m.play(2*node+1)
	if m.before(b, a) {
		a, b = b, a
	}
	m.losers[node] = b
	return a
}

// before orders sequences by their heads, those that are over last.
func (m *Merge[E]) before(i, j int) bool {
	a, b := &m.sources[i], &m.sources[j]
	if a.over || b.over {
		return !a.over
	}
	if a.key != b.key {
		return a.key < b.key
	}
	return m.compare(&a.value, &b.value) < 0
}

// Top returns the least head, valid until Advance, and the number of its
// sequence; nil where all are over.
func (m *Merge[E]) Top() (*E, int) {
	if len(m.sources) == 0 {
		return nil, 0
	}
	winner := m.losers[0]
	if m.sources[winner].over {
		return nil, 0
	}
	return &m.sources[winner].value, winner
}

// Advance drops the least head. There must be one.
func (m *Merge[E]) Advance() error {
	winner := m.losers[0]
	if err := m.sources[winner].advance(); err != nil {
		return err
	}
	for node := (winner + len(m.sources)) / 2; node > 0; node /= 2 {
		if m.before(m.losers[node], winner) {
			winner, m.losers[node] = m.losers[node], winner
		}
	}
	m.losers[0] = winner
	return nil
}
