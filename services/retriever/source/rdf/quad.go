// Package rdf reads N-Triples and N-Quads, and says what statements of RDF mean
// to a knowledge graph: which of them name things, and what their literals are.
package rdf

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
