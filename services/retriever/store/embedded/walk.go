package embedded

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func (s *snapshot) Degree(id store.EntityID, dir store.Direction) int {
	n := 0
	for _, l := range s.layers {
		if row, ok := l.row(int(id)); ok {
			at := l.graph.row(row, dir)
			n += at.to - at.from
		}
		if l.own.Removed > 0 {
			n -= l.removedCounts(dir).get(int(id))
		}
	}
	return n
}

func (l *layer) removedCounts(dir store.Direction) *tally {
	if dir == store.In {
		return &l.removedObjects
	}
	return &l.removedSubjects
}

// stretch is a run of edges of one entity in one layer.
type stretch struct {
	layer *layer
	at    span
}

// Edges implements store.Walker. First it finds where the edges lie, then it
// reads them all into one slice.
func (s *snapshot) Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
	relations []store.RelationID) ([][]store.Edge, error) {
	if relations != nil && !strictlyAscending(relations) {
		relations = slices.Compact(slices.Sorted(slices.Values(relations)))
	}
	result := make([][]store.Edge, len(entities))
	err := store.Guard(func() error {
		stretches := make([]stretch, 0, len(entities))
		ends := make([]int, len(entities))
		total := 0
		for i, e := range entities {
			if i%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			before := len(stretches)
			stretches = s.findStretches(stretches, int(e), dir, relations)
			for _, found := range stretches[before:] {
				total += found.at.to - found.at.from
			}
			ends[i] = len(stretches)
		}
		all := make([]store.Edge, 0, total)
		from := 0
		for i, to := range ends {
			start := len(all)
			for _, found := range stretches[from:to] {
				var err error
				if all, err = s.readEdges(ctx, all, found, dir); err != nil {
					return err
				}
			}
			if !s.isWhole() {
				slices.SortFunc(all[start:], byRelation)
			}
			result[i] = all[start:len(all):len(all)]
			from = to
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("walk", err)
	}
	return result, nil
}

func strictlyAscending(relations []store.RelationID) bool {
	for i := 1; i < len(relations); i++ {
		if relations[i-1] >= relations[i] {
			return false
		}
	}
	return true
}

func byRelation(a, b store.Edge) int {
	if a.Relation != b.Relation {
		return cmp.Compare(a.Relation, b.Relation)
	}
	return cmp.Compare(a.Triple, b.Triple)
}

// findStretches appends where an entity's edges of some relations lie; nil is all relations.
func (s *snapshot) findStretches(found []stretch, entity int, dir store.Direction,
	relations []store.RelationID) []stretch {
	for _, l := range s.layers {
		row, ok := l.row(entity)
		if !ok {
			continue
		}
		at := l.graph.row(row, dir)
		if at.from == at.to {
			continue
		}
		if relations == nil {
			found = append(found, stretch{l, at})
			continue
		}
		for _, r := range relations {
			// Relations ascend, and so do the edges.
			if at.from = l.graph.search(at, dir, uint64(r)); at.from == at.to {
				break
			}
			if end := l.graph.search(at, dir, uint64(r)+1); end > at.from {
				found = append(found, stretch{l, span{at.from, end}})
				at.from = end
			}
		}
	}
	return found
}

// readBlock is the number of edges read between two checks of the context.
const readBlock = 1 << 14

// readEdges appends the edges of a stretch that were not removed.
func (s *snapshot) readEdges(ctx context.Context, edges []store.Edge, from stretch,
	dir store.Direction) ([]store.Edge, error) {
	at := from.at
	for at.from < at.to {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block := span{at.from, min(at.to, at.from+readBlock)}
		start := len(edges)
		if dir == store.Out {
			edges = from.layer.readOut(edges, block)
		} else {
			edges = from.layer.readIn(edges, block)
		}
		if !s.isWhole() {
			kept := slices.DeleteFunc(edges[start:], func(e store.Edge) bool { return s.isRemoved(int(e.Triple)) })
			edges = edges[:start+len(kept)]
		}
		at.from = block.to
	}
	return edges, nil
}

func (l *layer) readOut(edges []store.Edge, at span) []store.Edge {
	g := &l.graph
	g.relations.Check(at.from, at.to)
	g.objects.Check(at.from, at.to)
	for place := at.from; place < at.to; place++ {
		edges = append(edges, store.Edge{
			Relation: store.RelationID(g.relations.GetChecked(place)),
			Entity:   l.entity(int(g.objects.GetChecked(place))),
			Triple:   store.TripleID(l.first.FirstTriple + place),
		})
	}
	return edges
}

func (l *layer) readIn(edges []store.Edge, at span) []store.Edge {
	g := &l.graph
	for _, c := range []*packedColumn{&g.byObject, &g.subjects, &g.inRelations} {
		c.Check(at.from, at.to)
	}
	for place := at.from; place < at.to; place++ {
		edges = append(edges, store.Edge{
			Relation: store.RelationID(g.inRelations.GetChecked(place)),
			Entity:   l.entity(int(g.subjects.GetChecked(place))),
			Triple:   store.TripleID(l.first.FirstTriple + int(g.byObject.GetChecked(place))),
		})
	}
	return edges
}
