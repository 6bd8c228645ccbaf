package cypher

import "slices"

// expand follows the relationship of step i from its known end.
func (m *matcher) expand(i int, s *matchStep) bool {
	from, ok := m.row[s.from.slot].(*Node)
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
				m.fail(s.rel.span, typeError, "InvalidArgumentType", "the variable %s does not hold a relationship", s.rel.name)
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

// arrive binds the far node of step i and goes on.
func (m *matcher) arrive(i int, s *matchStep, n *Node) bool {
	if s.known {
		if m.row[s.to.slot] != Value(n) {
			return true
		}
	} else {
		m.row[s.to.slot] = n
	}
	return !m.nodeMatches(n, s.to) || m.follow(i+1)
}

// neighbours calls visit for each unused relationship at a node that fits a
// step, with the node at its other end; false stops.
func (m *matcher) neighbours(s *matchStep, from *Node, visit func(*Relationship, *Node) bool) bool {
	dir := s.rel.dir
	if s.reverse && dir != undirected {
		dir = outgoing + incoming - dir
	}
	// Between two known nodes the one with fewer relationships is searched.
	if to, ok := m.row[s.to.slot].(*Node); ok && s.known && !s.rel.variable && dir != undirected {
		near, far := from.out, to.in
		if dir == incoming {
			near, far = from.in, to.out
		}
		if len(far) < len(near) {
			return m.fitting(s, far, func(r *Relationship) bool {
				return r.other(to) != from || visit(r, to)
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

// expandList follows a list of relationships that is bound already:
// MATCH (a)-[rs*]->(b).
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
