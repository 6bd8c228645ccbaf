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
	// edges are those of each of reach that the next hop may follow, by direction.
	edges [2][][]store.Edge
	// hops counts its steps except those that start from mediators only: a fact over a mediator is
	// one fact. hopOf is the number of the fact of each step, from 1.
	hops  int
	hopOf []int
	// relations is the sum of its relations' vectors, once sum was called.
	relations []float32
	similarity
	// ways is the sum, over all hops but the first, of the natural logarithm of the number of
	// alternatives.
	ways float32
	// score is its rank.
	score float32
	// probability is the ranker's.
	probability *float32
}

// similarity is how near the relations of a path are to the aim.
type similarity struct {
	// length is that of the sum of the relations' vectors, squared, near its products with the aim's
	// vectors, fit the alignment with the question's words.
	length, fit float32
	near        []float32
}

// explore finds paths of up to maxHops hops around the topic entities and returns the most
// promising of each length, at most finalists, judged by the stored vectors of their relations:
// nothing is encoded here.
func explore(ctx context.Context, snap Snapshot, aim *aim, topics []store.EntityID,
	maxHops, finalists int) ([]*prospect, error) {
	var found, frontier []*prospect
	for _, t := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		frontier = append(frontier, &prospect{topic: t, reach: []store.EntityID{t},
			via: []store.EntityID{severalEntities}, similarity: similarity{near: make([]float32, 1+len(aim.proposed))}})
	}
	e := newExtender(snap, aim, finalists)
	for hop := range maxHops {
		beam := beamWidth
		if hop == maxHops-1 {
			beam = 1 // no more hops follow
		}
		next, err := e.extend(ctx, frontier, beam)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(next, compareProspects)
		answering := slices.DeleteFunc(slices.Clone(next), func(p *prospect) bool { return len(p.ends) == 0 })
		found = append(found, answering[:min(len(answering), finalists)]...)
		next = slices.DeleteFunc(next, func(p *prospect) bool { return len(p.reach) > maxReach })
		frontier = next[:min(len(next), beamWidth)]
	}
	return found, nil
}

// extender extends prospects by a hop. It reuses memory from prospect to prospect.
type extender struct {
	snap      Snapshot
	aim       *aim
	finalists int
	// extensions are the possible hops; places are one more than the indexes of those of one prospect
	// and direction by relation, 0 for none.
	extensions []extension
	places     []int
	// arrivals are the entities that edges lead to, with those that they come from.
	arrivals []uint64
	// counted is memory of affordableEntities.
	counted map[store.EntityID]bool
}

func newExtender(snap Snapshot, aim *aim, finalists int) *extender {
	return &extender{snap: snap, aim: aim, finalists: finalists, counted: map[store.EntityID]bool{}}
}

// extension is a hop that leads from a prospect to other entities.
type extension struct {
	from *prospect
	step Step
	// answers reports whether it leads to an entity that can be an answer.
	answers bool
	// ways is that of the prospect it leads to, closeness its score without penalties; bound is an
	// upper bound of that score: the score of a single end.
	ways, closeness, bound float32
	similarity
	// longest are the edges that it follows from the entity that has the most, the from-th that its prospect reaches.
	longest     []store.Edge
	longestFrom int
}

// raise adds a score to the highest ones so far, which are ascending, in place of the lowest.
func raise(highest []float32, score float32) {
	if at, _ := slices.BinarySearch(highest, score); at > 0 {
		copy(highest, highest[1:at])
		highest[at-1] = score
	}
}

