package walk

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// prospect is a candidate path.
type prospect struct {
	topic store.EntityID
	steps []Step
	// reach are the entities it leads to, ascending; ends those of them that can be an answer.
	reach, ends []store.EntityID
	// via is the entity before each of reach, or severalEntities.
	via []store.EntityID
	// hops counts its steps except those that start from mediators only: a fact over a mediator is
	// one fact.
	hops int
	// relations is the sum of its relations' vectors, once sum was called; length is that of the sum,
	// squared, and near its products with the aim's vectors.
	relations []float32
	length    float32
	near      []float32
	// ways is the sum, over all hops but the first, of the natural logarithm of the number of
	// alternatives.
	ways float32
	// fit is its alignment with the question's words, score its rank.
	fit, score float32
	// probability is the ranker's.
	probability *float32
}

// explore finds paths of up to maxHops hops around the topic entities and returns the most
// promising of each length, judged by the stored vectors of their relations: nothing is encoded
// here.
func explore(ctx context.Context, snap Snapshot, aim *aim, topics []store.EntityID, maxHops int) ([]*prospect, error) {
	var found, frontier []*prospect
	for _, t := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		frontier = append(frontier, &prospect{topic: t, reach: []store.EntityID{t},
			via: []store.EntityID{severalEntities}, near: make([]float32, 1+len(aim.proposed))})
	}
	e := &extender{snap: snap, aim: aim, places: map[store.RelationID]int{}}
	for range maxHops {
		next, err := e.extend(ctx, frontier)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(next, compareProspects)
		answering := slices.Clone(next)
		answering = slices.DeleteFunc(answering, func(p *prospect) bool { return len(p.ends) == 0 })
		found = append(found, answering[:min(len(answering), maxFinalists)]...)
		frontier = selectBeam(next)
	}
	return found, nil
}

// selectBeam returns the best prospects that the search continues from.
func selectBeam(ranked []*prospect) []*prospect {
	var kept []*prospect
	for _, p := range ranked {
		if len(p.reach) > maxReach {
			continue
		}
		if kept = append(kept, p); len(kept) == beamWidth {
			break
		}
	}
	return kept
}

// extender extends prospects by a hop. It reuses memory from prospect to prospect.
type extender struct {
	snap Snapshot
	aim  *aim
	// groups are the edges of a prospect by relation, places their indexes.
	groups []edgeGroup
	places map[store.RelationID]int
	// arrivals are the entities that edges lead to, with those that they come from, by group.
	arrivals []uint64
}

// edgeGroup is a range of arrivals: those from first to last are set.
type edgeGroup struct {
	relation    store.RelationID
	size        int
	first, last int
}

