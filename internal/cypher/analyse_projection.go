package cypher

import "slices"

// project analyses WITH or RETURN. The new variables get slots beside the old
// ones, because ORDER BY and WHERE see both; WITH then starts a new scope.
func (a *analyser) project(c *projection) {
	a.star(c)
	a.projectItems(c)
	for _, it := range c.items {
		it.out = a.scope.slot()
	}
	a.orderBy(c)
	for _, it := range c.items {
		if !c.isReturn && !it.aliased && !isVariable(it.value) {
			a.fail(it.span, "NoExpressionAlias", "an expression in WITH needs a name: AS ...")
		}
	}
	a.constant(c.skip, "SKIP")
	a.constant(c.limit, "LIMIT")
	c.width = a.scope.width
	c.next = newScope()
	for _, it := range c.items {
		it.slot = c.next.declare(it.name, it.kind).slot
	}
	if !c.isReturn {
		a.scope = c.next
	}
}

func isVariable(e expr) bool {
	_, ok := e.(*variable)
	return ok
}

// star replaces * by every variable in scope, ordered by name.
func (a *analyser) star(c *projection) {
	if !c.star {
		return
	}
	names := a.scope.sortedNames()
	if len(names) == 0 && c.isReturn && a.loose == nil {
		a.fail(c.span, "NoVariablesInScope", "RETURN * has no variable to return")
	}
	items := make([]*item, 0, len(names)+len(c.items))
	for _, name := range names {
		items = append(items, &item{span: c.span, value: &variable{span: c.span, name: name}, name: name,
			aliased: true})
	}
	c.items = append(items, c.items...)
	c.star = false
}

func (a *analyser) projectItems(c *projection) {
	names := map[string]bool{}
	a.aggregates = &c.aggregates
	for _, it := range c.items {
		it.kind = a.expr(it.value)
		it.aggregate = hasAggregate(it.value)
		c.grouped = c.grouped || it.aggregate
		if names[it.name] {
			a.fail(it.span, "ColumnNameConflict", "two columns are called %.60s", it.name)
		}
		names[it.name] = true
	}
	a.aggregates = nil
	for _, it := range c.items {
		if it.aggregate {
			a.grouping(c, it.value, nil)
		}
	}
}

// grouping checks that beside its aggregates an expression reads only what
// groups the rows: variables and properties that are projected themselves.
func (a *analyser) grouping(c *projection, e expr, locals []string) {
	switch e := e.(type) {
	case *call:
		if e.function != nil && e.function.aggregate != nil {
			return
		}
	case *variable:
		if slices.Contains(locals, e.name) {
			return
		}
		if !a.groups(c, e) {
			a.fail(e.span, "AmbiguousAggregationExpression", "%s does not group the rows: project it alone as well",
				e.name)
		}
		return
	case *property:
		if a.groups(c, e) {
			return
		}
	case *comprehension:
		locals = append(locals, e.name)
	case *quantifier:
		locals = append(locals, e.name)
	case *reduceExpr:
		locals = append(locals, e.name, e.accumulator)
	}
	for _, child := range children(e) {
		a.grouping(c, child, locals)
	}
}

func (a *analyser) groups(c *projection, e expr) bool {
	text := a.canonical(e.location())
	for _, it := range c.items {
		if v, ok := it.value.(*variable); ok && isVariable(e) {
			if v.name == e.(*variable).name {
				return true
			}
		} else if !it.aggregate && a.canonical(it.value.location()) == text {
			return true
		}
	}
	return false
}

// orderScope is what ORDER BY and WHERE after a projection see: its aliases first, then the older
// variables; after grouping or DISTINCT of those only what is projected.
type orderScope struct {
	aliases map[string]*binding
	locals  map[string]*binding
	items   map[string]*item // by the text of their expression
	open    bool             // the older variables are visible
	older   bool             // inside an expression that is projected
	mixed   bool             // the sort key holds an aggregate
}

func (a *analyser) orderBy(c *projection) {
	if len(c.order) == 0 && c.condition == nil {
		return
	}
	o := &orderScope{
		aliases: map[string]*binding{}, locals: map[string]*binding{}, items: map[string]*item{},
		open: !c.grouped && !c.distinct,
	}
	for _, it := range c.items {
		o.aliases[it.name] = &binding{slot: it.out, kind: it.kind}
		if it.value.location() != c.span { // not from *
			o.items[a.canonical(it.value.location())] = it
		}
	}
	a.order = o
	if c.grouped {
		a.aggregates = &c.aggregates
	}
	for _, k := range c.order {
		o.mixed = hasAggregate(k.value)
		a.expr(k.value)
	}
	a.aggregates, o.mixed = nil, false
	a.condition(c.condition)
	a.order = nil
}

func hasAggregate(e expr) bool {
	found := false
	walk(e, func(e expr) {
		if c, ok := e.(*call); ok {
			f := functions[c.name]
			found = found || f != nil && f.aggregate != nil
		}
	})
	return found
}

// replaces analyses an expression that is projected unchanged, in the scope of the projection.
func (o *orderScope) replaces(a *analyser, e expr) bool {
	if o.older || isVariable(e) || isLiteral(e) {
		return false
	}
	it := o.items[a.canonical(e.location())]
	if it == nil {
		return false
	}
	if _, simple := e.(*property); o.mixed && !o.open && !simple && !it.aggregate {
		a.fail(e.location(), "AmbiguousAggregationExpression",
			"beside an aggregate only variables and properties are allowed")
	}
	o.older = true
	a.exprKind(e)
	o.older = false
	return true
}

func (o *orderScope) find(s *scope, name string) *binding {
	if b := o.locals[name]; b != nil {
		return b
	}
	if b := o.aliases[name]; b != nil && !o.older {
		return b
	}
	if it := o.items[name+" "]; it != nil || o.open || o.older {
		return s.names[name]
	}
	return nil
}

// constant analyses the operand of SKIP or LIMIT.
func (a *analyser) constant(e expr, word string) {
	if e == nil {
		return
	}
	walk(e, func(e expr) {
		if v, ok := e.(*variable); ok {
			a.fail(v.span, "NonConstantExpression", "%s cannot depend on %s", word, v.name)
		}
	})
	a.expr(e)
	if l, ok := e.(*literal); ok {
		n, isInt := l.value.(int64)
		if !isInt {
			a.fail(e.location(), "InvalidArgumentType", "%s needs an integer", word)
		} else if n < 0 {
			a.fail(e.location(), "NegativeIntegerArgument", "%s cannot be negative", word)
		}
	}
}
