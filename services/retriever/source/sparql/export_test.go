package sparql

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/rdf"
)

// Read hands what an endpoint holds to a sink and returns the number of
// statements. A statement may come twice where a query was sent again.
func Read(ctx context.Context, c Config, to source.Sink) (uint64, error) {
	meaning := rdf.NewInterpreter(source.Input{Language: c.Language})
	guarded := source.NewSinkGuard(to)
	return readPages(ctx, c, func(q rdf.Quad) (bad, err error) {
		err = meaning.Interpret(q, guarded)
		if guarded.Err() != nil {
			return nil, guarded.Err()
		}
		return err, nil
	})
}