// extend extends prospects by a hop, with one read of the store per direction. It returns, scored,
// the best finalists that can be answers and the best beam that the search can continue from,
// among others. Others are not followed: their score without the penalty for many ends is too low.
func (e *extender) extend(ctx context.Context, frontier []*prospect, beam int) ([]*prospect, error) {
	for _, dir := range []store.Direction{store.Out, store.In} {
		entities, read := e.affordableEntities(frontier, dir)
		lists, err := e.snap.Edges(ctx, entities, dir, nil)
		if err != nil {
			return nil, err
		}
		for i, p := range frontier {
			if read[i] {
				p.edges[dir] = edgesOf(p.reach, entities, lists)
			}
		}
	}
	e.extensions = e.extensions[:0]
	for _, p := range frontier {
		first := len(e.extensions)
		e.list(p, store.Out)
		e.list(p, store.In)
		e.score(p, e.extensions[first:])
	}
	best := make([]*extension, len(e.extensions))
	for i := range e.extensions {
		best[i] = &e.extensions[i]
	}
	slices.SortFunc(best, func(a, b *extension) int { return cmp.Compare(b.bound, a.bound) })
	lowest := []float32{float32(math.Inf(-1))}
	answering, continuing := slices.Repeat(lowest, e.finalists), slices.Repeat(lowest, beam)
	isTooLow := func(x *extension) bool {
		return x.bound < continuing[0] && !(x.answers && x.bound >= answering[0])
	}
	var next []*prospect
	for _, x := range best {
		if isTooLow(x) {
			continue
		}
		if e.tighten(x); isTooLow(x) {
			continue
		}
		p := e.follow(x)
		if x.answers {
			raise(answering, p.score)
		}
		if len(p.reach) <= maxReach {
			raise(continuing, p.score)
		}
		next = append(next, p)
	}
	for _, p := range frontier {
		p.edges = [2][][]store.Edge{} // paths outlive the hop
	}
	return next, nil
}

// affordableEntities returns the entities, ascending, whose edges one hop reads in a direction, and
// whether each prospect is covered: from the best prospect down, those that would read too many
// edges are skipped. The first topic entity is always covered.
func (e *extender) affordableEntities(frontier []*prospect,
	dir store.Direction) (entities []store.EntityID, read []bool) {
	read = make([]bool, len(frontier))
	clear(e.counted)
	total := 0
	for i, p := range frontier {
		added, before := 0, len(entities)
		for _, entity := range p.reach {
			if !e.counted[entity] {
				e.counted[entity] = true
				entities = append(entities, entity)
				added += e.snap.Degree(entity, dir)
			}
		}
		first := len(p.steps) == 0
		if !first && total+added > maxHopReads || first && i > 0 && total+added > maxTopicReads {
			for _, entity := range entities[before:] {
				delete(e.counted, entity)
			}
			entities = entities[:before]
			continue
		}
		read[i] = true
		total += added
	}
	slices.Sort(entities)
	return entities, read
}

// leadsOn reports whether an edge of the i-th entity that p reaches leads to another entity than those
// that it comes from.
func (p *prospect) leadsOn(i int, edge store.Edge, undoes bool) bool {
	return edge.Entity != p.topic && (!undoes || edge.Entity != p.via[i])
}

// undoneBy reports whether a step reverses the last one.
func (p *prospect) undoneBy(step Step) bool {
	return len(p.steps) > 0 && step == p.steps[len(p.steps)-1].Reverse()
}

// list appends the extensions of a prospect in a direction.
func (e *extender) list(p *prospect, dir store.Direction) {
	first := len(e.extensions)
	for i, list := range p.edges[dir] {
		for len(list) > 0 {
			step, last := Step{Relation: list[0].Relation, Inverse: dir == store.In}, 1
			for last < len(list) && list[last].Relation == step.Relation {
				last++
			}
			run := list[:last]
			list = list[last:]
			if grow := int(step.Relation) + 1 - len(e.places); grow > 0 {
				e.places = append(e.places, make([]int, grow)...)
			}
			place, undoes := &e.places[step.Relation], p.undoneBy(step)
			for _, edge := range run {
				if *place > 0 && e.extensions[*place-1].answers {
					break
				}
				if !p.leadsOn(i, edge, undoes) {
					continue
				}
				if *place == 0 {
					e.extensions = append(e.extensions, extension{from: p, step: step})
					*place = len(e.extensions)
				}
				e.extensions[*place-1].answers = e.snap.Kind(edge.Entity) != store.Mediator
			}
			if *place > 0 && len(run) > len(e.extensions[*place-1].longest) {
				e.extensions[*place-1].longest, e.extensions[*place-1].longestFrom = run, i
			}
		}
	}
	for _, x := range e.extensions[first:] {
		e.places[x.step.Relation] = 0
	}
}

// tighten lowers the bound of an extension that can be an answer: it has at least the ends that its longest
// edges lead to.
func (e *extender) tighten(x *extension) {
	if !x.answers {
		return
	}
	undoes := x.from.undoneBy(x.step)
	ends, highest := 0, -1
	for _, edge := range x.longest { // ends that are not in ascending order are not counted
		if to := int(edge.Entity); to > highest && x.from.leadsOn(x.longestFrom, edge, undoes) {
			highest = to
			if e.snap.Kind(edge.Entity) != store.Mediator {
				ends++
			}
		}
	}
	x.bound = penalise(x.closeness, max(1, ends), x.ways)
}

