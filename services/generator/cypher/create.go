package cypher

import "slices"

// createPath writes the nodes and relationships of a path that the row does
// not hold yet.
func (x *executor) createPath(path *pathPattern, r row) {
	if x.loose != nil {
		x.writePath(path, r, true)
		return
	}
	for _, n := range path.nodes {
		if n.bound {
			continue
		}
		props := x.propertyMap(n.props, r)
		if node := x.newNode(n); node != nil {
			for _, p := range props {
				x.graph.setNode(node, p.Key, p.Value)
			}
			r[n.slot] = node
		}
	}
	for i, rel := range path.rels {
		x.createRel(rel, path.nodes[i], path.nodes[i+1], r)
	}
	if path.name != "" {
		r[path.slot] = pathOf(path, r)
	}
}

func (x *executor) newNode(n *nodePattern) *Node {
	if x.graph.live.nodes >= x.limits.Nodes {
		x.over("nodes", x.limits.Nodes)
	}
	if !x.step(1 + len(n.labels)) {
		return nil
	}
	return x.graph.addNode(n.labels, n.name)
}

func (x *executor) createRel(p *relPattern, left, right *nodePattern, r row) {
	props := x.propertyMap(p.props, r)
	start, ok1 := r[left.slot].(*Node)
	end, ok2 := r[right.slot].(*Node)
	if p.dir == incoming {
		start, end = end, start
	}
	switch {
	case x.err != nil:
		return
	case !ok1 || !ok2:
		x.fail(p.span, semanticError, "InvalidArgumentValue", "a relationship needs a node at both ends, and one of them is null")
		return
	case start.deleted || end.deleted:
		x.deletedAccess(p.span)
		return
	}
	if rel := x.newRel(p.types[0], start, end); rel != nil {
		rel.props = props
		r[p.slot] = rel
	}
}

func (x *executor) newRel(kind string, start, end *Node) *Relationship {
	if x.graph.live.rels >= x.limits.Relationships {
		x.over("relationships", x.limits.Relationships)
	}
	if !x.step(1) {
		return nil
	}
	return x.graph.addRel(kind, start, end)
}

// propertyMap evaluates the properties of a pattern; nulls are left out.
func (x *executor) propertyMap(e expr, r row) []Property {
	switch e := e.(type) {
	case *mapExpr:
		list := make([]Property, 0, len(e.keys))
		for i, key := range e.keys {
			list = x.addProperty(list, key, x.eval(e.values[i], r), e.values[i].where())
		}
		return list
	case nil:
		return nil
	}
	m, ok := x.eval(e, r).(map[string]Value)
	if !ok {
		x.fail(e.where(), typeError, "InvalidArgumentType", "the properties of a pattern have to be a map")
	}
	return x.fromMap(m, e.where())
}

func (x *executor) fromMap(m map[string]Value, at span) []Property {
	var list []Property
	for _, key := range sortedKeys(m) {
		list = x.addProperty(list, key, m[key], at)
	}
	return list
}

// addProperty adds or replaces a property; null removes it.
func (x *executor) addProperty(list []Property, key string, v Value, at span) []Property {
	if len(list) >= maxProperties {
		x.over("properties of one entity", maxProperties)
	}
	if !x.step(1+len(list)/8) || v != nil && !x.storable(v, at) {
		return list
	}
	list = slices.DeleteFunc(list, func(p Property) bool { return p.Key == key })
	if v == nil {
		return list
	}
	return append(list, Property{key, v})
}

// storable reports whether a value can be a property: scalars and lists of
// scalars can, maps and entities cannot.
func (x *executor) storable(v Value, at span) bool {
	ok := true
	switch v := v.(type) {
	case []Value:
		for _, item := range v {
			switch item.(type) {
			case nil, []Value, map[string]Value, *Node, *Relationship, *Path:
				ok = false
			}
		}
	case map[string]Value, *Node, *Relationship, *Path:
		ok = false
	}
	if !ok {
		x.fail(at, typeError, "InvalidPropertyType", "a property holds a scalar or a list of scalars")
	}
	return ok
}

func (x *executor) deletedAccess(at span) {
	x.fail(at, entityNotFound, "DeletedEntityAccess", "the entity was deleted by this query")
}
