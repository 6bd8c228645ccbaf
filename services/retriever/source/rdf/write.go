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

// Writer is a Sink that writes N-Quads which Read reads back as the same statements. Keys of nodes,
// relations and units must be IRIs, those of mediators may be blank nodes. Ranks of labels are not
// kept: only those of rank 0 should be written.
type Writer struct{ out *bufio.Writer }

// NewWriter returns a Writer. Flush must be called at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriterSize(w, 1<<16)} }

// Flush writes what is held back.
func (w *Writer) Flush() error { return w.out.Flush() }

// Statement implements source.Sink.
func (w *Writer) Statement(s source.Statement) error {
	if err := w.writeNode(s.Subject.Key); err != nil {
		return err
	}
	if err := w.writeNode(s.Relation); err != nil {
		return err
	}
	if err := w.writeObject(s.Object); err != nil {
		return err
	}
	if graph := IntervalGraph(s.Validity); graph != "" {
		if err := w.writeNode(graph); err != nil {
			return err
		}
	}
	return w.writeEnd()
}

// WriteQuad writes a statement of RDF as it is.
func (w *Writer) WriteQuad(q Quad) error {
	for _, t := range []Term{q.Subject, q.Predicate, q.Object} {
		if err := w.writeTerm(t); err != nil {
			return err
		}
	}
	if q.Graph != "" {
		if err := w.writeNode(q.Graph); err != nil {
			return err
		}
	}
	return w.writeEnd()
}

func (w *Writer) writeTerm(t Term) error {
	switch t.Kind {
	case IRI:
		return w.writeNode(t.Text)
	case Blank:
		return w.writeNode("_:" + t.Text)
	}
	w.writeText(t.Text)
	switch {
	case t.Language != "":
		w.out.WriteString("@" + t.Language)
	case t.Datatype != "":
		w.out.WriteString("^^")
		return w.writeNode(t.Datatype)
	}
	return w.out.WriteByte(' ')
}

// Label implements source.Sink.
func (w *Writer) Label(key, name string, _ int) error {
	return w.writeName(key, "http://www.w3.org/2000/01/rdf-schema#label", name)
}

// Alias implements source.Sink.
func (w *Writer) Alias(key, name string) error { return w.writeName(key, altLabel, name) }

func (w *Writer) writeName(key, predicate, name string) error {
	if err := w.writeNode(key); err != nil {
		return err
	}
	if err := w.writeNode(predicate); err != nil {
		return err
	}
	w.writeText(name)
	w.out.WriteByte(' ')
	return w.writeEnd()
}

func (w *Writer) writeEnd() error {
	_, err := w.out.WriteString(".\n")
	return err
}

func (w *Writer) writeNode(key string) error {
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

func (w *Writer) writeObject(t source.Term) error {
	datatype := ""
	switch t.Kind {
	case store.Entity, store.Mediator:
		return w.writeNode(t.Key)
	case store.Number:
		datatype = xsd + "decimal"
	case store.Quantity:
		datatype = t.Unit
	case store.Date:
		datatype = xsd + "date"
	}
	return w.writeTerm(Term{Kind: Literal, Text: t.Key, Datatype: datatype})
}

// writeText writes a quoted text.
func (w *Writer) writeText(text string) {
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
