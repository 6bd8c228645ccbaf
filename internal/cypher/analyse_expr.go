package cypher

// expr analyses an expression and returns the kind of its value.
func (a *analyser) expr(e expr) valueKind {
	if a.err != nil || a.order != nil && a.order.replaces(a, e) {
		return anyKind
	}
	pattern := a.predicate
	switch e.(type) {
	case *binary, *unary, *patternExpr: // a pattern may stand under AND, OR, NOT
	default:
		a.predicate = false
	}
	k := a.exprKind(e)
	a.predicate = pattern
	return k
}

func (a *analyser) exprKind(e expr) valueKind {
	switch e := e.(type) {
	case *literal:
		return literalKind(e.value)
	case *variable:
		return a.variable(e)
	case *looseWord:
		e.slot = -1
		if b := a.lookup(e.name); b != nil {
			e.slot = b.slot
		}
	case *property:
		if k := a.expr(e.target); k == pathKind || k == relsKind {
			a.fail(e.span, "InvalidArgumentType", "only nodes, relationships and maps have properties")
		}
	case *index:
		a.expr(e.target)
		a.expr(e.index)
	case *slice:
		a.exprs(e.list, e.lower, e.upper)
		return listKind
	case *labelTest:
		a.expr(e.target)
		return boolKind
	case *unary:
		return a.unary(e)
	case *binary:
		return a.binary(e)
	case *comparison:
		a.exprs(e.operands...)
		return boolKind
	case *isNull:
		a.expr(e.operand)
		return boolKind
	case *listExpr:
		return a.list(e)
	case *mapExpr:
		a.exprs(e.values...)
		return mapKind
	case *caseExpr:
		a.exprs(e.subject)
		a.exprs(e.when...)
		a.exprs(e.then...)
		a.exprs(e.otherwise)
	case *call:
		return a.call(e)
	case *comprehension:
		a.expr(e.list)
		e.slot = a.local(func() { a.condition(e.condition); a.exprs(e.result) }, e.name)[0]
		return listKind
	case *quantifier:
		a.expr(e.list)
		e.slot = a.local(func() { a.condition(e.condition) }, e.name)[0]
		return boolKind
	case *reduceExpr:
		a.exprs(e.initial, e.list)
		slots := a.local(func() { a.expr(e.result) }, e.accumulator, e.name)
		e.accumulatorSlot, e.slot = slots[0], slots[1]
	case *patternExpr:
		return a.patternPredicate(e)
	case *patternComprehension:
		a.inInnerScope(func() {
			a.readPaths([]*pathPattern{e.path}, true)
			a.condition(e.condition)
			a.expr(e.result)
		})
		return listKind
	}
	return anyKind
}

func (a *analyser) exprs(list ...expr) {
	for _, e := range list {
		if e != nil {
			a.expr(e)
		}
	}
}

func literalKind(v Value) valueKind {
	switch v.(type) {
	case nil:
		return nullKind
	case bool:
		return boolKind
	case string:
		return textKind
	}
	return numberKind
}

func (a *analyser) variable(v *variable) valueKind {
	var b *binding
	if a.order != nil {
		b = a.order.find(a.scope, v.name)
	} else {
		b = a.lookup(v.name)
	}
	if b == nil {
		a.undefined(v.span, v.name)
		return anyKind
	}
	v.slot = b.slot
	return b.kind
}

func (a *analyser) unary(e *unary) valueKind {
	k := a.expr(e.operand)
	if e.op != "NOT" {
		return numberKind
	}
	a.needBool(e.operand, k)
	return boolKind
}

func (a *analyser) needBool(e expr, k valueKind) {
	if k.isEntityFree() && k != boolKind || k == nodeKind || k == relKind || k == pathKind {
		a.fail(e.location(), "InvalidArgumentType", "expected a boolean")
	}
}

