package neo4j

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// liveEdge is an edge as Neo4j has it now.
type liveEdge struct {
	relation store.RelationID
	entity   store.EntityID
	validity store.Validity
}

func compareEdges(a, b liveEdge) int {
	return cmp.Or(cmp.Compare(a.relation, b.relation), cmp.Compare(a.entity, b.entity),
		cmp.Compare(a.validity.Start, b.validity.Start), cmp.Compare(a.validity.End, b.validity.End))
}

// Edges implements store.Walker: one statement for all entities.
func (s *snapshot) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	lists, err := s.edges(ctx, entities, dir, relations, 0)
	return lists, s.wrap("walk", err)
}

func (s *snapshot) edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID, limit int) ([][]store.Edge, error) {
	result := make([][]store.Edge, len(entities))
	if err := ctx.Err(); err != nil || len(entities) == 0 || relations != nil && len(relations) == 0 {
		return result, err
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(entities)))
	before, err := s.indexedEdges(ctx, distinct, dir, relations)
	if err != nil {
		return nil, err
	}
	now, err := s.readEnds(ctx, distinct, dir, relations, limit)
	if err != nil {
		return nil, err
	}
	if dir == store.In {
		if err := s.literalEnds(ctx, distinct, before, now); err != nil {
			return nil, err
		}
	}
	merged := make([][]store.Edge, len(distinct))
	stale := 0
	for i, e := range distinct {
		var lost int
		merged[i], lost = s.merge(e, dir, now[i], before[i], limit == 0)
		stale += lost
	}
	s.countStale(ctx, stale)
	for i, e := range entities {
		at, _ := slices.BinarySearch(distinct, e)
		result[i] = merged[at]
	}
	return result, nil
}

// indexedEdges are the edges that entities had when the graph was indexed.
func (s *snapshot) indexedEdges(ctx context.Context, distinct []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	known, _ := slices.BinarySearch(distinct, store.EntityID(s.info.Entities))
	lists, err := s.local.Edges(ctx, distinct[:known], dir, relations)
	return append(lists, make([][]store.Edge, len(distinct)-known)...), err
}

// readEnds asks Neo4j for the edges of entities that are nodes.
func (s *snapshot) readEnds(ctx context.Context, distinct []store.EntityID, dir store.Direction,
	relations []store.RelationID, limit int) ([][]liveEdge, error) {
	found := make([][]liveEdge, len(distinct))
	ids := make([]int64, 0, len(distinct))
	place := make(map[int64]int, len(distinct))
	for i, e := range distinct {
		id, err := s.nodeOf(e)
		if err != nil {
			return nil, err
		}
		if id != noNode {
			ids = append(ids, id)
			place[id] = i
		}
	}
	types, literals := s.relationTypes(relations)
	literals = literals && dir == store.Out
	if len(ids) == 0 || relations != nil && len(types) == 0 && !literals {
		return found, nil
	}
	rows, err := s.graph.reader.query(ctx, s.graph.edges(dir, types, literals, limit),
		s.graph.parameters(map[string]any{"ids": ids, "of": types, "limit": limit}))
	if err != nil {
		return nil, err
	}
	// here are the nodes that still are what the entities were.
	here := map[int64]bool{}
	for _, row := range rows {
		if row[3] != nil {
			continue
		}
		id := number(row[0])
		e, ok, err := s.entity(ctx, id, row[1])
		if err != nil {
			return nil, err
		}
		i := place[id]
		if here[id] = ok && e == distinct[i]; here[id] && literals {
			if found[i], err = s.properties(ctx, found[i], list(row[2]), relations); err != nil {
				return nil, err
			}
		}
	}
	for _, row := range rows {
		id := number(row[0])
		relation, ok := s.Types[text(row[3])]
		if row[3] == nil || !here[id] || !ok {
			continue // Of another node, or of a type that was not indexed.
		}
		if found[place[id]], err = s.takeEnds(ctx, found[place[id]], relation, list(row[4])); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// takeEnds appends the ends of a node's relationships of one type.
func (s *snapshot) takeEnds(ctx context.Context, found []liveEdge, relation store.RelationID,
	ends []any) ([]liveEdge, error) {
	found = slices.Grow(found, len(ends))
	for _, one := range ends {
		of := list(one)
		if len(of) != 4 {
			continue
		}
		validity, bad := neo4j.ParseValidity(of[2], of[3])
		if bad != nil {
			continue // Nor was it taken when the graph was read.
		}
		e, ok, err := s.entity(ctx, number(of[0]), of[1])
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, liveEdge{relation, e, validity})
		}
	}
	return found, nil
}

