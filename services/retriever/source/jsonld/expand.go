package jsonld

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/piprate/json-gold/ld"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// noContexts refuses to fetch.
type noContexts struct{}

// LoadDocument implements ld.DocumentLoader.
func (noContexts) LoadDocument(iri string) (*ld.RemoteDocument, error) {
	return nil, fmt.Errorf("the context %.200q is not fetched; put what it holds into the document", iri)
}

// expand turns a document into statements. number keeps the blank nodes of one
// document from those of another.
func expand(document any, number uint64) (quads []rdf.Quad, err error) {
	defer func() {
		// The library is not ours, and the document is a stranger's.
		if r := recover(); r != nil {
			err = fmt.Errorf("this is no JSON-LD: %v", r)
		}
	}()
	if err := modest(document); err != nil {
		return nil, err
	}
	options := ld.NewJsonLdOptions("")
	options.DocumentLoader = noContexts{}
	expanded, err := ld.NewJsonLdProcessor().Expand(document, options)
	if err != nil {
		return nil, fmt.Errorf("this is no JSON-LD: %w", err)
	}
	issuer := ld.NewIdentifierIssuer("_:b")
	graphs := map[string]any{"@default": map[string]any{}}
	if _, err := ld.NewJsonLdApi().GenerateNodeMap(expanded, graphs, "@default", issuer, "", "", nil); err != nil {
		return nil, fmt.Errorf("this is no JSON-LD: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(graphs)) {
		graph, _ := graphs[name].(map[string]any)
		// The library goes through the nodes of a graph in any order. A load that
		// goes on needs always the same.
		for _, id := range slices.Sorted(maps.Keys(graph)) {
			dataset := ld.NewRDFDataset()
			dataset.GraphToRDF(name, map[string]any{id: graph[id]}, issuer, false)
			for _, q := range dataset.Graphs[name] {
				quads = append(quads, quad(q, name, number))
			}
		}
	}
	return quads, nil
}

func quad(q *ld.Quad, graph string, number uint64) rdf.Quad {
	if graph == "@default" || strings.HasPrefix(graph, "_:") {
		graph = ""
	}
	return rdf.Quad{Subject: term(q.Subject, number), Predicate: term(q.Predicate, number), Object: term(q.Object, number), Graph: graph}
}

func term(node ld.Node, number uint64) rdf.Term {
	switch n := node.(type) {
	case ld.Literal:
		t := rdf.Term{Kind: rdf.Literal, Text: n.Value, Language: n.Language}
		if n.Datatype != ld.XSDString && n.Language == "" {
			t.Datatype = n.Datatype
		}
		if n.Datatype == ld.XSDDouble {
			t.Text = number64(n.Value)
		}
		return t
	case ld.BlankNode:
		label := strings.TrimPrefix(n.Attribute, "_:")
		if number > 1 {
			label = strconv.FormatUint(number, 10) + "." + label
		}
		return rdf.Term{Kind: rdf.Blank, Text: label}
	}
	return rdf.Term{Text: node.GetValue()}
}

// number64 shows a double as people do: JSON-LD makes 1.5 "1.5E0".
func number64(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if size := math.Abs(f); err != nil || size >= 1e15 || (size < 1e-6 && size != 0) || math.IsNaN(f) {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
