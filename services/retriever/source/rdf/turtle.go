package rdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// ReadTurtle reads W3C Turtle 1.1 as a stream, which holds one token and the nodes that are open, and
// returns the number of statements. If the file is no
// Turtle the reading ends with an error; a statement whose terms cannot be
// taken is only rejected.
func ReadTurtle(ctx context.Context, in source.Input, to source.Sink) (count uint64, err error) {
	meaning := NewInterpreter(in)
	guarded := source.NewSinkGuard(to)
	err = ParseTurtle(in.Name, in.Reader, func(q Quad, line uint64) error {
		if count++; count%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		guarded.Line = line
		return guarded.Reject(in, line, meaning.Interpret(q, guarded))
	})
	return count, err
}

const (
	rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	// maxDepth is the number of nodes that may stand within one another.
	maxDepth = 1000
)

// ParseTurtle reads a file and returns its statements in the order of the file.
// line is that on which a statement ends. An error of emit ends the reading. A
// fault of the file is a *source.PlaceError; nothing can be read after it.
func ParseTurtle(file string, r io.Reader, emit func(q Quad, line uint64) error) error {
	p := &turtleParser{window: newWindow(r), prefixes: map[string]string{}}
	p.emit = func(subject, predicate, object Term) error {
		if err := emit(Quad{Subject: subject, Predicate: predicate, Object: object}, p.line); err != nil {
			return sinkError{err}
		}
		return nil
	}
	err := p.document()
	var sink sinkError
	switch {
	case err == nil && p.readError() == nil:
		return nil
	case errors.As(err, &sink):
		return sink.error
	case p.readError() != nil:
		return source.WithLine(file, p.line, p.readError())
	}
	column := p.offset() - p.lineStart + 1
	return &source.PlaceError{File: file, Line: p.line, Byte: p.offset(), Err: fmt.Errorf("column %d: %w", column, err)}
}

// sinkError is an error that is not a fault of the file's.
type sinkError struct{ error }

// turtleParser is a recursive descent over the grammar of Turtle 1.1, §6.5.
type turtleParser struct {
	*window
	prefixes map[string]string
	base     string
	depth    int
	// nodes counts the blank nodes that have no label.
	nodes int
	emit  func(subject, predicate, object Term) error
}

func (p *turtleParser) document() error {
	for {
		p.skipSpace()
		if p.atEnd() {
			return nil
		}
		directive, err := p.directive()
		if err == nil && !directive {
			err = p.triples()
		}
		if err != nil {
			return err
		}
	}
}

func (p *turtleParser) expect(sign byte) error {
	p.skipSpace()
	if p.peek(0) != sign {
		return fmt.Errorf("want %q, got %.20q", string(sign), p.preview(20))
	}
	p.advance(1)
	return nil
}

// preview is what comes next, for messages.
func (p *turtleParser) preview(n int) []byte {
	p.peek(n)
	return p.buf[p.pos:min(p.pos+n, len(p.buf))]
}

func (p *turtleParser) triples() error {
	var subject Term
	var err error
	alone := false
	switch p.peek(0) {
	case '[':
		subject, alone, err = p.properties()
	case '(':
		subject, err = p.collection()
	default:
		subject, err = p.resource()
	}
	if err != nil {
		return fmt.Errorf("subject: %w", err)
	}
	p.skipSpace()
	if !alone || p.peek(0) != '.' {
		if err := p.predicates(subject); err != nil {
			return err
		}
	}
	return p.expect('.')
}

// predicates reads "p o, o; p o" up to a full stop or a bracket.
func (p *turtleParser) predicates(subject Term) error {
	for {
		p.skipSpace()
		predicate, err := p.verb()
		if err != nil {
			return fmt.Errorf("predicate: %w", err)
		}
		for more := true; more; {
			p.skipSpace()
			object, err := p.object()
			if err != nil {
				return fmt.Errorf("object: %w", err)
			}
			if err := p.emit(subject, predicate, object); err != nil {
				return err
			}
			p.skipSpace()
			if more = p.peek(0) == ','; more {
				p.advance(1)
			}
		}
		if p.peek(0) != ';' {
			return nil
		}
		for p.peek(0) == ';' {
			p.advance(1)
			p.skipSpace()
		}
		if c := p.peek(0); c == '.' || c == ']' {
			return nil
		}
	}
}

