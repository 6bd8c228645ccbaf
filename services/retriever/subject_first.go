package retriever

import (
	"context"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/subjectfirst"
)

// openToGround is openForSearch for requests that compare triples: where those
// have no vectors they are searched subject first, by what ask names.
func (s *Service) openToGround(ctx context.Context, ref *graphv1.KnowledgeGraphRef, ask subjectfirst.Ask) (store.Snapshot, error) {
	snap, err := s.openForSearch(ctx, ref)
	if err != nil || snap.Info().TripleVectors {
		return snap, err
	}
	return subjectfirst.New(snap, s.encoder, ask), nil
}
