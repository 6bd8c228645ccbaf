package retriever

import (
	"context"

	"google.golang.org/grpc/codes"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// origins is a store that knows where some knowledge graphs are to be read from:
// they are loaded by their names alone, without files.
type origins interface {
	Origin(kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool)
}

// originOf is how a knowledge graph is read that is loaded without files; ok is
// false where it comes in files.
func originOf(graphs store.Store, kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool) {
	if over, ok := graphs.(interface{ Own() store.Store }); ok {
		graphs = over.Own()
	}
	known, ok := graphs.(origins)
	if !ok {
		return nil, false
	}
	return known.Origin(kg)
}

// filesOfOrigin refuses files of a knowledge graph that is read elsewhere.
func filesOfOrigin(kg string) error {
	ref := &graphv1.KnowledgeGraphRef{Name: kg}
	return failed(codes.FailedPrecondition, "KG_READ_ELSEWHERE", ref,
		"load knowledge graph \""+kg+"\": this retriever reads it where it is kept, by its configuration; load it without files, or files under another name")
}
