package cypher

import "slices"

// match analyses MATCH: first every element is declared, then the properties
// are read, which may name any of them.
func (a *analyser) match(c *matchClause) {
	a.readPaths(c.paths, true)
	if a.loose == nil {
		a.condition(c.condition)
		return
	}
	var kept expr
	for _, e := range conjuncts(c.condition) {
		if a.tolerate(func() { a.condition(e) }) {
			if kept != nil {
				e = &binary{span: e.location(), op: "AND", left: kept, right: e}
			}
			kept = e
		}
	}
	c.condition = kept
}

// conjuncts are the parts that AND joins.
func conjuncts(e expr) []expr {
	var parts []expr
	for {
		b, ok := e.(*binary)
		if !ok || b.op != "AND" {
			break
		}
		parts = append(parts, b.right)
		e = b.left
	}
	if e != nil {
		parts = append(parts, e)
	}
	slices.Reverse(parts)
	return parts
}

// condition analyses a WHERE, in which patterns may stand.
func (a *analyser) condition(e expr) {
	if e == nil {
		return
	}
	outer := a.predicate
	a.predicate = true
	a.expr(e)
	a.predicate = outer
}

// readPaths analyses patterns that are matched. With declare unset a variable
// must be known already, as in a pattern predicate.
func (a *analyser) readPaths(paths []*pathPattern, declare bool) {
	rels := map[string]bool{}
	for _, path := range paths {
		for i, n := range path.nodes {
			a.readNode(n, declare)
			if i < len(path.rels) {
				r := path.rels[i]
				if r.name != "" && rels[r.name] {
					a.fail(r.span, "RelationshipUniquenessViolation",
						"the relationship %s is used twice in one pattern", r.name)
				}
				rels[r.name] = true
				a.readRel(r, declare)
			}
		}
		if path.name != "" {
			path.slot = a.declareNew(path.span, path.name, pathKind)
		}
	}
	for _, path := range paths {
		for _, n := range path.nodes {
			n.late = a.patternProps(n.props)
		}
		for _, r := range path.rels {
			r.late = a.patternProps(r.props)
		}
	}
}

func (a *analyser) readNode(n *nodePattern, declare bool) {
	b := a.lookupNode(n)
	switch {
	case b == nil && n.name != "" && !declare:
		a.undefined(n.span, n.name)
	case b == nil:
		n.slot = a.scope.declare(n.name, nodeKind).slot
	default:
		n.slot, n.bound = b.slot, !a.scope.fresh(b)
		if b.kind != nodeKind && b.kind != anyKind && b.kind != nullKind {
			a.fail(n.span, "VariableTypeConflict", "the variable %s does not hold a node", n.name)
		}
	}
}

func (a *analyser) readRel(r *relPattern, declare bool) {
	kind := relKind
	if r.variable {
		kind = relsKind
	}
	b := a.lookup(r.name)
	switch {
	case b == nil && r.name != "" && !declare:
		a.undefined(r.span, r.name)
	case b == nil:
		r.slot = a.scope.declare(r.name, kind).slot
	default:
		r.slot, r.bound = b.slot, true
		list := r.variable && b.kind == listKind
		if b.kind != kind && b.kind != anyKind && b.kind != nullKind && !list {
			a.fail(r.span, "VariableTypeConflict", "the variable %s does not hold a relationship", r.name)
		}
	}
}

func (a *analyser) lookup(name string) *binding {
	if name == "" {
		return nil
	}
	if b := a.scope.names[name]; b != nil {
		return b
	}
	if a.loose != nil {
		return a.loose.find(a.scope, name)
	}
	return nil
}

// lookupNode is lookup for a node pattern: when Decode reads, a variable of
// an earlier statement that is written with another name is a new one.
func (a *analyser) lookupNode(n *nodePattern) *binding {
	if a.loose == nil || n.name == "" || a.scope.names[n.name] != nil {
		return a.lookup(n.name)
	}
	return a.loose.findNode(a.scope, n)
}