func (a *analyser) binary(e *binary) valueKind {
	left, right := a.expr(e.left), a.expr(e.right)
	switch e.op {
	case "AND", "OR", "XOR":
		a.needBool(e.left, left)
		a.needBool(e.right, right)
		return boolKind
	case "IN":
		if right == boolKind || right == numberKind || right == textKind || right == mapKind {
			a.fail(e.right.location(), "InvalidArgumentType", "IN needs a list")
		}
		return boolKind
	case "STARTS WITH", "ENDS WITH", "CONTAINS", "=~":
		return boolKind
	case "+":
		switch {
		case left == listKind || right == listKind:
			return listKind
		case left == right && (left == numberKind || left == textKind):
			return left
		}
		return anyKind
	}
	for _, side := range []struct {
		e expr
		k valueKind
	}{{e.left, left}, {e.right, right}} {
		if k := side.k; k == boolKind || k == textKind || k == listKind || k == mapKind || k == nodeKind ||
			k == relKind {
			a.fail(side.e.location(), "InvalidArgumentType", "expected a number")
		}
	}
	if left == numberKind && right == numberKind {
		return numberKind
	}
	return anyKind // a number, a duration or a point in time
}

func (a *analyser) list(e *listExpr) valueKind {
	k := listKind
	for _, x := range e.items {
		if a.expr(x) == nodeKind {
			k = nodesKind
		}
	}
	return k
}

// local analyses body with variables that are visible inside an expression only.
// Aggregates cannot stand there.
func (a *analyser) local(body func(), names ...string) []int {
	slots := make([]int, len(names))
	a.inInnerScope(func() {
		for i, name := range names {
			slots[i] = a.scope.declare(name, anyKind).slot
			if a.order != nil {
				a.order.locals[name] = a.scope.names[name]
			}
		}
		aggregates := a.aggregates
		a.aggregates = nil
		body()
		a.aggregates = aggregates
	})
	if a.order != nil {
		for _, name := range names {
			delete(a.order.locals, name)
		}
	}
	return slots
}

// inInnerScope analyses body and drops the variables that it declares.
func (a *analyser) inInnerScope(body func()) {
	names := a.scope.names
	a.scope.names = make(map[string]*binding, len(names)+2)
	for name, b := range names {
		outer := *b
		outer.clause = 0
		a.scope.names[name] = &outer
	}
	body()
	a.scope.names = names
}

func (a *analyser) patternPredicate(e *patternExpr) valueKind {
	if !e.exists && !a.predicate {
		a.fail(e.span, "UnexpectedSyntax", "a pattern is allowed only in WHERE and in exists()")
		return anyKind
	}
	a.inInnerScope(func() {
		a.readPaths(e.paths, e.query)
		a.condition(e.condition)
	})
	return boolKind
}

func (a *analyser) call(e *call) valueKind {
	f, ok := functions[e.name]
	if !ok {
		a.fail(e.span, "UnknownFunction", "there is no function %.60s()", e.name)
		return anyKind
	}
	e.function = f
	if !e.star && (len(e.args) < f.min || f.max >= 0 && len(e.args) > f.max) || e.star && e.name != "count" {
		a.fail(e.span, "InvalidNumberOfArguments", "%s() got %d arguments", e.name, len(e.args))
	}
	if f.aggregate != nil {
		return a.aggregate(e)
	}
	if a.inside && e.name == "rand" {
		a.fail(e.span, "NonConstantExpression", "rand() is not allowed in an aggregate")
	}
	for i, arg := range e.args {
		if k := a.expr(arg); i == 0 && f.refuses(k) {
			a.fail(arg.location(), "InvalidArgumentType", "%s() does not take such a value", e.name)
		}
	}
	return f.result
}

func (a *analyser) aggregate(e *call) valueKind {
	switch {
	case a.inside:
		a.fail(e.span, "NestedAggregation", "an aggregate is not allowed in an aggregate")
	case a.aggregates == nil:
		a.fail(e.span, "InvalidAggregation", "an aggregate is not allowed here")
	default:
		a.inside = true
		a.exprs(e.args...)
		a.inside = false
		text := a.canonical(e.span)
		for _, other := range *a.aggregates {
			if a.canonical(other.span) == text {
				e.slot = other.slot
				return anyKind
			}
		}
		e.slot = a.scope.slot()
		*a.aggregates = append(*a.aggregates, e)
	}
	return anyKind
}
