package walk

import (
	"context"
	"slices"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Plan is a relation path to follow.
type Plan struct {
	// Steps are its hops, one at least.
	Steps []Step
	// Topics are the topic entities to start from.
	Topics []store.EntityID
}

// Limit bounds what following yields.
type Limit struct {
	// Walks is the most walks of each plan from each of its topic entities.
	Walks int
	// Question returns the question's vector, by which the walks are chosen
	// where there are more. It is called only then. nil, or a nil vector,
	// chooses by how well known their ends are.
	Question func(context.Context) ([]float32, error)
}

// Reader is what following needs of a snapshot.
type Reader interface {
	EntityName(store.EntityID) string
	RelationName(store.RelationID) string
	Kind(store.EntityID) store.Kind
	Degree(store.EntityID, store.Direction) int
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction, relations []store.RelationID) ([][]store.Edge, error)
	ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error)
}

// Follow walks all plans in one breadth-first pass: plans that begin alike
// share the walks of their beginning, and a hop is one read of the store per
// direction. It returns the walks of each plan in the order of its topics, then
// of the store's edges, and whether a limit cut anything off.
//
// A walk may pass an entity twice, but not go back at once over the triple it
// came by: that says nothing. Walks that end in a mediator are left out: it is
// no answer.
func Follow(ctx context.Context, snap Reader, plans []Plan, limit Limit) (walks [][]Walk, truncated bool, err error) {
	return follow(ctx, snap, plans, limit, defaults)
}

func follow(ctx context.Context, snap Reader, plans []Plan, limit Limit, within bounds) (walks [][]Walk, truncated bool, err error) {
	p := begin(ctx, snap, limit)
	p.left = within
	defer p.done()
	p.trie.grow(plans)
	for first, last := 0, p.trie.roots; first < last; first, last = last, p.trie.level(last) {
		for _, dir := range []store.Direction{store.Out, store.In} {
			if err := p.hop(first, last, dir); err != nil {
				return nil, false, err
			}
		}
	}
	walks = make([][]Walk, len(plans))
	for i, plan := range plans {
		if len(plan.Steps) == 0 {
			continue
		}
		if walks[i], err = p.collect(p.trie.ends[i], plan.Topics); err != nil {
			return nil, false, err
		}
	}
	return walks, p.truncated, p.date(walks)
}

// pass is one call of Follow.
type pass struct {
	ctx   context.Context
	snap  Reader
	trie  trie
	limit Limit
	left  bounds
	// arrivals are the last hops of all partial walks. Those of a node of the
	// trie stand together, and of these, those from one topic entity.
	arrivals  []arrival
	entities  []store.EntityID
	relations []store.RelationID
	last      []int32
	question  []float32
	asked     bool
	truncated bool
}

// passes keeps the memory of past passes: most of a pass's time would go into
// getting it again.
var passes = sync.Pool{New: func() any { return new(pass) }}

func begin(ctx context.Context, snap Reader, limit Limit) *pass {
	p := passes.Get().(*pass)
	*p = pass{
		ctx: ctx, snap: snap, limit: limit,
		trie:     trie{nodes: p.trie.nodes[:0], ends: p.trie.ends[:0]},
		arrivals: p.arrivals[:0], entities: p.entities, relations: p.relations, last: p.last,
	}
	return p
}

// tooLarge is how many arrivals are not worth keeping the memory of.
const tooLarge = 1 << 16

func (p *pass) done() {
	if cap(p.arrivals) > tooLarge {
		return
	}
	clear(p.trie.nodes) // they point to the caller's topic entities
	p.ctx, p.snap, p.limit, p.question = nil, nil, Limit{}, nil
	passes.Put(p)
}

// arrival is the last hop of a partial walk.
type arrival struct {
	entity store.EntityID
	triple store.TripleID
	topic  store.EntityID
	// from is where in the pass's arrivals the hop before is; -1 at the first.
	from int32
}

// hop fills the arrivals of the nodes first to last of the trie that go in a
// direction, with one read.
func (p *pass) hop(first, last int, dir store.Direction) error {
	relations, entities := p.relations[:0], p.entities[:0]
	for i := first; i < last; i++ {
		n := &p.trie.nodes[i]
		if n.step.direction() != dir {
			continue
		}
		relations = append(relations, n.step.Relation)
		if n.parent < 0 {
			entities = append(entities, n.topics...)
			continue
		}
		from := &p.trie.nodes[n.parent]
		for _, a := range p.arrivals[from.first:from.last] {
			entities = append(entities, a.entity)
		}
	}
	p.relations, p.entities = relations, entities
	if len(entities) == 0 {
		return nil
	}
	slices.Sort(relations)
	slices.Sort(entities)
	relations, entities = slices.Compact(relations), slices.Compact(entities)
	lists, err := p.read(entities, dir, relations)
	if err != nil {
		return err
	}
	for i := first; i < last; i++ {
		if n := &p.trie.nodes[i]; n.step.direction() == dir {
			p.arrive(n, entities, lists)
		}
	}
	return nil
}

// arrive goes a node's step from each of its parent's arrivals, or from its
// topic entities.
func (p *pass) arrive(n *node, entities []store.EntityID, lists [][]store.Edge) {
	n.first = int32(len(p.arrivals))
	if n.parent < 0 {
		for _, topic := range n.topics {
			if !p.room() {
				break
			}
			began := len(p.arrivals)
			for _, e := range p.few(of(edgesOf(topic, entities, lists), n.step.Relation)) {
				p.arrivals = append(p.arrivals, arrival{entity: e.Entity, triple: e.Triple, topic: topic, from: -1})
			}
			p.bound(began)
		}
		n.last = int32(len(p.arrivals))
		return
	}
	from := &p.trie.nodes[n.parent]
	began := len(p.arrivals)
	for i := from.first; i < from.last && p.room(); i++ {
		d := p.arrivals[i]
		if began < len(p.arrivals) && p.arrivals[began].topic != d.topic {
			p.bound(began)
			began = len(p.arrivals)
		}
		for _, e := range p.few(of(edgesOf(d.entity, entities, lists), n.step.Relation)) {
			if e.Triple != d.triple {
				p.arrivals = append(p.arrivals, arrival{entity: e.Entity, triple: e.Triple, topic: d.topic, from: i})
			}
		}
		if len(p.arrivals)-began > 4*p.breadth() {
			p.bound(began)
		}
	}
	p.bound(began)
	n.last = int32(len(p.arrivals))
}

// edgesOf finds the list of an entity; entities are ascending.
func edgesOf(e store.EntityID, entities []store.EntityID, lists [][]store.Edge) []store.Edge {
	if len(entities) == 1 {
		return lists[0]
	}
	at, _ := slices.BinarySearch(entities, e)
	return lists[at]
}

// of finds the edges of one relation in a list ordered by relation.
func of(edges []store.Edge, relation store.RelationID) []store.Edge {
	if len(edges) == 0 || (edges[0].Relation == relation && edges[len(edges)-1].Relation == relation) {
		return edges
	}
	first, found := slices.BinarySearchFunc(edges, relation, func(e store.Edge, r store.RelationID) int {
		return int(e.Relation) - int(r)
	})
	if !found {
		return nil
	}
	last := first
	for last < len(edges) && edges[last].Relation == relation {
		last++
	}
	return edges[first:last]
}
