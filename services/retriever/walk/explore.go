package walk

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// prospect is a path under consideration.
type prospect struct {
	topic store.EntityID
	steps []Step
	// reach are the entities it leads to, ascending; ends those of them that
	// can be an answer.
	reach, ends []store.EntityID
	// hops counts its steps, those that start from mediators alone left out: a
	// fact told over a mediator is one fact.
	hops int
	// sum adds up the vectors of its relations.
	sum   []float32
	score float32
}

// explore finds the paths of up to maxHops hops around the topic entities and
// returns the most promising of each length, by the vectors of their relations
// alone: those are stored, so nothing is encoded here.
func explore(ctx context.Context, snap Snapshot, aim *aim, topics []store.EntityID, maxHops int) ([]*prospect, error) {
	var found, frontier []*prospect
	for _, t := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		frontier = append(frontier, &prospect{topic: t, reach: []store.EntityID{t}, sum: make([]float32, len(aim.question))})
	}
	for range maxHops {
		next, err := extend(ctx, snap, frontier)
		if err != nil {
			return nil, err
		}
		for _, p := range next {
			p.finish(snap, aim)
		}
		slices.SortFunc(next, better)
		answering := slices.Clone(next)
		answering = slices.DeleteFunc(answering, func(p *prospect) bool { return len(p.ends) == 0 })
		found = append(found, answering[:min(len(answering), finalists)]...)
		frontier = affordable(next)
	}
	return found, nil
}

// affordable keeps the best prospects whose edges one more hop may read.
func affordable(ranked []*prospect) []*prospect {
	var kept []*prospect
	total := 0
	for _, p := range ranked {
		if len(p.reach) > fan || total+len(p.reach) > reads {
			continue
		}
		total += len(p.reach)
		if kept = append(kept, p); len(kept) == beam {
			break
		}
	}
	return kept
}

// extend goes one hop in every way from every prospect, with one read of the
// store per direction.
func extend(ctx context.Context, snap Snapshot, frontier []*prospect) ([]*prospect, error) {
	var entities []store.EntityID
	for _, p := range frontier {
		entities = append(entities, p.reach...)
	}
	slices.Sort(entities)
	entities = slices.Compact(entities)
	if len(entities) == 0 {
		return nil, nil
	}
	var next []*prospect
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := snap.Edges(ctx, entities, dir, nil)
		if err != nil {
			return nil, err
		}
		for _, p := range frontier {
			next = append(next, p.onwards(snap, entities, lists, dir)...)
		}
	}
	return next, nil
}

// onwards lists the prospects one hop after p in a direction. lists holds the
// edges of entities, which are ascending.
func (p *prospect) onwards(snap Snapshot, entities []store.EntityID, lists [][]store.Edge, dir store.Direction) []*prospect {
	reached := map[store.RelationID][]store.EntityID{}
	for _, from := range p.reach {
		at, _ := slices.BinarySearch(entities, from)
		through := snap.Kind(from) == store.Mediator
		for _, e := range lists[at] {
			step := Step{Relation: e.Relation, Inverse: dir == store.In}
			// Back the way it came: from a mediator that leads to the other
			// parties, from anything else only to what is like the topic.
			undone := len(p.steps) > 0 && step.back(p.steps[len(p.steps)-1])
			if e.Entity == p.topic || (undone && !through) {
				continue
			}
			reached[e.Relation] = append(reached[e.Relation], e.Entity)
		}
	}
	hops := p.hops
	if len(p.steps) == 0 || len(p.ends) > 0 {
		hops++
	}
	next := make([]*prospect, 0, len(reached))
	for relation, entities := range reached {
		slices.Sort(entities)
		next = append(next, &prospect{
			topic: p.topic,
			steps: append(slices.Clone(p.steps), Step{Relation: relation, Inverse: dir == store.In}),
			reach: slices.Compact(entities),
			hops:  hops,
			sum:   plus(p.sum, snap.RelationVector(relation)),
		})
	}
	return next
}

// finish fills the ends and the rough score.
func (p *prospect) finish(snap Snapshot, aim *aim) {
	for _, e := range p.reach {
		if snap.Kind(e) != store.Mediator {
			p.ends = append(p.ends, e)
		}
	}
	length := float32(math.Sqrt(float64(dot(p.sum, p.sum))))
	if length == 0 {
		length = 1
	}
	p.score = aim.closeness(p.sum) / length
	if len(p.ends) > 0 {
		p.score = p.worth(p.score)
	}
}

// better puts the higher score first; equal ones go by topic and steps.
func better(a, b *prospect) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.topic, b.topic), slices.CompareFunc(a.steps, b.steps, compareSteps))
}

func compareSteps(a, b Step) int {
	direction := cmp.Compare(a.direction(), b.direction())
	return cmp.Or(cmp.Compare(a.Relation, b.Relation), direction)
}

// key is equal for prospects from one topic entity with the same ends.
func (p *prospect) key() string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(p.topic))
	for _, e := range p.ends {
		b = binary.LittleEndian.AppendUint32(b, uint32(e))
	}
	return string(b)
}

func plus(a, b []float32) []float32 {
	sum := make([]float32, len(a))
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	return sum
}
