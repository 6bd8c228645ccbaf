package cypher

import "slices"

// createPath writes the nodes and relationships of a path that the row does not hold yet.
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
		x.exceed("nodes", x.limits.Nodes)
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
		x.fail(p.span, semanticError, "InvalidArgumentValue",
			"a relationship needs a node at both ends, and one of them is null")
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
		x.exceed("relationships", x.limits.Relationships)
	}
	if !x.step(1) {
		return nil
	}
	return x.graph.addRel(kind, start, end)
}

// propertyMap evaluates the properties of a pattern; nulls are omitted.
func (x *executor) propertyMap(e expr, r row) []Property {
	switch e := e.(type) {
	case *mapExpr:
		list := make([]Property, 0, len(e.keys))
		for i, key := range e.keys {
			list = x.addProperty(list, key, x.eval(e.values[i], r), e.values[i].location())
		}
		return list
	case nil:
		return nil
	}
	m, ok := x.eval(e, r).(map[string]Value)
	if !ok {
		x.fail(e.location(), typeError, "InvalidArgumentType", "the properties of a pattern have to be a map")
	}
	return x.fromMap(m, e.location())
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
		x.exceed("properties of one entity", maxProperties)
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

// merge finds the whole path or else creates the whole path, row by row: a
// row sees what the rows before it created.
func (x *executor) merge(c *mergeClause, rows []row) []row {
	if x.loose != nil {
		return x.looseMerge(c, rows)
	}
	var out []row
	m := x.matcher([]*pathPattern{c.path})
	for _, r := range rows {
		x.noNullProps(c.path, r)
		if x.err != nil {
			return nil
		}
		var found []row
		m.forEachMatch(x.copyRow(r), func(match row) bool {
			found = x.emit(found, x.copyRow(match))
			return x.err == nil
		})
		actions := c.onMatch
		if len(found) == 0 {
			x.createPath(c.path, r)
			found, actions = []row{r}, c.onCreate
		}
		for _, r := range found {
			x.set(actions, r)
			out = x.emit(out, r)
		}
	}
	return out
}

// noNullProps refuses to merge on null: such a pattern would never match what it creates.
func (x *executor) noNullProps(path *pathPattern, r row) {
	check := func(props expr) {
		if m, ok := props.(*mapExpr); ok {
			for i, v := range m.values {
				if x.eval(v, r) == nil && x.err == nil {
					x.fail(v.location(), semanticError, "MergeReadOwnWrites",
						"MERGE cannot use null for the property %s", m.keys[i])
				}
			}
		}
	}
	for _, n := range path.nodes {
		check(n.props)
	}
	for _, rel := range path.rels {
		check(rel.props)
	}
}

// set executes assignments on one row, one after the other. Nothing happens to null.
func (x *executor) set(items []*setItem, r row) {
	for _, it := range items {
		target := x.eval(it.target, r)
		if target == nil || !x.step(1) {
			continue
		}
		switch {
		case it.labels != nil:
			if n, ok := x.nodeOf(target, it); ok {
				x.step(len(it.labels))
				x.graph.addLabels(n, it.labels)
			}
		case it.key != "":
			v := x.eval(it.value, r)
			if v == nil || x.storable(v, it.span) {
				x.setProperty(target, it.key, v, it.span)
			}
		default:
			x.setAll(target, it, r)
		}
	}
}

func (x *executor) nodeOf(v Value, it *setItem) (*Node, bool) {
	n, ok := v.(*Node)
	if !ok {
		x.fail(it.span, typeError, "InvalidArgumentType", "only nodes have labels")
		return nil, false
	}
	if n.deleted {
		return nil, false
	}
	return n, true
}

// setProperty sets one property of a node or relationship; nil removes it.
func (x *executor) setProperty(target Value, key string, v Value, at span) {
	if x.err != nil {
		return
	}
	switch e := target.(type) {
	case *Node:
		if !e.deleted && x.room(&e.entity, v) {
			if k, ok := scalarKey(e.Property(key)); ok {
				x.step(len(x.graph.index.byValue[valueKey{key, k}]) / 8)
			}
			x.graph.setNode(e, key, v)
		}
	case *Relationship:
		if !e.deleted && x.room(&e.entity, v) {
			e.setProperty(key, v)
		}
	default:
		x.fail(at, typeError, "InvalidArgumentType", "only nodes and relationships have properties that can be set")
	}
}

// maxProperties bounds the properties of one node or relationship, which are looked up one by one.
const maxProperties = 256

// room reports whether one more property may be set. Beyond the limit Decode skips the property and
// a strict run fails.
func (x *executor) room(e *entity, v Value) bool {
	full := v != nil && len(e.props) >= maxProperties
	if full && x.loose == nil {
		x.exceed("properties of one entity", maxProperties)
	}
	return !full && x.step(1+len(e.props)/8)
}

// setAll is SET x = map and SET x += map, where an entity stands for its properties.
func (x *executor) setAll(target Value, it *setItem, r row) {
	var props []Property
	removed := map[string]bool{}
	switch v := x.eval(it.value, r).(type) {
	case *Node:
		props = append(props, v.props...)
	case *Relationship:
		props = append(props, v.props...)
	case map[string]Value:
		for _, key := range sortedKeys(v) {
			if v[key] == nil {
				removed[key] = true
			}
		}
		props = x.fromMap(v, it.span)
	default:
		x.fail(it.span, typeError, "InvalidArgumentType", "SET needs a map, a node or a relationship here")
		return
	}
	for _, p := range props {
		removed[p.Key] = false
	}
	for _, p := range entityProps(target) {
		if gone, given := removed[p.Key]; gone || !given && !it.merge {
			x.setProperty(target, p.Key, nil, it.span)
		}
	}
	for _, p := range props {
		x.setProperty(target, p.Key, p.Value, it.span)
	}
}

// entityProps is a copy of the properties of a node or relationship.
func entityProps(v Value) []Property {
	switch v := v.(type) {
	case *Node:
		return append([]Property(nil), v.props...)
	case *Relationship:
		return append([]Property(nil), v.props...)
	}
	return nil
}

func (x *executor) remove(items []*setItem, r row) {
	for _, it := range items {
		target := x.eval(it.target, r)
		if target == nil || !x.step(1) {
			continue
		}
		if it.labels == nil {
			x.setProperty(target, it.key, nil, it.span)
		} else if n, ok := x.nodeOf(target, it); ok {
			for _, l := range it.labels {
				x.step(len(x.graph.index.byLabel[l]) / 8)
			}
			x.graph.removeLabels(n, it.labels)
		}
	}
}

// delete removes nodes, relationships and paths. Remaining relationships of a deleted node are
// checked when the query ends, so that they may be deleted after it.
func (x *executor) delete(c *deleteClause, rows []row) {
	for _, r := range rows {
		for _, e := range c.exprs {
			x.deleteValue(x.eval(e, r), c, e.location())
		}
	}
}

func (x *executor) deleteValue(v Value, c *deleteClause, at span) {
	if !x.step(1) {
		return
	}
	switch v := v.(type) {
	case nil:
	case *Node:
		x.deleteNode(v, c.detach, at)
	case *Relationship:
		x.deleteRel(v)
	case *Path:
		for _, r := range v.Relationships {
			x.deleteRel(r)
		}
		for _, n := range v.Nodes {
			x.deleteNode(n, c.detach, at)
		}
	default:
		x.fail(at, typeError, "InvalidArgumentType", "DELETE takes nodes, relationships and paths")
	}
}

func (x *executor) deleteRel(r *Relationship) {
	if !r.deleted && x.step(1+(len(r.start.out)+len(r.end.in))/8) {
		x.graph.deleteRel(r)
	}
}

func (x *executor) deleteNode(n *Node, detach bool, at span) {
	if n.deleted {
		return
	}
	if detach {
		for len(n.out) > 0 && x.err == nil {
			x.deleteRel(n.out[len(n.out)-1])
		}
		for len(n.in) > 0 && x.err == nil {
			x.deleteRel(n.in[len(n.in)-1])
		}
	}
	cost := 1
	for _, l := range n.labels {
		cost += len(x.graph.index.byLabel[l]) / 8
	}
	if x.step(cost) {
		x.graph.deleteNode(n)
		x.cut = append(x.cut, cutNode{n, at})
	}
}

// checkDeleted fails if a deleted node still has relationships.
func (x *executor) checkDeleted() {
	for _, c := range x.cut {
		if len(c.node.out)+len(c.node.in) > 0 {
			x.fail(c.span, constraintError, "DeleteConnectedNode",
				"a node with relationships can be deleted by DETACH DELETE only")
		}
	}
}
