package cypher

import (
	"math"
	"slices"
)

// Value is a value of Cypher: nil, bool, int64, float64, string, []Value,
// map[string]Value, *Node, *Relationship, *Path, Temporal or Duration.
type Value = any

// Property is one property of a node or relationship.
type Property struct {
	Key   string
	Value Value
}

// entity is what nodes and relationships share. Properties keep the order in
// which they were written.
type entity struct {
	id      int64
	props   []Property
	deleted bool
}

// ID is the identity within the graph, from 0 in order of creation.
func (e *entity) ID() int64 { return e.id }

// Properties are in the order in which they were first set. The caller must not change the slice.
func (e *entity) Properties() []Property { return e.props }

// Property returns a property's value, or nil.
func (e *entity) Property(key string) Value {
	for i := range e.props {
		if e.props[i].Key == key {
			return e.props[i].Value
		}
	}
	return nil
}

// setProperty sets a property; nil removes it.
func (e *entity) setProperty(key string, v Value) {
	for i := range e.props {
		if e.props[i].Key == key {
			if v == nil {
				e.props = slices.Delete(e.props, i, i+1)
			} else {
				e.props[i].Value = v
			}
			return
		}
	}
	if v != nil {
		e.props = append(e.props, Property{key, v})
	}
}

// Node is a node of a Graph.
type Node struct {
	entity
	labels   []string
	out, in  []*Relationship
	order    int    // place among all nodes and relationships, by creation
	variable string // the name it was written with, for Decode
	token    int32  // the token it was written at, for Decode
}

// Labels are in the order in which they were set. The caller must not change the slice.
func (n *Node) Labels() []string { return n.labels }

func (n *Node) hasLabels(labels []string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(n.labels, l) })
}

// Relationship is a relationship of a Graph.
type Relationship struct {
	entity
	kind       string
	start, end *Node
	order      int
	token      int32 // the token it was written at, for Decode
}

// Type is the relationship's type.
func (r *Relationship) Type() string { return r.kind }

// Start is the node that the relationship goes out from.
func (r *Relationship) Start() *Node { return r.start }

// End is the node that the relationship goes to.
func (r *Relationship) End() *Node { return r.end }

// otherEnd is the end that is not n; n itself in a loop.
func (r *Relationship) otherEnd(n *Node) *Node {
	if r.start == n {
		return r.end
	}
	return r.start
}

// Path is an alternation of nodes and relationships, one node more than relationships.
type Path struct {
	Nodes         []*Node
	Relationships []*Relationship
}

// Graph is a property graph in memory. It is not safe for concurrent use.
type Graph struct {
	limits Limits
	nodes  []*Node
	rels   []*Relationship
	live   struct{ nodes, rels int }
	index  nodeIndex
}

// NewGraph returns an empty graph whose runs are bounded by limits.
func NewGraph(limits Limits) *Graph {
	return &Graph{limits: limits.orDefault(),
		index: nodeIndex{byLabel: map[string][]*Node{}, byValue: map[valueKey][]*Node{}}}
}

// Nodes are all nodes, in order of creation.
func (g *Graph) Nodes() []*Node {
	return slices.DeleteFunc(slices.Clone(g.nodes), func(n *Node) bool { return n.deleted })
}

// Relationships are all relationships, in order of creation.
func (g *Graph) Relationships() []*Relationship {
	return slices.DeleteFunc(slices.Clone(g.rels), func(r *Relationship) bool { return r.deleted })
}

func (g *Graph) addNode(labels []string, variable string) *Node {
	n := &Node{entity: entity{id: int64(len(g.nodes))}, variable: variable, order: len(g.nodes) + len(g.rels)}
	g.nodes = append(g.nodes, n)
	g.live.nodes++
	g.addLabels(n, labels)
	return n
}

func (g *Graph) addRel(kind string, start, end *Node) *Relationship {
	r := &Relationship{entity: entity{id: int64(len(g.rels))}, kind: kind, start: start, end: end,
		order: len(g.nodes) + len(g.rels)}
	g.rels = append(g.rels, r)
	g.live.rels++
	start.out = append(start.out, r)
	end.in = append(end.in, r)
	return r
}

func (g *Graph) addLabels(n *Node, labels []string) {
	for _, l := range labels {
		if !slices.Contains(n.labels, l) {
			n.labels = append(n.labels, l)
			g.index.byLabel[l] = append(g.index.byLabel[l], n)
		}
	}
}

func (g *Graph) removeLabels(n *Node, labels []string) {
	for _, l := range labels {
		if i := slices.Index(n.labels, l); i >= 0 {
			n.labels = slices.Delete(n.labels, i, i+1)
			g.index.byLabel[l] = removeItem(g.index.byLabel[l], n)
		}
	}
}

func (g *Graph) setNode(n *Node, key string, v Value) {
	g.index.remove(n, key)
	n.setProperty(key, v)
	g.index.add(n, key, v)
}

func (g *Graph) deleteRel(r *Relationship) {
	if r.deleted {
		return
	}
	r.deleted = true
	g.live.rels--
	r.start.out = removeItem(r.start.out, r)
	r.end.in = removeItem(r.end.in, r)
}

func (g *Graph) deleteNode(n *Node) {
	if n.deleted {
		return
	}
	n.deleted = true
	g.live.nodes--
	for _, l := range n.labels {
		g.index.byLabel[l] = removeItem(g.index.byLabel[l], n)
	}
	for _, p := range n.props {
		g.index.remove(n, p.Key)
	}
}

// removeItem takes one element out of a list, in place.
func removeItem[T comparable](list []T, x T) []T {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// nodeIndex finds nodes by label and by the value of a property, so that a
// MATCH or MERGE by name does not look at every node.
type nodeIndex struct {
	byLabel map[string][]*Node
	byValue map[valueKey][]*Node
}

type valueKey struct {
	key   string
	value any // string, bool, int64 or float64
}

// scalarKey returns the key under which equal values meet (1 and 1.0), or false
// for values that are not indexed.
func scalarKey(v Value) (any, bool) {
	switch v := v.(type) {
	case string, bool, int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
		return v, v == v
	}
	return nil, false
}

func (x *nodeIndex) add(n *Node, key string, v Value) {
	if k, ok := scalarKey(v); ok {
		at := valueKey{key, k}
		x.byValue[at] = append(x.byValue[at], n)
	}
}

func (x *nodeIndex) remove(n *Node, key string) {
	if k, ok := scalarKey(n.Property(key)); ok {
		at := valueKey{key, k}
		if rest := removeItem(x.byValue[at], n); len(rest) > 0 {
			x.byValue[at] = rest
		} else {
			delete(x.byValue, at)
		}
	}
}

// AddNode adds a node to a graph that a program builds, such as a part of a knowledge graph. Only
// the first property is indexed, for MATCH by its value.
func (g *Graph) AddNode(labels []string, props ...Property) *Node {
	n := g.addNode(labels, "")
	n.props = props
	if len(props) > 0 {
		g.index.add(n, props[0].Key, props[0].Value)
	}
	return n
}

// AddRelationship adds a relationship between two nodes of the graph.
func (g *Graph) AddRelationship(kind string, start, end *Node) *Relationship {
	return g.addRel(kind, start, end)
}
