package neo4j

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func (s *snapshot) EntityName(e store.EntityID) string {
	if s.isIndexed(e) {
		return s.local.EntityName(e)
	}
	return s.newEntity(e).Name
}

// EntityKey implements store.Names: that of a node is "urn:neo4j:node/" and its id.
func (s *snapshot) EntityKey(e store.EntityID) string {
	if s.isIndexed(e) {
		return s.local.EntityKey(e)
	}
	entity := s.newEntity(e)
	return store.KeyOrName(entity.Key, entity.Kind, func() string { return entity.Name })
}

// EntityByKey implements store.Names, among those that were indexed.
func (s *snapshot) EntityByKey(ctx context.Context, key string) (store.EntityID, bool, error) {
	return s.local.EntityByKey(ctx, key)
}

func (s *snapshot) Kind(e store.EntityID) store.Kind {
	if s.isIndexed(e) {
		return s.local.Kind(e)
	}
	return s.newEntity(e).Kind
}

func (s *snapshot) RelationName(r store.RelationID) string { return s.local.RelationName(r) }

// RelationTriples implements store.Names: as many as were indexed.
func (s *snapshot) RelationTriples(r store.RelationID) int { return s.local.RelationTriples(r) }

func (s *snapshot) Relation(ctx context.Context, name string) (store.RelationID, bool, error) {
	return s.local.Relation(ctx, name)
}

// Entities implements store.Names: those that were indexed.
func (s *snapshot) Entities() iter.Seq[store.EntityID] { return s.local.Entities() }

// Match implements store.Names, among those that were indexed.
func (s *snapshot) Match(ctx context.Context, key string) ([]store.EntityID, error) {
	found, err := s.local.Match(ctx, key)
	s.noteMatched(found...)
	return found, err
}

// Fuzzy implements store.Names, among those that were indexed.
func (s *snapshot) Fuzzy(ctx context.Context, key string, minSimilarity float32, limit int) ([]store.NameMatch, error) {
	found, err := s.local.Fuzzy(ctx, key, minSimilarity, limit)
	for _, m := range found {
		s.noteMatched(m.Entity)
	}
	return found, err
}

// Entity implements store.Names. A name that was not indexed is looked up in
// Neo4j if an index makes that cheap.
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
	pairs, err := s.graph.indexes.indexedLabels(ctx, s.graph)
	if err != nil {
		return 0, false, s.wrap("read", err)
	}
	for _, pair := range pairs {
		rows, err := s.graph.reader.query(ctx, findByName(pair[0], pair[1]), map[string]any{"is": name})
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

// nameIndex lists the labels that have an index on the property that names their nodes. It is
// refreshed from time to time: an index may be created at any time.
type nameIndex struct {
	mutex       sync.Mutex
	refreshedAt time.Time
	pairs       [][2]string
}

const (
	// indexRefreshInterval is how long the list of indexes is cached.
	indexRefreshInterval = time.Minute
	// maxIndexes is the number of indexes used to look up a name.
	maxIndexes = 8
)

// indexedLabels returns pairs of label and property, quoted.
func (n *nameIndex) indexedLabels(ctx context.Context, g *graph) ([][2]string, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if !n.refreshedAt.IsZero() && time.Since(n.refreshedAt) < indexRefreshInterval {
		return n.pairs, nil
	}
	rows, err := g.reader.query(ctx, nameIndexes, nil)
	if err != nil {
		return nil, err
	}
	n.pairs = nil
	for _, row := range rows {
		label, property := text(row[0]), text(row[1])
		naming, ok := g.NameProperties[label]
		if !ok {
			naming = g.NameProperty
		}
		if property != naming || len(g.Labels) > 0 && !slices.Contains(g.Labels, label) || len(n.pairs) == maxIndexes {
			continue
		}
		quotedLabel, plainLabel := quote(label)
		quotedProperty, plainProperty := quote(property)
		if plainLabel && plainProperty {
			n.pairs = append(n.pairs, [2]string{quotedLabel, quotedProperty})
		}
	}
	n.refreshedAt = time.Now()
	return n.pairs, nil
}

// maxSearchRounds is how often a search asks for more hits when Neo4j no longer holds some.
const maxSearchRounds = 4

// SearchTriples implements store.Searcher, among the triples that were indexed
// and that Neo4j still holds.
func (s *snapshot) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	hits, err := s.search(ctx, queries, k, filter)
	return hits, s.wrap("search", err)
}

func (s *snapshot) search(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error) {
	for ask, round := k, 1; ; ask, round = 2*ask, round+1 {
		hits, err := s.vectors.SearchTriples(ctx, queries, ask, filter)
		if err != nil {
			return nil, err
		}
		var ids []store.TripleID
		for _, of := range hits {
			for _, h := range of {
				ids = append(ids, h.Triple)
			}
		}
		there, err := s.confirm(ctx, ids)
		if err != nil {
			return nil, err
		}
		short := false
		for q, of := range hits {
			full := len(of) == ask
			hits[q] = slices.DeleteFunc(of, func(h store.Hit) bool { return !there[h.Triple] })
			short = short || full && len(hits[q]) < k
			hits[q] = hits[q][:min(k, len(hits[q]))]
		}
		if !short || round == maxSearchRounds {
			return hits, nil
		}
	}
}

// ScoreTriples implements store.Searcher. A triple that was not indexed has no
// vector: its score is 0, as of one that has nothing to do with the query.
func (s *snapshot) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	indexed := make([]store.TripleID, 0, len(triples))
	for _, t := range triples {
		if s.indexedTriple(t) {
			indexed = append(indexed, t)
		}
	}
	scores, err := s.vectors.ScoreTriples(ctx, queries, indexed)
	if err != nil || len(indexed) == len(triples) {
		return scores, s.wrap("score triples of", err)
	}
	all := make([][]float32, len(scores))
	for q := range scores {
		all[q] = make([]float32, len(triples))
		next := 0
		for i, t := range triples {
			if s.indexedTriple(t) {
				all[q][i] = scores[q][next]
				next++
			}
		}
	}
	return all, nil
}

func (s *snapshot) SearchRelations(ctx context.Context, queries [][]float32, k int) ([][]store.RelationHit, error) {
	return s.local.SearchRelations(ctx, queries, k)
}

func (s *snapshot) RelationVector(r store.RelationID) []float32 { return s.local.RelationVector(r) }
