package embedded

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// graph is the adjacency both ways. Triples lie in the order of subject, relation and object; a
// triple's number is its place. The other order is a permutation of these numbers.
type graph struct {
	// relations and objects are those of each triple.
	relations, objects packedColumn
	// out is where the triples of each subject begin, and where the last ends.
	out packedColumn
	// samples are the subjects of every sampleStep-th triple, so that finding
	// the subject of any is a short search of out.
	samples packedColumn
	// byObject are the numbers in the order of object, relation and triple, in is where those of
	// each object begin. subjects and inRelations are those of the triples in that order: looked up
	// by their numbers they would lie far apart.
	byObject, subjects, inRelations, in packedColumn
	// rows are the entities, triples the triples.
	rows, triples int
}

// sampleStep is a power of two: a sample costs less than a bit a triple.
const sampleStep = 32

// sampleCount is the number of samples.
func sampleCount(triples int) int { return (triples + sampleStep - 1) / sampleStep }

// span is a run of places in the order of a direction.
type span struct{ from, to int }

func (g *graph) offsets(dir store.Direction) *packedColumn {
	if dir == store.In {
		return &g.in
	}
	return &g.out
}

// row is where an entity's edges are.
func (g *graph) row(entity int, dir store.Direction) span {
	c := g.offsets(dir)
	c.Check(entity, entity+2)
	return span{int(c.GetChecked(entity)), int(c.GetChecked(entity + 1))}
}

// subject finds the subject of a triple: the last one whose triples begin at or before it.
func (g *graph) subject(triple int) int {
	sample := triple / sampleStep
	last := min(sample+1, g.samples.Len()-1)
	g.samples.Check(sample, last+1)
	low, high := int(g.samples.GetChecked(sample)), g.rows-1
	if last > sample {
		high = int(g.samples.GetChecked(last))
	}
	return g.out.Search(low, high+1, uint64(triple)+1) - 1
}

// search returns the first place in s whose relation is at least relation.
func (g *graph) search(s span, dir store.Direction, relation uint64) int {
	if dir == store.In {
		return g.inRelations.Search(s.from, s.to, relation)
	}
	return g.relations.Search(s.from, s.to, relation)
}

func (g *graph) relation(place int, dir store.Direction) uint64 {
	if dir == store.In {
		return g.inRelations.Get(place)
	}
	return g.relations.Get(place)
}

// Relations implements store.Walker. An entity's edges lie in the order of their
// relations, so that where each relation ends is searched for.
func (s *snapshot) Relations(ctx context.Context, entity store.EntityID,
	dir store.Direction) ([]store.RelationEdges, error) {
	counts := map[store.RelationID]int{}
	err := store.Guard(func() error {
		if s.hasRemovedEdges(entity, dir) {
			return s.countRemaining(ctx, entity, dir, counts)
		}
		for _, found := range s.findStretches(nil, int(entity), dir, nil) {
			for at := found.at; at.from < at.to; {
				if err := ctx.Err(); err != nil {
					return err
				}
				relation := found.layer.graph.relation(at.from, dir)
				end := found.layer.graph.search(at, dir, relation+1)
				counts[store.RelationID(relation)] += end - at.from
				at.from = end
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.wrap("count relations", err)
	}
	relations := make([]store.RelationEdges, 0, len(counts))
	for r, n := range counts {
		relations = append(relations, store.RelationEdges{Relation: r, Edges: n})
	}
	slices.SortFunc(relations, func(a, b store.RelationEdges) int { return int(a.Relation) - int(b.Relation) })
	return relations, nil
}

// hasRemovedEdges reports whether a delta took edges of an entity away.
func (s *snapshot) hasRemovedEdges(entity store.EntityID, dir store.Direction) bool {
	return slices.ContainsFunc(s.layers, func(l *layer) bool {
		return l.own.Removed > 0 && l.removedCounts(dir).get(int(entity)) > 0
	})
}

// countRemaining counts the edges that no delta took away.
func (s *snapshot) countRemaining(ctx context.Context, entity store.EntityID, dir store.Direction,
	counts map[store.RelationID]int) error {
	lists, err := s.Edges(ctx, []store.EntityID{entity}, dir, nil)
	if err != nil {
		return err
	}
	for _, e := range lists[0] {
		counts[e.Relation]++
	}
	return nil
}

func (s *snapshot) Sample(ctx context.Context, entity store.EntityID, dir store.Direction, relation store.RelationID,
	most int) (edges []store.Edge, err error) {
	err = store.Guard(func() error {
		stretches := s.findStretches(nil, int(entity), dir, []store.RelationID{relation})
		total := 0
		for _, found := range stretches {
			total += found.at.to - found.at.from
		}
		for taken := range min(most, total) {
			// The places of all stretches, one after the other, are 0…total-1.
			place := int(int64(taken) * int64(total) / int64(min(most, total)))
			for _, found := range stretches {
				if n := found.at.to - found.at.from; place >= n {
					place -= n
					continue
				}
				at := found.at.from + place
				if edges, err = s.readEdges(ctx, edges, stretch{found.layer, span{at, at + 1}}, dir); err != nil {
					return err
				}
				break
			}
		}
		slices.SortFunc(edges, byRelation)
		return nil
	})
	if err != nil {
		return nil, s.wrap("sample edges", err)
	}
	return edges, nil
}
