package retriever

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// elsewhere is a store that reads the knowledge graph "away" itself.
type elsewhere struct{ store.Store }

func (elsewhere) Origin(kg string) (func(context.Context, source.Sink) (uint64, error), bool) {
	return func(_ context.Context, to source.Sink) (uint64, error) {
		return 1, to.Statement(source.Statement{Subject: source.Term{Key: "a"}, Relation: "r",
			Object: source.Term{Key: "b"}})
	}, kg == "away"
}

func TestOrigin(t *testing.T) {
	if _, ok := findOrigin(elsewhere{}, "here"); ok {
		t.Error("a knowledge graph that comes in files has an origin")
	}
	if _, ok := findOrigin(struct{ store.Store }{}, "away"); ok {
		t.Error("a store without origins has one")
	}
	if read, ok := findOrigin(elsewhere{}, "away"); !ok || read == nil {
		t.Error("the origin is not found")
	}
	err := errFilesOfOrigin("away")
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), `load knowledge graph "away"`) {
		t.Errorf("files of it: %v", err)
	}
}
