package cypher

import "strings"

// atom reads an operand: a literal, a variable, a call, a pattern or an expression in parentheses.
func (p *parser) atom() expr {
	from := p.start()
	t := p.peek()
	switch t.kind {
	case tInt, tFloat:
		p.i++
		return &literal{span: p.spanFrom(from), value: p.number(t, false)}
	case tString:
		p.i++
		return &literal{span: p.spanFrom(from), value: p.text(t)}
	case '$':
		return p.parameter()
	case '[':
		return p.list()
	case '{':
		return p.mapLiteral()
	case '(':
		return p.parenthesis()
	case tQuoted:
		return p.variable()
	case tIdent:
		return p.wordAtom(from)
	}
	p.unexpected("an expression")
	return &literal{span: p.spanFrom(from)}
}

func (p *parser) wordAtom(from int32) expr {
	switch {
	case p.keywords("null"):
		return &literal{span: p.spanFrom(from)}
	case p.keywords("true"):
		return &literal{span: p.spanFrom(from), value: true}
	case p.keywords("false"):
		return &literal{span: p.spanFrom(from), value: false}
	case p.keywords("CASE"):
		return p.caseOf(from)
	case p.word(0, "exists") && p.tokenAt(1).kind == '{':
		return p.existsQuery(from)
	case p.tokenAt(1).kind == '(' && clauseWords[strings.ToUpper(p.textOf(p.peek()))]:
		p.unexpected("an expression") // such words are reserved
	case p.tokenAt(1).kind == '(', p.tokenAt(1).kind == '.' && p.dottedCall():
		return p.function(from)
	}
	return p.variable()
}

// dottedCall distinguishes duration.between(…) from a property of a call: only names
// joined by dots and ending in a parenthesis are a call.
func (p *parser) dottedCall() bool {
	i := 1
	for p.tokenAt(i).kind == '.' && p.tokenAt(i+1).kind == tIdent {
		i += 2
	}
	return p.tokenAt(i).kind == '('
}

func (p *parser) variable() expr {
	from := p.start()
	name := p.name("a variable")
	return &variable{span: p.spanFrom(from), name: name}
}

func (p *parser) parameter() expr {
	from := p.start()
	p.expect('$', "$")
	if p.is(tInt) {
		t := p.advance()
		return &param{span: p.spanFrom(from), name: p.textOf(t)}
	}
	name := p.name("a parameter name")
	return &param{span: p.spanFrom(from), name: name}
}

// parenthesis reads (expression), or a pattern where one stands.
func (p *parser) parenthesis() expr {
	from := p.start()
	if path := p.tryPattern(); path != nil {
		return &patternExpr{span: p.spanFrom(from), paths: []*pathPattern{path}}
	}
	p.expect('(', "(")
	e := p.expr()
	p.expect(')', ")")
	return e
}

// tryPattern reads a pattern of at least one relationship, or takes nothing. It looks ahead for the
// end of the first node, so that it never reads the same text twice: (a)-, (a:L {…})-, ()<-.
func (p *parser) tryPattern() *pathPattern {
	end := p.nodeEnd()
	if end < 0 {
		return nil
	}
	after := p.tokenAt(end)
	next := p.tokenAt(end + 1)
	// After (a) a minus is a pattern only where another dash, a bracket or an
	// arrow follows: (a)-(b) and (a) - 1 are subtractions.
	rel := after.kind == '-' && (next.kind == '[' || next.kind == '-') && p.patternAfter(end+1) ||
		after.kind == '<' && next.kind == '-' && (p.tokenAt(end+2).kind == '[' || p.tokenAt(end+2).kind == '-')
	if !rel {
		return nil
	}
	return p.chain()
}

// patternAfter distinguishes (a)--(b) and (a)-[r]-(b) from (a)--1 and (a)-[1].
func (p *parser) patternAfter(i int) bool {
	if p.tokenAt(i).kind == '-' {
		k := p.tokenAt(i + 1).kind
		return k == '>' || k == '('
	}
	k := p.tokenAt(i + 1).kind
	return k == ']' || k == ':' || k == '*' || k == '{' || (k == tIdent || k == tQuoted)
}

// nodeEnd returns how far ahead the token after a node pattern stands, or -1.
func (p *parser) nodeEnd() int {
	i := 1
	if k := p.tokenAt(i).kind; k == tIdent || k == tQuoted {
		i++
	}
	for p.tokenAt(i).kind == ':' && (p.tokenAt(i+1).kind == tIdent || p.tokenAt(i+1).kind == tQuoted) {
		i += 2
	}
	if p.tokenAt(i).kind == '{' {
		depth := 0
		for ; ; i++ {
			switch p.tokenAt(i).kind {
			case '{':
				depth++
			case '}':
				depth--
			case tEOF:
				return -1
			}
			if depth == 0 {
				break
			}
		}
		i++
	}
	if p.tokenAt(i).kind != ')' {
		return -1
	}
	return i + 1
}

