package cypher

import "slices"

// held are the nodes that a variable stands for between statements. A variable
// that is declared several times before it is used stands for all of them:
// models write CREATE (x {name: 'A'}) CREATE (x {name: 'B'}) CREATE (y)-[:R]->(x).
type held struct {
	nodes []*Node
	used  bool // in a relationship
}

// looseNames are the variables of the statements so far.
type looseNames struct {
	held  map[string]*held
	notes *notes
	first *scope // of the unit under way
	seeds []seed
}

func (l *looseNames) start() { l.seeds = nil }

// find declares a variable of an earlier statement, for all the nodes it holds.
func (l *looseNames) find(s *scope, variable string) *binding {
	h := l.held[variable]
	if h == nil {
		return nil
	}
	return l.seed(s, variable, h.nodes)
}

// findNode is find for a node pattern. One that is written with labels or
// properties declares its variable anew, unless it gives the name of a node
// that the variable holds, or no name.
func (l *looseNames) findNode(s *scope, n *nodePattern) *binding {
	h := l.held[n.name]
	if h == nil || !n.label {
		return l.find(s, n.name)
	}
	name, fixed := writtenName(n.props)
	if !fixed {
		return nil
	}
	for i := len(h.nodes) - 1; i >= 0; i-- {
		if known, _ := nameProperty(h.nodes[i]); known == name || known == "" || name == "" {
			return l.seed(s, n.name, h.nodes[i:i+1])
		}
	}
	return nil
}

func (l *looseNames) seed(s *scope, variable string, nodes []*Node) *binding {
	if s != l.first {
		return nil // behind a WITH
	}
	b := s.declare(variable, nodeKind)
	b.clause = 0
	l.seeds = append(l.seeds, seed{b.slot, nodes})
	return b
}

// writtenName is the name that a pattern's properties give. It is not fixed
// where a property is computed.
func writtenName(props expr) (name string, fixed bool) {
	m, ok := props.(*mapExpr)
	if !ok {
		return "", true
	}
	list := make([]Property, 0, len(m.keys))
	for i, key := range m.keys {
		switch v := m.values[i].(type) {
		case *literal:
			list = append(list, Property{key, v.value})
		case *listExpr, *looseWord:
			if slices.Contains(nameKeys, key) || len(m.keys) == 1 {
				return "", false
			}
		default:
			return "", false
		}
	}
	name, _ = nameProperty(&Node{entity: entity{props: list}})
	return name, true
}

// looseRun is what Decode needs while a unit runs.
type looseRun struct {
	names *looseNames
	notes *notes
	scope *scope // at the end of the unit
	unit  unit
	asked []question
}

// question is a property that a query returns and its node does not have: a
// model that writes RETURN city.population asks for it.
type question struct {
	node *Node
	key  string
	at   int32
}

// returns takes note of what a RETURN asks for.
func (l *looseRun) returns(c *projection, rows []row) {
	for _, it := range c.items {
		p, ok := it.value.(*property)
		if !ok || slices.Contains(nameKeys, p.key) {
			continue
		}
		v, ok := p.of.(*variable)
		if !ok {
			continue
		}
		for _, r := range rows[:min(len(rows), maxSeedRows)] {
			if n, ok := r[v.slot].(*Node); ok && n.Property(p.key) == nil {
				l.asked = append(l.asked, question{n, p.key, p.from})
			}
		}
	}
}

// keep carries the nodes of a unit's variables on to the next.
func (l *looseRun) keep(rows []row) {
	used := l.unit.related()
	for name, b := range l.scope.names {
		var nodes []*Node
		seen := map[*Node]bool{}
		for _, r := range rows[:min(len(rows), maxSeedRows)] {
			if n, ok := r[b.slot].(*Node); ok && !n.deleted && !seen[n] {
				seen[n] = true
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 0 {
			continue
		}
		h := l.names.held[name]
		if h == nil || h.used && !h.holds(nodes) {
			h = &held{}
			l.names.held[name] = h
		}
		for _, n := range nodes {
			if !h.holds([]*Node{n}) && len(h.nodes) < maxSeedRows {
				h.nodes = append(h.nodes, n)
			}
		}
		h.used = h.used || used[name]
	}
}

func (h *held) holds(nodes []*Node) bool {
	for _, n := range nodes {
		found := false
		for _, m := range h.nodes {
			found = found || m == n
		}
		if !found {
			return false
		}
	}
	return true
}

// related are the variables that stand in a relationship.
func (u unit) related() map[string]bool {
	names := map[string]bool{}
	for _, c := range u.clauses {
		var paths []*pathPattern
		switch c := c.(type) {
		case *createClause:
			paths = c.paths
		case *mergeClause:
			paths = append([]*pathPattern{c.path}, c.more...)
		case *matchClause:
			paths = c.paths
		}
		for _, path := range paths {
			for _, n := range path.nodes {
				if len(path.rels) > 0 {
					names[n.name] = true
				}
			}
		}
	}
	return names
}
