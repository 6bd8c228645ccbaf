package walk

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Plan is a relation path to follow.
type Plan struct {
	// Steps are its hops, one at least.
	Steps []Step
	// Topics are the topic entities to start from.
	Topics []store.EntityID
}

// breadth is how many partial walks are kept per walk asked for: many of them
// end before the last hop.
const breadth = 20

// Reader is what following needs of a snapshot.
type Reader interface {
	EntityName(store.EntityID) string
	Kind(store.EntityID) store.Kind
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction, relations []store.RelationID) ([][]store.Edge, error)
}

// Follow walks all plans in one breadth-first pass: plans that begin alike
// share the walks of their beginning, and a hop is one read of the store per
// direction. It returns the walks of each plan, in the order of its topics and
// of the store's edges, at most limit of them per topic, and whether anything
// was cut off.
//
// A walk may pass an entity twice, but not go back at once over the triple it
// came by: that says nothing. Walks that end in an opaque mediator are left
// out: it is no answer.
func Follow(ctx context.Context, snap Reader, plans []Plan, limit int) (walks [][]Walk, truncated bool, err error) {
	t := grow(plans)
	for level := t.roots; len(level) > 0; level = children(level) {
		if err := t.hop(ctx, snap, level, limit*breadth); err != nil {
			return nil, false, err
		}
	}
	walks = make([][]Walk, len(plans))
	for i, end := range t.ends {
		walks[i] = end.collect(snap, plans[i].Topics, limit, &t.truncated)
	}
	return walks, t.truncated, nil
}

// trie holds the plans with their common beginnings merged.
type trie struct {
	roots     []*node
	ends      []*node
	truncated bool
}

// node is a step after all steps above it.
type node struct {
	step     Step
	parent   *node
	children []*node
	// topics are where this node's walks may start; filled for roots.
	topics []store.EntityID
	// arrivals are the walks so far, by their last hop.
	arrivals []arrival
}

// arrival is the last hop of a partial walk.
type arrival struct {
	entity store.EntityID
	triple store.TripleID
	topic  store.EntityID
	// from indexes the parent's arrivals; -1 at a topic entity.
	from int
}

func grow(plans []Plan) *trie {
	t := &trie{ends: make([]*node, len(plans))}
	for i, p := range plans {
		siblings, parent := &t.roots, (*node)(nil)
		for _, step := range p.Steps {
			at := slices.IndexFunc(*siblings, func(n *node) bool { return n.step == step })
			if at < 0 {
				*siblings = append(*siblings, &node{step: step, parent: parent})
				at = len(*siblings) - 1
			}
			parent = (*siblings)[at]
			siblings = &parent.children
		}
		t.ends[i] = parent
		root := parent
		for root != nil && root.parent != nil {
			root = root.parent
		}
		for _, topic := range p.Topics {
			if root != nil && !slices.Contains(root.topics, topic) {
				root.topics = append(root.topics, topic)
			}
		}
	}
	return t
}

func children(level []*node) []*node {
	var next []*node
	for _, n := range level {
		next = append(next, n.children...)
	}
	return next
}

// departures are the walks that a node goes on from.
func (n *node) departures() []arrival {
	if n.parent != nil {
		return n.parent.arrivals
	}
	starts := make([]arrival, len(n.topics))
	for i, topic := range n.topics {
		starts[i] = arrival{entity: topic, topic: topic, from: -1}
	}
	return starts
}

// hop fills the arrivals of every node of a level.
func (t *trie) hop(ctx context.Context, snap Reader, level []*node, limit int) error {
	for _, dir := range []store.Direction{store.Out, store.In} {
		edges, err := read(ctx, snap, level, dir)
		if err != nil {
			return err
		}
		for _, n := range level {
			if n.step.direction() == dir {
				t.arrive(n, edges, limit)
			}
		}
	}
	return nil
}

// read lists the edges that all nodes of a level need in one direction.
func read(ctx context.Context, snap Reader, level []*node, dir store.Direction) (map[store.EntityID][]store.Edge, error) {
	var entities []store.EntityID
	var relations []store.RelationID
	for _, n := range level {
		if n.step.direction() != dir {
			continue
		}
		relations = append(relations, n.step.Relation)
		for _, d := range n.departures() {
			entities = append(entities, d.entity)
		}
	}
	if len(entities) == 0 {
		return nil, nil
	}
	slices.Sort(entities)
	slices.Sort(relations)
	entities, relations = slices.Compact(entities), slices.Compact(relations)
	lists, err := snap.Edges(ctx, entities, dir, relations)
	if err != nil {
		return nil, err
	}
	edges := make(map[store.EntityID][]store.Edge, len(entities))
	for i, e := range entities {
		edges[e] = lists[i]
	}
	return edges, nil
}

// arrive goes a node's step from each of its departures; limit bounds the
// walks of each topic entity.
func (t *trie) arrive(n *node, edges map[store.EntityID][]store.Edge, limit int) {
	count := map[store.EntityID]int{}
	for i, d := range n.departures() {
		from := i
		if n.parent == nil {
			from = -1
		}
		for _, e := range of(edges[d.entity], n.step.Relation) {
			if n.parent != nil && e.Triple == d.triple {
				continue
			}
			if count[d.topic] >= limit {
				t.truncated = true
				break
			}
			count[d.topic]++
			n.arrivals = append(n.arrivals, arrival{entity: e.Entity, triple: e.Triple, topic: d.topic, from: from})
		}
	}
}

// of finds the edges of one relation in a list ordered by relation.
func of(edges []store.Edge, relation store.RelationID) []store.Edge {
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

// collect turns a plan's last arrivals into walks, those of each topic
// together.
func (n *node) collect(snap Reader, topics []store.EntityID, limit int, truncated *bool) []Walk {
	if n == nil {
		return nil
	}
	byTopic := map[store.EntityID][]int{}
	for i, a := range n.arrivals {
		if snap.Kind(a.entity) != store.Mediator {
			byTopic[a.topic] = append(byTopic[a.topic], i)
		}
	}
	var walks []Walk
	for _, topic := range topics {
		of := byTopic[topic]
		if len(of) > limit {
			of, *truncated = of[:limit], true
		}
		for _, i := range of {
			walks = append(walks, n.trace(i))
		}
		delete(byTopic, topic)
	}
	return walks
}

// trace reads a walk back from its last hop.
func (n *node) trace(i int) Walk {
	var entities []store.EntityID
	for at := n; at != nil; at = at.parent {
		a := at.arrivals[i]
		entities = append(entities, a.entity)
		if at.parent == nil {
			entities = append(entities, a.topic)
		}
		i = a.from
	}
	slices.Reverse(entities)
	return Walk{Entities: entities}
}
