package cypher

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

func textFunctions() map[string]*function {
	one := func(f func(string) string) *function {
		return &function{min: 1, max: 1, result: textKind, call: func(x *executor, e *call, args []Value) Value {
			s, ok := args[0].(string)
			if !ok {
				return x.badType(e, "a string")
			}
			if !x.step(1+len(s)/64) || !x.hold(len(s)) {
				return nil
			}
			return f(s)
		}}
	}
	spaceLeft := func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }
	spaceRight := func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
	return map[string]*function{
		"toupper": one(strings.ToUpper), "upper": one(strings.ToUpper),
		"tolower": one(strings.ToLower), "lower": one(strings.ToLower),
		"trim": one(strings.TrimSpace), "ltrim": one(spaceLeft), "rtrim": one(spaceRight),
		"reverse":   {min: 1, max: 1, call: reversed},
		"split":     {min: 2, max: 2, result: listKind, call: splitOf},
		"replace":   {min: 3, max: 3, result: textKind, call: replaceOf},
		"substring": {min: 2, max: 3, result: textKind, call: substringOf},
		"left": {min: 2, max: 2, result: textKind, call: func(x *executor, e *call, args []Value) Value {
			return substringOf(x, e, []Value{args[0], int64(0), args[1]})
		}},
		"right":     {min: 2, max: 2, result: textKind, call: rightOf},
		"tostring":  {min: 1, max: 1, result: textKind, call: toString},
		"tointeger": {min: 1, max: 1, call: toInteger},
		"tofloat":   {min: 1, max: 1, call: toFloat},
		"toboolean": {min: 1, max: 1, call: toBoolean},
	}
}

func texts(x *executor, e *call, args []Value) ([]string, bool) {
	list := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			x.badType(e, "strings")
			return nil, false
		}
		x.step(1 + len(s)/64)
		list[i] = s
	}
	return list, x.err == nil
}

func splitOf(x *executor, e *call, args []Value) Value {
	s, ok := texts(x, e, args)
	if !ok {
		return nil
	}
	parts := strings.Split(s[0], s[1])
	if !x.list(len(parts)) {
		return nil
	}
	list := make([]Value, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return list
}

func replaceOf(x *executor, e *call, args []Value) Value {
	s, ok := texts(x, e, args)
	if !ok {
		return nil
	}
	if grown := strings.Count(s[0], s[1]) * max(len(s[2])-len(s[1]), 0); grown > x.limits.Size {
		x.exceed("bytes in a string", x.limits.Size)
		return nil
	}
	return x.sized(strings.ReplaceAll(s[0], s[1], s[2]), 0)
}

func substringOf(x *executor, e *call, args []Value) Value {
	s, ok := args[0].(string)
	if !ok {
		return x.badType(e, "a string")
	}
	runes := []rune(s)
	x.step(1 + len(runes)/16)
	bounds := [2]int64{0, math.MaxInt32}
	for i, a := range args[1:] {
		n, ok := a.(int64)
		if !ok {
			return x.badType(e, "integers after the string")
		}
		if n < 0 {
			x.fail(e.span, argumentError, "NegativeIntegerArgument", "%s() takes no negative bounds", e.name)
			return nil
		}
		bounds[i] = n
	}
	from := min(bounds[0], int64(len(runes)))
	to := min(from+min(bounds[1], math.MaxInt32), int64(len(runes)))
	return string(runes[from:to])
}

func rightOf(x *executor, e *call, args []Value) Value {
	s, ok1 := args[0].(string)
	n, ok2 := args[1].(int64)
	if !ok1 || !ok2 || n < 0 {
		return x.badType(e, "a string and a length")
	}
	runes := []rune(s)
	return string(runes[max(0, int64(len(runes))-n):])
}

func toString(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case string:
		return v
	case bool, int64, float64, Temporal, Duration:
		return Format(v)
	}
	return x.badArgument(e, "a number, a truth value, a string or a time")
}

func toInteger(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case int64:
		return v
	case float64:
		return truncated(v)
	case string:
		s := strings.TrimSpace(v)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return truncated(f)
		}
		return nil
	}
	return x.badArgument(e, "a number or a string")
}

func truncated(f float64) Value {
	if math.IsNaN(f) || f >= 1<<63 || f < -1<<63 {
		return nil
	}
	return int64(f)
}

func toFloat(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case int64, float64:
		f, _ := asFloat(v)
		return f
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
			return f
		}
		return nil
	}
	return x.badArgument(e, "a number or a string")
}

func toBoolean(x *executor, e *call, args []Value) Value {
	switch v := args[0].(type) {
	case bool:
		return v
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true":
			return true
		case "false":
			return false
		}
		return nil
	}
	return x.badArgument(e, "a truth value or a string")
}

// maxPattern is the longest regular expression, in bytes. A short one can stand
// for a long one all the same: a{1000}b{1000}.
const maxPattern = 1000

// matches reports whether the whole of a text matches a pattern. To match takes up to the length of
// both multiplied, which nothing can interrupt, so it is charged for before.
func (x *executor) matches(e *binary, text, pattern string) Value {
	if len(pattern) > maxPattern {
		x.exceed("bytes in a pattern", maxPattern)
		return nil
	}
	whole := "^(?:" + pattern + ")$"
	parsed, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		x.fail(e.span, argumentError, "InvalidArgumentValue", "the pattern cannot be read: %v", err)
		return nil
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || !x.step(len(program.Inst)+(1+len(text)/8)*len(program.Inst)/8) || !x.hold(40*len(program.Inst)) {
		return nil
	}
	compiled, err := regexp.Compile(whole)
	if err != nil {
		x.fail(e.span, argumentError, "InvalidArgumentValue", "the pattern cannot be read: %v", err)
		return nil
	}
	return compiled.MatchString(text)
}
