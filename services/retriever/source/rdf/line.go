package rdf

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ParseLine reads a line of N-Triples 1.1 (W3C Recommendation, §7) or N-Quads
// 1.1 (§4), without its end. ok is false for a line with nothing but a comment.
// Relative IRIs are taken as they are. The strings are pieces of text where no
// escape stands in them. text must be UTF-8.
func ParseLine(text string) (q Quad, ok bool, err error) {
	p := parser{rest: text}
	p.space()
	if p.rest == "" || p.rest[0] == '#' {
		return q, false, nil
	}
	fail := func(part string, err error) (Quad, bool, error) {
		return Quad{}, false, fmt.Errorf("column %d: %s%w", len(text)-len(p.rest)+1, part, err)
	}
	if err := p.term(&q.Subject); err != nil {
		return fail("subject: ", err)
	}
	if err := p.term(&q.Predicate); err != nil {
		return fail("predicate: ", err)
	}
	if err := p.term(&q.Object); err != nil {
		return fail("object: ", err)
	}
	if q.Subject.Kind == Literal {
		return fail("", errors.New("the subject is a literal"))
	}
	if q.Predicate.Kind != IRI {
		return fail("", errors.New("the predicate is no IRI"))
	}
	if p.rest != "" && (p.rest[0] == '<' || p.rest[0] == '_') {
		var graph Term
		if err := p.term(&graph); err != nil {
			return fail("graph: ", err)
		}
		if graph.Kind == IRI {
			q.Graph = graph.Text
		}
	}
	if p.rest == "" || p.rest[0] != '.' {
		return fail("", errors.New("the full stop is missing"))
	}
	p.rest = p.rest[1:]
	p.space()
	if p.rest != "" && p.rest[0] != '#' {
		return fail("", fmt.Errorf("%.20q follows the full stop", p.rest))
	}
	return q, true, nil
}

// parser holds what is left of a line.
type parser struct{ rest string }

func (p *parser) space() {
	i := 0
	for i < len(p.rest) && (p.rest[i] == ' ' || p.rest[i] == '\t') {
		i++
	}
	p.rest = p.rest[i:]
}

// term reads a term and the space after it.
func (p *parser) term(t *Term) (err error) {
	switch {
	case strings.HasPrefix(p.rest, "<"):
		t.Kind = IRI
		t.Text, err = p.iri()
	case strings.HasPrefix(p.rest, "_:"):
		t.Kind = Blank
		t.Text, err = p.label()
	case strings.HasPrefix(p.rest, `"`):
		t.Kind = Literal
		err = p.literal(t)
	default:
		err = fmt.Errorf("want <IRI>, _:node or \"text\", got %.20q", p.rest)
	}
	if err == nil {
		p.space()
	}
	return err
}

func (p *parser) iri() (string, error) {
	end := strings.IndexByte(p.rest, '>')
	if end < 0 {
		return "", errors.New("'>' is missing")
	}
	text := p.rest[1:end]
	if strings.IndexByte(text, '\\') >= 0 {
		var err error
		if text, err = Unescape(text); err != nil {
			return "", err
		}
	}
	if err := CheckIRI(text); err != nil {
		return "", err
	}
	p.rest = p.rest[end+1:]
	return text, nil
}

// CheckIRI refuses texts with characters that no IRI has.
func CheckIRI(text string) error {
	bad, plain := text == "", true
	for i := 0; i < len(text) && !bad; i++ {
		bad = badInIRI[text[i]]
		plain = plain && text[i] < 0x80
	}
	if bad || (!plain && strings.ContainsFunc(text, invisible)) {
		return fmt.Errorf("%.40q is no IRI", text)
	}
	return nil
}

// badInIRI are the bytes that no IRI has (N-Triples 1.1, IRIREF).
var badInIRI = func() (bad [256]bool) {
	for c := range ' ' + 1 {
		bad[c] = true
	}
	for _, c := range []byte("<>\"{}|^`\\\x7f") {
		bad[c] = true
	}
	return bad
}()

func (p *parser) label() (string, error) {
	end := strings.IndexAny(p.rest, " \t<\"")
	if end < 0 {
		end = len(p.rest)
	}
	label := strings.TrimRight(p.rest[2:end], ".")
	if label == "" || strings.ContainsFunc(label, invisible) {
		return "", errors.New("a blank node without a label")
	}
	p.rest = p.rest[2+len(label):]
	return label, nil
}

func (p *parser) literal(t *Term) (err error) {
	if t.Text, err = p.quoted(); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(p.rest, "@"):
		end := 1
		for end < len(p.rest) && isTag(p.rest[end]) {
			end++
		}
		if end == 1 || p.rest[1] < 'A' {
			return errors.New("a literal whose language is no tag")
		}
		t.Language, p.rest = p.rest[1:end], p.rest[end:]
	case strings.HasPrefix(p.rest, "^^"):
		p.rest = p.rest[2:]
		if !strings.HasPrefix(p.rest, "<") {
			return errors.New("a literal whose datatype is no IRI")
		}
		if t.Datatype, err = p.iri(); err != nil {
			return fmt.Errorf("a literal whose datatype is no IRI: %w", err)
		}
	}
	return nil
}

// quoted reads a text between quotes and resolves its escapes.
func (p *parser) quoted() (string, error) {
	end := 1 + strings.IndexByte(p.rest[1:], '"')
	if end == 0 {
		return "", errors.New(`'"' is missing`)
	}
	if strings.IndexByte(p.rest[1:end], '\\') < 0 {
		text := p.rest[1:end]
		p.rest = p.rest[end+1:]
		return text, nil
	}
	for end = 1; end < len(p.rest) && p.rest[end] != '"'; end++ {
		if p.rest[end] == '\\' {
			end++
		}
	}
	if end >= len(p.rest) {
		return "", errors.New(`'"' is missing`)
	}
	text, err := Unescape(p.rest[1:end])
	p.rest = p.rest[end+1:]
	return text, err
}

func isTag(c byte) bool {
	return c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
}

func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
