// Package source says what knowledge graphs are read from: a reader of a
// format hands statements, labels and aliases to a Sink, one after another,
// and holds no more in memory than its format asks for. The packages below it
// are the formats.
package source

import "github.com/triplemesh/triplemesh/services/retriever/store"

// Term is one end of a statement as its source names it.
type Term struct {
	// Key names a node within the source: a name, an IRI, an identifier. The key
	// of a literal is its text as a person reads it, without its unit.
	Key string
	// Kind is what the source says the term is.
	Kind store.Kind
	// Unit is the key of a quantity's unit, whose label is read as all labels
	// are; empty for all else.
	Unit string
}

// Statement is a fact by the keys of its source.
type Statement struct {
	Subject Term
	// Relation is a key too.
	Relation string
	Object   Term
	Validity store.Validity
}

// Sink takes what a reader finds, in any order. An error ends the reading. The
// strings may be kept.
type Sink interface {
	// Statement takes a fact.
	Statement(Statement) error
	// Label gives a key its name; rank 0 is the best, and of equal ranks the
	// first counts. A key without any label is shown by its own text.
	Label(key, name string, rank int) error
	// Alias gives a key a further name by which it is found.
	Alias(key, name string) error
}
