package cypher

func (x *executor) forgive(at span, message string) {
	x.loose.notes.add(x.tokens[at.from].from, message)
}

// looseMerge merges node by node and relationship by relationship, where
// openCypher would merge the path as a whole: models mean the former.
func (x *executor) looseMerge(c *mergeClause, rows []row) []row {
	for _, r := range rows {
		before := x.graph.live.nodes + x.graph.live.rels
		for _, path := range append([]*pathPattern{c.path}, c.more...) {
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

// writeMatch stands in for a MATCH that found nothing: what a model looks for
// it takes to be so, and it is written.
func (x *executor) writeMatch(c *matchClause, r row) row {
	x.forgive(c.span, "MATCH finds nothing: what it looks for is written")
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
			if n, ok := x.eval(p.of, r).(*Node); ok && n.Property(p.key) == nil {
				x.put(n, p.key, l.value, e.span)
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
			found.at = rel.from
		}
		props, _ := x.looseProps(rel.props, r)
		for _, p := range props {
			x.put(found, p.Key, p.Value, rel.span)
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
		x.forgive(n.span, "the variable "+n.name+" is declared again: it now stands for another node")
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
		node.at = n.from
	}
	x.step(len(n.labels))
	x.graph.addLabels(node, n.labels)
	for _, p := range props {
		x.put(node, p.Key, p.Value, n.span)
	}
	r[n.slot] = node
	for _, l := range links {
		if rel := x.newRel(l.Key, node, l.Value.(*Node)); rel != nil {
			rel.at = n.from
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
// values that no property can hold are left out.
func (x *executor) looseProps(e expr, r row) (props, links []Property) {
	m, ok := e.(*mapExpr)
	if !ok {
		return nil, nil
	}
	for i, key := range m.keys {
		at := m.values[i].where()
		switch v := x.eval(m.values[i], r).(type) {
		case nil:
		case *Node:
			x.forgive(at, "a node as a property is read as a relationship to it")
			links = append(links, Property{key, v})
		case []Value:
			props = x.addProperty(props, key, scalars(v), at)
		case map[string]Value, *Relationship, *Path:
			x.forgive(at, "a property cannot hold this; it is left out")
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