// extend extends every prospect by every possible hop, with one read of the store per direction, and
// scores the result.
func (e *extender) extend(ctx context.Context, frontier []*prospect) ([]*prospect, error) {
	onwards := make([][]*prospect, len(frontier))
	for _, dir := range []store.Direction{store.Out, store.In} {
		entities, read := affordableEntities(e.snap, frontier, dir)
		lists, err := e.snap.Edges(ctx, entities, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, p := range frontier {
			if read[i] {
				onwards[i] = append(onwards[i], e.extendInto(p, entities, lists, dir)...)
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
			n.scoreRoughly(e.snap, e.aim)
		}
		next = append(next, onwards[i]...)
	}
	return next, nil
}

// affordableEntities returns the entities, ascending, whose edges one hop reads in a direction, and
// whether each prospect is covered: from the best prospect down, those that would read too many
// edges are skipped. The first topic entity is always covered.
func affordableEntities(snap Snapshot, frontier []*prospect,
	dir store.Direction) (entities []store.EntityID, read []bool) {
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
		if !first && total+added > maxHopReads || first && i > 0 && total+added > maxTopicReads {
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

// extendInto returns the prospects one hop after p in a direction. lists are the edges of entities,
// which are ascending.
func (e *extender) extendInto(p *prospect, entities []store.EntityID, lists [][]store.Edge,
	dir store.Direction) []*prospect {
	e.group(p, entities, lists)
	for i, from := range p.reach {
		at, _ := slices.BinarySearch(entities, from)
		var group *edgeGroup
		back := false
		for _, edge := range lists[at] {
			if group == nil || edge.Relation != group.relation {
				group = &e.groups[e.places[edge.Relation]]
				back = len(p.steps) > 0 &&
					Step{Relation: edge.Relation, Inverse: dir == store.In}.undoes(p.steps[len(p.steps)-1])
			}
			if edge.Entity != p.topic && (!back || edge.Entity != p.via[i]) {
				e.arrivals[group.last] = uint64(edge.Entity)<<32 | uint64(from)
				group.last++
			}
		}
	}
	hops := p.hops
	if len(p.steps) == 0 || len(p.ends) > 0 {
		hops++
	}
	next := make([]*prospect, 0, len(e.groups))
	for _, group := range e.groups {
		arrivals := e.arrivals[group.first:group.last]
		if len(arrivals) == 0 {
			continue
		}
		slices.Sort(arrivals)
		n := &prospect{
			topic: p.topic,
			steps: append(slices.Clone(p.steps), Step{Relation: group.relation, Inverse: dir == store.In}),
			hops:  hops,
		}
		n.setReach(arrivals)
		e.addRelation(n, p, group.relation)
		next = append(next, n)
	}
	return next
}

// group makes room for the arrivals of each relation.
func (e *extender) group(p *prospect, entities []store.EntityID, lists [][]store.Edge) {
	e.groups = e.groups[:0]
	clear(e.places)
	total := 0
	for _, from := range p.reach {
		at, _ := slices.BinarySearch(entities, from)
		list := lists[at]
		total += len(list)
		for first := 0; first < len(list); {
			relation, last := list[first].Relation, first+1
			for last < len(list) && list[last].Relation == relation {
				last++
			}
			place, ok := e.places[relation]
			if !ok {
				place = len(e.groups)
				e.places[relation], e.groups = place, append(e.groups, edgeGroup{relation: relation})
			}
			e.groups[place].size += last - first
			first = last
		}
	}
	if total > len(e.arrivals) {
		e.arrivals = make([]uint64, total)
	}
	first := 0
	for i := range e.groups {
		e.groups[i].first, e.groups[i].last = first, first
		first += e.groups[i].size
	}
}

// setReach sets the entities that sorted arrivals lead to.
func (p *prospect) setReach(arrivals []uint64) {
	distinct := 1
	for i, a := range arrivals[1:] {
		if a>>32 != arrivals[i]>>32 {
			distinct++
		}
	}
	both := make([]store.EntityID, 0, 2*distinct)
	p.reach, p.via = both[:0:distinct], both[distinct:distinct]
	for _, a := range arrivals {
		to, from := store.EntityID(a>>32), store.EntityID(a)
		if last := len(p.reach) - 1; last < 0 || p.reach[last] != to {
			p.reach, p.via = append(p.reach, to), append(p.via, from)
		} else if p.via[last] != from {
			p.via[last] = severalEntities
		}
	}
}

// addRelation sets what the vectors of n's relations give: those of p and one more. The sum itself is
// needed of few prospects.
func (e *extender) addRelation(n, p *prospect, relation store.RelationID) {
	products := e.aim.products(e.snap, relation)
	n.length = p.length + products.length
	if len(p.steps) > 0 {
		n.length += 2 * vector.Dot(p.sum(e.snap), e.snap.RelationVector(relation))
	}
	n.near = make([]float32, len(p.near))
	for i, x := range p.near {
		n.near[i] = x + products.near[i]
	}
}

// sum returns the sum of the vectors of its relations.
func (p *prospect) sum(snap Snapshot) []float32 {
	if p.relations == nil {
		p.relations = slices.Clone(snap.RelationVector(p.steps[0].Relation))
		for _, step := range p.steps[1:] {
			for i, x := range snap.RelationVector(step.Relation) {
				p.relations[i] += x
			}
		}
	}
	return p.relations
}

// severalEntities stands for more than one entity.
const severalEntities = ^store.EntityID(0)

// scoreRoughly sets the ends and the score without encoding.
func (p *prospect) scoreRoughly(snap Snapshot, aim *aim) {
	isMediator := func(e store.EntityID) bool { return snap.Kind(e) == store.Mediator }
	p.ends = p.reach
	if slices.ContainsFunc(p.reach, isMediator) {
		p.ends = slices.DeleteFunc(slices.Clone(p.reach), isMediator)
	}
	length := float32(1)
	if p.length > 0 {
		length = float32(math.Sqrt(float64(p.length)))
	}
	p.fit = aim.matchWords(snap, p)
	p.score = aim.weigh(p.near)/length + p.fit
	if len(p.ends) > 0 {
		p.score = p.penalise(p.score)
	}
}

// compareProspects orders by falling score, then topic, then steps.
func compareProspects(a, b *prospect) int {
	if a.score != b.score { // nearly always
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Or(cmp.Compare(a.topic, b.topic), slices.CompareFunc(a.steps, b.steps, compareSteps))
}

func compareSteps(a, b Step) int {
	direction := cmp.Compare(a.direction(), b.direction())
	return cmp.Or(cmp.Compare(a.Relation, b.Relation), direction)
}

// key is equal for prospects with the same topic entity and ends.
func (p *prospect) key() string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(p.topic))
	for _, e := range p.ends {
		b = binary.LittleEndian.AppendUint32(b, uint32(e))
	}
	return string(b)
}
