package walk

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Limits on the search for steps beyond mediators.
const (
	// sampleSize is the number of sampled edges of a relation: they lead to entities of one kind
	// whose facts have the same parts.
	sampleSize = 32
	// maxMediatorDegree is the maximum degree of a mediator that joins the parts of a fact; others
	// are not read.
	maxMediatorDegree = 1000
)

// Way is a first step from an entity.
type Way struct {
	Step
	// Triples is the number of the entity's triples with this step.
	Triples int
	// Onward are the steps from the mediators it leads to, most frequent first.
	Onward []Step
	// Opaque reports that all sampled edges lead to mediators.
	Opaque bool
}

// WaysReader is the part of a snapshot that ListWays and FindOnward read.
type WaysReader interface {
	store.Walker
	Kind(store.EntityID) store.Kind
}

// ListWays returns the steps from an entity by direction and relation. nil relations means all.
func ListWays(ctx context.Context, snap WaysReader, entity store.EntityID, directions []store.Direction,
	relations []store.RelationID) ([]Way, error) {
	var ways []Way
	for _, dir := range directions {
		counts, err := snap.Relations(ctx, entity, dir)
		if err != nil {
			return nil, err
		}
		for _, c := range counts {
			if relations == nil || slices.Contains(relations, c.Relation) {
				ways = append(ways, Way{Step: Step{Relation: c.Relation, Inverse: dir == store.In}, Triples: c.Edges})
			}
		}
	}
	return ways, nil
}

// FindOnward sets the Onward steps of ways that lead to mediators, except those back to the entity.
func FindOnward(ctx context.Context, snap WaysReader, entity store.EntityID, ways []Way) error {
	via := make([][]store.Edge, len(ways))
	var mediators []store.EntityID
	for i := range ways {
		edges, err := snap.Sample(ctx, entity, ways[i].Direction(), ways[i].Relation, sampleSize)
		if err != nil {
			return err
		}
		for _, e := range edges {
			if snap.Kind(e.Entity) == store.Mediator && snap.Degree(e.Entity, store.Out)+snap.Degree(e.Entity,
				store.In) <= maxMediatorDegree {
				via[i] = append(via[i], e)
				mediators = append(mediators, e.Entity)
			}
		}
		ways[i].Opaque = !slices.ContainsFunc(edges,
			func(e store.Edge) bool { return snap.Kind(e.Entity) != store.Mediator })
	}
	if len(mediators) == 0 {
		return nil
	}
	slices.Sort(mediators)
	mediators = slices.Compact(mediators)
	counts := make([]map[Step]int, len(ways))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := snap.Edges(ctx, mediators, dir, nil)
		if err != nil {
			return err
		}
		for i := range ways {
			if counts[i] == nil {
				counts[i] = map[Step]int{}
			}
			for _, to := range via[i] {
				countOnward(snap, counts[i], entity, to, edgesFrom(to.Entity, mediators, lists), dir)
			}
		}
	}
	for i := range ways {
		ways[i].Onward = sortByCount(counts[i])
	}
	return nil
}

// countOnward counts the steps from the mediator that an edge leads to, each once.
func countOnward(snap WaysReader, counts map[Step]int, entity store.EntityID, by store.Edge, edges []store.Edge,
	dir store.Direction) {
	counted := ^store.RelationID(0)
	for _, e := range edges {
		if e.Relation == counted || e.Triple == by.Triple || e.Entity == entity ||
			snap.Kind(e.Entity) == store.Mediator {
			continue
		}
		counted = e.Relation // edges come by relation
		counts[Step{Relation: e.Relation, Inverse: dir == store.In}]++
	}
}

func sortByCount(counts map[Step]int) []Step {
	steps := make([]Step, 0, len(counts))
	for s := range counts {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b Step) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), CompareSteps(a, b)) })
	return steps
}