func (a *analyser) undefined(at span, name string) {
	a.fail(at, "UndefinedVariable", "the variable %s is not defined", name)
}

// patternProps analyses the properties of a pattern's element and reports
// whether they read a variable that the same clause declares.
func (a *analyser) patternProps(props expr) (late bool) {
	switch props := props.(type) {
	case nil:
		return false
	case *param:
		a.fail(props.span, "InvalidParameterUse", "a parameter cannot replace all properties of a pattern")
		return false
	}
	a.expr(props)
	walk(props, func(e expr) {
		if v, ok := e.(*variable); ok {
			if b := a.scope.names[v.name]; b != nil && a.scope.fresh(b) {
				late = true
			}
		}
	})
	return late
}

// createPath analyses a path that CREATE or MERGE writes.
func (a *analyser) createPath(path *pathPattern, verb string) {
	for i, n := range path.nodes {
		a.createNode(n, len(path.rels) == 0)
		if i < len(path.rels) {
			a.createRel(path.rels[i], verb)
		}
	}
	if path.name != "" {
		path.slot = a.declareNew(path.span, path.name, pathKind)
	}
}

func (a *analyser) createNode(n *nodePattern, alone bool) {
	a.writtenProps(n.props)
	b := a.lookupNode(n)
	if b == nil {
		n.slot = a.scope.declare(n.name, nodeKind).slot
		return
	}
	n.slot, n.bound = b.slot, true
	switch {
	case a.loose != nil:
	case b.kind != nodeKind && b.kind != anyKind && b.kind != nullKind:
		a.fail(n.span, "VariableTypeConflict", "the variable %s does not hold a node", n.name)
	case alone || n.label:
		a.fail(n.span, "VariableAlreadyBound", "the variable %s is declared already", n.name)
	}
}

func (a *analyser) createRel(r *relPattern, verb string) {
	switch {
	case a.loose == nil && a.lookup(r.name) != nil:
		a.fail(r.span, "VariableAlreadyBound", "the variable %s is declared already", r.name)
	case r.variable:
		a.fail(r.span, "CreatingVarLength", "%s cannot write a relationship of variable length", verb)
	case len(r.types) != 1:
		a.fail(r.span, "NoSingleRelationshipType", "%s needs exactly one relationship type", verb)
	case r.dir == undirected && (verb == "CREATE" || r.both):
		a.fail(r.span, "RequiresDirectedRelationship", "%s needs a direction", verb)
	}
	a.writtenProps(r.props)
	r.slot = a.scope.declare(r.name, relKind).slot
}

func (a *analyser) writtenProps(props expr) {
	if m, ok := props.(*mapExpr); ok && a.loose != nil {
		for i, v := range m.values {
			if !a.tolerate(func() { a.expr(v) }) {
				m.values[i] = &literal{span: v.location()}
			}
		}
		return
	}
	if props == nil {
		return
	}
	a.expr(props)
	if m, ok := props.(*mapExpr); ok {
		for i, v := range m.values {
			if listHoldsMap(v) {
				a.failAs(m.values[i].location(), typeError, "InvalidPropertyType", "a property cannot hold a map")
			}
		}
	}
}

func (a *analyser) merge(c *mergeClause) {
	for _, n := range c.path.nodes {
		if p, ok := n.props.(*param); ok {
			a.fail(p.span, "InvalidParameterUse", "a parameter cannot replace all properties in MERGE")
		}
	}
	for _, r := range c.path.rels {
		if p, ok := r.props.(*param); ok {
			a.fail(p.span, "InvalidParameterUse", "a parameter cannot replace all properties in MERGE")
		}
	}
	a.createPath(c.path, "MERGE")
	for _, path := range c.furtherPaths {
		a.createPath(path, "MERGE")
	}
	for _, n := range c.path.nodes {
		if b := a.scope.names[n.name]; b != nil && a.scope.fresh(b) {
			n.bound = false
		}
	}
	a.set(c.onCreate)
	a.set(c.onMatch)
}
