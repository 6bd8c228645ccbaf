package cypher

import "strings"

// paths reads the patterns of a clause. With write set they are to be written,
// so every relationship needs one type.
func (r *reader) paths(write bool) []*pathPattern {
	var paths []*pathPattern
	for {
		path := r.path(write)
		if path == nil {
			return paths
		}
		paths = append(paths, path)
		switch {
		case r.accept(','):
		case r.is('(') && !r.is(tEOF):
			r.missing("a comma is missing between the patterns")
		default:
			return paths
		}
	}
}

// path reads one path, or nil if none starts.
func (r *reader) path(write bool) *pathPattern {
	from := r.i
	name := ""
	if r.is(tIdent) && r.tokenAt(1).kind == '=' && r.tokenAt(2).kind == '(' {
		name = r.textOf(r.peek())
		r.i += 2
	}
	first := r.node()
	if first == nil {
		return nil
	}
	path := &pathPattern{nodes: []*nodePattern{first}}
	if !write {
		path.name = name
	}
	for r.relAhead() {
		at := r.i
		rel := r.rel(write)
		node := r.node()
		if node == nil {
			r.notes.add(r.tokens[at].start, "the relationship has no node at its end and is skipped")
			break
		}
		path.rels = append(path.rels, rel)
		path.nodes = append(path.nodes, node)
	}
	path.span = r.spanFrom(from)
	return path
}

// node reads (variable:Label {key: value}) in any order, a name in quotes, or
// a variable without parentheses; nil if there is none of them.
func (r *reader) node() *nodePattern {
	from := r.i
	n := &nodePattern{}
	switch {
	case r.is(tString):
		r.forgive("a name in place of a node")
		n.props = r.nameProperties(r.peek())
		r.i++
	case (r.is(tIdent) || r.is(tQuoted)) && !r.startsClause(0):
		r.forgive("a node without parentheses")
		n.name = r.looseName()
		r.i++
		if r.is(':') && r.tokenAt(1).kind == tIdent {
			r.i += 2
			n.labels = []string{r.textOf(r.tokens[r.i-1])}
		}
		if r.is('{') {
			n.props = r.properties()
		}
	case r.accept('('):
		r.inside(n)
	default:
		return nil
	}
	n.label = n.labels != nil || n.props != nil
	n.span = r.spanFrom(from)
	return n
}

// nameProperties makes the properties of a node from a token that is its name.
func (r *reader) nameProperties(t token) expr {
	at := r.spanFrom(r.i)
	return &mapExpr{span: at, keys: []string{"name"}, values: []expr{&literal{span: at, value: looseText(r.textOf(t))}}}
}

// inside reads the contents of a node's parentheses.
func (r *reader) inside(n *nodePattern) {
	for {
		switch t := r.peek(); {
		case t.kind == ')':
			r.i++
			return
		case t.kind == ':':
			r.i++
			r.label(n)
		case t.kind == '{':
			n.props = joinMaps(n.props, r.properties())
		case t.kind == tString && r.tokenAt(1).kind != ':':
			r.forgive("a name in place of properties")
			n.props = joinMaps(n.props, r.nameProperties(t))
			r.i++
		case r.ended():
			r.missing("a closing parenthesis is missing")
			return
		case (t.kind == tIdent || t.kind == tQuoted || t.kind == tString) && r.tokenAt(1).kind == ':' &&
			(n.name != "" || n.labels != nil) && r.valueAhead(2):
			r.forgive("the braces around the properties are missing")
			n.props = joinMaps(n.props, r.entries(')'))
		case t.kind == '-' || t.kind == '<' || t.kind == ']' || t.kind == '}' || t.kind == ',':
			if r.tokenAt(1).kind == '[' || r.tokenAt(1).kind == '-' {
				r.missing("a closing parenthesis is missing")
				return
			}
			r.forgive("a stray character is skipped")
			r.i++
		default:
			r.words(n)
		}
	}
}

// valueAhead distinguishes a property (name: 'X') from a label (:Person).
func (r *reader) valueAhead(ahead int) bool {
	switch r.tokenAt(ahead).kind {
	case tString, tInt, tFloat, '[':
		return true
	}
	return false
}

// ended reports whether the statement ends here, closed or not.
func (r *reader) ended() bool {
	return r.is(tEOF) || r.is(';') || r.startsClause(0)
}

// words reads the variable of a node, or a name of several words that stands in its place.
func (r *reader) words(n *nodePattern) {
	from := r.i
	for !r.ended() {
		k := r.peek().kind
		if k == ')' || k == '{' || k == ':' || k == '(' || k == tString && r.i > from || k == '-' &&
			r.tokenAt(1).kind == '[' {
			break
		}
		r.i++
	}
	if r.i == from {
		r.i++
		return
	}
	text := r.sourceText(r.spanFrom(from))
	if t := r.tokens[from]; t.kind == tQuoted {
		text = unquoteName(r.textOf(t))
	}
	if r.i-from > 1 || r.tokens[from].kind != tIdent && r.tokens[from].kind != tQuoted {
		r.notes.add(r.tokens[from].start, "a name without quotes in place of a variable")
	}
	if n.name == "" && n.labels == nil {
		n.name = text
	} else {
		n.labels = append(n.labels, text)
	}
}

