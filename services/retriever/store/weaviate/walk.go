package weaviate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// maxEntitiesPerRequest is the number of entities' edges one request asks for, page how many
	// edges it answers with at most: a node reads some ten thousand rows a second.
	maxEntitiesPerRequest, maxEdgesPerRequest = 1000, 2500
	// unknownDegree is the number of edges an entity is taken to have of which
	// nothing is known yet.
	unknownDegree = 32
)

// end is the property by which edges of a direction are found, and place the
// one in which they lie one after the other.
var (
	endOf   = [2]string{store.Out: propSubject, store.In: propObject}
	placeOf = [2]string{store.Out: propTriple, store.In: propPlace}
)

// Edges implements store.Walker: one request for a hop, unless it is a large one.
func (s *snapshot) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.wrap("walk", err)
	}
	found, err := s.graph.edgesOf(ctx, entities, dir, relations)
	if err != nil {
		return nil, s.wrap("walk", err)
	}
	lists := make([][]store.Edge, len(entities))
	for i, e := range entities {
		lists[i] = found[e]
	}
	return lists, nil
}

// edgesOf returns the edges of some entities, by relation, then by triple.
func (g *graph) edgesOf(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) (map[store.EntityID][]store.Edge, error) {
	relations = sortedDistinct(relations)
	found := make(map[store.EntityID][]store.Edge, len(entities))
	var missing []store.EntityID
	for _, e := range entities {
		if _, again := found[e]; again {
			continue
		}
		found[e] = nil
		if known, ok := g.entities.Get(e); ok && known.degree[dir] == 0 || relations != nil && len(relations) == 0 {
			continue
		}
		if list, ok := g.edges.Get(entityDirection{e, dir}); ok {
			found[e] = filterRelations(list, relations)
			continue
		}
		missing = append(missing, e)
	}
	var mutex sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for _, some := range g.portions(missing, dir) {
		group.Go(func() error {
			lists, err := g.readEdges(ctx, some, dir, relations)
			mutex.Lock()
			defer mutex.Unlock()
			maps.Copy(found, lists)
			return err
		})
	}
	return found, group.Wait()
}

func sortedDistinct(relations []store.RelationID) []store.RelationID {
	if relations == nil {
		return nil
	}
	sorted := slices.Clone(relations)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// filterRelations keeps the edges of some relations, which ascend; nil are all.
func filterRelations(list []store.Edge, relations []store.RelationID) []store.Edge {
	if relations == nil {
		return list
	}
	var some []store.Edge
	for _, e := range list {
		if _, ok := slices.BinarySearch(relations, e.Relation); ok {
			some = append(some, e)
		}
	}
	return some
}

// portions divides entities so that the edges of each part probably fit in one answer.
func (g *graph) portions(entities []store.EntityID, dir store.Direction) [][]store.EntityID {
	var all [][]store.EntityID
	begin, sum := 0, 0
	for i, e := range entities {
		n := unknownDegree
		if known, ok := g.entities.Get(e); ok {
			n = int(known.degree[dir])
		}
		if i > begin && (sum+n > maxEdgesPerRequest-1 || i-begin == maxEntitiesPerRequest) {
			all, begin, sum = append(all, entities[begin:i]), i, 0
		}
		sum += n
	}
	if begin < len(entities) {
		all = append(all, entities[begin:])
	}
	return all
}

// readEdges reads the edges of a part. What does not fit in one answer is
// divided; a hub's edges are read place by place.
func (g *graph) readEdges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) (lists map[store.EntityID][]store.Edge, err error) {
	var some *pb.Filters
	if relations != nil {
		some = anyOf(propRelation, relations)
	}
	full := false
	err = g.retryAtHigherLevels(func(level pb.ConsistencyLevel) error {
		rows, err := g.rowsAt(ctx, factsPart, allOf(anyOf(endOf[dir], entities), some), maxEdgesPerRequest, false,
			level)
		if err != nil {
			return err
		}
		if full = len(rows) >= maxEdgesPerRequest; full {
			return nil
		}
		if lists, err = g.groupEdges(rows, entities, dir, relations); err != nil {
			return err
		}
		return g.compareCounts(ctx, lists, entities, dir, relations)
	})
	switch {
	case err != nil || !full:
		return lists, err
	case len(entities) == 1:
		list, err := g.readHub(ctx, entities[0], dir, relations)
		return map[store.EntityID][]store.Edge{entities[0]: list}, err
	}
	lists = map[store.EntityID][]store.Edge{}
	middle := len(entities) / 2
	for _, half := range [][]store.EntityID{entities[:middle], entities[middle:]} {
		part, err := g.readEdges(ctx, half, dir, relations)
		if err != nil {
			return nil, err
		}
		maps.Copy(lists, part)
	}
	return lists, nil
}

// groupEdges sorts rows into lists of edges.
func (g *graph) groupEdges(rows []*resultRow, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) (map[store.EntityID][]store.Edge, error) {
	lists := make(map[store.EntityID][]store.Edge, len(entities))
	for _, e := range entities {
		lists[e] = nil
	}
	for _, r := range rows {
		id, f, err := g.readFact(r)
		if err != nil {
			return nil, err
		}
		here, edge := edgeOf(id, f, dir)
		list, asked := lists[here]
		if _, ok := slices.BinarySearch(relations, edge.Relation); !asked || relations != nil && !ok {
			return nil, fmt.Errorf("collection %s answers with triple %d, which was not requested: %w", r.collection,
				id, store.ErrCorrupt)
		}
		lists[here] = append(list, edge)
	}
	for _, list := range lists {
		slices.SortFunc(list, byRelation)
	}
	return lists, nil
}

