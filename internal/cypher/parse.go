package cypher

import (
	"fmt"
	"strings"
)

// Parse reads one statement and checks it as openCypher does at compile time.
// Its errors are *Error, or *LimitError for text that is too long or nested
// too deeply. A semicolon may end the statement.
func Parse(text string) (*Query, error) {
	limits := DefaultLimits()
	if len(text) > limits.Bytes {
		return nil, &LimitError{What: "bytes of query", Limit: limits.Bytes}
	}
	p := &parser{source: lex(text), limits: limits}
	q := p.query()
	if p.err != nil {
		return nil, p.err
	}
	if err := analyse(q); err != nil {
		return nil, err
	}
	return q, nil
}

// parser reads tokens by recursive descent. It keeps the first error; from
// then on it sees the end of the text, so every rule ends.
type parser struct {
	*source
	limits Limits
	i      int
	depth  int
	err    error
}

func (p *parser) peek() token { return p.tokenAt(0) }

func (p *parser) tokenAt(ahead int) token {
	if p.err != nil || p.i+ahead >= len(p.tokens) {
		return p.tokens[len(p.tokens)-1]
	}
	return p.tokens[p.i+ahead]
}

func (p *parser) is(k kind) bool { return p.peek().kind == k }

func (p *parser) advance() token {
	t := p.peek()
	if t.kind != tEOF {
		p.i++
	}
	return t
}

func (p *parser) accept(k kind) bool {
	if p.is(k) && k != tEOF {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(k kind, what string) token {
	if !p.is(k) {
		p.unexpected(what)
	}
	return p.advance()
}

// word reports whether the token ahead is a keyword, in any case.
func (p *parser) word(ahead int, keyword string) bool {
	t := p.tokenAt(ahead)
	return t.kind == tIdent && int(t.end-t.start) == len(keyword) && strings.EqualFold(p.textOf(t), keyword)
}

// keywords takes a run of keywords: all of them or none.
func (p *parser) keywords(words ...string) bool {
	for i, w := range words {
		if !p.word(i, w) {
			return false
		}
	}
	p.i += len(words)
	return true
}

func (p *parser) fail(at span, detail, format string, args ...any) {
	if p.err == nil {
		p.err = p.source.failure(at, CompileTime, syntaxError, detail, format, args...)
	}
}

func (p *parser) unexpected(what string) {
	t := p.peek()
	at := span{int32(min(p.i, len(p.tokens)-1)), 0}
	text := p.textOf(t)
	switch {
	case t.kind == tEOF:
		p.fail(at, "UnexpectedSyntax", "the query ends; expected %s", what)
	case t.kind == tBad:
		p.fail(at, badTokenDetail(text), "%.40q is not valid; expected %s", text, what)
	default:
		p.fail(at, "UnexpectedSyntax", "%.40q found; expected %s", text, what)
	}
}

// badTokenDetail is openCypher's name for what is wrong with a token.
func badTokenDetail(text string) string {
	switch {
	case text != "" && isDigit(text[0]):
		return "InvalidNumberLiteral"
	case text != "" && text[0] >= 0x80:
		return "InvalidUnicodeCharacter"
	}
	return "UnexpectedSyntax"
}

// failure makes the error that points at a span.
func (s *source) failure(at span, phase Phase, kind, detail, format string, args ...any) *Error {
	e := &Error{Kind: kind, Detail: detail, Phase: phase, Message: fmt.Sprintf(format, args...)}
	e.offset = s.tokens[at.first].start
	if !s.loose {
		e.Line, e.Column = s.position(int(e.offset))
	}
	return e
}

// enter goes one level down in nested text; the caller leaves by p.depth--.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > p.limits.Depth && p.err == nil {
		p.err = &LimitError{What: "levels of nesting", Limit: p.limits.Depth}
	}
	return p.err == nil
}

func (p *parser) start() int32 { return int32(min(p.i, len(p.tokens)-1)) }

func (p *parser) spanFrom(from int32) span { return span{from, max(int32(p.i), from+1)} }

func (p *parser) query() *Query {
	q := &Query{source: p.source}
	for n := 0; ; n++ {
		q.parts = append(q.parts, p.single())
		if !p.keywords("UNION") {
			break
		}
		all := p.keywords("ALL")
		if n > 0 && all != q.all {
			p.fail(p.spanFrom(p.start()), "InvalidClauseComposition", "UNION and UNION ALL cannot be mixed")
		}
		q.all = all
	}
	p.accept(';')
	if !p.is(tEOF) {
		p.unexpected("a clause or the end of the query")
	}
	return q
}

