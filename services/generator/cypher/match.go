package cypher

// matcher finds the bindings of a pattern by backtracking. A relationship
// stands for at most one relationship pattern of the clause (openCypher's
// relationship isomorphism).
type matcher struct {
	*executor
	paths []*pathPattern
	plan  []matchStep
	row   row
	used  map[*Relationship]bool
	found func() bool // called for each binding; false stops the search
}

func (x *executor) match(c *matchClause, rows []row) []row {
	var out []row
	m := x.matcher(c.paths)
	for _, r := range rows {
		if x.err != nil {
			return nil
		}
		before := len(out)
		m.each(x.copyRow(r), func(found row) bool {
			if c.condition == nil || x.eval(c.condition, found) == true {
				out = x.emit(out, x.copyRow(found))
			}
			return x.err == nil
		})
		switch {
		case len(out) > before:
		case c.optional:
			out = x.emit(out, x.noMatch(c.paths, r))
		case x.loose != nil && x.err == nil:
			out = x.emit(out, x.writeMatch(c, r))
		}
	}
	return out
}

// noMatch is the row of an OPTIONAL MATCH that found nothing. What was bound
// before stays as it is.
func (x *executor) noMatch(paths []*pathPattern, r row) row {
	for _, path := range paths {
		if path.name != "" {
			r[path.slot] = nil
		}
		for _, n := range path.nodes {
			if !n.bound {
				r[n.slot] = nil
			}
		}
		for _, rel := range path.rels {
			if !rel.bound {
				r[rel.slot] = nil
			}
		}
	}
	return r
}

func (x *executor) matcher(paths []*pathPattern) *matcher {
	return &matcher{executor: x, paths: paths, plan: plan(paths)}
}

// each calls found for every binding of the patterns; r is written to and
// holds the binding during the call.
func (m *matcher) each(r row, found func(row) bool) {
	m.row, m.used = r, nil
	m.found = func() bool {
		for _, path := range m.paths {
			if !m.lateProps(path) {
				return true
			}
		}
		for _, path := range m.paths {
			if path.name != "" {
				m.row[path.slot] = pathOf(path, m.row)
			}
		}
		return found(m.row)
	}
	m.follow(0)
}

// lateProps checks the properties that read other elements of the pattern.
func (m *matcher) lateProps(path *pathPattern) bool {
	for _, n := range path.nodes {
		if n.late && !m.nodeProps(m.row[n.slot].(*Node), n) {
			return false
		}
	}
	for _, r := range path.rels {
		if !r.late {
			continue
		}
		list, ok := m.row[r.slot].([]Value)
		if !ok {
			list = []Value{m.row[r.slot]}
		}
		for _, v := range list {
			if rel, ok := v.(*Relationship); ok && !m.propsMatch(&rel.entity, r.props) {
				return false
			}
		}
	}
	return true
}

// follow takes step i and all after it; false stops the search.
func (m *matcher) follow(i int) bool {
	if i == len(m.plan) {
		return m.found()
	}
	if !m.step(1) || !m.hop() {
		return false
	}
	defer func() { m.hops-- }()
	s := &m.plan[i]
	if s.rel != nil {
		return m.expand(i, s)
	}
	if s.known {
		n, ok := m.row[s.to.slot].(*Node)
		if !ok {
			m.mustBeNode(s.to)
			return m.err == nil
		}
		return !m.nodeMatches(n, s.to) || m.follow(i+1)
	}
	for _, n := range m.candidates(s.to) {
		if !m.step(1) {
			return false
		}
		if n.deleted || !m.nodeMatches(n, s.to) {
			continue
		}
		m.row[s.to.slot] = n
		if !m.follow(i + 1) {
			return false
		}
	}
	m.row[s.to.slot] = nil
	return true
}

// hop goes one step deeper into a search. Paths may be longer than
// expressions are deep, so the two are bounded apart.
func (m *matcher) hop() bool {
	m.hops++
	if m.hops > maxPath {
		m.over("relationships in a path", maxPath)
	}
	return m.err == nil
}

const maxPath = 10_000

func (m *matcher) mustBeNode(n *nodePattern) {
	if m.row[n.slot] != nil {
		m.fail(n.span, typeError, "InvalidArgumentType", "the variable %s does not hold a node", n.name)
	}
}

// candidates are the nodes that a pattern can stand for, by the narrowest
// index.
func (m *matcher) candidates(n *nodePattern) []*Node {
	list := m.graph.nodes
	for _, l := range n.labels {
		if byLabel := m.graph.index.byLabel[l]; len(byLabel) < len(list) {
			list = byLabel
		}
	}
	if props, ok := n.props.(*mapExpr); ok && !n.late {
		for i, key := range props.keys {
			if k, ok := scalarKey(m.eval(props.values[i], m.row)); ok {
				if byValue := m.graph.index.byValue[valueKey{key, k}]; len(byValue) < len(list) {
					list = byValue
				}
			}
		}
	}
	return list
}

func (m *matcher) nodeMatches(n *Node, p *nodePattern) bool {
	return n.hasLabels(p.labels) && (p.late || m.nodeProps(n, p))
}

func (m *matcher) nodeProps(n *Node, p *nodePattern) bool { return m.propsMatch(&n.entity, p.props) }

func (m *matcher) propsMatch(e *entity, props expr) bool {
	if props == nil {
		return true
	}
	want, ok := props.(*mapExpr)
	if !ok {
		return false
	}
	for i, key := range want.keys {
		v := e.Property(key)
		if v == nil || m.equal(v, m.eval(want.values[i], m.row)) != true {
			return false
		}
	}
	return true
}

// pathOf builds the path that a pattern was bound to.
func pathOf(p *pathPattern, r row) Value {
	first, ok := r[p.nodes[0].slot].(*Node)
	if !ok {
		return nil
	}
	path := &Path{Nodes: []*Node{first}}
	at := first
	add := func(rel *Relationship) {
		at = rel.other(at)
		path.Relationships = append(path.Relationships, rel)
		path.Nodes = append(path.Nodes, at)
	}
	for _, rel := range p.rels {
		switch v := r[rel.slot].(type) {
		case *Relationship:
			add(v)
		case []Value:
			for _, x := range v {
				if rel, ok := x.(*Relationship); ok {
					add(rel)
				}
			}
		default:
			return nil
		}
	}
	return path
}
