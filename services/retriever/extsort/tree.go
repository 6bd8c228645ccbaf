package extsort

// source is one run during a merge: a record at a time.
type source[E any] struct {
	// head is the record in front, key the beginning of its order: where two
	// keys differ, so do the records, the same way.
	head E
	key  uint64
	over bool
	next func(*source[E]) error
}

// tree is a loser tree: it knows the least head of its sources after one
// comparison per level (Knuth, The Art of Computer Programming, vol. 3, §5.4.1).
type tree[E any] struct {
	sources []source[E]
	// losers[0] is the winner, losers[i] who lost at inner node i.
	losers  []int
	compare func(a, b *E) int
}

func newTree[E any](sources []source[E], compare func(a, b *E) int) (*tree[E], error) {
	t := &tree[E]{sources: sources, losers: make([]int, max(1, len(sources))), compare: compare}
	for i := range sources {
		if err := sources[i].next(&sources[i]); err != nil {
			return nil, err
		}
	}
	if len(sources) > 0 {
		t.losers[0] = t.play(1)
	}
	return t, nil
}

// play finds the winner below an inner node. The leaves are the nodes from
// len(sources) on.
func (t *tree[E]) play(node int) int {
	n := len(t.sources)
	if node >= n {
		return node - n
	}
	a, b := t.play(2*node), t.play(2*node+1)
	if t.before(b, a) {
		a, b = b, a
	}
	t.losers[node] = b
	return a
}

// before orders sources by their heads, those that are over last.
func (t *tree[E]) before(i, j int) bool {
	a, b := &t.sources[i], &t.sources[j]
	if a.over || b.over {
		return !a.over
	}
	if a.key != b.key {
		return a.key < b.key
	}
	return t.compare(&a.head, &b.head) < 0
}

// top is the source with the least head; nil where all are over.
func (t *tree[E]) top() *source[E] {
	if len(t.sources) == 0 {
		return nil
	}
	s := &t.sources[t.losers[0]]
	if s.over {
		return nil
	}
	return s
}

// advance drops the least head.
func (t *tree[E]) advance() error {
	winner := t.losers[0]
	s := &t.sources[winner]
	if err := s.next(s); err != nil {
		return err
	}
	for node := (winner + len(t.sources)) / 2; node > 0; node /= 2 {
		if t.before(t.losers[node], winner) {
			winner, t.losers[node] = t.losers[node], winner
		}
	}
	t.losers[0] = winner
	return nil
}