func (p *parser) single() *singleQuery {
	q := &singleQuery{}
	for p.err == nil {
		c := p.clause()
		if c == nil {
			break
		}
		q.clauses = append(q.clauses, c)
		if r, ok := c.(*projection); ok && r.isReturn {
			return q
		}
	}
	if len(q.clauses) == 0 {
		p.unexpected("a clause")
	}
	return q
}

// clause reads the next clause, or gives nil if none starts.
func (p *parser) clause() clause {
	from := p.start()
	switch {
	case p.keywords("MATCH"):
		return p.match(from, false)
	case p.keywords("OPTIONAL", "MATCH"):
		return p.match(from, true)
	case p.keywords("CREATE"):
		c := &createClause{paths: p.patterns()}
		c.span = p.spanFrom(from)
		return c
	case p.keywords("MERGE"):
		return p.merge(from)
	case p.keywords("SET"):
		c := &setClause{items: p.setItems()}
		c.span = p.spanFrom(from)
		return c
	case p.keywords("REMOVE"):
		return p.remove(from)
	case p.keywords("DETACH", "DELETE"):
		return p.delete(from, true)
	case p.keywords("DELETE"):
		return p.delete(from, false)
	case p.keywords("UNWIND"):
		return p.unwind(from)
	case p.keywords("WITH"):
		return p.projection(from, false)
	case p.keywords("RETURN"):
		return p.projection(from, true)
	case p.keywords("CALL"):
		return p.call(from)
	}
	return nil
}

func (p *parser) match(from int32, optional bool) clause {
	c := &matchClause{optional: optional, paths: p.patterns()}
	if p.keywords("WHERE") {
		c.condition = p.expr()
	}
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) merge(from int32) clause {
	c := &mergeClause{path: p.pattern()}
	for p.err == nil {
		switch {
		case p.keywords("ON", "CREATE", "SET"):
			c.onCreate = append(c.onCreate, p.setItems()...)
		case p.keywords("ON", "MATCH", "SET"):
			c.onMatch = append(c.onMatch, p.setItems()...)
		default:
			c.span = p.spanFrom(from)
			return c
		}
	}
	return c
}

func (p *parser) setItems() []*setItem {
	var items []*setItem
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		items = append(items, p.setItem())
	}
	return items
}

func (p *parser) setItem() *setItem {
	from := p.start()
	it := p.target()
	if it.labels == nil {
		if it.key == "" && p.accept(tPlusAssign) {
			it.merge = true
		} else {
			p.expect('=', "= or +=")
		}
		it.value = p.expr()
	}
	it.span = p.spanFrom(from)
	return it
}

// target reads what SET and REMOVE change: x.key, x:Label or x.
func (p *parser) target() *setItem {
	switch t := p.postfix().(type) {
	case *property:
		return &setItem{target: t.target, key: t.key}
	case *labelTest:
		return &setItem{target: t.target, labels: t.labels}
	case *variable:
		return &setItem{target: t}
	}
	p.unexpected("a property, labels or a variable to change")
	return &setItem{target: &literal{}}
}

func (p *parser) remove(from int32) clause {
	c := &removeClause{}
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		start := p.start()
		it := p.target()
		if it.key == "" && it.labels == nil {
			p.unexpected("a property or a label to remove")
		}
		it.span = p.spanFrom(start)
		c.items = append(c.items, it)
	}
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) delete(from int32, detach bool) clause {
	c := &deleteClause{detach: detach, exprs: p.exprs()}
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) unwind(from int32) clause {
	c := &unwindClause{list: p.expr()}
	if !p.keywords("AS") {
		p.unexpected("AS")
	}
	c.name = p.name("a variable")
	c.span = p.spanFrom(from)
	return c
}

// call reads CALL name(args) YIELD ...; there are no procedures to call, so only the name matters.
func (p *parser) call(from int32) clause {
	c := &callClause{name: p.name("a procedure")}
	for p.accept('.') {
		c.name += "." + p.name("a procedure")
	}
	if p.accept('(') && !p.accept(')') {
		p.exprs()
		p.expect(')', ")")
	}
	if p.keywords("YIELD") && !p.accept('*') && !p.accept('-') {
		for ok := true; ok && p.err == nil; ok = p.accept(',') {
			p.name("a field")
			if p.keywords("AS") {
				p.name("a variable")
			}
		}
	}
	c.span = p.spanFrom(from)
	return c
}

// name reads a name, plain or in backticks.
func (p *parser) name(what string) string {
	t := p.peek()
	switch t.kind {
	case tIdent:
		p.i++
		return p.textOf(t)
	case tQuoted:
		p.i++
		return unquoteName(p.textOf(t))
	}
	p.unexpected(what)
	return ""
}

func unquoteName(text string) string {
	return strings.ReplaceAll(text[1:len(text)-1], "``", "`")
}
