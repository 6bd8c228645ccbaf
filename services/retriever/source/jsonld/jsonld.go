// Package jsonld reads W3C JSON-LD 1.1: one document, or many one after
// another, as in files with one a line. It holds one document in memory.
//
// Contexts are not fetched: a file must not make the server open connections.
// IRIs that are relative need an @base; by JSON-LD's rules a statement with one
// that is relative still is dropped.
package jsonld

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// maxDocument is the largest document in bytes. In memory it takes some ten
// times that.
const maxDocument = 256 << 20

// Read reads a file and returns the number of documents. What is no JSON ends
// the reading; a document that is no JSON-LD is rejected.
func Read(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return read(ctx, in, to, maxDocument)
}

func read(ctx context.Context, in source.Input, to source.Sink, limit int64) (count uint64, err error) {
	limited := &documents{file: in.Name, r: in.Reader, limit: limit}
	decoder := json.NewDecoder(withoutMark(limited))
	meaning := rdf.NewMeaning(in)
	guarded := source.Guard(to)
	for {
		if ctx.Err() != nil {
			return count, ctx.Err()
		}
		start := decoder.InputOffset()
		limited.from = start
		var document any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) && limited.err == nil {
			return count, nil
		} else if err != nil {
			return count, limited.fault(decoder.InputOffset(), err)
		}
		count++
		reject := func(err error) error {
			if err == nil || errors.Is(err, guarded.Err()) {
				return guarded.Err()
			}
			return in.Reject(&source.PlaceError{File: in.Name, Byte: uint64(start), Err: fmt.Errorf("document %d: %w", count, err)})
		}
		quads, err := expand(document, count)
		if err := reject(err); err != nil {
			return count, err
		}
		for _, q := range quads {
			if err := reject(meaning.Take(q, guarded)); err != nil {
				return count, err
			}
		}
	}
}

// documents is a file whose documents are bounded.
type documents struct {
	file  string
	r     io.Reader
	limit int64
	// read counts bytes, from says at which the document under way begins.
	read, from int64
	err        error
}

func (d *documents) Read(b []byte) (int, error) {
	if d.read-d.from > d.limit {
		d.err = &source.PlaceError{File: d.file, Byte: uint64(d.from), Err: fmt.Errorf("the document has more than %d bytes, which would not fit in memory; write it as N-Quads, or as several documents", d.limit)}
		return 0, d.err
	}
	n, err := d.r.Read(b)
	d.read += int64(n)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// fault tells an error of the file from one of the way it came by.
func (d *documents) fault(at int64, err error) error {
	var place *source.PlaceError
	if errors.As(d.err, &place) {
		return d.err
	}
	if d.err != nil {
		return fmt.Errorf("read %s, byte %d: %w", d.file, d.read, d.err)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = max(at, syntax.Offset)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		at = d.read
	}
	return &source.PlaceError{File: d.file, Byte: uint64(at), Err: fmt.Errorf("this is no JSON: %w", err)}
}

// withoutMark passes over a byte order mark.
func withoutMark(r io.Reader) io.Reader {
	head := make([]byte, 3)
	// An error comes again with the next read.
	n, _ := io.ReadFull(r, head)
	return io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))), r)
}
