package embedded

import (
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of a whole snapshot and of the deltas on it.
type snapshot struct {
	// layers are the whole snapshot and then each delta on the ones before. The
	// numbers of entities, relations and triples go on from one to the next.
	layers []*layer
	info   store.Info
	once   sync.Once
}

var _ store.Snapshot = (*snapshot)(nil)

// Info implements store.Snapshot.
func (s *snapshot) Info() store.Info { return s.info }

// Release implements store.Snapshot.
func (s *snapshot) Release() {
	s.once.Do(func() {
		for _, l := range s.layers {
			l.mapping.release()
		}
	})
}

func (s *snapshot) wrap(op string, err error) error {
	return wrap(op, s.info.KG, s.info.Number, err)
}

// plain says whether there are no deltas, so that nothing can be removed.
func (s *snapshot) plain() bool { return len(s.layers) == 1 }

// layerOf finds the layer that a number belongs to, by the first number of
// each.
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

// removed says whether a delta took a triple away. Only those above its own
// layer can have.
func (s *snapshot) removed(triple int) bool {
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

// row is an entity's row in a layer; there is none where a delta's triples do
// not name it.
func (l *layer) row(entity int) (row int, ok bool) {
	if l.rows.Len() == 0 {
		return entity, entity < l.graph.rows
	}
	return l.rows.Find(uint64(entity))
}

// entity is the one of a row.
func (l *layer) entity(row int) store.EntityID {
	if l.rows.Len() == 0 {
		return store.EntityID(row)
	}
	return store.EntityID(l.rows.Get(row))
}
