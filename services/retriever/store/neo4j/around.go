package neo4j

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Relations implements store.Walker. Neo4j counts; no edge is read. Of a hub it
// is what was indexed.
func (s *snapshot) Relations(ctx context.Context, entity store.EntityID,
	dir store.Direction) ([]store.RelationEdges, error) {
	counts, err := s.count(ctx, entity, dir)
	if err != nil {
		return nil, s.wrap("count relations", err)
	}
	relations := make([]store.RelationEdges, 0, len(counts))
	for r, n := range counts {
		relations = append(relations, store.RelationEdges{Relation: r, Edges: n})
	}
	slices.SortFunc(relations, func(a, b store.RelationEdges) int { return cmp.Compare(a.Relation, b.Relation) })
	return relations, nil
}

const (
	// hubEdges is the number of edges an entity may have for Neo4j to count them: it
	// looks at each, and those of a country are counted with every question
	// about it. A hub's count is that of when it was indexed.
	hubEdges = 2000
	// countBatch is the most entities whose edges one statement counts.
	countBatch = 500
)

// entityDirection is an entity and a direction.
type entityDirection struct {
	entity store.EntityID
	dir    store.Direction
}

func (s *snapshot) count(ctx context.Context, entity store.EntityID,
	dir store.Direction) (map[store.RelationID]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.isHub(entity) {
		return s.indexedCounts(ctx, entity, dir, func(store.RelationID) bool { return true })
	}
	s.live.mutex.Lock()
	counts, ok := s.live.counts[entityDirection{entity, dir}]
	s.live.mutex.Unlock()
	if ok {
		return counts, nil
	}
	if err := s.countAll(ctx, s.uncounted(entity)); err != nil {
		return nil, err
	}
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	return s.live.counts[entityDirection{entity, dir}], nil
}

// isHub reports whether an entity had too many edges to be counted again.
func (s *snapshot) isHub(e store.EntityID) bool {
	return s.isIndexed(e) && s.local.Degree(e, store.Out)+s.local.Degree(e, store.In) > hubEdges
}

// uncounted are an entity and others that were found by their names since:
// a caller that compares one of them compares them all.
func (s *snapshot) uncounted(first store.EntityID) []store.EntityID {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	delete(s.live.uncounted, first)
	some := []store.EntityID{first}
	for e := range s.live.uncounted {
		if len(some) == countBatch {
			break
		}
		delete(s.live.uncounted, e)
		if !s.isHub(e) {
			some = append(some, e)
		}
	}
	return some
}

func (s *snapshot) noteMatched(found ...store.EntityID) {
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	for _, e := range found {
		if _, ok := s.live.counts[entityDirection{e, store.Out}]; !ok {
			s.live.uncounted[e] = true
		}
	}
}

// countAll counts the edges of entities in both directions by one statement.
func (s *snapshot) countAll(ctx context.Context, entities []store.EntityID) error {
	counts := map[entityDirection]map[store.RelationID]int{}
	var ids []int64
	for _, e := range entities {
		for _, dir := range []store.Direction{store.Out, store.In} {
			of, err := s.literalCounts(ctx, e, dir)
			if err != nil {
				return err
			}
			counts[entityDirection{e, dir}] = of
		}
		id, err := s.nodeOf(e)
		if err != nil {
			return err
		}
		if id != noNode {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		rows, err := s.graph.reader.query(ctx, s.graph.countEdges(), s.graph.parameters(map[string]any{"ids": ids}))
		if err != nil {
			return err
		}
		for _, row := range rows {
			// A node that is not the entity any more is another one, which was not requested.
			e, ok, err := s.entity(ctx, number(row[0]), row[1])
			if err != nil {
				return err
			}
			of := counts[entityDirection{e, store.Direction(number(row[2]))}]
			if r, typed := s.Types[text(row[3])]; ok && typed && of != nil && !(s.graph.IncludeProperties &&
				s.literal(r)) {
				of[r] += int(number(row[4]))
			}
		}
	}
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	maps.Copy(s.live.counts, counts)
	return nil
}

// literalCounts counts the edges of relations that lead to literals: of an
// entity that was indexed as many as then.
func (s *snapshot) literalCounts(ctx context.Context, e store.EntityID,
	dir store.Direction) (map[store.RelationID]int, error) {
	counts := map[store.RelationID]int{}
	if !s.graph.IncludeProperties {
		return counts, nil
	}
	if s.isIndexed(e) {
		return s.indexedCounts(ctx, e, dir, s.literal)
	}
	relations := []store.RelationID{}
	for r := range s.byProperty {
		relations = append(relations, r)
	}
	if s.LabelRelation != nil {
		relations = append(relations, *s.LabelRelation)
	}
	lists, err := s.edges(ctx, []store.EntityID{e}, dir, relations, 0)
	if err != nil {
		return nil, err
	}
	for _, edge := range lists[0] {
		counts[edge.Relation]++
	}
	return counts, nil
}

func (s *snapshot) indexedCounts(ctx context.Context, e store.EntityID, dir store.Direction,
	of func(store.RelationID) bool) (map[store.RelationID]int, error) {
	then, err := s.local.Relations(ctx, e, dir)
	counts := map[store.RelationID]int{}
	for _, c := range then {
		if of(c.Relation) {
			counts[c.Relation] = c.Edges
		}
	}
	return counts, err
}

// Sample implements store.Walker. Which edges are spread evenly is known from
// when the graph was indexed; Neo4j says which of them are there.
func (s *snapshot) Sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID,
	most int) ([]store.Edge, error) {
	edges, err := s.sample(ctx, entity, dir, relation, most)
	return edges, s.wrap("sample edges", err)
}

func (s *snapshot) sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID,
	most int) ([]store.Edge, error) {
	if most <= 0 {
		return nil, ctx.Err()
	}
	var spread []store.Edge
	if s.isIndexed(entity) {
		var err error
		if spread, err = s.local.Sample(ctx, entity, dir, relation, most); err != nil {
			return nil, err
		}
	}
	if len(spread) < most {
		lists, err := s.edges(ctx, []store.EntityID{entity}, dir, []store.RelationID{relation}, most)
		if err != nil {
			return nil, err
		}
		return lists[0], nil
	}
	ids := make([]store.TripleID, len(spread))
	for i, e := range spread {
		ids[i] = e.Triple
	}
	there, err := s.confirm(ctx, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(spread), func(e store.Edge) bool { return !there[e.Triple] }), nil
}
