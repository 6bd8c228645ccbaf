package sparql

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// value is a term in an answer (SPARQL 1.1 Query Results JSON Format, §3.2.2).
type value struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	Language string `json:"xml:lang"`
	Datatype string `json:"datatype"`
}

// results reads an answer as a stream and hands out its rows, counted from 1.
func results(r io.Reader, take func(row uint64, q rdf.Quad) error) (rows uint64, err error) {
	d := json.NewDecoder(r)
	if err := member(d, "results"); err != nil {
		return 0, err
	}
	if err := member(d, "bindings"); err != nil {
		return 0, err
	}
	if err := delimiter(d, '['); err != nil {
		return 0, err
	}
	for d.More() {
		var binding struct{ S, P, O *value }
		if err := d.Decode(&binding); err != nil {
			return rows, unreadable(err)
		}
		rows++
		if binding.S == nil || binding.P == nil || binding.O == nil {
			return rows, fmt.Errorf("row %d of the answer lacks ?s, ?p or ?o; the pattern must bind all", rows)
		}
		var q rdf.Quad
		for _, part := range []struct {
			from *value
			into *rdf.Term
		}{{binding.S, &q.Subject}, {binding.P, &q.Predicate}, {binding.O, &q.Object}} {
			if *part.into, err = part.from.term(); err != nil {
				return rows, fmt.Errorf("row %d of the answer: %w", rows, err)
			}
		}
		if err := take(rows, q); err != nil {
			return rows, err
		}
	}
	// An answer that is cut off must not look like a short one.
	for _, end := range []json.Delim{']', '}'} {
		if err := delimiter(d, end); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// member goes into an object up to the value of one of its members.
func member(d *json.Decoder, name string) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return unreadable(err)
		}
		if key == name {
			return nil
		}
		var other json.RawMessage
		if err := d.Decode(&other); err != nil {
			return unreadable(err)
		}
	}
	return fmt.Errorf("the answer has no %q; is this a SPARQL endpoint?", name)
}

func delimiter(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return unreadable(err)
	}
	if token != want {
		return unreadable(fmt.Errorf("want %q, got %.40q", want, fmt.Sprint(token)))
	}
	return nil
}

func unreadable(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return passing{err: errors.New("the answer is cut off")}
	}
	return fmt.Errorf("the answer is no SPARQL result in JSON: %w", err)
}

func (v value) term() (rdf.Term, error) {
	switch v.Type {
	case "uri":
		return rdf.Term{Text: v.Value}, nil
	case "bnode":
		return rdf.Term{Kind: rdf.Blank, Text: label(v.Value)}, nil
	case "literal", "typed-literal":
		t := rdf.Term{Kind: rdf.Literal, Text: v.Value, Language: v.Language}
		if v.Language == "" && v.Datatype != "http://www.w3.org/2001/XMLSchema#string" {
			t.Datatype = v.Datatype
		}
		return t, nil
	}
	return rdf.Term{}, fmt.Errorf("a term is of the unknown type %.40q", v.Type)
}

// label makes the label of a blank node one that N-Triples can hold: endpoints
// give IRIs too.
func label(text string) string {
	plain := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			plain = append(plain, c)
		} else {
			plain = fmt.Appendf(plain, "_%02x", c)
		}
	}
	return string(plain)
}
