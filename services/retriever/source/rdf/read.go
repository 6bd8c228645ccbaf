package rdf

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/lines"
)

// Read reads N-Triples or N-Quads and returns the number of lines.
func Read(ctx context.Context, in source.Input, to source.Sink) (uint64, error) {
	return lines.Read(ctx, in, to, lines.Options{}, func() lines.Take {
		meaning := NewMeaning(in)
		return func(line []byte, to source.Sink) error {
			q, ok, err := ParseLine(string(line))
			if err != nil || !ok {
				return err
			}
			return meaning.Take(q, to)
		}
	})
}
