package embedded

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func (s *snapshot) EntityName(id store.EntityID) string {
	l := s.layerOf(int(id), firstEntity)
	return l.entities.get(int(id) - l.first.FirstEntity)
}

func (s *snapshot) EntityKey(id store.EntityID) string {
	return store.KeyOrName(s.ownKey(id), s.Kind(id), func() string { return s.EntityName(id) })
}

// ownKey returns an entity's key; empty if its name is its key.
func (s *snapshot) ownKey(id store.EntityID) string {
	l := s.layerOf(int(id), firstEntity)
	if l.keys.n == 0 {
		return ""
	}
	return l.keys.get(int(id) - l.first.FirstEntity)
}

// EntityByKey implements store.Names. As with names, the newest layer counts.
func (s *snapshot) EntityByKey(_ context.Context, key string) (id store.EntityID, ok bool, err error) {
	if key == "" {
		return 0, false, nil
	}
	err = store.Guard(func() error {
		for _, l := range slices.Backward(s.layers) {
			at := sort.Search(l.byKey.Len(), func(i int) bool { return l.keys.view(int(l.byKey.Get(i))) >= key })
			if at == l.byKey.Len() {
				continue
			}
			if i := int(l.byKey.Get(at)); l.keys.view(i) == key {
				id = store.EntityID(l.first.FirstEntity + i)
				ok = s.isVisible(id)
				return nil
			}
		}
		return nil
	})
	return id, ok, s.wrap("read", err)
}

func (s *snapshot) Kind(id store.EntityID) store.Kind {
	l := s.layerOf(int(id), firstEntity)
	return store.Kind(l.kinds.Get(int(id) - l.first.FirstEntity))
}

func (s *snapshot) RelationName(id store.RelationID) string {
	l := s.layerOf(int(id), firstRelation)
	return l.relations.get(int(id) - l.first.FirstRelation)
}

func (s *snapshot) RelationTriples(id store.RelationID) int {
	return int(s.layers[len(s.layers)-1].counts.Get(int(id)))
}

func (s *snapshot) Entity(_ context.Context, name string) (id store.EntityID, ok bool, err error) {
	err = store.Guard(func() error {
		id, ok = s.entityNumber(name)
		return nil
	})
	return id, ok, s.wrap("read", err)
}

func (s *snapshot) Relation(_ context.Context, name string) (id store.RelationID, ok bool, err error) {
	err = store.Guard(func() error {
		for _, l := range s.layers {
			if i, found := l.relations.find(name); found {
				id = store.RelationID(l.first.FirstRelation + i)
				ok = s.isWhole() || s.RelationTriples(id) > 0
				return nil
			}
		}
		return nil
	})
	return id, ok, s.wrap("read", err)
}

func (s *snapshot) Match(_ context.Context, key string) (found []store.EntityID, err error) {
	err = store.Guard(func() error {
		for _, l := range s.layers {
			index, err := l.names.open()
			if err != nil {
				return err
			}
			entities, err := index.Match(key)
			if err != nil {
				return err
			}
			for _, e := range entities {
				if id := store.EntityID(e); s.hasEntity(id) && s.isVisible(id) {
					found = append(found, id)
				}
			}
		}
		return nil
	})
	if !s.isWhole() {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found, s.wrap("read", err)
}

// hasEntity reports whether an entity has this number: what a name index leads to is
// vouched for by checksums alone.
func (s *snapshot) hasEntity(id store.EntityID) bool {
	top := s.layers[len(s.layers)-1]
	return int(id) < top.first.FirstEntity+top.own.Entities
}

func (s *snapshot) Fuzzy(ctx context.Context, key string, minSimilarity float32,
	limit int) (found []store.NameMatch, err error) {
	if limit <= 0 {
		return nil, nil
	}
	best := map[store.EntityID]float32{}
	err = store.Guard(func() error {
		for _, l := range s.layers {
			if err := s.fuzzy(ctx, l, key, minSimilarity, limit, best); err != nil {
				return err
			}
		}
		return nil
	})
	for id, similarity := range best {
		found = append(found, store.NameMatch{Entity: id, Similarity: similarity})
	}
	slices.SortFunc(found, func(a, b store.NameMatch) int {
		if a.Similarity != b.Similarity {
			return cmp.Compare(b.Similarity, a.Similarity)
		}
		return cmp.Compare(a.Entity, b.Entity)
	})
	return found[:min(limit, len(found))], s.wrap("read", err)
}

// fuzzy takes what a layer finds. If some of it was removed it asks again, for more.
func (s *snapshot) fuzzy(ctx context.Context, l *layer, key string, least float32, limit int,
	best map[store.EntityID]float32) error {
	index, err := l.names.open()
	if err != nil {
		return err
	}
	for ask := limit; ; ask *= 2 {
		matches, err := index.Fuzzy(ctx, key, least, ask)
		if err != nil {
			return err
		}
		hidden := 0
		for _, m := range matches {
			id := store.EntityID(m.Entity)
			if !s.hasEntity(id) || !s.isVisible(id) {
				hidden++
				continue
			}
			best[id] = max(best[id], m.Similarity)
		}
		if hidden == 0 || len(matches) < ask || len(matches)-hidden >= limit {
			return nil
		}
	}
}