// score sets what is known of the extensions of a prospect before they are followed.
func (e *extender) score(p *prospect, extensions []extension) {
	ways := p.ways
	if p.hops > 0 && p.nextHops() > p.hops {
		ways += float32(math.Log(float64(max(1, len(extensions)))))
	}
	steps := append(slices.Clone(p.steps), Step{})
	for i := range extensions {
		x := &extensions[i]
		x.ways, x.similarity = ways, e.addRelation(p, x.step.Relation)
		steps[len(p.steps)] = x.step
		x.fit = e.aim.matchWords(e.snap, p.topic, steps)
		x.closeness = x.similarity.closeness(e.aim)
		if x.bound = x.closeness; x.answers {
			x.bound = penalise(x.closeness, 1, ways)
		}
	}
}

// nextHops is the number of facts that the prospects after it join.
func (p *prospect) nextHops() int {
	if len(p.steps) == 0 || len(p.ends) > 0 {
		return p.hops + 1
	}
	return p.hops
}

// follow returns what an extension leads to.
func (e *extender) follow(x *extension) *prospect {
	undoes := x.from.undoneBy(x.step)
	e.arrivals = e.arrivals[:0]
	for i, list := range x.from.edges[x.step.Direction()] {
		for _, edge := range edgesWithRelation(list, x.step.Relation) {
			if x.from.leadsOn(i, edge, undoes) {
				e.arrivals = append(e.arrivals, uint64(edge.Entity)<<32|uint64(x.from.reach[i]))
			}
		}
	}
	slices.Sort(e.arrivals)
	hop := x.from.nextHops()
	p := &prospect{topic: x.from.topic, steps: append(slices.Clone(x.from.steps), x.step), hops: hop,
		hopOf: append(slices.Clone(x.from.hopOf), hop), similarity: x.similarity, ways: x.ways, score: x.closeness}
	p.setReach(e.arrivals)
	isMediator := func(entity store.EntityID) bool { return e.snap.Kind(entity) == store.Mediator }
	if p.ends = p.reach; slices.ContainsFunc(p.reach, isMediator) {
		p.ends = slices.DeleteFunc(slices.Clone(p.reach), isMediator)
	}
	if x.answers {
		p.score = penalise(x.closeness, len(p.ends), p.ways)
	}
	return p
}

// edgesOf returns the edges of each of reach, where lists are those of entities; both are ascending.
func edgesOf(reach, entities []store.EntityID, lists [][]store.Edge) [][]store.Edge {
	edges := make([][]store.Edge, len(reach))
	for i, from := range reach {
		at, _ := slices.BinarySearch(entities, from)
		edges[i], entities, lists = lists[at], entities[at:], lists[at:]
	}
	return edges
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

// addRelation returns the similarity of p's relations and one more, but for the fit. The sum itself is
// needed of few prospects.
func (e *extender) addRelation(p *prospect, relation store.RelationID) similarity {
	products := e.aim.products(e.snap, relation)
	length := p.length + products.length
	if len(p.steps) > 0 {
		length += 2 * vector.Dot(p.sum(e.snap), e.snap.RelationVector(relation))
	}
	near := make([]float32, len(p.near))
	for i, x := range p.near {
		near[i] = x + products.near[i]
	}
	return similarity{length: length, near: near}
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

// closeness is the score without penalties and without encoding.
func (s similarity) closeness(aim *aim) float32 {
	length := float32(1)
	if s.length > 0 {
		length = float32(math.Sqrt(float64(s.length)))
	}
	return aim.weigh(s.near)/length + s.fit
}

// compareProspects orders by falling score, then topic, then steps.
func compareProspects(a, b *prospect) int {
	if a.score != b.score { // nearly always
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Or(cmp.Compare(a.topic, b.topic), slices.CompareFunc(a.steps, b.steps, CompareSteps))
}

// key is equal for prospects with the same topic entity and ends.
func (p *prospect) key() string {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+4*len(p.ends)), uint32(p.topic))
	for _, e := range p.ends {
		b = binary.LittleEndian.AppendUint32(b, uint32(e))
	}
	return string(b)
}
