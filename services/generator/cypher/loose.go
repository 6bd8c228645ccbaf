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
	first *scope // of the unit under way
	seeds []seed
}

func (l *looseNames) start() { l.seeds = nil }

// find declares a variable of an earlier statement. Where the pattern gives a
// name, only a node of that name, or of none yet, will do.
func (l *looseNames) find(s *scope, variable, name string) *binding {
	h := l.held[variable]
	if h == nil || s != l.first {
		return nil
	}
	nodes := h.nodes
	if name != "" {
		nodes = nil
		for _, n := range h.nodes {
			if known, _ := nameProperty(n); known == name || known == "" {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	b := s.declare(variable, nodeKind)
	b.fresh = false
	l.seeds = append(l.seeds, seed{b.slot, nodes})
	return b
}

// writtenName is the name that a pattern's properties give, where it is
// written as a text.
func writtenName(props expr) string {
	m, ok := props.(*mapExpr)
	if !ok {
		return ""
	}
	for _, want := range nameKeys {
		for i, key := range m.keys {
			if l, ok := m.values[i].(*literal); ok && key == want && l.value != nil {
				return Format(l.value)
			}
		}
	}
	return ""
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
