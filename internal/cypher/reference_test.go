package cypher

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reference is a property graph in the simplest form: the executor's clauses as loops over all
// elements.
type reference struct {
	nodes map[int]*thing // by the order of their creation
	rels  []*edge
	made  int // nodes ever
}

// thing is a node, or what a pattern asks of one. Properties are small numbers.
type thing struct {
	labels map[string]bool
	props  map[string]int
}

type edge struct {
	kind       string
	start, end int
	props      map[string]int
}

func (t thing) fits(pattern thing) bool {
	for l := range pattern.labels {
		if !t.labels[l] {
			return false
		}
	}
	return matchesProperties(t.props, pattern.props)
}

func matchesProperties(props, pattern map[string]int) bool {
	for k, v := range pattern {
		if got, ok := props[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// text writes a pattern or a node in Cypher.
func (t thing) text(variable string) string {
	s := "(" + variable
	for _, l := range slices.Sorted(maps.Keys(t.labels)) {
		s += ":" + l
	}
	return s + mapText(t.props) + ")"
}

func (e edge) text(variable string) string {
	return "[" + variable + ":" + e.kind + mapText(e.props) + "]"
}

func mapText(props map[string]int) string {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(props)) {
		items = append(items, fmt.Sprintf("%s: %d", k, props[k]))
	}
	if len(items) == 0 {
		return ""
	}
	return " {" + strings.Join(items, ", ") + "}"
}

func (g *reference) create(t thing) int {
	g.nodes[g.made] = &thing{maps.Clone(t.labels), maps.Clone(t.props)}
	g.made++
	return g.made - 1
}

func (g *reference) connect(start, end int, like edge) {
	g.rels = append(g.rels, &edge{like.kind, start, end, maps.Clone(like.props)})
}

// match are the nodes that fit a pattern.
func (g *reference) match(pattern thing) []int {
	var found []int
	for _, id := range slices.Sorted(maps.Keys(g.nodes)) {
		if g.nodes[id].fits(pattern) {
			found = append(found, id)
		}
	}
	return found
}

// between are the relationships that fit a pattern, its ends too.
func (g *reference) between(start, end thing, like edge) []*edge {
	var found []*edge
	for _, r := range g.rels {
		if r.kind == like.kind && matchesProperties(r.props, like.props) && g.nodes[r.start].fits(start) &&
			g.nodes[r.end].fits(end) {
			found = append(found, r)
		}
	}
	return found
}

// mergeBetween finds relationships between two nodes or makes one.
func (g *reference) mergeBetween(start, end int, like edge) {
	if !slices.ContainsFunc(g.rels, func(r *edge) bool {
		return r.start == start && r.end == end && r.kind == like.kind && matchesProperties(r.props, like.props)
	}) {
		g.connect(start, end, like)
	}
}

// mergeBeside finds a node beside start or makes it and what leads there.
func (g *reference) mergeBeside(start int, end thing, like edge) {
	if !slices.ContainsFunc(g.rels, func(r *edge) bool {
		return r.start == start && g.nodes[r.end].fits(end) && r.kind == like.kind &&
			matchesProperties(r.props, like.props)
	}) {
		g.connect(start, g.create(end), like)
	}
}

func (g *reference) connected(id int) bool {
	return slices.ContainsFunc(g.rels, func(r *edge) bool { return r.start == id || r.end == id })
}

func (g *reference) remove(ids []int) {
	for _, id := range ids {
		delete(g.nodes, id)
		g.rels = slices.DeleteFunc(g.rels, func(r *edge) bool { return r.start == id || r.end == id })
	}
}

// walks counts the paths of up to most relationships of a kind from a node that
// fits to one that fits; none goes over a relationship twice. With both they
// may be gone against their direction.
func (g *reference) walks(from, to thing, kind string, most int, both bool) int {
	count := 0
	var step func(at int, used []*edge)
	step = func(at int, used []*edge) {
		if len(used) > 0 && g.nodes[at].fits(to) {
			count++
		}
		if len(used) == most {
			return
		}
		for _, r := range g.rels {
			if r.kind != kind || slices.Contains(used, r) {
				continue
			}
			if r.start == at {
				step(r.end, append(slices.Clone(used), r))
			}
			if both && r.end == at && r.start != r.end {
				step(r.start, append(slices.Clone(used), r))
			}
		}
	}
	for _, id := range g.match(from) {
		step(id, nil)
	}
	return count
}

// lines show all of the graph.
func (g *reference) lines() []string {
	var all []string
	for id, n := range g.nodes {
		all = append(all, fmt.Sprint(id, " ", n.text("")))
	}
	for _, r := range g.rels {
		all = append(all, fmt.Sprintf("%d -%s-> %d", r.start, r.text(""), r.end))
	}
	slices.Sort(all)
	return all
}

// linesOf are those of a Graph.
func linesOf(g *Graph) []string {
	copied := &reference{nodes: map[int]*thing{}}
	read := func(props []Property) map[string]int {
		m := map[string]int{}
		for _, p := range props {
			m[p.Key] = int(p.Value.(int64))
		}
		return m
	}
	for _, n := range g.Nodes() {
		labels := map[string]bool{}
		for _, l := range n.Labels() {
			labels[l] = true
		}
		copied.nodes[int(n.ID())] = &thing{labels, read(n.Properties())}
	}
	for _, r := range g.Relationships() {
		copied.rels = append(copied.rels, &edge{r.Type(), int(r.Start().ID()), int(r.End().ID()), read(r.Properties())})
	}
	return copied.lines()
}
