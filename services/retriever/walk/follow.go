package walk

import (
	"context"
	"slices"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Plan is a relation path to follow.
type Plan struct {
	// Steps are its hops, at least one.
	Steps []Step
	// Topics are the topic entities to start from.
	Topics []store.EntityID
}

// Limit limits the result of Follow.
type Limit struct {
	// Walks is the maximum number of walks of each plan from each of its topic entities.
	Walks int
	// Question returns the question's vector, which selects the walks if there are more. It is
	// called only then. Without a function or vector, walks with ends of the highest degree are
	// selected.
	Question func(context.Context) ([]float32, error)
}

// Reader is the part of a snapshot that Follow reads.
type Reader interface {
	EntityName(store.EntityID) string
	RelationName(store.RelationID) string
	Kind(store.EntityID) store.Kind
	Degree(store.EntityID, store.Direction) int
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
		relations []store.RelationID) ([][]store.Edge, error)
	ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error)
}

// Follow follows all plans in one breadth-first pass: plans with a common prefix share its walks,
// and a hop is one read of the store per direction. It returns the walks of each plan in the order
// of its topics, then of the store's edges, and whether a limit removed any.
//
// A walk may pass an entity twice, but does not return over the triple it has just followed. Walks
// that end in a mediator are omitted, because it is no answer.
func Follow(ctx context.Context, snap Reader, plans []Plan, limit Limit) (walks [][]Walk, truncated bool, err error) {
	return follow(ctx, snap, plans, limit, defaultBounds)
}

func follow(ctx context.Context, snap Reader, plans []Plan, limit Limit,
	within bounds) (walks [][]Walk, truncated bool, err error) {
	p := newPass(ctx, snap, limit)
	p.remaining = within
	defer p.release()
	p.trie.grow(plans)
	for first, last := 0, p.trie.roots; first < last; first, last = last, p.trie.levelEnd(last) {
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
	return walks, p.truncated, p.fillValidity(walks)
}

// pass is the state of one call of Follow.
type pass struct {
	ctx       context.Context
	snap      Reader
	trie      trie
	limit     Limit
	remaining bounds
	// arrivals are the last hops of all partial walks, grouped by node of the trie, then by topic
	// entity.
	arrivals        []arrival
	entities        []store.EntityID
	relations       []store.RelationID
	lastHops        []int32
	question        []float32
	questionFetched bool
	truncated       bool
}

// passPool reuses the memory of passes, whose allocation would dominate their cost.
var passPool = sync.Pool{New: func() any { return new(pass) }}

func newPass(ctx context.Context, snap Reader, limit Limit) *pass {
	p := passPool.Get().(*pass)
	*p = pass{
		ctx: ctx, snap: snap, limit: limit,
		trie:     trie{nodes: p.trie.nodes[:0], ends: p.trie.ends[:0]},
		arrivals: p.arrivals[:0], entities: p.entities, relations: p.relations, lastHops: p.lastHops,
	}
	return p
}

// maxPooledArrivals is the capacity above which a pass is not pooled.
const maxPooledArrivals = 1 << 16

func (p *pass) release() {
	if cap(p.arrivals) > maxPooledArrivals {
		return
	}
	clear(p.trie.nodes) // they point to the caller's topic entities
	p.ctx, p.snap, p.limit, p.question = nil, nil, Limit{}, nil
	passPool.Put(p)
}

// arrival is the last hop of a partial walk.
type arrival struct {
	entity store.EntityID
	triple store.TripleID
	topic  store.EntityID
	// from is the index of the previous hop in the pass's arrivals; -1 at the first.
	from int32
}

// hop fills the arrivals of the trie nodes first to last in a direction, with one read.
func (p *pass) hop(first, last int, dir store.Direction) error {
	relations, entities := p.relations[:0], p.entities[:0]
	for i := first; i < last; i++ {
		n := &p.trie.nodes[i]
		if n.step.Direction() != dir {
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
	lists, err := p.readEdges(entities, dir, relations)
	if err != nil {
		return err
	}
	for i := first; i < last; i++ {
		if n := &p.trie.nodes[i]; n.step.Direction() == dir {
			p.arrive(n, entities, lists)
		}
	}
	return nil
}

// arrive follows a node's step from each arrival of its parent, or from its topic entities.
func (p *pass) arrive(n *node, entities []store.EntityID, lists [][]store.Edge) {
	n.first = int32(len(p.arrivals))
	if n.parent < 0 {
		for _, topic := range n.topics {
			if !p.hasRoom() {
				break
			}
			began := len(p.arrivals)
			for _, e := range p.limitEdges(edgesWithRelation(edgesFrom(topic, entities, lists), n.step.Relation)) {
				p.arrivals = append(p.arrivals, arrival{entity: e.Entity, triple: e.Triple, topic: topic, from: -1})
			}
			p.truncateArrivals(began)
		}
		n.last = int32(len(p.arrivals))
		return
	}
	from := &p.trie.nodes[n.parent]
	began := len(p.arrivals)
	for i := from.first; i < from.last && p.hasRoom(); i++ {
		d := p.arrivals[i]
		if began < len(p.arrivals) && p.arrivals[began].topic != d.topic {
			p.truncateArrivals(began)
			began = len(p.arrivals)
		}
		for _, e := range p.limitEdges(edgesWithRelation(edgesFrom(d.entity, entities, lists), n.step.Relation)) {
			if e.Triple != d.triple {
				p.arrivals = append(p.arrivals, arrival{entity: e.Entity, triple: e.Triple, topic: d.topic, from: i})
			}
		}
		if len(p.arrivals)-began > 4*p.breadth() {
			p.truncateArrivals(began)
		}
	}
	p.truncateArrivals(began)
	n.last = int32(len(p.arrivals))
}

// edgesFrom returns the list of an entity; entities are ascending.
func edgesFrom(e store.EntityID, entities []store.EntityID, lists [][]store.Edge) []store.Edge {
	if len(entities) == 1 {
		return lists[0]
	}
	at, _ := slices.BinarySearch(entities, e)
	return lists[at]
}

// edgesWithRelation returns the edges of a relation in a list ordered by relation.
func edgesWithRelation(edges []store.Edge, relation store.RelationID) []store.Edge {
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
