package walk

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/dot"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// prospect is a path under consideration.
type prospect struct {
	topic store.EntityID
	steps []Step
	// reach are the entities it leads to, ascending; ends those of them that
	// can be an answer.
	reach, ends []store.EntityID
	// via is the entity before each of reach, or several.
	via []store.EntityID
	// hops counts its steps, those that start from mediators alone left out: a
	// fact told over a mediator is one fact.
	hops int
	// sum adds up the vectors of its relations.
	sum []float32
	// ways adds up the natural logarithms of how many ways there were to go on
	// at each hop but the first.
	ways float32
	// fit is how it and the question's words explain each other; score is what
	// it is ranked by.
	fit, score float32
}

// explore finds the paths of up to maxHops hops around the topic entities and
// returns the most promising of each length, by the vectors of their relations
// alone: those are stored, so nothing is encoded here.
func explore(ctx context.Context, snap Snapshot, aim *aim, topics []store.EntityID, maxHops int) ([]*prospect, error) {
	var found, frontier []*prospect
	for _, t := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		frontier = append(frontier, &prospect{topic: t, reach: []store.EntityID{t}, via: []store.EntityID{several}, sum: make([]float32, len(aim.question))})
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
		frontier = beamOf(next)
	}
	return found, nil
}

// beamOf keeps the best prospects to go on from.
func beamOf(ranked []*prospect) []*prospect {
	var kept []*prospect
	for _, p := range ranked {
		if len(p.reach) > fan {
			continue
		}
		if kept = append(kept, p); len(kept) == beam {
			break
		}
	}
	return kept
}

// extend goes one hop in every way from every prospect, with one read of the
// store per direction.
func extend(ctx context.Context, snap Snapshot, frontier []*prospect) ([]*prospect, error) {
	onwards := make([][]*prospect, len(frontier))
	for _, dir := range []store.Direction{store.Out, store.In} {
		entities, read := affordable(snap, frontier, dir)
		lists, err := snap.Edges(ctx, entities, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, p := range frontier {
			if read[i] {
				onwards[i] = append(onwards[i], p.onwards(snap, entities, lists, dir)...)
			}
		}
	}
	var next []*prospect
	for i, p := range frontier {
		ways := float32(math.Log(float64(max(1, len(onwards[i])))))
		for _, n := range onwards[i] {
			n.ways = p.ways
			if n.hops > p.hops && p.hops > 0 {
				n.ways += ways
			}
		}
		next = append(next, onwards[i]...)
	}
	return next, nil
}

// affordable lists the entities, ascending, whose edges in a direction one hop
// reads, and for each prospect whether they are among them: from the best
// prospect down, one that passes a hub is left out where its edges would be too
// many. Topic entities are among them, as long as not several are hubs.
func affordable(snap Snapshot, frontier []*prospect, dir store.Direction) (entities []store.EntityID, read []bool) {
	read = make([]bool, len(frontier))
	counted := map[store.EntityID]bool{}
	total := 0
	for i, p := range frontier {
		added := 0
		for _, e := range p.reach {
			if !counted[e] {
				added += snap.Degree(e, dir)
			}
		}
		first := len(p.steps) == 0
		if !first && total+added > reads || first && i > 0 && total+added > topicReads {
			continue
		}
		read[i] = true
		total += added
		for _, e := range p.reach {
			if !counted[e] {
				counted[e] = true
				entities = append(entities, e)
			}
		}
	}
	slices.Sort(entities)
	return entities, read
}

// onwards lists the prospects one hop after p in a direction. lists holds the
// edges of entities, which are ascending.
func (p *prospect) onwards(snap Snapshot, entities []store.EntityID, lists [][]store.Edge, dir store.Direction) []*prospect {
	reached := map[store.RelationID][]uint64{}
	for i, from := range p.reach {
		at, _ := slices.BinarySearch(entities, from)
		var relation store.RelationID
		var bucket []uint64
		back := false
		for _, e := range lists[at] {
			if bucket == nil || e.Relation != relation {
				if bucket != nil {
					reached[relation] = bucket
				}
				relation = e.Relation
				bucket = reached[relation]
				back = len(p.steps) > 0 && Step{Relation: relation, Inverse: dir == store.In}.back(p.steps[len(p.steps)-1])
			}
			if e.Entity == p.topic || (back && e.Entity == p.via[i]) {
				continue
			}
			bucket = append(bucket, uint64(e.Entity)<<32|uint64(from))
		}
		if bucket != nil {
			reached[relation] = bucket
		}
	}
	hops := p.hops
	if len(p.steps) == 0 || len(p.ends) > 0 {
		hops++
	}
	next := make([]*prospect, 0, len(reached))
	for relation, arrivals := range reached {
		if len(arrivals) == 0 {
			continue
		}
		slices.Sort(arrivals)
		n := &prospect{
			topic: p.topic,
			steps: append(slices.Clone(p.steps), Step{Relation: relation, Inverse: dir == store.In}),
			hops:  hops,
			sum:   plus(p.sum, snap.RelationVector(relation)),
		}
		for _, a := range arrivals {
			e, from := store.EntityID(a>>32), store.EntityID(a)
			if last := len(n.reach) - 1; last < 0 || n.reach[last] != e {
				n.reach, n.via = append(n.reach, e), append(n.via, from)
			} else if n.via[last] != from {
				n.via[last] = several
			}
		}
		next = append(next, n)
	}
	return next
}

// several stands for more than one entity.
const several = ^store.EntityID(0)

// finish fills the ends and the rough score.
func (p *prospect) finish(snap Snapshot, aim *aim) {
	for _, e := range p.reach {
		if snap.Kind(e) != store.Mediator {
			p.ends = append(p.ends, e)
		}
	}
	length := float32(math.Sqrt(float64(dot.Product(p.sum, p.sum))))
	if length == 0 {
		length = 1
	}
	p.fit = aim.fit(snap, p)
	p.score = aim.closeness(p.sum)/length + p.fit
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
