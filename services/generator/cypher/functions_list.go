package cypher

import (
	"slices"
	"unicode/utf8"
)

func listFunctions() map[string]*function {
	one := func(result valueKind, f func(x *executor, e *call, list []Value) Value) *function {
		return &function{min: 1, max: 1, result: result, call: func(x *executor, e *call, args []Value) Value {
			list, ok := args[0].([]Value)
			if !ok {
				return x.badType(e, "a list")
			}
			return f(x, e, list)
		}}
	}
	sized := []valueKind{textKind, listKind, nodesKind, relsKind, mapKind}
	return map[string]*function{
		"size":  {min: 1, max: 1, result: numberKind, takes: sized, call: sizeOf},
		"range": {min: 2, max: 3, result: listKind, call: rangeOf},
		"isempty": {min: 1, max: 1, result: boolKind, call: func(x *executor, e *call, args []Value) Value {
			return sizeOf(x, e, args) == Value(int64(0))
		}},
		"head": one(anyKind, func(_ *executor, _ *call, list []Value) Value { return at(list, 0) }),
		"last": one(anyKind, func(_ *executor, _ *call, list []Value) Value { return at(list, len(list)-1) }),
		"tail": one(listKind, func(_ *executor, _ *call, list []Value) Value {
			return list[min(1, len(list)):]
		}),
	}
}

func at(list []Value, i int) Value {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

func sizeOf(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case []Value:
		return int64(len(v))
	case string:
		return int64(utf8.RuneCountInString(v))
	case map[string]Value:
		return int64(len(v))
	}
	return x.badType(e, "a list or a string")
}

func rangeOf(x *executor, e *call, args []Value) Value {
	bounds := [3]int64{0, 0, 1}
	for i, a := range args {
		n, ok := a.(int64)
		if !ok {
			x.fail(e.span, argumentError, "InvalidArgumentType", "range() takes integers")
			return nil
		}
		bounds[i] = n
	}
	from, to, by := bounds[0], bounds[1], bounds[2]
	if by == 0 {
		x.fail(e.span, argumentError, "NumberOutOfRange", "range() cannot go by steps of 0")
		return nil
	}
	list := []Value{}
	for n := from; by > 0 && n <= to || by < 0 && n >= to; n += by {
		if len(list) >= x.limits.Size {
			x.over("elements in a list", x.limits.Size)
		}
		if !x.step(1) || !x.hold(perValue+8) {
			return nil
		}
		list = append(list, n)
		if by > 0 && n > to-by || by < 0 && n < to-by {
			break // the next one is past the end, or past the integers
		}
	}
	return list
}

// reversed is reverse() of a list or a string.
func reversed(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case []Value:
		list := slices.Clone(v)
		slices.Reverse(list)
		return list
	case string:
		runes := []rune(v)
		slices.Reverse(runes)
		return string(runes)
	}
	return x.badType(e, "a list or a string")
}
