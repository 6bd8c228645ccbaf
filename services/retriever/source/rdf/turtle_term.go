package rdf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// resource reads an IRI, a prefixed name or the label of a blank node.
func (p *turtleParser) resource() (Term, error) {
	switch c := p.peek(0); {
	case c == '<':
		iri, err := p.iri()
		return Term{Text: iri}, err
	case c == '_' && p.peek(1) == ':':
		p.advance(2)
		label, err := p.name()
		if err == nil && label == "" {
			err = errors.New("a blank node without a label")
		}
		return Term{Kind: Blank, Text: label}, err
	case isName(c) || c == ':':
		iri, err := p.prefixed()
		return Term{Text: iri}, err
	}
	return Term{}, fmt.Errorf("want <IRI>, prefix:name or _:node, got %.20q", p.preview(20))
}

// iri reads <...> and resolves it.
func (p *turtleParser) iri() (string, error) {
	if p.peek(0) != '<' {
		return "", fmt.Errorf("want <IRI>, got %.20q", p.preview(20))
	}
	n, err := p.span(1, "the IRI", func(at []byte) (int, bool) {
		if i := bytes.IndexAny(at, ">\n"); i >= 0 {
			return i, true
		}
		return len(at), false
	})
	if err != nil {
		return "", err
	}
	if p.peek(n) != '>' {
		return "", errors.New("the IRI does not end on its line")
	}
	text, err := tokenText(p.advance(n + 1)[1:n])
	if err != nil {
		return "", err
	}
	if hasScheme(text) {
		return text, CheckIRI(text)
	}
	if p.base == "" {
		return "", fmt.Errorf("the relative IRI %.40q has nothing to be relative to; add @base", text)
	}
	text = resolve(p.base, text)
	return text, CheckIRI(text)
}

// tokenText returns a token's text with its escapes resolved.
func tokenText(token []byte) (string, error) {
	if !utf8.Valid(token) {
		return "", fmt.Errorf("%.20q is not UTF-8", token)
	}
	if bytes.IndexByte(token, '\\') >= 0 {
		return Unescape(string(token))
	}
	return string(token), nil
}

// hasScheme reports whether an IRI is absolute.
func hasScheme(iri string) bool {
	for i := range len(iri) {
		switch c := iri[i]; {
		case c == ':':
			return i > 0
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c == '+' || c == '-' || c == '.' || (c >= '0' && c <= '9')):
		default:
			return false
		}
	}
	return false
}

// isName reports whether a byte may stand in a name; the dot may too, but not at an end.
func isName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// name reads a prefix or the label of a blank node.
func (p *turtleParser) name() (string, error) {
	return p.word(func(byte) bool { return false })
}

// word reads a name in which further bytes may stand.
func (p *turtleParser) word(also func(byte) bool) (string, error) {
	n := 0
	for {
		c := p.peek(n)
		if c == '.' {
			dots := 1
			for dots < maxToken && p.peek(n+dots) == '.' {
				dots++
			}
			if next := p.peek(n + dots); !isName(next) && !also(next) {
				break
			}
			n += dots
		} else if isName(c) || also(c) {
			n++
			if c == '\\' {
				n++
			}
		} else {
			break
		}
		if n > maxToken {
			return "", fmt.Errorf("a name is longer than %d bytes", maxToken)
		}
	}
	if n > 0 {
		p.peek(n - 1)
	}
	if p.pos+n > len(p.buf) {
		return "", errors.New("a backslash at the end")
	}
	token := p.advance(n)
	if !utf8.Valid(token) {
		return "", fmt.Errorf("%.20q is not UTF-8", token)
	}
	return string(token), nil
}

// prefixed reads prefix:name.
func (p *turtleParser) prefixed() (string, error) {
	prefix, err := p.name()
	if err != nil {
		return "", err
	}
	if p.peek(0) != ':' {
		return "", fmt.Errorf("want ':' after %.40q, got %.20q", prefix, p.preview(20))
	}
	p.advance(1)
	local, err := p.word(func(c byte) bool { return c == ':' || c == '%' || c == '\\' })
	if err != nil {
		return "", err
	}
	if strings.IndexByte(local, '\\') >= 0 {
		if local, err = unescapeLocal(local); err != nil {
			return "", err
		}
	}
	iri, ok := p.prefixes[prefix]
	if !ok {
		return "", fmt.Errorf("the prefix %.40q is not declared", prefix+":")
	}
	iri += local
	return iri, CheckIRI(iri)
}

// unescapeLocal resolves the escapes of a local name, PN_LOCAL_ESC.
func unescapeLocal(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			if i++; i >= len(text) || strings.IndexByte("_~.-!$&'()*+,;=/?#@%", text[i]) < 0 {
				return "", fmt.Errorf(`%.40q has a backslash before what needs none`, text)
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), nil
}

