package cypher

import "math"

// projection reads what follows WITH or RETURN.
func (p *parser) projection(from int32, isReturn bool) clause {
	c := &projection{isReturn: isReturn}
	c.distinct = p.keywords("DISTINCT")
	if p.accept('*') {
		c.star = true
		if p.accept(',') {
			c.items = p.items()
		}
	} else {
		c.items = p.items()
	}
	if p.keywords("ORDER", "BY") {
		for ok := true; ok && p.err == nil; ok = p.accept(',') {
			k := &sortKey{value: p.expr()}
			if p.keywords("DESC") || p.keywords("DESCENDING") {
				k.descending = true
			} else if !p.keywords("ASC") {
				p.keywords("ASCENDING")
			}
			c.order = append(c.order, k)
		}
	}
	if p.keywords("SKIP") {
		c.skip = p.expr()
	}
	if p.keywords("LIMIT") {
		c.limit = p.expr()
	}
	if !isReturn && p.keywords("WHERE") {
		c.condition = p.expr()
	}
	c.span = p.spanFrom(from)
	return c
}

func (p *parser) items() []*item {
	var items []*item
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		from := p.start()
		it := &item{value: p.expr()}
		it.span = p.spanFrom(from)
		if p.keywords("AS") {
			it.name, it.aliased = p.name("an alias"), true
		} else if v, ok := it.value.(*variable); ok {
			it.name = v.name
		} else {
			it.name = p.sourceText(it.span)
		}
		items = append(items, it)
	}
	return items
}

// sourceText is the text of a span as written in the query.
func (s *source) sourceText(at span) string {
	if at.end <= at.first || int(at.end) > len(s.tokens) {
		return ""
	}
	return s.text[s.tokens[at.first].start:s.tokens[at.end-1].end]
}

// canonical is the text of a span without its white space: equal for
// expressions that are written alike.
func (s *source) canonical(at span) string {
	var text []byte
	for _, t := range s.tokens[at.first:at.end] {
		text = append(append(text, s.textOf(t)...), ' ')
	}
	return string(text)
}

// patterns reads comma-separated paths.
func (p *parser) patterns() []*pathPattern {
	var paths []*pathPattern
	for ok := true; ok && p.err == nil; ok = p.accept(',') {
		paths = append(paths, p.pattern())
	}
	return paths
}

// pattern reads a path, with a name or without.
func (p *parser) pattern() *pathPattern {
	from := p.start()
	name := ""
	if k := p.peek().kind; (k == tIdent || k == tQuoted) && p.tokenAt(1).kind == '=' {
		name = p.name("a path name")
		p.i++
	}
	path := p.chain()
	path.name = name
	path.span = p.spanFrom(from)
	return path
}

// chain reads nodes and the relationships between them. Parentheses may wrap the whole chain.
func (p *parser) chain() *pathPattern {
	from := p.start()
	if p.is('(') && p.tokenAt(1).kind == '(' {
		if !p.enter() {
			return &pathPattern{nodes: []*nodePattern{{}}}
		}
		defer func() { p.depth-- }()
		p.i++
		path := p.chain()
		p.expect(')', ")")
		return path
	}
	path := &pathPattern{nodes: []*nodePattern{p.node()}}
	for p.err == nil && p.startsRel() {
		path.rels = append(path.rels, p.rel())
		path.nodes = append(path.nodes, p.node())
	}
	path.span = p.spanFrom(from)
	return path
}

func (p *parser) node() *nodePattern {
	from := p.start()
	n := &nodePattern{}
	p.expect('(', "a node pattern: (")
	if k := p.peek().kind; k == tIdent || k == tQuoted {
		n.name = p.name("a variable")
	}
	n.labels = p.labels()
	n.props = p.properties()
	p.expect(')', ")")
	n.label = n.labels != nil || n.props != nil
	n.span = p.spanFrom(from)
	return n
}

func (p *parser) labels() []string {
	var labels []string
	for p.accept(':') {
		labels = append(labels, p.name("a label"))
	}
	return labels
}

func (p *parser) properties() expr {
	switch p.peek().kind {
	case '{':
		return p.mapLiteral()
	case '$':
		return p.parameter()
	}
	return nil
}

// startsRel distinguishes a relationship from a comparison such as (a) < -1.
func (p *parser) startsRel() bool {
	if p.is('<') {
		return p.tokenAt(1).kind == '-'
	}
	return p.is('-')
}

func (p *parser) rel() *relPattern {
	from := p.start()
	r := &relPattern{min: 1, max: 1}
	left := p.accept('<')
	p.expect('-', "-")
	if p.accept('[') {
		if k := p.peek().kind; k == tIdent || k == tQuoted {
			r.name = p.name("a variable")
		}
		p.types(r)
		if p.accept('*') {
			p.length(r)
		} else if p.is(tDots) || p.is(tInt) {
			p.fail(p.spanFrom(p.start()), "InvalidRelationshipPattern", "a length needs a * before it")
		}
		r.props = p.properties()
		p.expect(']', "]")
	}
	p.expect('-', "-")
	right := p.accept('>')
	switch {
	case left == right:
		r.dir, r.both = undirected, left
	case left:
		r.dir = incoming
	}
	r.span = p.spanFrom(from)
	return r
}

// types reads :A|B, and :A|:B as older Cypher has it.
func (p *parser) types(r *relPattern) {
	if !p.accept(':') {
		return
	}
	r.types = append(r.types, p.name("a relationship type"))
	for p.accept('|') {
		p.accept(':')
		r.types = append(r.types, p.name("a relationship type"))
	}
}

// length reads what follows * in a pattern of variable length: nothing, n, n.., ..m or n..m.
func (p *parser) length(r *relPattern) {
	r.variable, r.max = true, -1
	from := p.start()
	bound := func(missing int) int {
		if p.is('-') {
			p.fail(p.spanFrom(from), "InvalidRelationshipPattern", "a length cannot be negative")
		}
		if !p.is(tInt) {
			return missing
		}
		v := p.integer(p.textOf(p.peek()), false, p.spanFrom(p.start()))
		p.i++
		return int(min(v, math.MaxInt32))
	}
	single := bound(-1)
	if single >= 0 {
		r.min = single
	}
	if p.accept(tDots) {
		r.max = bound(-1)
	} else if single >= 0 {
		r.max = single
	}
}
