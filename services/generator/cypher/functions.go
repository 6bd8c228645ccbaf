package cypher

import "maps"

// function is one of the functions that an expression may call.
type function struct {
	min, max int // arguments; max < 0 is any number
	// nulls: the function sees null arguments. Otherwise one null makes its
	// result null.
	nulls  bool
	result valueKind
	// takes are the kinds that a first argument of known kind may have; empty
	// is all.
	takes []valueKind
	call  func(x *executor, e *call, args []Value) Value
	// aggregate starts a fold; it is set in aggregates only.
	aggregate func() aggregator
}

// refuses reports whether a first argument of this kind is an error before
// the query runs.
func (f *function) refuses(k valueKind) bool {
	if len(f.takes) == 0 || k == anyKind || k == nullKind {
		return false
	}
	for _, t := range f.takes {
		if k == t {
			return false
		}
	}
	return true
}

// functions are the functions of openCypher 9, by lower-case name.
var functions = joined(aggregateFunctions(), entityFunctions(), listFunctions(), textFunctions(), mathFunctions(), temporalFunctions())

func joined(groups ...map[string]*function) map[string]*function {
	all := map[string]*function{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}

func aggregateFunctions() map[string]*function {
	fold := func(args int, start func() aggregator) *function {
		return &function{min: args, max: args, aggregate: start}
	}
	return map[string]*function{
		"count":          fold(1, func() aggregator { return &counting{} }),
		"collect":        fold(1, func() aggregator { return &collecting{} }),
		"sum":            fold(1, func() aggregator { return &summing{} }),
		"avg":            fold(1, func() aggregator { return &summing{mean: true} }),
		"min":            fold(1, func() aggregator { return &choosing{sign: -1} }),
		"max":            fold(1, func() aggregator { return &choosing{sign: 1} }),
		"stdev":          fold(1, func() aggregator { return &spreading{} }),
		"stdevp":         fold(1, func() aggregator { return &spreading{population: true} }),
		"percentiledisc": fold(2, func() aggregator { return &ranking{} }),
		"percentilecont": fold(2, func() aggregator { return &ranking{continuous: true} }),
	}
}

func (x *executor) badArgument(e *call, what string) Value {
	x.fail(e.span, typeError, "InvalidArgumentValue", "%s() takes %s", e.name, what)
	return nil
}

func (x *executor) badType(e *call, what string) Value {
	x.fail(e.span, typeError, "InvalidArgumentType", "%s() takes %s", e.name, what)
	return nil
}

func entityFunctions() map[string]*function {
	one := func(result valueKind, takes []valueKind, f func(x *executor, e *call, v Value) Value) *function {
		return &function{min: 1, max: 1, result: result, takes: takes, call: func(x *executor, e *call, args []Value) Value {
			return f(x, e, args[0])
		}}
	}
	paths := []valueKind{pathKind}
	return map[string]*function{
		"id":            one(numberKind, nil, idOf),
		"labels":        one(listKind, []valueKind{nodeKind}, labelsOf),
		"type":          one(textKind, []valueKind{relKind}, typeOf),
		"keys":          one(listKind, nil, keysOf),
		"properties":    one(anyKind, []valueKind{nodeKind, relKind, mapKind}, propertiesOf),
		"startnode":     one(nodeKind, nil, endOf(func(r *Relationship) *Node { return r.start })),
		"endnode":       one(nodeKind, nil, endOf(func(r *Relationship) *Node { return r.end })),
		"nodes":         one(listKind, paths, func(x *executor, e *call, v Value) Value { return pathParts(x, e, v, true) }),
		"relationships": one(listKind, paths, func(x *executor, e *call, v Value) Value { return pathParts(x, e, v, false) }),
		"length":        one(numberKind, paths, lengthOf),
		"exists": {min: 1, max: 1, nulls: true, result: boolKind, call: func(_ *executor, _ *call, args []Value) Value {
			return args[0] != nil
		}},
		"coalesce": {min: 1, max: -1, nulls: true, call: func(_ *executor, _ *call, args []Value) Value {
			for _, a := range args {
				if a != nil {
					return a
				}
			}
			return nil
		}},
	}
}

func idOf(x *executor, e *call, v Value) Value {
	switch v := v.(type) {
	case *Node:
		return v.id
	case *Relationship:
		return v.id
	}
	return x.badType(e, "a node or a relationship")
}

func labelsOf(x *executor, e *call, v Value) Value {
	n, ok := v.(*Node)
	if !ok {
		return x.badType(e, "a node")
	}
	if n.deleted {
		x.deletedAccess(e.span)
	}
	list := make([]Value, len(n.labels))
	for i, l := range n.labels {
		list[i] = l
	}
	return list
}

func typeOf(x *executor, e *call, v Value) Value {
	r, ok := v.(*Relationship)
	if !ok {
		return x.badType(e, "a relationship")
	}
	return r.kind
}

func keysOf(x *executor, e *call, v Value) Value {
	list := []Value{}
	if m, ok := v.(map[string]Value); ok {
		for _, k := range sortedKeys(m) {
			list = append(list, k)
		}
		return list
	}
	props, ok := x.propsOf(e, v)
	if !ok {
		return x.badType(e, "a node, a relationship or a map")
	}
	for _, p := range props {
		list = append(list, p.Key)
	}
	return list
}

func propertiesOf(x *executor, e *call, v Value) Value {
	if m, ok := v.(map[string]Value); ok {
		return m
	}
	props, ok := x.propsOf(e, v)
	if !ok {
		return x.badType(e, "a node, a relationship or a map")
	}
	m := make(map[string]Value, len(props))
	for _, p := range props {
		m[p.Key] = p.Value
	}
	return m
}

func (x *executor) propsOf(e *call, v Value) ([]Property, bool) {
	var of *entity
	switch v := v.(type) {
	case *Node:
		of = &v.entity
	case *Relationship:
		of = &v.entity
	default:
		return nil, false
	}
	if of.deleted {
		x.deletedAccess(e.span)
	}
	return of.props, true
}

func endOf(end func(*Relationship) *Node) func(x *executor, e *call, v Value) Value {
	return func(x *executor, e *call, v Value) Value {
		r, ok := v.(*Relationship)
		if !ok {
			return x.badType(e, "a relationship")
		}
		return end(r)
	}
}

func pathParts(x *executor, e *call, v Value, nodes bool) Value {
	p, ok := v.(*Path)
	if !ok {
		return x.badType(e, "a path")
	}
	list := []Value{}
	if nodes {
		for _, n := range p.Nodes {
			list = append(list, n)
		}
		return list
	}
	for _, r := range p.Relationships {
		list = append(list, r)
	}
	return list
}

func lengthOf(x *executor, e *call, v Value) Value {
	p, ok := v.(*Path)
	if !ok {
		return x.badType(e, "a path")
	}
	return int64(len(p.Relationships))
}