// relationTypes are the types of relations, and whether there are literals among them; nil are all.
func (s *snapshot) relationTypes(relations []store.RelationID) (types []string, literals bool) {
	if relations == nil {
		return nil, s.graph.IncludeProperties
	}
	types = []string{}
	for _, r := range relations {
		types = append(types, s.byRelation[r]...)
		literals = literals || s.literal(r)
	}
	slices.Sort(types)
	return slices.Compact(types), literals && s.graph.IncludeProperties
}

// properties appends a node's labels and properties as edges.
func (s *snapshot) properties(ctx context.Context, found []liveEdge, more []any,
	relations []store.RelationID) ([]liveEdge, error) {
	if len(more) != 2 {
		return found, nil
	}
	wanted := func(r store.RelationID) bool { return relations == nil || slices.Contains(relations, r) }
	for _, l := range list(more[0]) {
		if e, ok := s.Labels[text(l)]; ok && s.LabelRelation != nil && wanted(*s.LabelRelation) {
			found = append(found, liveEdge{relation: *s.LabelRelation, entity: e})
		}
	}
	properties, _ := more[1].(map[string]any)
	for name, value := range properties {
		r, ok := s.Properties[name]
		if !ok || !wanted(r) {
			continue
		}
		for _, literal := range neo4j.Literals(value) {
			e, err := s.value(ctx, literal)
			if err != nil {
				return nil, err
			}
			found = append(found, liveEdge{relation: r, entity: e})
		}
	}
	return found, nil
}

// literalEnds adds the nodes that have a literal or a label: of those that had it when they were
// indexed, the ones that still do. To find others every node would have to be looked at.
func (s *snapshot) literalEnds(ctx context.Context, distinct []store.EntityID, before [][]store.Edge,
	now [][]liveEdge) error {
	if !s.graph.IncludeProperties {
		return nil
	}
	var ids []store.TripleID
	for i := range distinct {
		for _, e := range before[i] {
			if s.literal(e.Relation) {
				ids = append(ids, e.Triple)
			}
		}
	}
	there, err := s.confirm(ctx, ids)
	if err != nil {
		return err
	}
	for i := range distinct {
		for _, e := range before[i] {
			if s.literal(e.Relation) && there[e.Triple] {
				now[i] = append(now[i], liveEdge{relation: e.Relation, entity: e.Entity})
			}
		}
	}
	return nil
}

// merge makes edges of what Neo4j has now: those that were indexed keep their numbers, the others
// get new ones. If now is whole, lost counts those that are there no more.
func (s *snapshot) merge(from store.EntityID, dir store.Direction, now []liveEdge, before []store.Edge,
	whole bool) (edges []store.Edge, lost int) {
	slices.SortFunc(now, compareEdges)
	now = slices.Compact(now)
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	edges = make([]store.Edge, 0, len(now))
	i := 0
	// Edges that were indexed are in the order of relation, entity and
	// validity too: those of one entity are by triple, and these by subject.
	for _, b := range before {
		was := liveEdge{b.Relation, b.Entity, s.local.Validity(b.Triple)}
		for i < len(now) && compareEdges(now[i], was) < 0 {
			edges = append(edges, s.newEdge(from, dir, now[i]))
			i++
		}
		if i == len(now) || now[i] != was {
			if whole {
				s.live.confirmed[b.Triple] = false
				lost++
			}
			continue
		}
		s.live.confirmed[b.Triple] = true
		edges = append(edges, b)
		i++
	}
	for ; i < len(now); i++ {
		edges = append(edges, s.newEdge(from, dir, now[i]))
	}
	slices.SortFunc(edges, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Triple, b.Triple))
	})
	return edges, lost
}

// newEdge is an edge that was not indexed. The caller holds the lock.
func (s *snapshot) newEdge(from store.EntityID, dir store.Direction, e liveEdge) store.Edge {
	t := store.Triple{Subject: from, Relation: e.relation, Object: e.entity}
	if dir == store.In {
		t.Subject, t.Object = t.Object, t.Subject
	}
	return store.Edge{Relation: e.relation, Entity: e.entity,
		Triple: s.triple(store.DatedTriple{Triple: t, Validity: e.validity})}
}