func (p *parser) list() expr {
	from := p.start()
	p.expect('[', "[")
	if p.is(tIdent) && p.word(1, "IN") {
		return p.comprehension(from)
	}
	named := p.is(tIdent) && p.tokenAt(1).kind == '=' && p.tokenAt(2).kind == '('
	if named || p.is('(') {
		if named {
			p.i += 2
		}
		if path := p.tryPattern(); path != nil {
			if named {
				path.name = p.textOf(p.tokens[from+1])
			}
			return p.patternList(from, path)
		}
		if named {
			p.i -= 2
		}
	}
	l := &listExpr{}
	if !p.is(']') {
		l.items = p.exprs()
	}
	p.expect(']', "]")
	l.span = p.spanFrom(from)
	return l
}

// patternList reads on after the pattern of a pattern comprehension, or of a
// list whose first element is a pattern.
func (p *parser) patternList(from int32, path *pathPattern) expr {
	if p.is('|') || p.word(0, "WHERE") {
		c := &patternComprehension{path: path}
		if p.keywords("WHERE") {
			c.condition = p.expr()
		}
		p.expect('|', "|")
		c.result = p.expr()
		p.expect(']', "]")
		c.span = p.spanFrom(from)
		return c
	}
	l := &listExpr{items: []expr{&patternExpr{span: p.spanFrom(from + 1), paths: []*pathPattern{path}}}}
	if p.accept(',') {
		l.items = append(l.items, p.exprs()...)
	}
	p.expect(']', "]")
	l.span = p.spanFrom(from)
	return l
}

func (p *parser) comprehension(from int32) expr {
	c := &comprehension{name: p.name("a variable")}
	p.i++
	c.list = p.expr()
	if p.keywords("WHERE") {
		c.condition = p.expr()
	}
	if p.accept('|') {
		c.result = p.expr()
	}
	p.expect(']', "]")
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) mapLiteral() expr {
	from := p.start()
	m := &mapExpr{}
	p.expect('{', "{")
	if !p.is('}') {
		for ok := true; ok && p.err == nil; ok = p.accept(',') {
			m.keys = append(m.keys, p.name("a key"))
			p.expect(':', ":")
			m.values = append(m.values, p.expr())
		}
	}
	p.expect('}', "}")
	m.span = p.spanFrom(from)
	return m
}

func (p *parser) caseOf(from int32) expr {
	c := &caseExpr{}
	if !p.word(0, "WHEN") {
		c.subject = p.expr()
	}
	for p.keywords("WHEN") {
		c.when = append(c.when, p.expr())
		if !p.keywords("THEN") {
			p.unexpected("THEN")
		}
		c.then = append(c.then, p.expr())
	}
	if len(c.when) == 0 {
		p.unexpected("WHEN")
	}
	if p.keywords("ELSE") {
		c.otherwise = p.expr()
	}
	if !p.keywords("END") {
		p.unexpected("END")
	}
	c.span = p.spanFrom(from)
	return c
}

// existsQuery reads EXISTS { [MATCH] patterns [WHERE condition] }.
func (p *parser) existsQuery(from int32) expr {
	p.i += 2
	p.keywords("MATCH")
	e := &patternExpr{paths: p.patterns(), exists: true, query: true}
	if p.keywords("WHERE") {
		e.condition = p.expr()
	}
	p.expect('}', "}")
	e.span = p.spanFrom(from)
	return e
}

func (p *parser) function(from int32) expr {
	name := strings.ToLower(p.name("a function"))
	for p.accept('.') {
		name += "." + strings.ToLower(p.name("a function"))
	}
	p.expect('(', "(")
	switch name {
	case "all", "any", "none", "single":
		if p.is(tIdent) && p.word(1, "IN") {
			return p.quantifier(from, name)
		}
	case "reduce":
		return p.reduce(from)
	case "exists":
		if p.is('(') {
			if path := p.tryPattern(); path != nil {
				p.expect(')', ")")
				return &patternExpr{span: p.spanFrom(from), paths: []*pathPattern{path}, exists: true}
			}
		}
	}
	c := &call{name: name}
	c.distinct = p.keywords("DISTINCT")
	if p.is('*') && p.tokenAt(1).kind == ')' {
		c.star = true
		p.i++
	} else if !p.is(')') {
		c.args = p.exprs()
	}
	p.expect(')', ")")
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) quantifier(from int32, kind string) expr {
	q := &quantifier{kind: kind, name: p.name("a variable")}
	p.i++
	q.list = p.expr()
	if p.keywords("WHERE") {
		q.condition = p.expr()
	}
	p.expect(')', ")")
	q.span = p.spanFrom(from)
	return q
}

func (p *parser) reduce(from int32) expr {
	r := &reduceExpr{accumulator: p.name("a variable")}
	p.expect('=', "=")
	r.initial = p.expr()
	p.expect(',', ",")
	r.name = p.name("a variable")
	if !p.keywords("IN") {
		p.unexpected("IN")
	}
	r.list = p.expr()
	p.expect('|', "|")
	r.result = p.expr()
	p.expect(')', ")")
	r.span = p.spanFrom(from)
	return r
}
