package neo4j

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Relations implements store.Walker. Neo4j counts; no edge is read.
func (s *snapshot) Relations(ctx context.Context, entity store.EntityID, dir store.Direction) ([]store.RelationEdges, error) {
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

func (s *snapshot) count(ctx context.Context, entity store.EntityID, dir store.Direction) (map[store.RelationID]int, error) {
	counts := map[store.RelationID]int{}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.graph.IncludeProperties {
		if err := s.countLiterals(ctx, entity, dir, counts); err != nil {
			return nil, err
		}
	}
	id, err := s.nodeOf(entity)
	if err != nil || id == noNode {
		return counts, err
	}
	rows, err := s.graph.reader.read(ctx, s.graph.counted(dir), s.graph.with(map[string]any{"id": id}))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		is, ok, err := s.entity(ctx, id, row[0])
		if err != nil {
			return nil, err
		}
		if !ok || is != entity {
			return map[store.RelationID]int{}, nil
		}
		if r, ok := s.Types[text(row[1])]; ok && !(s.graph.IncludeProperties && s.literal(r)) {
			counts[r] += int(number(row[2]))
		}
	}
	return counts, nil
}

// countLiterals counts the edges of relations that lead to literals by reading
// them: a node's are few, and a literal's are only known one by one.
func (s *snapshot) countLiterals(ctx context.Context, entity store.EntityID, dir store.Direction, counts map[store.RelationID]int) error {
	var relations []store.RelationID
	for r := range s.byProperty {
		relations = append(relations, r)
	}
	if s.LabelRelation != nil {
		relations = append(relations, *s.LabelRelation)
	}
	lists, err := s.edges(ctx, []store.EntityID{entity}, dir, append([]store.RelationID{}, relations...), 0)
	if err != nil {
		return err
	}
	for _, e := range lists[0] {
		counts[e.Relation]++
	}
	return nil
}

// Sample implements store.Walker. Which edges are spread evenly is known from
// when the graph was indexed; Neo4j says which of them are there.
func (s *snapshot) Sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID, most int) ([]store.Edge, error) {
	edges, err := s.sample(ctx, entity, dir, relation, most)
	return edges, s.wrap("sample edges", err)
}

func (s *snapshot) sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID, most int) ([]store.Edge, error) {
	if most <= 0 {
		return nil, ctx.Err()
	}
	var spread []store.Edge
	if s.known(entity) {
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
