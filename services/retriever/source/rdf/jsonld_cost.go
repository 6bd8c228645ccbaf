package rdf

import (
	"fmt"
	"maps"
	"strings"
)

// Contexts make long names of short ones, and a term may be defined by another that is defined by
// another. What a document costs is found before the library begins, which nothing can stop.
const (
	// maxNames is the most bytes that the names in a document may come to.
	maxNames = 1 << 30
	// maxTerms is the most terms that all its contexts may come to: each of them
	// is added to a copy of those it stands within, wherever it is used.
	maxTerms = 5_000_000
)

// checkCost reports whether a document can be expanded.
func checkCost(document any) error {
	c := &cost{}
	c.visit(document, scope{})
	switch {
	case c.terms > maxTerms:
		return fmt.Errorf("its contexts come to more than %d terms; write one context at its beginning", maxTerms)
	case c.names*c.longest > maxNames:
		return fmt.Errorf("its context makes %d names of up to %d bytes, which would not fit in memory; write it as "+
			"N-Quads, or as several documents", c.names, c.longest)
	}
	return nil
}

// cost is what a document comes to.
type cost struct{ terms, names, longest int }

// scope is what terms mean somewhere in a document.
type scope struct {
	// lengths are those of the IRIs of terms, in bytes; @vocab is one.
	lengths map[string]int
	// nested are the sizes of contexts that terms bring along.
	nested map[string]int
}

func (c *cost) visit(v any, in scope) {
	if c.terms > maxTerms {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if context, ok := v["@context"]; ok {
			in = c.enter(context, in)
		}
		for key, value := range v {
			if key != "@context" {
				c.use(key, in)
				c.visit(value, in)
			}
		}
	case []any:
		for _, item := range v {
			c.visit(item, in)
		}
	case string:
		c.use(v, in)
	}
}

// use counts a name, and the context that it brings along.
func (c *cost) use(name string, in scope) {
	c.names++
	if n, ok := in.nested[name]; ok {
		c.terms += n + len(in.lengths)
	}
}

func (c *cost) enter(context any, in scope) scope {
	switch context := context.(type) {
	case []any:
		for _, part := range context {
			in = c.enter(part, in)
		}
	case map[string]any:
		c.terms += len(context) + len(in.lengths)
		if c.terms > maxTerms {
			return in
		}
		out := scope{maps.Clone(in.lengths), maps.Clone(in.nested)}
		if out.lengths == nil {
			out = scope{map[string]int{}, map[string]int{}}
		}
		d := definitions{context: context, outer: in.lengths, lengths: out.lengths, visited: map[string]bool{}}
		for term, definition := range context {
			c.longest = max(c.longest, d.length(term))
			if full, ok := definition.(map[string]any); ok && full["@context"] != nil {
				nested := &cost{}
				nested.enter(full["@context"], out)
				out.nested[term] = nested.terms
				c.longest = max(c.longest, nested.longest)
			}
		}
		return out
	}
	return in
}

// definitions are the terms of one context.
type definitions struct {
	context map[string]any
	outer   map[string]int
	lengths map[string]int
	// visited tells the terms whose length is found, or being found: some are defined in a circle.
	visited map[string]bool
	// depth is how many terms stand between the one looked at and the first.
	depth int
}

// maxChain is how many terms may be defined one by the other.
const maxChain = 10_000

// length is that of a term's IRI.
func (d *definitions) length(term string) int {
	if d.depth > maxChain {
		return maxNames
	}
	d.depth++
	defer func() { d.depth-- }()
	definition, own := d.context[term]
	if !own || d.visited[term] {
		return d.lengths[term]
	}
	if full, ok := definition.(map[string]any); ok {
		definition = full["@id"]
	}
	iri, ok := definition.(string)
	if !ok {
		iri = term
	}
	d.visited[term], d.lengths[term] = true, d.outer[term]
	n := len(iri)
	if prefix, rest, ok := strings.Cut(iri, ":"); ok && !strings.HasPrefix(rest, "//") {
		n = max(n, d.length(prefix)+len(rest))
	} else if !ok && iri != term {
		n = max(n, d.length(iri), d.length("@vocab")+len(iri))
	} else if !ok && term != "@vocab" {
		n += d.length("@vocab")
	} else if !ok {
		n += d.outer["@vocab"]
	}
	d.lengths[term] = n
	return n
}
