package cypher

import (
	"math"
	"math/rand/v2"
	"time"
)

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
