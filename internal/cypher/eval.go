package cypher

// eval returns the value of an expression. After an error it returns nil, and the
// executor's err says what went wrong.
func (x *executor) eval(e expr, r row) Value {
	switch e := e.(type) {
	case *literal:
		return e.value
	case *variable:
		return r[e.slot]
	}
	if !x.step(1) || !x.enter() {
		return nil
	}
	v := x.evalNested(e, r)
	x.leave()
	if x.err != nil {
		return nil
	}
	return v
}

func (x *executor) evalNested(e expr, r row) Value {
	switch e := e.(type) {
	case *param:
		v, ok := x.params[e.name]
		if !ok {
			x.fail(e.span, parameterError, "MissingParameter", "there is no parameter $%s", e.name)
		}
		return v
	case *looseWord:
		if e.slot >= 0 {
			return r[e.slot]
		}
		x.forgive(e.span, "a text without quotes")
		return e.name
	case *property:
		return x.propertyOf(x.eval(e.target, r), e.key, e.span)
	case *index:
		return x.indexOf(x.eval(e.target, r), x.eval(e.index, r), e.span)
	case *slice:
		return x.sliceOf(e, r)
	case *labelTest:
		return x.testLabels(e, r)
	case *unary:
		return x.evalUnary(e, r)
	case *binary:
		return x.evalBinary(e, r)
	case *comparison:
		return x.evalComparison(e, r)
	case *isNull:
		return (x.eval(e.operand, r) == nil) != e.not
	case *listExpr:
		list := make([]Value, len(e.items))
		for i, item := range e.items {
			list[i] = x.eval(item, r)
		}
		return list
	case *mapExpr:
		m := make(map[string]Value, len(e.keys))
		for i, key := range e.keys {
			m[key] = x.eval(e.values[i], r)
		}
		return m
	case *caseExpr:
		return x.evalCase(e, r)
	case *call:
		return x.evalCall(e, r)
	case *comprehension:
		return x.comprehend(e, r)
	case *quantifier:
		return x.quantify(e, r)
	case *reduceExpr:
		return x.reduce(e, r)
	case *patternExpr:
		return x.patternExists(e, r)
	case *patternComprehension:
		return x.comprehendPattern(e, r)
	}
	return nil
}

func (x *executor) propertyOf(v Value, key string, at span) Value {
	switch v := v.(type) {
	case nil:
		return nil
	case *Node:
		if v.deleted {
			x.deletedAccess(at)
		}
		return v.Property(key)
	case *Relationship:
		if v.deleted {
			x.deletedAccess(at)
		}
		return v.Property(key)
	case map[string]Value:
		return v[key]
	case Temporal:
		return v.field(key)
	case Duration:
		return v.field(key)
	}
	x.fail(at, typeError, "InvalidArgumentType", "such a value has no property %s", key)
	return nil
}

func (x *executor) indexOf(of, at Value, where span) Value {
	if of == nil || at == nil {
		return nil
	}
	list, ok := of.([]Value)
	if !ok {
		key, isText := at.(string)
		switch of.(type) {
		case *Node, *Relationship, map[string]Value:
			if isText {
				return x.propertyOf(of, key, where)
			}
			x.fail(where, typeError, "MapElementAccessByNonString", "the key has to be a string")
			return nil
		}
		x.fail(where, typeError, "InvalidArgumentType", "only lists, maps and entities can be indexed")
		return nil
	}
	i, ok := at.(int64)
	if !ok {
		detail := "InvalidArgumentType"
		if _, isMap := of.(map[string]Value); isMap {
			detail = "MapElementAccessByNonString"
		}
		x.fail(where, typeError, detail, "the index of a list has to be an integer")
		return nil
	}
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil
	}
	return list[i]
}

func (x *executor) sliceOf(e *slice, r row) Value {
	list, ok := x.eval(e.list, r).([]Value)
	if !ok {
		return nil
	}
	bounds := [2]int64{0, int64(len(list))}
	for i, b := range []expr{e.lower, e.upper} {
		if b == nil {
			continue
		}
		v := x.eval(b, r)
		n, ok := v.(int64)
		if !ok {
			if v != nil {
				x.fail(b.location(), typeError, "InvalidArgumentType", "the bound of a slice has to be an integer")
			}
			return nil
		}
		if n < 0 {
			n += int64(len(list))
		}
		bounds[i] = min(max(n, 0), int64(len(list)))
	}
	if bounds[0] >= bounds[1] {
		return []Value{}
	}
	return list[bounds[0]:bounds[1]:bounds[1]]
}

