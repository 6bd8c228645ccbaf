package cypher

import "strings"

// maxChain bounds the operators of one level in a row (a + b + ...): such a
// chain is a tree as deep as it is long.
const maxChain = 250

func (p *parser) exprs() []expr {
	var list []expr
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		list = append(list, p.expr())
	}
	return list
}

// expr reads an expression, the weakest operator first:
// OR, XOR, AND, NOT, comparison, predicates, + -, * / %, ^, sign, postfix.
func (p *parser) expr() expr {
	if !p.enter() {
		return &literal{}
	}
	defer func() { p.depth-- }()
	return p.logical(0)
}

var logicalWords = []string{"OR", "XOR", "AND"}

func (p *parser) logical(level int) expr {
	if level == len(logicalWords) {
		return p.not()
	}
	from := p.start()
	left := p.logical(level + 1)
	for n := 0; p.keywords(logicalWords[level]) && p.chainOf(n); n++ {
		left = p.binary(from, logicalWords[level], left, p.logical(level+1))
	}
	return left
}

func (p *parser) chainOf(n int) bool {
	if n > maxChain && p.err == nil {
		p.err = &LimitError{What: "operators in a row", Limit: maxChain}
	}
	return p.err == nil
}

func (p *parser) binary(from int32, op string, left, right expr) expr {
	return &binary{span: p.spanFrom(from), op: op, left: left, right: right}
}

func (p *parser) not() expr {
	from := p.start()
	n := 0
	for p.keywords("NOT") && p.chainOf(n) {
		n++
	}
	e := p.comparison()
	for range n {
		e = &unary{span: p.spanFrom(from), op: "NOT", operand: e}
	}
	return e
}

func (p *parser) comparison() expr {
	from := p.start()
	c := &comparison{operands: []expr{p.predicates()}}
	for p.chainOf(len(c.ops)) {
		op := ""
		switch p.peek().kind {
		case '=', '<', '>', tLessEqual, tGreaterEqual, tNotEqual:
			op = p.textOf(p.advance())
		}
		if op == "" {
			break
		}
		c.ops = append(c.ops, op)
		c.operands = append(c.operands, p.predicates())
	}
	if len(c.ops) == 0 {
		return c.operands[0]
	}
	c.span = p.spanFrom(from)
	return c
}

// predicates reads IS NULL, IN, STARTS WITH, ENDS WITH, CONTAINS and =~.
func (p *parser) predicates() expr {
	from := p.start()
	left := p.additive()
	for n := 0; p.chainOf(n); n++ {
		switch {
		case p.keywords("IS", "NOT", "NULL"):
			left = &isNull{span: p.spanFrom(from), operand: left, not: true}
		case p.keywords("IS", "NULL"):
			left = &isNull{span: p.spanFrom(from), operand: left}
		case p.keywords("IN"):
			left = p.binary(from, "IN", left, p.additive())
		case p.keywords("STARTS", "WITH"):
			left = p.binary(from, "STARTS WITH", left, p.additive())
		case p.keywords("ENDS", "WITH"):
			left = p.binary(from, "ENDS WITH", left, p.additive())
		case p.keywords("CONTAINS"):
			left = p.binary(from, "CONTAINS", left, p.additive())
		case p.accept(tRegex):
			left = p.binary(from, "=~", left, p.additive())
		default:
			return left
		}
	}
	return left
}

func (p *parser) additive() expr {
	return p.leftChain("+-", func() expr {
		return p.leftChain("*/%", func() expr {
			return p.leftChain("^", p.sign)
		})
	})
}

// leftChain reads operands joined by any of the operators, left to right.
func (p *parser) leftChain(ops string, operand func() expr) expr {
	from := p.start()
	left := operand()
	for n := 0; p.chainOf(n); n++ {
		k := p.peek().kind
		if k >= 128 || k == tEOF || strings.IndexByte(ops, byte(k)) < 0 {
			return left
		}
		p.i++
		left = p.binary(from, string(byte(k)), left, operand())
	}
	return left
}

// sign reads + and - before an operand. A minus belongs to the number after
// it, so that the smallest integer can be written.
func (p *parser) sign() expr {
	from := p.start()
	var signs []byte
	for (p.is('-') || p.is('+')) && p.chainOf(len(signs)) {
		signs = append(signs, byte(p.advance().kind))
	}
	n := len(signs)
	var e expr
	if t := p.peek(); n > 0 && signs[n-1] == '-' && (t.kind == tInt || t.kind == tFloat) {
		n--
		p.i++
		e = p.postfixOf(from+int32(n), &literal{span: p.spanFrom(from + int32(n)), value: p.number(t, true)})
	} else {
		e = p.postfix()
	}
	for ; n > 0; n-- {
		e = &unary{span: p.spanFrom(from + int32(n) - 1), op: string(signs[n-1]), operand: e}
	}
	return e
}

func (p *parser) postfix() expr {
	from := p.start()
	return p.postfixOf(from, p.atom())
}

// postfixOf reads .key, [index], [from..to] and :Label after an operand.
func (p *parser) postfixOf(from int32, e expr) expr {
	for n := 0; p.chainOf(n); n++ {
		switch {
		case p.accept('.'):
			key := p.name("a property key")
			e = &property{span: p.spanFrom(from), target: e, key: key}
		case p.accept('['):
			e = p.subscript(from, e)
		case p.is(':') && !isLiteral(e):
			labels := p.labels()
			e = &labelTest{span: p.spanFrom(from), target: e, labels: labels}
		default:
			return e
		}
	}
	return e
}

func isLiteral(e expr) bool {
	_, ok := e.(*literal)
	return ok
}

func (p *parser) subscript(from int32, of expr) expr {
	var first, last expr
	if !p.is(tDots) {
		first = p.expr()
	}
	if !p.accept(tDots) {
		p.expect(']', "]")
		return &index{span: p.spanFrom(from), target: of, index: first}
	}
	if !p.is(']') {
		last = p.expr()
	}
	p.expect(']', "]")
	return &slice{span: p.spanFrom(from), list: of, lower: first, upper: last}
}
