package neo4j

import (
	"context"
	"iter"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// EntityName implements store.Names.
func (s *snapshot) EntityName(e store.EntityID) string {
	if s.known(e) {
		return s.local.EntityName(e)
	}
	return s.at(e).Name
}

// Kind implements store.Names.
func (s *snapshot) Kind(e store.EntityID) store.Kind {
	if s.known(e) {
		return s.local.Kind(e)
	}
	return s.at(e).Kind
}

// RelationName implements store.Names.
func (s *snapshot) RelationName(r store.RelationID) string { return s.local.RelationName(r) }

// RelationTriples implements store.Names: as many as were indexed.
func (s *snapshot) RelationTriples(r store.RelationID) int { return s.local.RelationTriples(r) }

// Relation implements store.Names.
func (s *snapshot) Relation(ctx context.Context, name string) (store.RelationID, bool, error) {
	return s.local.Relation(ctx, name)
}

// Entities implements store.Names: those that were indexed.
func (s *snapshot) Entities() iter.Seq[store.EntityID] { return s.local.Entities() }

// Match implements store.Names, among those that were indexed.
func (s *snapshot) Match(ctx context.Context, key string) ([]store.EntityID, error) {
	found, err := s.local.Match(ctx, key)
	s.matched(found...)
	return found, err
}

// Fuzzy implements store.Names, among those that were indexed.
func (s *snapshot) Fuzzy(ctx context.Context, key string, minSimilarity float32, limit int) ([]store.NameMatch, error) {
	found, err := s.local.Fuzzy(ctx, key, minSimilarity, limit)
	for _, m := range found {
		s.matched(m.Entity)
	}
	return found, err
}

// Entity implements store.Names. A name that was not indexed is looked up in
// Neo4j where an index makes that cheap.
func (s *snapshot) Entity(ctx context.Context, name string) (store.EntityID, bool, error) {
	e, ok, err := s.local.Entity(ctx, name)
	if ok || err != nil {
		return e, ok, err
	}
	s.live.mutex.Lock()
	e, ok = s.live.byName[name]
	s.live.mutex.Unlock()
	if ok || name == "" || !utf8.ValidString(name) {
		return e, ok, nil
	}
	pairs, err := s.graph.indexes.of(ctx, s.graph)
	if err != nil {
		return 0, false, s.wrap("read", err)
	}
	for _, pair := range pairs {
		rows, err := s.graph.reader.read(ctx, named(pair[0], pair[1]), map[string]any{"is": name})
		if err != nil {
			return 0, false, s.wrap("read", err)
		}
		for _, row := range rows {
			e, ok, err := s.entity(ctx, number(row[0]), name)
			// A node that was indexed by another name keeps that.
			if err != nil || ok && s.EntityName(e) == name {
				return e, ok, s.wrap("read", err)
			}
		}
	}
	return 0, false, nil
}
