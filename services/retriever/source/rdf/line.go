// Package rdf reads the formats of RDF (N-Triples, N-Quads, Turtle, JSON-LD, Freebase's dump), and
// says what statements mean to a knowledge graph: which of them name things, and what their literals
// are.
package rdf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// ParseLine reads a line of N-Triples 1.1 (W3C Recommendation, §7) or N-Quads 1.1 (§4), without its
// end. ok is false for a line with nothing but a comment. Relative IRIs are taken as they are. The
// strings are pieces of text where no escape stands in them. text must be UTF-8.
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
		return fail("", errors.New("the predicate is not an IRI"))
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

// parser holds what remains of a line.
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
	if bad || (!plain && strings.ContainsFunc(text, isInvisible)) {
		return fmt.Errorf("%.40q is not an IRI", text)
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
	if label == "" || strings.ContainsFunc(label, isInvisible) {
		return "", errors.New("a blank node without a label")
	}
	p.rest = p.rest[2+len(label):]
	return label, nil
}

func (p *parser) literal(t *Term) (err error) {
	if t.Text, err = p.quotedString(); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(p.rest, "@"):
		end := 1
		for end < len(p.rest) && isTag(p.rest[end]) {
			end++
		}
		if end == 1 || p.rest[1] < 'A' {
			return errors.New("a literal whose language is not a tag")
		}
		t.Language, p.rest = p.rest[1:end], p.rest[end:]
	case strings.HasPrefix(p.rest, "^^"):
		p.rest = p.rest[2:]
		if !strings.HasPrefix(p.rest, "<") {
			return errors.New("a literal whose datatype is not an IRI")
		}
		if t.Datatype, err = p.iri(); err != nil {
			return fmt.Errorf("a literal whose datatype is not an IRI: %w", err)
		}
	}
	return nil
}

// quotedString reads a text between quotes and resolves its escapes.
func (p *parser) quotedString() (string, error) {
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

func isInvisible(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Read reads N-Triples or N-Quads and returns the number of lines.
func Read(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return source.ReadLines(ctx, in, to, source.LineOptions{}, func() source.LineFunc {
		meaning := NewInterpreter(in)
		return func(line []byte, to source.Sink) error {
			q, ok, err := ParseLine(string(line))
			if err != nil || !ok {
				return err
			}
			return meaning.Interpret(q, to)
		}
	})
}

// Kind is what a term of RDF is.
type Kind uint8

const (
	// IRI is a name of the web.
	IRI Kind = iota
	// Blank is a node without a name.
	Blank
	// Literal is a text, number or date.
	Literal
)

// Term is an IRI, the label of a blank node, or the text of a literal.
type Term struct {
	Kind Kind
	Text string
	// Language is a literal's tag, as it is written; Datatype its type's IRI.
	// At most one is set.
	Language, Datatype string
}

// Quad is a statement of RDF.
type Quad struct {
	Subject, Predicate, Object Term
	// Graph is the IRI of the graph that the statement is in; empty in the
	// default graph and in one without a name.
	Graph string
}
