package rdf

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Writer is a Sink that writes N-Quads which Read reads back as the same
// statements. Keys of nodes, relations and units must be IRIs, those of
// mediators may be blank nodes. Ranks of labels are not kept: only those of
// rank 0 should be written.
type Writer struct{ out *bufio.Writer }

// NewWriter returns a Writer. Flush must be called at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriterSize(w, 1<<16)} }

// Flush writes what is held back.
func (w *Writer) Flush() error { return w.out.Flush() }

// Statement implements source.Sink.
func (w *Writer) Statement(s source.Statement) error {
	if err := w.node(s.Subject.Key); err != nil {
		return err
	}
	if err := w.node(s.Relation); err != nil {
		return err
	}
	if err := w.object(s.Object); err != nil {
		return err
	}
	if graph := During(s.Validity); graph != "" {
		if err := w.node(graph); err != nil {
			return err
		}
	}
	return w.end()
}

// Quad writes a statement of RDF as it is.
func (w *Writer) Quad(q Quad) error {
	for _, t := range []Term{q.Subject, q.Predicate, q.Object} {
		if err := w.term(t); err != nil {
			return err
		}
	}
	if q.Graph != "" {
		if err := w.node(q.Graph); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *Writer) term(t Term) error {
	switch t.Kind {
	case IRI:
		return w.node(t.Text)
	case Blank:
		return w.node("_:" + t.Text)
	}
	w.text(t.Text)
	switch {
	case t.Language != "":
		w.out.WriteString("@" + t.Language)
	case t.Datatype != "":
		w.out.WriteString("^^")
		return w.node(t.Datatype)
	}
	return w.out.WriteByte(' ')
}

// Label implements source.Sink.
func (w *Writer) Label(key, name string, _ int) error {
	return w.named(key, "http://www.w3.org/2000/01/rdf-schema#label", name)
}

// Alias implements source.Sink.
func (w *Writer) Alias(key, name string) error { return w.named(key, altLabel, name) }

func (w *Writer) named(key, predicate, name string) error {
	if err := w.node(key); err != nil {
		return err
	}
	if err := w.node(predicate); err != nil {
		return err
	}
	w.text(name)
	w.out.WriteByte(' ')
	return w.end()
}

func (w *Writer) end() error {
	_, err := w.out.WriteString(".\n")
	return err
}

func (w *Writer) node(key string) error {
	if strings.HasPrefix(key, "_:") {
		w.out.WriteString(key)
	} else {
		if err := CheckIRI(key); err != nil {
			return fmt.Errorf("write N-Quads: %w", err)
		}
		w.out.WriteByte('<')
		w.out.WriteString(key)
		w.out.WriteByte('>')
	}
	return w.out.WriteByte(' ')
}

func (w *Writer) object(t source.Term) error {
	datatype := ""
	switch t.Kind {
	case store.Entity, store.Mediator:
		return w.node(t.Key)
	case store.Number:
		datatype = xsd + "decimal"
	case store.Quantity:
		datatype = t.Unit
	case store.Date:
		datatype = xsd + "date"
	}
	return w.term(Term{Kind: Literal, Text: t.Key, Datatype: datatype})
}

// text writes a quoted text.
func (w *Writer) text(text string) {
	w.out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			w.out.WriteString(`\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:])
		default:
			w.out.WriteRune(r)
		}
	}
	w.out.WriteByte('"')
}
