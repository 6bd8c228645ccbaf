package cypher

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
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
		"head": one(anyKind, func(_ *executor, _ *call, list []Value) Value { return elementAt(list, 0) }),
		"last": one(anyKind, func(_ *executor, _ *call, list []Value) Value { return elementAt(list, len(list)-1) }),
		"tail": one(listKind, func(_ *executor, _ *call, list []Value) Value {
			return list[min(1, len(list)):]
		}),
	}
}

func elementAt(list []Value, i int) Value {
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
			x.exceed("elements in a list", x.limits.Size)
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

func mathFunctions() map[string]*function {
	float := func(f func(float64) float64) *function {
		return &function{min: 1, max: 1, result: numberKind, call: func(x *executor, e *call, args []Value) Value {
			v, ok := asFloat(args[0])
			if !ok {
				return x.badType(e, "a number")
			}
			return f(v)
		}}
	}
	constant := func(v float64) *function {
		return &function{result: numberKind, call: func(*executor, *call, []Value) Value { return v }}
	}
	return map[string]*function{
		"abs": {min: 1, max: 1, result: numberKind, call: func(x *executor, e *call, args []Value) Value {
			if n, ok := args[0].(int64); ok {
				return max(n, -n)
			}
			return float(math.Abs).call(x, e, args)
		}},
		"sign": {min: 1, max: 1, result: numberKind, call: func(x *executor, e *call, args []Value) Value {
			c, ok := compareNumbers(args[0], int64(0))
			if !ok {
				return x.badType(e, "a number")
			}
			return int64(c)
		}},
		"rand": {result: numberKind, call: func(*executor, *call, []Value) Value { return rand.Float64() }},
		"timestamp": {result: numberKind, call: func(*executor, *call, []Value) Value {
			return time.Now().UnixMilli()
		}},
		"atan2": {min: 2, max: 2, result: numberKind, call: func(x *executor, e *call, args []Value) Value {
			a, ok1 := asFloat(args[0])
			b, ok2 := asFloat(args[1])
			if !ok1 || !ok2 {
				return x.badType(e, "numbers")
			}
			return math.Atan2(a, b)
		}},
		"e": constant(math.E), "pi": constant(math.Pi),
		"ceil": float(math.Ceil), "floor": float(math.Floor),
		"round": float(func(f float64) float64 { return math.Floor(f + 0.5) }),
		"sqrt":  float(math.Sqrt), "exp": float(math.Exp), "log": float(math.Log), "log10": float(math.Log10),
		"sin": float(math.Sin), "cos": float(math.Cos), "tan": float(math.Tan),
		"cot":  float(func(f float64) float64 { return 1 / math.Tan(f) }),
		"asin": float(math.Asin), "acos": float(math.Acos), "atan": float(math.Atan),
		"degrees": float(func(f float64) float64 { return f * 180 / math.Pi }),
		"radians": float(func(f float64) float64 { return f * math.Pi / 180 }),
	}
}