// label reads a label: a name, in quotes or of several words.
func (r *reader) label(n *nodePattern) {
	from := r.i
	switch t := r.peek(); t.kind {
	case tString:
		r.forgive("a label in quotes")
		n.labels = append(n.labels, looseText(r.textOf(t)))
		r.i++
		return
	case tQuoted:
		n.labels = append(n.labels, unquoteName(r.textOf(t)))
		r.i++
		return
	}
	for r.is(tIdent) && !r.startsClause(0) && (r.i == from || r.tokenAt(1).kind != ':' || !r.valueAhead(2)) {
		r.i++
	}
	if r.i > from+1 {
		r.notes.add(r.tokens[from].start, "a label of several words")
	}
	if r.i > from {
		n.labels = append(n.labels, r.sourceText(r.spanFrom(from)))
	}
	for r.is('|') || r.is('&') {
		r.i++
		r.accept(':')
		if r.is(tIdent) {
			n.labels = append(n.labels, r.textOf(r.peek()))
			r.i++
		}
	}
}

// relAhead reports whether a relationship starts here.
func (r *reader) relAhead() bool {
	switch r.peek().kind {
	case '-':
		next := r.tokenAt(1).kind // a dash at the start of a line may be a list's
		return !r.peek().newline || next == '[' || next == '-' || next == '>' || next == ':'
	case '<':
		return r.tokenAt(1).kind == '-' || r.tokenAt(1).kind == '=' || r.tokenAt(1).kind == '['
	case '>', '[', tLessEqual:
		return !r.peek().newline
	case '=':
		return r.tokenAt(1).kind == '[' || r.tokenAt(1).kind == '>'
	}
	return false
}

// rel reads a relationship with its arrows.
func (r *reader) rel(write bool) *relPattern {
	from := r.i
	rel := &relPattern{min: 1, max: 1}
	left, right := r.arrow()
	if r.accept('[') {
		r.between(rel)
		_, right = r.arrow()
	} else if r.is(':') || r.is(tIdent) && (r.tokenAt(1).kind == '-' || r.tokenAt(1).kind == '>') && !right {
		r.forgive("the brackets around the relationship type are missing")
		r.accept(':')
		r.relType(rel)
		_, right = r.arrow()
	}
	switch {
	case left && !right:
		rel.dir = incoming
	case left == right && !write:
		rel.dir = undirected
	case left == right:
		r.notes.add(r.tokens[from].start, "the relationship has no one direction: it is read from left to right")
	}
	rel.span = r.spanFrom(from)
	if write {
		r.oneType(rel)
	}
	return rel
}

// arrow reads dashes and the points of an arrow.
func (r *reader) arrow() (left, right bool) {
	for {
		switch r.peek().kind {
		case '<', tLessEqual:
			left = true
		case '>':
			right = true
		case '-', '=':
		default:
			return left, right
		}
		r.i++
	}
}

// between reads the contents of a relationship's brackets.
func (r *reader) between(rel *relPattern) {
	if r.is(tIdent) && r.tokenAt(1).kind == ':' {
		rel.name = r.textOf(r.peek())
		r.i++
	}
	for {
		switch t := r.peek(); {
		case t.kind == ']':
			r.i++
			return
		case t.kind == '{':
			rel.props = r.properties()
		case t.kind == ':', t.kind == '|':
			r.i++
			if !r.is(':') && !r.is(']') {
				r.relType(rel)
			}
		case t.kind == '*':
			r.strictly(func(p *parser) { p.i++; p.length(rel) })
		case r.ended(), t.kind == ')', t.kind == '(', t.kind == '-' && (r.tokenAt(1).kind == '>' ||
			r.tokenAt(1).kind == '('):
			r.missing("a closing bracket is missing")
			return
		case (t.kind == tIdent || t.kind == tQuoted || t.kind == tString) && rel.types == nil:
			if t.kind == tIdent && r.tokenAt(1).kind == ']' && len(r.textOf(t)) < 3 {
				rel.name = r.textOf(t)
				r.i++
				continue
			}
			r.forgive("the colon before the relationship type is missing")
			r.relType(rel)
		default:
			r.i++
		}
	}
}

// relType reads a relationship type, also in quotes or of several words.
func (r *reader) relType(rel *relPattern) {
	from := r.i
	for !r.ended() {
		t := r.peek()
		if strings.IndexByte("]{}*|(),>", byte(t.kind)) >= 0 && t.kind < 128 || t.kind == '-' &&
			(r.tokenAt(1).kind == '>' || r.tokenAt(1).kind == '(' || r.tokenAt(1).kind == '[') {
			break
		}
		r.i++
	}
	text := r.sourceText(r.spanFrom(from))
	switch {
	case r.i == from:
		return
	case r.i == from+1 && r.tokens[from].kind == tString:
		r.notes.add(r.tokens[from].start, "a relationship type in quotes")
		text = looseText(text)
	case r.i == from+1 && r.tokens[from].kind == tQuoted:
		text = unquoteName(text)
	case r.i > from+1:
		r.notes.add(r.tokens[from].start, "a relationship type of several words")
	}
	rel.types = append(rel.types, text)
}

// oneType gives a relationship that will be created exactly one type.
func (r *reader) oneType(rel *relPattern) {
	switch {
	case len(rel.types) > 1:
		r.notes.add(r.tokens[rel.first].start, "of several relationship types the first counts")
		rel.types = rel.types[:1]
	case len(rel.types) == 0 && len(rel.name) > 2:
		rel.types = []string{rel.name}
	case len(rel.types) == 0:
		r.notes.add(r.tokens[rel.first].start, "the relationship has no type")
		rel.types = []string{untyped}
	}
	rel.variable, rel.min, rel.max = false, 1, 1
}

// untyped is the type of a relationship that is written without one.
const untyped = "RELATED_TO"
