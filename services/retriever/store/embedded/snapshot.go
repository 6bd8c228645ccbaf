package embedded

import (
	"errors"
	"slices"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of a whole snapshot and of the deltas on it.
type snapshot struct {
	// layers are the whole snapshot and then each delta on the ones before. The
	// numbers of entities, relations and triples continue from one to the next.
	layers []*layer
	info   store.Info
	once   sync.Once
}

var _ store.Snapshot = (*snapshot)(nil)

func (s *snapshot) Info() store.Info { return s.info }

func (s *snapshot) Release() {
	s.once.Do(func() {
		for _, l := range s.layers {
			l.mapping.release()
		}
	})
}

func (s *snapshot) wrap(op string, err error) error {
	return store.WrapError(op, s.info.KG, s.info.Number, err)
}

// isWhole reports whether there are no deltas, so that nothing can be removed.
func (s *snapshot) isWhole() bool { return len(s.layers) == 1 }

// layerOf finds the layer that a number belongs to, by the first number of each.
func (s *snapshot) layerOf(number int, first func(*base) int) *layer {
	for i := len(s.layers) - 1; i > 0; i-- {
		if number >= first(&s.layers[i].first) {
			return s.layers[i]
		}
	}
	return s.layers[0]
}

func firstEntity(b *base) int   { return b.FirstEntity }
func firstRelation(b *base) int { return b.FirstRelation }
func firstTriple(b *base) int   { return b.FirstTriple }

// isRemoved reports whether a delta took a triple away. Only those above its own layer can have.
func (s *snapshot) isRemoved(triple int) bool {
	for i := len(s.layers) - 1; i > 0 && triple < s.layers[i].first.FirstTriple; i-- {
		l := s.layers[i]
		if l.own.Removed > 0 {
			if _, ok := l.removed.Find(uint64(triple)); ok {
				return true
			}
		}
	}
	return false
}

// row is an entity's row in a layer; there is none if a delta's triples do not name it.
func (l *layer) row(entity int) (row int, ok bool) {
	if l.rows.Len() == 0 {
		return entity, entity < l.graph.rows
	}
	return l.rows.Find(uint64(entity))
}

func (l *layer) entity(row int) store.EntityID {
	if l.rows.Len() == 0 {
		return store.EntityID(row)
	}
	return store.EntityID(l.rows.Get(row))
}

// entityNumber finds an entity by name. One that no triple names any more is removed: if a later
// delta adds its name again it gets a new number, and the highest number is the current one.
func (s *snapshot) entityNumber(name string) (store.EntityID, bool) {
	for _, l := range slices.Backward(s.layers) {
		if i, ok := l.entities.find(name); ok {
			id := store.EntityID(l.first.FirstEntity + i)
			return id, s.isVisible(id)
		}
	}
	return 0, false
}

// relationNumber finds a relation by name, also one that has no triple any more.
func (s *snapshot) relationNumber(name string) (int, bool) {
	for _, l := range s.layers {
		if i, ok := l.relations.find(name); ok {
			return l.first.FirstRelation + i, true
		}
	}
	return 0, false
}

// findTriples appends the triples of a subject, relation and object that were not
// removed; they differ in their validity.
func (s *snapshot) findTriples(found []store.TripleID, t store.Triple) []store.TripleID {
	for _, l := range s.layers {
		subject, ok := l.row(int(t.Subject))
		if !ok {
			continue
		}
		object, ok := l.row(int(t.Object))
		if !ok {
			continue
		}
		// Edges are in the order of relations.
		edges := l.graph.row(subject, store.Out)
		at := span{l.graph.search(edges, store.Out, uint64(t.Relation)),
			l.graph.search(edges, store.Out, uint64(t.Relation)+1)}
		place := l.graph.objects.Search(at.from, at.to, uint64(object))
		for ; place < at.to && l.graph.objects.Get(place) == uint64(object); place++ {
			if id := l.first.FirstTriple + place; !s.isRemoved(id) {
				found = append(found, store.TripleID(id))
			}
		}
	}
	return found
}

// nextBase are the numbers that a delta of this snapshot begins with.
func (s *snapshot) nextBase() base {
	top := s.layers[len(s.layers)-1]
	return base{
		Number:        s.info.Number,
		SHA256:        top.mapping.sum,
		FirstEntity:   top.first.FirstEntity + top.own.Entities,
		FirstRelation: top.first.FirstRelation + top.own.Relations,
		FirstTriple:   top.first.FirstTriple + top.own.Triples,
		Depth:         len(s.layers),
	}
}

// cachedLayer is a snapshot that is mapped or about to be: a caller that comes second
// waits for the first.
type cachedLayer struct {
	mutex   sync.Mutex
	evicted bool
	layer   *layer
}

// cached is the one of a snapshot, made if there is none.
func (s *Store) cached(kg string, number uint64) *cachedLayer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, ok := s.opened[name{kg, number}]
	if !ok {
		e = &cachedLayer{}
		s.opened[name{kg, number}] = e
	}
	return e
}

// errEvicted means that an entry left the store after it was looked up.
var errEvicted = errors.New("snapshot was let go")

// acquire returns the layer with one more user; it maps the files if they are
// not mapped yet or have changed since.
func (e *cachedLayer) acquire(dir string) (*layer, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.evicted {
		return nil, errEvicted
	}
	if e.layer != nil && e.layer.mapping.isStale() {
		e.layer.mapping.release()
		e.layer = nil
	}
	if e.layer == nil {
		m, err := mapFiles(dir)
		if err != nil {
			return nil, err
		}
		l, err := m.openLayer()
		if err != nil {
			m.release()
			return nil, err
		}
		e.layer = l
	}
	// The entry's own use keeps the mapping alive under its lock.
	e.layer.mapping.retain()
	return e.layer, nil
}

func (e *cachedLayer) evict() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.evicted = true
	if e.layer != nil {
		e.layer.mapping.release()
		e.layer = nil
	}
}
