package rdf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/piprate/json-gold/ld"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// maxDocument is the largest document in bytes. In memory it takes some ten times that.
const maxDocument = 256 << 20

// ReadJSONLD reads W3C JSON-LD 1.1 and returns the number of documents: one, or many one after
// another, as in files with one a line. It holds one document in memory. What is not JSON ends the
// reading; a document that is not JSON-LD is rejected.
//
// Contexts are not fetched: a file must not make the server open connections. IRIs that are relative
// need an @base; by JSON-LD's rules a statement with one that is relative still is dropped.
func ReadJSONLD(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return readDocuments(ctx, in, to, maxDocument)
}

func readDocuments(ctx context.Context, in source.Input, to source.Sink, limit int64) (count uint64, err error) {
	limited := &boundedReader{file: in.Name, r: in.Reader, limit: limit}
	decoder := json.NewDecoder(skipByteOrderMark(limited))
	meaning := NewInterpreter(in)
	guarded := source.NewSinkGuard(to)
	for {
		if ctx.Err() != nil {
			return count, ctx.Err()
		}
		start := decoder.InputOffset()
		limited.documentStart = start
		var document any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) && limited.err == nil {
			return count, nil
		} else if err != nil {
			return count, limited.wrapError(decoder.InputOffset(), err)
		}
		count++
		reject := func(err error) error {
			if err == nil || errors.Is(err, guarded.Err()) {
				return guarded.Err()
			}
			return in.Reject(&source.PlaceError{File: in.Name, Byte: uint64(start),
				Err: fmt.Errorf("document %d: %w", count, err)})
		}
		quads, err := expand(document, count)
		if err := reject(err); err != nil {
			return count, err
		}
		for _, q := range quads {
			if err := reject(meaning.Interpret(q, guarded)); err != nil {
				return count, err
			}
		}
	}
}

// boundedReader is a file whose documents are bounded.
type boundedReader struct {
	file  string
	r     io.Reader
	limit int64
	// read counts bytes, from says at which the document under way begins.
	read, documentStart int64
	err                 error
}

func (d *boundedReader) Read(b []byte) (int, error) {
	if d.read-d.documentStart > d.limit {
		d.err = &source.PlaceError{File: d.file, Byte: uint64(d.documentStart),
			Err: fmt.Errorf("the document has more than %d bytes, which would not fit in memory; write it as "+
				"N-Quads, or as several documents", d.limit)}
		return 0, d.err
	}
	n, err := d.r.Read(b)
	d.read += int64(n)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// wrapError makes an error of the file a PlaceError; errors of the underlying reader are not.
func (d *boundedReader) wrapError(at int64, err error) error {
	var place *source.PlaceError
	if errors.As(d.err, &place) {
		return d.err
	}
	if d.err != nil {
		return fmt.Errorf("read %s, byte %d: %w", d.file, d.read, d.err)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(at, syntax.Offset)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		at = d.read
	}
	return &source.PlaceError{File: d.file, Byte: uint64(at), Err: fmt.Errorf("invalid JSON: %w", err)}
}

func skipByteOrderMark(r io.Reader) io.Reader {
	head := make([]byte, 3)
	// An error comes again with the next read.
	n, _ := io.ReadFull(r, head)
	return io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))), r)
}

// noRemoteContexts refuses to fetch.
type noRemoteContexts struct{}

// LoadDocument implements ld.DocumentLoader.
func (noRemoteContexts) LoadDocument(iri string) (*ld.RemoteDocument, error) {
	return nil, fmt.Errorf("the context %.200q is not fetched; inline it into the document", iri)
}

// expand turns a document into statements. number keeps the blank nodes of one
// document from those of another.
func expand(document any, number uint64) (quads []Quad, err error) {
	defer func() {
		// The library is not ours, and the document is a stranger's.
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid JSON-LD: %v", r)
		}
	}()
	if err := checkCost(document); err != nil {
		return nil, err
	}
	options := ld.NewJsonLdOptions("")
	options.DocumentLoader = noRemoteContexts{}
	expanded, err := ld.NewJsonLdProcessor().Expand(document, options)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON-LD: %w", err)
	}
	issuer := ld.NewIdentifierIssuer("_:b")
	graphs := map[string]any{"@default": map[string]any{}}
	if _, err := ld.NewJsonLdApi().GenerateNodeMap(expanded, graphs, "@default", issuer, "", "", nil); err != nil {
		return nil, fmt.Errorf("invalid JSON-LD: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(graphs)) {
		graph, _ := graphs[name].(map[string]any)
		// The library goes through the nodes of a graph in any order. A load that
		// continues needs always the same.
		for _, id := range slices.Sorted(maps.Keys(graph)) {
			dataset := ld.NewRDFDataset()
			dataset.GraphToRDF(name, map[string]any{id: graph[id]}, issuer, false)
			for _, q := range dataset.Graphs[name] {
				quads = append(quads, convertQuad(q, name, number))
			}
		}
	}
	return quads, nil
}

func convertQuad(q *ld.Quad, graph string, number uint64) Quad {
	if graph == "@default" || strings.HasPrefix(graph, "_:") {
		graph = ""
	}
	return Quad{Subject: convertTerm(q.Subject, number), Predicate: convertTerm(q.Predicate, number),
		Object: convertTerm(q.Object, number), Graph: graph}
}

func convertTerm(node ld.Node, number uint64) Term {
	switch n := node.(type) {
	case ld.Literal:
		t := Term{Kind: Literal, Text: n.Value, Language: n.Language}
		if n.Datatype != ld.XSDString && n.Language == "" {
			t.Datatype = n.Datatype
		}
		if n.Datatype == ld.XSDDouble {
			t.Text = formatDouble(n.Value)
		}
		return t
	case ld.BlankNode:
		label := strings.TrimPrefix(n.Attribute, "_:")
		if number > 1 {
			label = strconv.FormatUint(number, 10) + "." + label
		}
		return Term{Kind: Blank, Text: label}
	}
	return Term{Text: node.GetValue()}
}

// formatDouble shows a double as people do: JSON-LD makes 1.5 "1.5E0".
func formatDouble(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if size := math.Abs(f); err != nil || size >= 1e15 || (size < 1e-6 && size != 0) || math.IsNaN(f) {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