func (x *executor) testLabels(e *labelTest, r row) Value {
	switch v := x.eval(e.target, r).(type) {
	case nil:
	case *Node:
		return v.hasLabels(e.labels)
	case *Relationship:
		return len(e.labels) == 1 && v.kind == e.labels[0]
	default:
		x.fail(e.span, typeError, "InvalidArgumentType", "only nodes have labels")
	}
	return nil
}

func (x *executor) evalCase(e *caseExpr, r row) Value {
	var subject Value
	if e.subject != nil {
		subject = x.eval(e.subject, r)
	}
	for i, when := range e.when {
		v := x.eval(when, r)
		if e.subject != nil && x.equal(subject, v) == true || e.subject == nil && v == true {
			return x.eval(e.then[i], r)
		}
	}
	if e.otherwise != nil {
		return x.eval(e.otherwise, r)
	}
	return nil
}

func (x *executor) evalCall(e *call, r row) Value {
	if e.function.aggregate != nil {
		return r[e.slot]
	}
	args := make([]Value, len(e.args))
	for i, a := range e.args {
		args[i] = x.eval(a, r)
		if args[i] == nil && !e.function.nulls {
			return nil
		}
	}
	if x.err != nil {
		return nil
	}
	return e.function.call(x, e, args)
}

// listOf evaluates what a comprehension runs over; nil if it is null.
func (x *executor) listOf(e expr, r row) ([]Value, bool) {
	v := x.eval(e, r)
	list, ok := v.([]Value)
	if !ok && v != nil {
		x.fail(e.location(), typeError, "InvalidArgumentType", "expected a list")
	}
	return list, ok && x.err == nil
}

func (x *executor) comprehend(e *comprehension, r row) Value {
	list, ok := x.listOf(e.list, r)
	if !ok {
		return nil
	}
	out := []Value{}
	for _, item := range list {
		if !x.step(1) {
			return nil
		}
		r[e.slot] = item
		if e.condition != nil && x.eval(e.condition, r) != true {
			continue
		}
		if e.result != nil {
			item = x.eval(e.result, r)
		}
		if !x.hold(perValue) {
			return nil
		}
		out = append(out, item)
	}
	return out
}

// quantify follows three-valued logic: a null among the conditions leaves the
// answer open unless the others settle it.
func (x *executor) quantify(e *quantifier, r row) Value {
	list, ok := x.listOf(e.list, r)
	if !ok {
		return nil
	}
	var yes, open int
	for _, item := range list {
		if !x.step(1) {
			return nil
		}
		r[e.slot] = item
		v := Value(item)
		if e.condition != nil {
			v = x.eval(e.condition, r)
		}
		switch v {
		case true:
			yes++
		case nil:
			open++
		}
	}
	no := len(list) - yes - open
	switch {
	case e.kind == "any" && yes > 0:
		return true
	case e.kind == "none" && yes > 0, e.kind == "all" && no > 0, e.kind == "single" && yes > 1:
		return false
	case open > 0:
		return nil
	case e.kind == "any":
		return false
	case e.kind == "single":
		return yes == 1
	}
	return true
}

func (x *executor) reduce(e *reduceExpr, r row) Value {
	list, ok := x.listOf(e.list, r)
	if !ok {
		return nil
	}
	v := x.eval(e.initial, r)
	for _, item := range list {
		if !x.step(1) {
			return nil
		}
		r[e.accumulatorSlot], r[e.slot] = v, item
		v = x.eval(e.result, r)
	}
	return v
}

func (x *executor) patternExists(e *patternExpr, r row) Value {
	found := false
	x.matcher(e.paths).forEachMatch(x.copyRow(r), func(r row) bool {
		found = e.condition == nil || x.eval(e.condition, r) == true
		return !found && x.err == nil
	})
	return found
}

func (x *executor) comprehendPattern(e *patternComprehension, r row) Value {
	out := []Value{}
	x.matcher([]*pathPattern{e.path}).forEachMatch(x.copyRow(r), func(r row) bool {
		if e.condition == nil || x.eval(e.condition, r) == true {
			out = append(out, x.eval(e.result, r))
		}
		return x.step(1)
	})
	return out
}
