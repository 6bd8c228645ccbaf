package turtle

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

const xsd = "http://www.w3.org/2001/XMLSchema#"

// resource reads an IRI, a prefixed name or the label of a blank node.
func (p *parser) resource() (rdf.Term, error) {
	switch c := p.at(0); {
	case c == '<':
		iri, err := p.iri()
		return rdf.Term{Text: iri}, err
	case c == '_' && p.at(1) == ':':
		p.take(2)
		label, err := p.name()
		if err == nil && label == "" {
			err = errors.New("a blank node without a label")
		}
		return rdf.Term{Kind: rdf.Blank, Text: label}, err
	case isName(c) || c == ':':
		iri, err := p.prefixed()
		return rdf.Term{Text: iri}, err
	}
	return rdf.Term{}, fmt.Errorf("want <IRI>, prefix:name or _:node, got %.20q", p.ahead(20))
}

// iri reads <...> and resolves it.
func (p *parser) iri() (string, error) {
	if p.at(0) != '<' {
		return "", fmt.Errorf("want <IRI>, got %.20q", p.ahead(20))
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
	if p.at(n) != '>' {
		return "", errors.New("the IRI does not end on its line")
	}
	text, err := plain(p.take(n + 1)[1:n])
	if err != nil {
		return "", err
	}
	if hasScheme(text) {
		return text, rdf.CheckIRI(text)
	}
	if p.base == "" {
		return "", fmt.Errorf("the relative IRI %.40q has nothing to be relative to; add @base", text)
	}
	text = resolve(p.base, text)
	return text, rdf.CheckIRI(text)
}

// plain returns a token's text with its escapes resolved.
func plain(token []byte) (string, error) {
	if !utf8.Valid(token) {
		return "", fmt.Errorf("%.20q is not UTF-8", token)
	}
	if bytes.IndexByte(token, '\\') >= 0 {
		return rdf.Unescape(string(token))
	}
	return string(token), nil
}

// hasScheme says that an IRI is absolute.
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

// isName says that a byte may stand in a name; the dot may too, but not at an
// end.
func isName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// name reads a prefix or the label of a blank node.
func (p *parser) name() (string, error) {
	return p.word(func(byte) bool { return false })
}

// word reads a name in which further bytes may stand.
func (p *parser) word(also func(byte) bool) (string, error) {
	n := 0
	for {
		c := p.at(n)
		if c == '.' {
			dots := 1
			for dots < maxToken && p.at(n+dots) == '.' {
				dots++
			}
			if next := p.at(n + dots); !isName(next) && !also(next) {
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
		p.at(n - 1)
	}
	if p.pos+n > len(p.buf) {
		return "", errors.New("a backslash at the end")
	}
	token := p.take(n)
	if !utf8.Valid(token) {
		return "", fmt.Errorf("%.20q is not UTF-8", token)
	}
	return string(token), nil
}

// prefixed reads prefix:name.
func (p *parser) prefixed() (string, error) {
	prefix, err := p.name()
	if err != nil {
		return "", err
	}
	if p.at(0) != ':' {
		return "", fmt.Errorf("want ':' after %.40q, got %.20q", prefix, p.ahead(20))
	}
	p.take(1)
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
	return iri, rdf.CheckIRI(iri)
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
func (p *parser) literal() (t rdf.Term, err error) {
	t.Kind = rdf.Literal
	if t.Text, err = p.quoted(); err != nil {
		return t, err
	}
	p.space()
	switch {
	case p.at(0) == '@':
		n := 1
		for c := p.at(n); c == '-' || (c|0x20 >= 'a' && c|0x20 <= 'z') || (c >= '0' && c <= '9'); c = p.at(n) {
			n++
		}
		if n == 1 || n > source.MaxName || isDigit(p.at(1)) || p.at(1) == '-' {
			return t, errors.New("a literal whose language is no tag")
		}
		t.Language = string(p.take(n)[1:])
	case p.at(0) == '^' && p.at(1) == '^':
		p.take(2)
		p.space()
		datatype, err := p.resource()
		if err != nil || datatype.Kind != rdf.IRI {
			return t, errors.Join(errors.New("a literal whose datatype is no IRI"), err)
		}
		t.Datatype = datatype.Text
	}
	return t, nil
}

func (p *parser) quoted() (string, error) {
	quote, width := p.at(0), 1
	if p.at(1) == quote && p.at(2) == quote {
		width = 3
	} else if p.at(1) == quote {
		p.take(2)
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
	for width == 3 && n-width < maxToken && p.at(n) == quote {
		n++
	}
	return plain(p.take(n)[width : n-width])
}

// number reads an integer, decimal or double.
func (p *parser) number() (rdf.Term, error) {
	n, kind := 0, "integer"
	if c := p.at(0); c == '+' || c == '-' {
		n++
	}
	for {
		c := p.at(n)
		switch {
		case c >= '0' && c <= '9':
		case c == '.' && kind == "integer" && (isDigit(p.at(n+1)) || p.at(n+1)|0x20 == 'e'):
			kind = "decimal"
		case c|0x20 == 'e' && kind != "double":
			kind = "double"
			if next := p.at(n + 1); next == '+' || next == '-' {
				n++
			}
		default:
			text := string(p.ahead(n))
			if !source.IsNumber(text) {
				return rdf.Term{}, fmt.Errorf("%.40q is no number", p.ahead(max(n, 1)))
			}
			p.take(n)
			return rdf.Term{Kind: rdf.Literal, Text: text, Datatype: xsd + kind}, nil
		}
		if n++; n > source.MaxName {
			return rdf.Term{}, fmt.Errorf("a number is longer than %d bytes", source.MaxName)
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
