package turtle

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// Read reads Turtle and returns the number of statements. Where the file is no
// Turtle the reading ends with an error; a statement whose terms cannot be
// taken is only rejected.
func Read(ctx context.Context, in source.Input, to source.Sink) (count uint64, err error) {
	meaning := rdf.NewMeaning(in)
	guarded := source.Guard(to)
	err = Parse(in.Name, in.Reader, func(q rdf.Quad, line uint64) error {
		if count++; count%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return guarded.Reject(in, line, meaning.Take(q, guarded))
	})
	return count, err
}