func edgeOf(id store.TripleID, f fact, dir store.Direction) (store.EntityID, store.Edge) {
	if dir == store.In {
		return f.Object, store.Edge{Relation: f.Relation, Entity: f.Subject, Triple: id}
	}
	return f.Subject, store.Edge{Relation: f.Relation, Entity: f.Object, Triple: id}
}

func byRelation(a, b store.Edge) int {
	return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Triple, b.Triple))
}

// compareCounts compares lists with how many edges their entities have. Each
// row holds that of both its ends, so this rarely costs a read; of entities
// that no row names it is asked. Lists that are whole are kept.
func (g *graph) compareCounts(ctx context.Context, lists map[store.EntityID][]store.Edge, entities []store.EntityID,
	dir store.Direction, relations []store.RelationID) error {
	if relations != nil {
		for e, list := range lists {
			if known, ok := g.shapes.Get(e); ok {
				if n := countRelations(known.relations[dir], relations); n != len(list) {
					return g.countMismatch(e, len(list), n)
				}
			}
		}
		return nil
	}
	ends, err := g.readEntities(ctx, entities)
	if err != nil {
		return err
	}
	for e, list := range lists {
		if n := int(ends[e].degree[dir]); n != len(list) {
			return g.countMismatch(e, len(list), n)
		}
		if len(list) <= maxCachedEdges {
			g.edges.Add(entityDirection{e, dir}, list)
		}
	}
	return nil
}

func countRelations(counts []store.RelationEdges, relations []store.RelationID) int {
	n := 0
	for _, c := range counts {
		if _, ok := slices.BinarySearch(relations, c.Relation); ok {
			n += c.Edges
		}
	}
	return n
}

func (g *graph) countMismatch(e store.EntityID, got, want int) error {
	return fmt.Errorf("collection %s answers with %d edges of entity %d, want %d: %w", g.collection(factsPart), got, e,
		want, store.ErrCorrupt)
}

// readHub reads the edges of an entity that has more of them than one answer
// holds: they lie in places one after the other.
func (g *graph) readHub(ctx context.Context, e store.EntityID, dir store.Direction,
	relations []store.RelationID) ([]store.Edge, error) {
	of, err := g.shape(ctx, e)
	if err != nil {
		return nil, err
	}
	type window struct{ from, to int64 }
	var windows []window
	at := of.first[dir]
	for _, c := range of.relations[dir] {
		end := at + int64(c.Edges)
		if _, ok := slices.BinarySearch(relations, c.Relation); relations == nil || ok {
			if last := len(windows) - 1; last >= 0 && windows[last].to == at {
				windows[last].to = end
			} else {
				windows = append(windows, window{at, end})
			}
		}
		at = end
	}
	var parts []window
	for _, w := range windows {
		for from := w.from; from < w.to; from += maxEdgesPerRequest {
			parts = append(parts, window{from, min(from+maxEdgesPerRequest, w.to)})
		}
	}
	read := make([][]store.Edge, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i, w := range parts {
		group.Go(func() error {
			return g.retryAtHigherLevels(func(level pb.ConsistencyLevel) error {
				rows, err := g.rowsAt(ctx, factsPart, between(placeOf[dir], w.from, w.to), maxEdgesPerRequest, false,
					level)
				if err != nil {
					return err
				}
				lists, err := g.groupEdges(rows, []store.EntityID{e}, dir, relations)
				if err != nil {
					return err
				}
				if read[i] = lists[e]; len(read[i]) != int(w.to-w.from) {
					return g.countMismatch(e, len(read[i]), int(w.to-w.from))
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	list := slices.Concat(read...)
	slices.SortFunc(list, byRelation)
	return list, nil
}

func (s *snapshot) Relations(ctx context.Context, entity store.EntityID,
	dir store.Direction) ([]store.RelationEdges, error) {
	of, err := s.graph.shape(ctx, entity)
	if err != nil {
		return nil, s.wrap("count relations", err)
	}
	return slices.Clone(of.relations[dir]), nil
}

// Sample implements store.Walker. An entity that is not a hub is read whole, once
// for all its relations.
func (s *snapshot) Sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID,
	most int) ([]store.Edge, error) {
	list, err := s.graph.sample(ctx, entity, dir, relation, most)
	return list, s.wrap("sample edges", err)
}

func (g *graph) sample(ctx context.Context, e store.EntityID, dir store.Direction, relation store.RelationID,
	most int) ([]store.Edge, error) {
	of, err := g.shape(ctx, e)
	if err != nil {
		return nil, err
	}
	begin, total, all := of.first[dir], 0, 0
	for _, c := range of.relations[dir] {
		switch {
		case c.Relation < relation:
			begin += int64(c.Edges)
		case c.Relation == relation:
			total = c.Edges
		}
		all += c.Edges
	}
	take := min(most, total)
	if take <= 0 {
		return nil, nil
	}
	var list []store.Edge
	if all <= maxCachedEdges {
		lists, err := g.edgesOf(ctx, []store.EntityID{e}, dir, nil)
		if err != nil {
			return nil, err
		}
		of := filterRelations(lists[e], []store.RelationID{relation})
		for taken := range take {
			list = append(list, of[taken*total/take])
		}
		return list, nil
	}
	places := make([]uint32, take)
	for taken := range take {
		places[taken] = uint32(begin + int64(taken)*int64(total)/int64(take))
	}
	err = forEachRow(ctx, g, factsPart, placeOf[dir], places, lookupBatch, false, func(_ uint32, r *resultRow) error {
		id, f, err := g.readFact(r)
		here, edge := edgeOf(id, f, dir)
		if err == nil && (here != e || edge.Relation != relation) {
			r.corruptf("is not where entity %d has its edges of relation %d", e, relation)
			err = r.err
		}
		list = append(list, edge)
		return err
	})
	slices.SortFunc(list, byRelation)
	return list, err
}