func (p *turtleParser) verb() (Term, error) {
	if p.peek(0) == 'a' && !isName(p.peek(1)) && p.peek(1) != ':' {
		p.advance(1)
		return Term{Text: rdfNamespace + "type"}, nil
	}
	t, err := p.resource()
	if err == nil && t.Kind != IRI {
		err = errors.New("a blank node cannot be a predicate")
	}
	return t, err
}

func (p *turtleParser) object() (Term, error) {
	switch c := p.peek(0); {
	case c == '[':
		t, _, err := p.properties()
		return t, err
	case c == '(':
		return p.collection()
	case c == '"' || c == '\'':
		return p.literal()
	case c == '+' || c == '-' || c == '.' || (c >= '0' && c <= '9'):
		return p.number()
	}
	for _, word := range []string{"true", "false"} {
		if p.peek(0) == word[0] && string(p.preview(len(word))) == word && !isName(p.peek(len(word))) &&
			p.peek(len(word)) != ':' {
			p.advance(len(word))
			return Term{Kind: Literal, Text: word, Datatype: xsd + "boolean"}, nil
		}
	}
	return p.resource()
}

// newBlank returns a node that has no label. No label of a file begins so.
func (p *turtleParser) newBlank() Term {
	p.nodes++
	return Term{Kind: Blank, Text: "#" + strconv.Itoa(p.nodes)}
}

func (p *turtleParser) descend() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("more than %d nodes stand within one another", maxDepth)
	}
	return nil
}

// properties reads [ ... ]; some reports whether there is something in it.
func (p *turtleParser) properties() (node Term, some bool, err error) {
	if err := p.descend(); err != nil {
		return node, false, err
	}
	defer func() { p.depth-- }()
	p.advance(1)
	p.skipSpace()
	node = p.newBlank()
	if p.peek(0) != ']' {
		some = true
		if err := p.predicates(node); err != nil {
			return node, some, err
		}
	}
	return node, some, p.expect(']')
}

// collection reads ( ... ), a list of RDF.
func (p *turtleParser) collection() (Term, error) {
	if err := p.descend(); err != nil {
		return Term{}, err
	}
	defer func() { p.depth-- }()
	p.advance(1)
	empty := Term{Text: rdfNamespace + "nil"}
	first, last := empty, Term{}
	for {
		p.skipSpace()
		if p.peek(0) == ')' {
			p.advance(1)
			if first == empty {
				return empty, nil
			}
			return first, p.emit(last, Term{Text: rdfNamespace + "rest"}, empty)
		}
		item, err := p.object()
		if err != nil {
			return first, err
		}
		node := p.newBlank()
		if first == empty {
			first = node
		} else if err := p.emit(last, Term{Text: rdfNamespace + "rest"}, node); err != nil {
			return first, err
		}
		if err := p.emit(node, Term{Text: rdfNamespace + "first"}, item); err != nil {
			return first, err
		}
		last = node
	}
}

// directive reads @prefix, @base, PREFIX or BASE.
func (p *turtleParser) directive() (bool, error) {
	sparql := p.peek(0) != '@'
	from := 1
	if sparql {
		from = 0
	}
	word := ""
	for _, w := range []string{"prefix", "base"} {
		if p.isWord(from, w, sparql) {
			word = w
		}
	}
	if word == "" {
		if sparql {
			return false, nil
		}
		return true, fmt.Errorf("%.10q is not a directive; want @prefix or @base", p.preview(10))
	}
	p.advance(from + len(word))
	p.skipSpace()
	var err error
	if word == "prefix" {
		err = p.prefix()
	} else {
		err = p.newBase()
	}
	if err == nil && !sparql {
		err = p.expect('.')
	}
	return true, err
}

// isWord reports whether a word stands k bytes on, followed by a space or an IRI.
func (p *turtleParser) isWord(k int, word string, anyCase bool) bool {
	for i := range len(word) {
		c := p.peek(k + i)
		if anyCase {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	switch p.peek(k + len(word)) {
	case ' ', '\t', '\r', '\n', '<', '#':
		return true
	}
	return false
}

func (p *turtleParser) prefix() error {
	name, err := p.name()
	if err != nil {
		return err
	}
	if p.peek(0) != ':' {
		return fmt.Errorf("prefix %.40q: want ':', got %.10q", name, p.preview(10))
	}
	p.advance(1)
	p.skipSpace()
	iri, err := p.iri()
	if err != nil {
		return err
	}
	p.prefixes[name] = iri
	return nil
}

func (p *turtleParser) newBase() error {
	iri, err := p.iri()
	p.base = iri
	return err
}
