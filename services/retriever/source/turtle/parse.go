// Package turtle reads W3C Turtle 1.1 as a stream: it holds one token and the
// nodes that are open, not the file.
package turtle

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

const (
	ns = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	// maxDepth is how many nodes may stand within one another.
	maxDepth = 1000
)

// Parse reads a file and hands out its statements in the order of the file.
// line is that on which a statement ends. An error of emit ends the reading. A
// fault of the file is a *source.PlaceError; nothing can be read after it.
func Parse(file string, r io.Reader, emit func(q rdf.Quad, line uint64) error) error {
	p := &parser{window: newWindow(r), prefixes: map[string]string{}}
	p.emit = func(subject, predicate, object rdf.Term) error {
		if err := emit(rdf.Quad{Subject: subject, Predicate: predicate, Object: object}, p.line); err != nil {
			return sinkError{err}
		}
		return nil
	}
	err := p.document()
	var sink sinkError
	switch {
	case err == nil && p.broken() == nil:
		return nil
	case errors.As(err, &sink):
		return sink.error
	case p.broken() != nil:
		return source.At(file, p.line, p.broken())
	}
	column := p.offset() - p.started + 1
	return &source.PlaceError{File: file, Line: p.line, Byte: p.offset(), Err: fmt.Errorf("column %d: %w", column, err)}
}

// sinkError is an error that is no fault of the file's.
type sinkError struct{ error }

// parser is a recursive descent over the grammar of Turtle 1.1, §6.5.
type parser struct {
	*window
	prefixes map[string]string
	base     string
	depth    int
	// nodes counts the blank nodes that have no label.
	nodes int
	emit  func(subject, predicate, object rdf.Term) error
}

func (p *parser) document() error {
	for {
		p.space()
		if p.ended() {
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

// want passes over a sign.
func (p *parser) want(sign byte) error {
	p.space()
	if p.at(0) != sign {
		return fmt.Errorf("want %q, got %.20q", string(sign), p.ahead(20))
	}
	p.take(1)
	return nil
}

// ahead is what comes next, for messages.
func (p *parser) ahead(n int) []byte {
	p.at(n)
	return p.buf[p.pos:min(p.pos+n, len(p.buf))]
}

func (p *parser) triples() error {
	var subject rdf.Term
	var err error
	alone := false
	switch p.at(0) {
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
	p.space()
	if !alone || p.at(0) != '.' {
		if err := p.predicates(subject); err != nil {
			return err
		}
	}
	return p.want('.')
}

// predicates reads "p o, o; p o" up to a full stop or a bracket.
func (p *parser) predicates(subject rdf.Term) error {
	for {
		p.space()
		predicate, err := p.verb()
		if err != nil {
			return fmt.Errorf("predicate: %w", err)
		}
		for more := true; more; {
			p.space()
			object, err := p.object()
			if err != nil {
				return fmt.Errorf("object: %w", err)
			}
			if err := p.emit(subject, predicate, object); err != nil {
				return err
			}
			p.space()
			if more = p.at(0) == ','; more {
				p.take(1)
			}
		}
		if p.at(0) != ';' {
			return nil
		}
		for p.at(0) == ';' {
			p.take(1)
			p.space()
		}
		if c := p.at(0); c == '.' || c == ']' {
			return nil
		}
	}
}

func (p *parser) verb() (rdf.Term, error) {
	if p.at(0) == 'a' && !isName(p.at(1)) && p.at(1) != ':' {
		p.take(1)
		return rdf.Term{Text: ns + "type"}, nil
	}
	t, err := p.resource()
	if err == nil && t.Kind != rdf.IRI {
		err = errors.New("a blank node is no predicate")
	}
	return t, err
}

func (p *parser) object() (rdf.Term, error) {
	switch c := p.at(0); {
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
		if p.at(0) == word[0] && string(p.ahead(len(word))) == word && !isName(p.at(len(word))) && p.at(len(word)) != ':' {
			p.take(len(word))
			return rdf.Term{Kind: rdf.Literal, Text: word, Datatype: xsd + "boolean"}, nil
		}
	}
	return p.resource()
}

// blank returns a node that has no label. No label of a file begins so.
func (p *parser) blank() rdf.Term {
	p.nodes++
	return rdf.Term{Kind: rdf.Blank, Text: "#" + strconv.Itoa(p.nodes)}
}

func (p *parser) down() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("more than %d nodes stand within one another", maxDepth)
	}
	return nil
}

// properties reads [ ... ]; some says that there is something in it.
func (p *parser) properties() (node rdf.Term, some bool, err error) {
	if err := p.down(); err != nil {
		return node, false, err
	}
	defer func() { p.depth-- }()
	p.take(1)
	p.space()
	node = p.blank()
	if p.at(0) != ']' {
		some = true
		if err := p.predicates(node); err != nil {
			return node, some, err
		}
	}
	return node, some, p.want(']')
}

// collection reads ( ... ), a list of RDF.
func (p *parser) collection() (rdf.Term, error) {
	if err := p.down(); err != nil {
		return rdf.Term{}, err
	}
	defer func() { p.depth-- }()
	p.take(1)
	empty := rdf.Term{Text: ns + "nil"}
	first, last := empty, rdf.Term{}
	for {
		p.space()
		if p.at(0) == ')' {
			p.take(1)
			if first == empty {
				return empty, nil
			}
			return first, p.emit(last, rdf.Term{Text: ns + "rest"}, empty)
		}
		item, err := p.object()
		if err != nil {
			return first, err
		}
		node := p.blank()
		if first == empty {
			first = node
		} else if err := p.emit(last, rdf.Term{Text: ns + "rest"}, node); err != nil {
			return first, err
		}
		if err := p.emit(node, rdf.Term{Text: ns + "first"}, item); err != nil {
			return first, err
		}
		last = node
	}
}
