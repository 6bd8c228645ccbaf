package cypher

import (
	"math"
	"strings"
)

func (x *executor) evalUnary(e *unary, r row) Value {
	v := x.eval(e.operand, r)
	if v == nil {
		return nil
	}
	if e.op == "NOT" {
		b, ok := v.(bool)
		if !ok {
			x.fail(e.span, typeError, "InvalidArgumentType", "NOT needs a truth value")
			return nil
		}
		return !b
	}
	switch v := v.(type) {
	case int64:
		if e.op == "-" {
			return -v
		}
		return v
	case float64:
		if e.op == "-" {
			return -v
		}
		return v
	case Duration:
		if e.op == "-" {
			return v.scale(-1)
		}
		return v
	}
	x.fail(e.span, typeError, "InvalidArgumentType", "a sign needs a number")
	return nil
}

// evalBinary goes down the left sides of a chain in a loop: a + b + c is as
// deep a tree as it is long.
func (x *executor) evalBinary(e *binary, r row) Value {
	chain := []*binary{e}
	for {
		left, ok := e.left.(*binary)
		if !ok {
			break
		}
		e = left
		chain = append(chain, e)
	}
	v := x.eval(e.left, r)
	for i := len(chain) - 1; i >= 0 && x.step(1); i-- {
		v = x.operate(chain[i], v, r)
	}
	return v
}

func (x *executor) operate(e *binary, left Value, r row) Value {
	switch e.op {
	case "AND", "OR", "XOR":
		return x.logic(e, left, r)
	}
	right := x.eval(e.right, r)
	switch e.op {
	case "IN":
		return x.isMember(e, left, right)
	case "STARTS WITH", "ENDS WITH", "CONTAINS", "=~":
		return x.textTest(e, left, right)
	}
	return x.arithmetic(e.span, e.op, left, right)
}

// logic is three-valued: null is not known.
func (x *executor) logic(e *binary, left Value, r row) Value {
	if !x.truth(e.left, left) || e.op == "AND" && left == false || e.op == "OR" && left == true {
		return left
	}
	right := x.eval(e.right, r)
	switch {
	case !x.truth(e.right, right):
		return nil
	case e.op == "AND" && right == false, e.op == "OR" && right == true:
		return right
	case left == nil || right == nil:
		return nil
	case e.op == "XOR":
		return left != right
	}
	return right
}

func (x *executor) truth(e expr, v Value) bool {
	switch v.(type) {
	case nil, bool:
		return x.err == nil
	}
	x.fail(e.location(), typeError, "InvalidArgumentType", "expected a boolean")
	return false
}

func (x *executor) isMember(e *binary, item, of Value) Value {
	if of == nil {
		return nil
	}
	list, ok := of.([]Value)
	if !ok {
		x.fail(e.span, typeError, "InvalidArgumentType", "IN needs a list")
		return nil
	}
	var found Value = false
	for _, v := range list {
		if !x.step(1) {
			return nil
		}
		switch x.equal(item, v) {
		case true:
			return true
		case nil:
			found = nil
		}
	}
	return found
}

func (x *executor) textTest(e *binary, left, right Value) Value {
	a, ok1 := left.(string)
	b, ok2 := right.(string)
	if !ok1 || !ok2 || !x.step(1+len(a)/64) {
		return nil
	}
	switch e.op {
	case "STARTS WITH":
		return strings.HasPrefix(a, b)
	case "ENDS WITH":
		return strings.HasSuffix(a, b)
	case "CONTAINS":
		return strings.Contains(a, b)
	}
	return x.matches(e, a, b)
}

func (x *executor) evalComparison(e *comparison, r row) Value {
	left := x.eval(e.operands[0], r)
	var all Value = true
	for i, op := range e.ops {
		right := x.eval(e.operands[i+1], r)
		switch x.compareBy(op, left, right) {
		case false:
			return false
		case nil:
			all = nil
		}
		left = right
	}
	return all
}

func (x *executor) compareBy(op string, a, b Value) Value {
	if a == nil || b == nil {
		return nil
	}
	switch op {
	case "=":
		return x.equal(a, b)
	case "<>":
		if eq, ok := x.equal(a, b).(bool); ok {
			return !eq
		}
		return nil
	}
	c, ok := x.compare(a, b)
	if !ok {
		if isNaN(a) || isNaN(b) {
			if typeRank(a) == typeRank(b) {
				return false
			}
		}
		return nil
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// arithmetic computes + - * / % ^, and + of strings and lists.
func (x *executor) arithmetic(at span, op string, a, b Value) Value {
	if a == nil || b == nil {
		return nil
	}
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok && op != "^" {
			return x.integerOp(at, op, i, j)
		}
	}
	f, ok1 := asFloat(a)
	g, ok2 := asFloat(b)
	if ok1 && ok2 {
		switch op {
		case "+":
			return f + g
		case "-":
			return f - g
		case "*":
			return f * g
		case "/":
			return f / g
		case "%":
			return math.Mod(f, g)
		case "^":
			return math.Pow(f, g)
		}
	}
	if v, ok := temporalOp(op, a, b); ok {
		return v
	}
	if op == "+" {
		if v, ok := x.concatenate(a, b); ok {
			return v
		}
	}
	x.fail(at, typeError, "InvalidArgumentType", "%s cannot join such values", op)
	return nil
}

func (x *executor) integerOp(at span, op string, i, j int64) Value {
	overflow := false
	var v int64
	switch op {
	case "+":
		v = i + j
		overflow = (v > i) != (j > 0)
	case "-":
		v = i - j
		overflow = (v < i) != (j > 0)
	case "*":
		v = i * j
		overflow = i != 0 && (v/i != j || i == -1 && j == math.MinInt64)
	case "/", "%":
		if j == 0 {
			x.fail(at, "ArithmeticError", "DivisionByZero", "division by zero")
			return nil
		}
		if op == "/" {
			return i / j
		}
		return i % j
	}
	if overflow {
		x.fail(at, "ArithmeticError", "IntegerOverflow", "the result of %s is too large for an integer", op)
		return nil
	}
	return v
}

func (x *executor) concatenate(a, b Value) (Value, bool) {
	list, isList := a.([]Value)
	more, isList2 := b.([]Value)
	if isList || isList2 {
		if !isList {
			list = []Value{a}
		}
		if !isList2 {
			more = []Value{b}
		}
		if len(list)+len(more) > x.limits.Size {
			x.exceed("elements in a list", x.limits.Size)
			return nil, true
		}
		if !x.list(len(list) + len(more)) {
			return nil, true
		}
		return append(append(make([]Value, 0, len(list)+len(more)), list...), more...), true
	}
	s, ok1 := a.(string)
	t, ok2 := b.(string)
	switch {
	case ok1 && !ok2 && isNumber(b):
		t, ok2 = Format(b), true
	case ok2 && !ok1 && isNumber(a):
		s, ok1 = Format(a), true
	}
	if !ok1 || !ok2 {
		return nil, false
	}
	return x.sized(s, len(t)) + t, true
}

// sized returns s back where a string of its length and more is within limits.
func (x *executor) sized(s string, more int) string {
	if len(s)+more > x.limits.Size {
		x.exceed("bytes in a string", x.limits.Size)
		return ""
	}
	if !x.step((len(s)+more)/64) || !x.hold(len(s)+more) {
		return ""
	}
	return s
}

func isNumber(v Value) bool {
	_, ok := asFloat(v)
	return ok
}

func asFloat(v Value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
