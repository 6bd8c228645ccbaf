package cypher

import "slices"

// carriedVariable are the nodes that a variable stands for between statements. A variable
// that is declared several times before it is used stands for all of them:
// models write CREATE (x {name: 'A'}) CREATE (x {name: 'B'}) CREATE (y)-[:R]->(x).
type carriedVariable struct {
	nodes []*Node
	used  bool // in a relationship
}

// looseNames are the variables of the statements so far.
type looseNames struct {
	carried map[string]*carriedVariable
	notes   *notes
	first   *scope // of the unit under way
	seeds   []seed
}

func (l *looseNames) start() { l.seeds = nil }

// find declares a variable of an earlier statement, for all the nodes it holds.
func (l *looseNames) find(s *scope, variable string) *binding {
	h := l.carried[variable]
	if h == nil {
		return nil
	}
	return l.seed(s, variable, h.nodes)
}

// findNode is find for a node pattern. One that is written with labels or properties declares its
// variable again, unless it gives the name of a node that the variable holds, or no name.
func (l *looseNames) findNode(s *scope, n *nodePattern) *binding {
	h := l.carried[n.name]
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

// writtenName is the name in a pattern's properties. It is not fixed if a property is computed.
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

// looseRun is the state of Decode while a unit runs.
type looseRun struct {
	names   *looseNames
	notes   *notes
	scope   *scope // at the end of the unit
	unit    unit
	missing []missingProperty
}

// missingProperty is a property that a query returns and its node does not have: a
// model that writes RETURN city.population asks for it.
type missingProperty struct {
	node  *Node
	key   string
	token int32
}

// noteReturned records the properties that a RETURN reads and that nodes lack.
func (l *looseRun) noteReturned(c *projection, rows []row) {
	for _, it := range c.items {
		p, ok := it.value.(*property)
		if !ok || slices.Contains(nameKeys, p.key) {
			continue
		}
		v, ok := p.target.(*variable)
		if !ok {
			continue
		}
		for _, r := range rows[:min(len(rows), maxSeedRows)] {
			if n, ok := r[v.slot].(*Node); ok && n.Property(p.key) == nil {
				l.missing = append(l.missing, missingProperty{n, p.key, p.first})
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
		h := l.names.carried[name]
		if h == nil || h.used && !h.containsAll(nodes) {
			h = &carriedVariable{}
			l.names.carried[name] = h
		}
		for _, n := range nodes {
			if !h.containsAll([]*Node{n}) && len(h.nodes) < maxSeedRows {
				h.nodes = append(h.nodes, n)
			}
		}
		h.used = h.used || used[name]
	}
}

func (h *carriedVariable) containsAll(nodes []*Node) bool {
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
			paths = append([]*pathPattern{c.path}, c.furtherPaths...)
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

func (x *executor) forgive(at span, message string) {
	x.loose.notes.add(x.tokens[at.first].start, message)
}

// looseMerge merges node by node and relationship by relationship, where
// openCypher would merge the path as a whole: models mean the former.
func (x *executor) looseMerge(c *mergeClause, rows []row) []row {
	for _, r := range rows {
		before := x.graph.live.nodes + x.graph.live.rels
		for _, path := range append([]*pathPattern{c.path}, c.furtherPaths...) {
			x.writePath(path, r, false)
		}
		if x.graph.live.nodes+x.graph.live.rels > before {
			x.set(c.onCreate, r)
		} else {
			x.set(c.onMatch, r)
		}
	}
	return rows
}

// writeMatch replaces a MATCH that found nothing: a model takes for granted what it matches, so the
// pattern is created.
func (x *executor) writeMatch(c *matchClause, r row) row {
	x.forgive(c.span, "MATCH finds nothing: its pattern is created")
	for _, path := range c.paths {
		x.writePath(path, r, false)
	}
	x.assume(c.condition, r)
	return r
}

// assume writes the equations of a WHERE: a.key = 'value' AND ...
func (x *executor) assume(e expr, r row) {
	switch e := e.(type) {
	case *binary:
		if e.op == "AND" {
			x.assume(e.left, r)
			x.assume(e.right, r)
		}
	case *comparison:
		if len(e.ops) != 1 || e.ops[0] != "=" {
			return
		}
		p, ok1 := e.operands[0].(*property)
		l, ok2 := e.operands[1].(*literal)
		if ok1 && ok2 {
			if n, ok := x.eval(p.target, r).(*Node); ok && n.Property(p.key) == nil {
				x.setProperty(n, p.key, l.value, e.span)
			}
		}
	}
}

// writePath writes what a path has that the row does not. With create unset
// nodes and relationships that exist already are taken instead.
func (x *executor) writePath(path *pathPattern, r row, create bool) {
	for _, n := range path.nodes {
		x.writeNode(n, r, create)
	}
	for i, rel := range path.rels {
		start, ok1 := r[path.nodes[i].slot].(*Node)
		end, ok2 := r[path.nodes[i+1].slot].(*Node)
		if rel.dir == incoming {
			start, end = end, start
		}
		if !ok1 || !ok2 || x.err != nil {
			continue
		}
		kind := untyped
		if len(rel.types) > 0 {
			kind = rel.types[0]
		}
		found := x.relBetween(kind, start, end, create)
		if found == nil {
			if found = x.newRel(kind, start, end); found == nil {
				continue
			}
			found.token = rel.first
		}
		props, _ := x.looseProps(rel.props, r)
		for _, p := range props {
			x.setProperty(found, p.Key, p.Value, rel.span)
		}
		if !rel.variable {
			r[rel.slot] = found
		}
	}
	if path.name != "" {
		r[path.slot] = pathOf(path, r)
	}
}

func (x *executor) relBetween(kind string, start, end *Node, create bool) *Relationship {
	if create {
		return nil
	}
	list := start.out
	if len(end.in) < len(list) {
		list = end.in
	}
	for _, rel := range list {
		if !x.step(1) {
			return nil
		}
		if rel.kind == kind && rel.start == start && rel.end == end {
			return rel
		}
	}
	return nil
}

// writeNode binds a node pattern: to the node its variable holds, to one that
// fits, or to a new one.
func (x *executor) writeNode(n *nodePattern, r row, create bool) {
	props, links := x.looseProps(n.props, r)
	node, _ := r[n.slot].(*Node)
	if node != nil && n.label && !sameName(node, props) {
		x.forgive(n.span, "the variable "+n.name+" is declared again: it now holds another node")
		node = nil
	} else if node != nil && n.label && len(props) > 0 && len(node.props) > 0 && create {
		x.forgive(n.span, "the variable "+n.name+" is declared again")
	}
	if node == nil && n.label && !create {
		node = x.lookFor(n, r)
	}
	if node == nil {
		if node = x.newNode(n); node == nil {
			return
		}
		node.token = n.first
	}
	x.step(len(n.labels))
	x.graph.addLabels(node, n.labels)
	for _, p := range props {
		x.setProperty(node, p.Key, p.Value, n.span)
	}
	r[n.slot] = node
	for _, l := range links {
		if rel := x.newRel(l.Key, node, l.Value.(*Node)); rel != nil {
			rel.token = n.first
		}
	}
}

// lookFor finds a node that has the labels and properties of a pattern.
func (x *executor) lookFor(n *nodePattern, r row) *Node {
	m := &matcher{executor: x, row: r}
	for _, node := range m.candidates(n) {
		if !x.step(1) {
			return nil
		}
		if !node.deleted && n.props != nil && m.nodeMatches(node, n) {
			return node
		}
	}
	return nil
}

func sameName(n *Node, props []Property) bool {
	known, _ := nameProperty(n)
	given, _ := nameProperty(&Node{entity: entity{props: props}})
	return known == "" || given == "" || known == given
}

// looseProps evaluates properties. A node as a value is a link to it; other
// values that no property can hold are omitted.
func (x *executor) looseProps(e expr, r row) (props, links []Property) {
	m, ok := e.(*mapExpr)
	if !ok {
		return nil, nil
	}
	for i, key := range m.keys {
		at := m.values[i].location()
		switch v := x.eval(m.values[i], r).(type) {
		case nil:
		case *Node:
			x.forgive(at, "a node as a property is read as a relationship to it")
			links = append(links, Property{key, v})
		case []Value:
			props = x.addProperty(props, key, scalars(v), at)
		case map[string]Value, *Relationship, *Path:
			x.forgive(at, "a property cannot hold this; it is skipped")
		default:
			props = x.addProperty(props, key, v, at)
		}
	}
	return props, links
}

// scalars is what of a list a property can hold.
func scalars(list []Value) []Value {
	kept := []Value{}
	for _, v := range list {
		switch v := v.(type) {
		case nil, map[string]Value, *Relationship, *Path:
		case []Value:
			kept = append(kept, scalars(v)...)
		case *Node:
			if name, _ := nameProperty(v); name != "" {
				kept = append(kept, name)
			}
		default:
			kept = append(kept, v)
		}
	}
	return kept
}