// literal reads a text in quotes of either kind, one or three of them, and its
// language or datatype.
func (p *turtleParser) literal() (t Term, err error) {
	t.Kind = Literal
	if t.Text, err = p.quotedString(); err != nil {
		return t, err
	}
	p.skipSpace()
	switch {
	case p.peek(0) == '@':
		n := 1
		for c := p.peek(n); c == '-' || (c|0x20 >= 'a' && c|0x20 <= 'z') || (c >= '0' && c <= '9'); c = p.peek(n) {
			n++
		}
		if n == 1 || n > source.MaxName || isDigit(p.peek(1)) || p.peek(1) == '-' {
			return t, errors.New("a literal whose language is not a tag")
		}
		t.Language = string(p.advance(n)[1:])
	case p.peek(0) == '^' && p.peek(1) == '^':
		p.advance(2)
		p.skipSpace()
		datatype, err := p.resource()
		if err != nil || datatype.Kind != IRI {
			return t, errors.Join(errors.New("a literal whose datatype is not an IRI"), err)
		}
		t.Datatype = datatype.Text
	}
	return t, nil
}

func (p *turtleParser) quotedString() (string, error) {
	quote, width := p.peek(0), 1
	if p.peek(1) == quote && p.peek(2) == quote {
		width = 3
	} else if p.peek(1) == quote {
		p.advance(2)
		return "", nil
	}
	escaped, cut, run := false, false, 0
	n, err := p.span(width, "the text", func(at []byte) (int, bool) {
		for i, c := range at {
			switch {
			case escaped:
				escaped = false
			case c == '\\':
				escaped, run = true, 0
			case c == quote:
				if run++; run == width {
					return i + 1, true
				}
			case c == '\n' && width == 1:
				cut = true
				return i, true
			default:
				run = 0
			}
		}
		return len(at), false
	})
	if err != nil {
		return "", err
	}
	if cut {
		return "", errors.New("the text does not end on its line")
	}
	// A long text may end in quotes of its own: """he said "no"""".
	for width == 3 && n-width < maxToken && p.peek(n) == quote {
		n++
	}
	return tokenText(p.advance(n)[width : n-width])
}

// number reads an integer, decimal or double.
func (p *turtleParser) number() (Term, error) {
	n, kind := 0, "integer"
	if c := p.peek(0); c == '+' || c == '-' {
		n++
	}
	for {
		c := p.peek(n)
		switch {
		case c >= '0' && c <= '9':
		case c == '.' && kind == "integer" && (isDigit(p.peek(n+1)) || p.peek(n+1)|0x20 == 'e'):
			kind = "decimal"
		case c|0x20 == 'e' && kind != "double":
			kind = "double"
			if next := p.peek(n + 1); next == '+' || next == '-' {
				n++
			}
		default:
			text := string(p.preview(n))
			if !source.IsNumber(text) {
				return Term{}, fmt.Errorf("%.40q is not a number", p.preview(max(n, 1)))
			}
			p.advance(n)
			return Term{Kind: Literal, Text: text, Datatype: xsd + kind}, nil
		}
		if n++; n > source.MaxName {
			return Term{}, fmt.Errorf("a number is longer than %d bytes", source.MaxName)
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// reference is an IRI in its parts (RFC 3986, §3): the scheme has its colon,
// the authority its slashes, the query its mark.
type reference struct{ scheme, authority, path, query, fragment string }

func splitIRI(iri string) (r reference) {
	if i := strings.IndexByte(iri, '#'); i >= 0 {
		iri, r.fragment = iri[:i], iri[i:]
	}
	if i := strings.IndexByte(iri, '?'); i >= 0 {
		iri, r.query = iri[:i], iri[i:]
	}
	if hasScheme(iri) {
		i := strings.IndexByte(iri, ':')
		r.scheme, iri = iri[:i+1], iri[i+1:]
	}
	if strings.HasPrefix(iri, "//") {
		i := strings.IndexByte(iri[2:], '/') + 2
		if i < 2 {
			i = len(iri)
		}
		r.authority, iri = iri[:i], iri[i:]
	}
	r.path = iri
	return r
}

// resolve makes an IRI absolute by a base (RFC 3986, §5.2). What is not ASCII
// stays as it is, as net/url would not leave it.
func resolve(base, iri string) string {
	b, r := splitIRI(base), splitIRI(iri)
	switch {
	case r.scheme != "":
		return iri
	case r.authority != "":
		r.path = removeDotSegments(r.path)
	case r.path == "":
		r.authority, r.path = b.authority, b.path
		r.query = cmp.Or(r.query, b.query)
	case r.path[0] == '/':
		r.authority, r.path = b.authority, removeDotSegments(r.path)
	default:
		up := b.path[:strings.LastIndexByte(b.path, '/')+1]
		if b.authority != "" && b.path == "" {
			up = "/"
		}
		r.authority, r.path = b.authority, removeDotSegments(up+r.path)
	}
	return b.scheme + r.authority + r.path + r.query + r.fragment
}

// removeDotSegments takes "." and ".." out of a path (RFC 3986, §5.2.4).
func removeDotSegments(path string) string {
	if !strings.Contains(path, ".") {
		return path
	}
	segments := strings.Split(path, "/")
	var kept []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(kept) > 1 || (len(kept) == 1 && kept[0] != "") {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, s)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}
