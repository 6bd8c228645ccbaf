package cypher

// set carries out assignments on one row, one after the other. Nothing
// happens to null.
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
				x.put(target, it.key, v, it.span)
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

// put sets one property of a node or relationship; nil removes it.
func (x *executor) put(target Value, key string, v Value, at span) {
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
			e.put(key, v)
		}
	default:
		x.fail(at, typeError, "InvalidArgumentType", "only nodes and relationships have properties that can be set")
	}
}

// maxProperties bounds the properties of one node or relationship, which are
// looked up one by one.
const maxProperties = 256

// room reports whether one more property may be set. Decode leaves out what is
// too much, a strict run fails.
func (x *executor) room(e *entity, v Value) bool {
	full := v != nil && len(e.props) >= maxProperties
	if full && x.loose == nil {
		x.over("properties of one entity", maxProperties)
	}
	return !full && x.step(1+len(e.props)/8)
}

// setAll is SET x = map and SET x += map, where an entity stands for its
// properties.
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
			x.put(target, p.Key, nil, it.span)
		}
	}
	for _, p := range props {
		x.put(target, p.Key, p.Value, it.span)
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

// remove carries out REMOVE on one row.
func (x *executor) remove(items []*setItem, r row) {
	for _, it := range items {
		target := x.eval(it.target, r)
		if target == nil || !x.step(1) {
			continue
		}
		if it.labels == nil {
			x.put(target, it.key, nil, it.span)
		} else if n, ok := x.nodeOf(target, it); ok {
			for _, l := range it.labels {
				x.step(len(x.graph.index.byLabel[l]) / 8)
			}
			x.graph.removeLabels(n, it.labels)
		}
	}
}
