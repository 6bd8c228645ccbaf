package cypher

import "math"

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
	if k := p.peek().kind; (k == tIdent || k == tQuoted) && p.at(1).kind == '=' {
		name = p.name("a path name")
		p.i++
	}
	path := p.chain()
	path.name = name
	path.span = p.since(from)
	return path
}

// chain reads nodes and the relationships between them. Parentheses may wrap
// the whole chain.
func (p *parser) chain() *pathPattern {
	from := p.start()
	if p.is('(') && p.at(1).kind == '(' {
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
	path.span = p.since(from)
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
	n.span = p.since(from)
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

// startsRel tells a relationship from a comparison such as (a) < -1.
func (p *parser) startsRel() bool {
	if p.is('<') {
		return p.at(1).kind == '-'
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
			p.fail(p.since(p.start()), "InvalidRelationshipPattern", "a length needs a * before it")
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
	r.span = p.since(from)
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

// length reads what follows * in a pattern of variable length: nothing, n,
// n.., ..m or n..m.
func (p *parser) length(r *relPattern) {
	r.variable, r.max = true, -1
	from := p.start()
	bound := func(missing int) int {
		if p.is('-') {
			p.fail(p.since(from), "InvalidRelationshipPattern", "a length cannot be negative")
		}
		if !p.is(tInt) {
			return missing
		}
		v := p.integer(p.textOf(p.peek()), false, p.since(p.start()))
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
