package load

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// termKind is what a term of N-Triples is.
type termKind uint8

const (
	iri termKind = iota
	blank
	literal
)

// term is an IRI, the label of a blank node, or the text of a literal.
type term struct {
	kind termKind
	text string
	// language is a literal's tag in lower case.
	language string
}

// statement is one line of N-Triples.
type statement struct{ subject, predicate, object term }

// parseNTriples reads a line of N-Triples 1.1 (W3C Recommendation, §7). ok is
// false for a line with nothing but a comment.
func parseNTriples(text string) (s statement, ok bool, err error) {
	p := &parser{rest: text}
	p.space()
	if p.rest == "" || p.rest[0] == '#' {
		return s, false, nil
	}
	for _, part := range []struct {
		name string
		into *term
	}{{"subject", &s.subject}, {"predicate", &s.predicate}, {"object", &s.object}} {
		if *part.into, err = p.term(); err != nil {
			return s, false, fmt.Errorf("column %d: %s: %w", len(text)-len(p.rest)+1, part.name, err)
		}
		p.space()
	}
	if s.subject.kind == literal {
		return s, false, errors.New("the subject is a literal")
	}
	if s.predicate.kind != iri {
		return s, false, errors.New("the predicate is no IRI")
	}
	if !p.take(".") {
		return s, false, fmt.Errorf("column %d: the full stop is missing", len(text)-len(p.rest)+1)
	}
	p.space()
	if p.rest != "" && p.rest[0] != '#' {
		return s, false, fmt.Errorf("column %d: %.20q follows the full stop", len(text)-len(p.rest)+1, p.rest)
	}
	return s, true, nil
}

type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) term() (term, error) {
	switch {
	case p.take("<"):
		text, err := p.until('>')
		if err == nil && (text == "" || strings.ContainsAny(text, "<\"{}|^`") || strings.ContainsFunc(text, invisible)) {
			err = fmt.Errorf("%.40q is no IRI", text)
		}
		return term{kind: iri, text: text}, err
	case p.take("_:"):
		end := strings.IndexAny(p.rest, " \t<\"")
		if end < 0 {
			end = len(p.rest)
		}
		label := strings.TrimSuffix(p.rest[:end], ".")
		p.rest = p.rest[len(label):]
		if label == "" || strings.ContainsFunc(label, invisible) {
			return term{}, errors.New("a blank node without a label")
		}
		return term{kind: blank, text: label}, nil
	case p.take(`"`):
		text, err := p.until('"')
		if err != nil {
			return term{}, err
		}
		return p.suffix(term{kind: literal, text: text})
	}
	return term{}, fmt.Errorf("want <IRI>, _:node or \"text\", got %.20q", p.rest)
}

func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// suffix reads a literal's language or datatype.
func (p *parser) suffix(t term) (term, error) {
	switch {
	case p.take("@"):
		end := strings.IndexFunc(p.rest, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if end < 0 {
			end = len(p.rest)
		}
		if end == 0 {
			return t, errors.New("a literal with an empty language")
		}
		t.language, p.rest = strings.ToLower(p.rest[:end]), p.rest[end:]
	case p.take("^^"):
		if datatype, err := p.term(); err != nil || datatype.kind != iri {
			return t, errors.New("a literal whose datatype is no IRI")
		}
	}
	return t, nil
}

// until reads to the closing character and resolves escapes.
func (p *parser) until(closing byte) (string, error) {
	end := strings.IndexByte(p.rest, closing)
	if end >= 0 && strings.IndexByte(p.rest[:end], '\\') < 0 {
		text := p.rest[:end]
		p.rest = p.rest[end+1:]
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(p.rest); {
		switch c := p.rest[i]; c {
		case closing:
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case '\\':
			r, size, err := escape(p.rest[i:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", fmt.Errorf("%q is missing", closing)
}

// escape resolves the escape that s begins with and says how long it is.
func escape(s string) (r rune, size int, err error) {
	if len(s) < 2 {
		return 0, 0, errors.New("a backslash at the end")
	}
	if i := strings.IndexByte(`tbnrf"'\`, s[1]); i >= 0 {
		return rune("\t\b\n\r\f\"'\\"[i]), 2, nil
	}
	digits := map[byte]int{'u': 4, 'U': 8}[s[1]]
	if digits == 0 || len(s) < 2+digits {
		return 0, 0, fmt.Errorf("%.10q is no escape", s)
	}
	code, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		return 0, 0, fmt.Errorf("%q is no character", s[:2+digits])
	}
	return rune(code), 2 + digits, nil
}
