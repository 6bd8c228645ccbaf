package cypher

import "slices"

// matcher finds the bindings of a pattern by backtracking. A relationship stands for at most one
// relationship pattern of the clause (openCypher's relationship isomorphism).
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
		m.forEachMatch(x.copyRow(r), func(found row) bool {
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

// noMatch is the row of an OPTIONAL MATCH that found nothing. Variables that were bound before keep
// their values.
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

// forEachMatch calls found for every binding of the patterns; r is written to and
// holds the binding during the call.
func (m *matcher) forEachMatch(r row, found func(row) bool) {
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
		n, ok := m.row[s.target.slot].(*Node)
		if !ok {
			m.mustBeNode(s.target)
			return m.err == nil
		}
		return !m.nodeMatches(n, s.target) || m.follow(i+1)
	}
	for _, n := range m.candidates(s.target) {
		if !m.step(1) {
			return false
		}
		if n.deleted || !m.nodeMatches(n, s.target) {
			continue
		}
		m.row[s.target.slot] = n
		if !m.follow(i + 1) {
			return false
		}
	}
	m.row[s.target.slot] = nil
	return true
}

// hop goes one step deeper into a search. Paths may be longer than
// expressions are deep, so the two are bounded apart.
func (m *matcher) hop() bool {
	m.hops++
	if m.hops > maxPath {
		m.exceed("relationships in a path", maxPath)
	}
	return m.err == nil
}

const maxPath = 10_000

func (m *matcher) mustBeNode(n *nodePattern) {
	if m.row[n.slot] != nil {
		m.fail(n.span, typeError, "InvalidArgumentType", "the variable %s does not hold a node", n.name)
	}
}

// candidates are the nodes that a pattern can stand for, by the narrowest index.
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
		at = rel.otherEnd(at)
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

// expand follows the relationship of step i from its known end.
func (m *matcher) expand(i int, s *matchStep) bool {
	from, ok := m.row[s.source.slot].(*Node)
	if !ok {
		return true
	}
	if s.rel.variable {
		return m.expandMany(i, s, from)
	}
	var only *Relationship
	if s.rel.bound {
		if only, ok = m.row[s.rel.slot].(*Relationship); !ok {
			if m.row[s.rel.slot] != nil {
				m.fail(s.rel.span, typeError, "InvalidArgumentType", "the variable %s does not hold a relationship",
					s.rel.name)
			}
			return m.err == nil
		}
	}
	return m.neighbours(s, from, func(r *Relationship, n *Node) bool {
		if only != nil && r != only {
			return true
		}
		if !s.rel.bound {
			m.row[s.rel.slot] = r
		}
		m.use(r)
		ok := m.arrive(i, s, n)
		delete(m.used, r)
		return ok
	})
}

func (m *matcher) use(r *Relationship) {
	if m.used == nil {
		m.used = map[*Relationship]bool{}
	}
	m.used[r] = true
}

// arrive binds the far node of step i and continues.
func (m *matcher) arrive(i int, s *matchStep, n *Node) bool {
	if s.known {
		if m.row[s.target.slot] != Value(n) {
			return true
		}
	} else {
		m.row[s.target.slot] = n
	}
	return !m.nodeMatches(n, s.target) || m.follow(i+1)
}

// neighbours calls visit for each unused relationship at a node that fits a
// step, with the node at its other end; false stops.
func (m *matcher) neighbours(s *matchStep, from *Node, visit func(*Relationship, *Node) bool) bool {
	dir := s.rel.dir
	if s.reverse && dir != undirected {
		dir = outgoing + incoming - dir
	}
	// Between two known nodes the one with fewer relationships is searched.
	if to, ok := m.row[s.target.slot].(*Node); ok && s.known && !s.rel.variable && dir != undirected {
		near, far := from.out, to.in
		if dir == incoming {
			near, far = from.in, to.out
		}
		if len(far) < len(near) {
			return m.fitting(s, far, func(r *Relationship) bool {
				return r.otherEnd(to) != from || visit(r, to)
			})
		}
	}
	if dir != incoming && !m.fitting(s, from.out, func(r *Relationship) bool { return visit(r, r.end) }) {
		return false
	}
	if dir == outgoing {
		return true
	}
	return m.fitting(s, from.in, func(r *Relationship) bool {
		if dir == undirected && r.start == r.end {
			return true // a loop was seen among those going out
		}
		return visit(r, r.start)
	})
}

func (m *matcher) fitting(s *matchStep, rels []*Relationship, visit func(*Relationship) bool) bool {
	for _, r := range rels {
		if !m.step(1) {
			return false
		}
		if r.deleted || r.start.deleted || r.end.deleted || m.used[r] ||
			len(s.rel.types) > 0 && !slices.Contains(s.rel.types, r.kind) ||
			!s.rel.late && !m.propsMatch(&r.entity, s.rel.props) {
			continue
		}
		if !visit(r) {
			return false
		}
	}
	return true
}

// expandMany follows a pattern of variable length, depth first.
func (m *matcher) expandMany(i int, s *matchStep, from *Node) bool {
	if s.rel.bound {
		return m.expandList(i, s, from)
	}
	var path []Value
	var walk func(n *Node) bool
	walk = func(n *Node) bool {
		if !m.hop() {
			return false
		}
		defer func() { m.hops-- }()
		if len(path) >= s.rel.min {
			list := slices.Clone(path)
			if s.reverse {
				slices.Reverse(list)
			}
			if list == nil {
				list = []Value{}
			}
			m.step(len(list))
			m.row[s.rel.slot] = list
			if !m.arrive(i, s, n) {
				return false
			}
		}
		if s.rel.max >= 0 && len(path) >= s.rel.max {
			return true
		}
		return m.neighbours(s, n, func(r *Relationship, next *Node) bool {
			m.use(r)
			path = append(path, r)
			ok := walk(next)
			path = path[:len(path)-1]
			delete(m.used, r)
			return ok
		})
	}
	return walk(from)
}

// expandList follows a list of relationships that is bound already: MATCH (a)-[rs*]->(b).
func (m *matcher) expandList(i int, s *matchStep, from *Node) bool {
	list, ok := m.row[s.rel.slot].([]Value)
	if !ok {
		return true
	}
	if s.reverse {
		list = slices.Clone(list)
		slices.Reverse(list)
	}
	n := from
	for _, v := range list {
		want, ok := v.(*Relationship)
		if !ok {
			return true
		}
		var next *Node
		m.neighbours(s, n, func(r *Relationship, other *Node) bool {
			if r == want {
				next = other
			}
			return next == nil
		})
		if next == nil || m.err != nil {
			return m.err == nil
		}
		n = next
	}
	return m.arrive(i, s, n)
}
