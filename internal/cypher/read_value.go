package cypher

import (
	"strings"
	"unicode/utf8"
)

// properties reads {key: value, ...}.
func (r *reader) properties() expr {
	r.accept('{')
	m := r.entries('}')
	if !r.accept('}') {
		r.missing("a closing brace is missing")
	}
	return m
}

// entries reads key: value pairs up to a closing bracket, which it leaves.
func (r *reader) entries(closing kind) *mapExpr {
	from := r.i
	m := &mapExpr{}
	for !r.ended() && !r.is('}') && !r.is(closing) && !(r.is(')') || r.is(']')) {
		if r.accept(',') {
			continue
		}
		key := r.key()
		if key == "" {
			break
		}
		m.keys = append(m.keys, key)
		m.values = append(m.values, r.value())
	}
	m.span = r.spanFrom(from)
	return m
}

// key reads a key and the colon after it; "" if there is none.
func (r *reader) key() string {
	from := r.i
	for {
		switch r.peek().kind {
		case ':', '=':
			if r.i == from {
				r.i++
				r.forgive("a key is missing")
				return "value"
			}
			if r.is('=') {
				r.forgive("= in place of :")
			}
			key := r.sourceText(r.spanFrom(from))
			if k := r.tokens[from].kind; k == tString || k == tQuoted {
				key = looseText(r.textOf(r.tokens[from]))
			}
			r.i++
			return key
		case tIdent, tQuoted, tInt:
			r.i++
		case tString:
			if r.i > from { // name 'X'
				r.forgive("a colon is missing")
				return r.sourceText(span{int32(from), int32(r.i)})
			}
			if r.tokenAt(1).kind != ':' {
				r.forgive("a key is missing")
				return "name"
			}
			r.i++
		default:
			if r.i == from {
				r.forgive("a stray character is skipped")
				r.i++
				return r.keyAfterStray()
			}
			return ""
		}
	}
}

// keyAfterStray continues behind a character that starts no key.
func (r *reader) keyAfterStray() string {
	if (r.is(tIdent) || r.is(tQuoted)) && r.tokenAt(1).kind == ':' {
		key := r.looseName()
		r.i += 2
		return key
	}
	return ""
}

// value reads the value of a property: a literal, a list, an expression, or words without quotes.
func (r *reader) value() expr {
	from := r.i
	t := r.peek()
	end := r.valueEnd()
	if end == 1 {
		if e := r.single(t); e != nil {
			r.i++
			return e
		}
	}
	switch {
	case end == 0:
		r.forgive("a value is missing")
		return &literal{span: r.spanFrom(from)}
	case t.kind == '[':
		return r.list()
	case isDateLike(r.sourceText(span{int32(from), int32(from + end)})):
	default:
		if e := r.expression(from, end); e != nil {
			return e
		}
	}
	r.i = from + end
	text := r.sourceText(r.spanFrom(from))
	r.notes.add(t.start, "a text without quotes")
	return &literal{span: r.spanFrom(from), value: strings.Trim(text, "'\"`’‘“” ")}
}

// single reads a value of one token; nil if it is a variable or none.
func (r *reader) single(t token) expr {
	at := r.spanFrom(r.i)
	text := r.textOf(t)
	switch t.kind {
	case tString:
		return &literal{span: at, value: looseText(text)}
	case tInt, tFloat:
		p := &parser{source: r.source, i: r.i}
		v := p.number(t, false)
		if p.err != nil {
			v = text
		}
		return &literal{span: at, value: v}
	case tIdent:
		switch strings.ToLower(text) {
		case "true", "false":
			return &literal{span: at, value: strings.EqualFold(text, "true")}
		case "null", "none", "nil":
			return &literal{span: at}
		}
		return &looseWord{span: at, name: text}
	case tQuoted:
		return &literal{span: at, value: unquoteName(text)}
	}
	return nil
}

// maxValue bounds a value in tokens; lists are read element by element.
const maxValue = 1000

// valueEnd counts the tokens of the value ahead: up to a comma or a closing
// bracket outside of brackets, or the end of the statement. Words without
// quotes end with their line.
func (r *reader) valueEnd() int {
	depth := 0
	for n := 0; ; n++ {
		t := r.tokenAt(n)
		if t.kind == tEOF || t.kind == ';' || n > 0 && r.startsClause(n) || n == maxValue {
			return n
		}
		switch t.kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return n
			}
			depth--
		case ',':
			if depth == 0 {
				return n
			}
		}
	}
}

// expression lets the strict parser read the value; nil if it does not
// reach its end, or where the words are no expression after all.
func (r *reader) expression(from, end int) expr {
	p := &parser{source: r.source, limits: r.limits, i: r.i}
	e := p.expr()
	if p.err != nil || p.i != from+end {
		return nil
	}
	ok := true
	walk(e, func(e expr) {
		if c, isCall := e.(*call); isCall {
			f := functions[c.name]
			ok = ok && f != nil && f.aggregate == nil
		}
	})
	if !ok {
		return nil
	}
	if isVariable(e) {
		return nil
	}
	r.i = p.i
	return e
}

func isDateLike(text string) bool {
	dashes := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '-' && i > 0, c == '/', c == '.' && i > 0, c == ':':
			dashes++
		case !isDigit(c):
			return false
		}
	}
	return dashes > 1 || dashes == 1 && strings.ContainsAny(text[1:], "-/:")
}

// list reads [value, ...].
func (r *reader) list() expr {
	from := r.i
	l := &listExpr{}
	r.i++
	r.depth++
	defer func() { r.depth-- }()
	for !r.ended() && !r.is(']') && !r.is('}') && !r.is(')') {
		if r.accept(',') {
			continue
		}
		if r.depth > maxListDepth {
			r.i++
			continue
		}
		before := r.i
		l.items = append(l.items, r.value())
		r.i = max(r.i, before+1)
	}
	if !r.accept(']') {
		r.missing("a closing bracket is missing")
	}
	l.span = r.spanFrom(from)
	return l
}

// maxListDepth bounds lists in lists; what is deeper is omitted.
const maxListDepth = 8

func (r *reader) looseName() string {
	t := r.peek()
	switch t.kind {
	case tQuoted:
		return unquoteName(r.textOf(t))
	case tString:
		return looseText(r.textOf(t))
	}
	return r.textOf(t)
}

// looseText is the value of a string token that looseQuote read.
func looseText(raw string) string {
	r, size := utf8.DecodeRuneInString(raw)
	closing := r
	if r != '\'' && r != '"' && r != '`' {
		closing = closingQuote(r)
	}
	text := raw[size:]
	if last, n := utf8.DecodeLastRuneInString(text); n > 0 && closesQuote(last, closing) {
		text = text[:len(text)-n]
	}
	if closing == '\'' || closing == '"' {
		text = strings.ReplaceAll(text, string(closing)+string(closing), string(closing))
	}
	text, _ = unescape(text)
	return strings.TrimSpace(text)
}

func joinMaps(a, b expr) expr {
	first, ok1 := a.(*mapExpr)
	second, ok2 := b.(*mapExpr)
	if !ok1 || !ok2 {
		return b
	}
	first.keys = append(first.keys, second.keys...)
	first.values = append(first.values, second.values...)
	return first
}

// looseWord is a word in place of a value: a variable if one is declared, else a text without
// quotes.
type looseWord struct {
	span
	name string
	slot int // < 0: a text
}
