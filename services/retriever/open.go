package retriever

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// open opens a request's knowledge graph among those of its tenant. The whole request reads this
// snapshot. The caller must release it.
func (s *Service) open(ctx context.Context, ref *graphv1.KnowledgeGraphRef) (store.Snapshot, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	snap, err := graphs.Open(ctx, ref.GetName(), ref.GetSnapshot())
	if errors.Is(err, store.ErrNotFound) {
		return nil, notFound(ctx, graphs, ref, err)
	}
	return snap, err
}

// openForSearch opens a snapshot whose vectors are to be compared, with the encoder that made them.
func (s *Service) openForSearch(ctx context.Context, ref *graphv1.KnowledgeGraphRef) (store.Snapshot, *encoder.Cache,
	error) {
	snap, err := s.open(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	info := snap.Info()
	enc, err := s.encoderFor(ctx, info.Encoder)
	if err == nil {
		return snap, enc, nil
	}
	snap.Release()
	return nil, nil, newStatusError(codes.FailedPrecondition, errorsv1.ErrorReason_ERROR_REASON_KG_OTHER_ENCODER,
		ref, fmt.Sprintf(
			"read snapshot %s@%d: its vectors were made by encoder %q, which cannot be opened: %v; "+
				"load the knowledge graph again or start the retriever with that encoder",
			info.KG, info.Number, info.Encoder, err))
}

// notFound returns an error that lists the tenant's knowledge graphs.
func notFound(ctx context.Context, graphs store.Catalogue, ref *graphv1.KnowledgeGraphRef, cause error) error {
	listed, err := graphs.List(ctx, "")
	if err != nil {
		return cause
	}
	var names []string
	for _, l := range listed {
		names = append(names, l.KG)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	there := "there is none; load one with `triplemesh kg load NAME FILE`"
	switch {
	case slices.Contains(names, ref.GetName()):
		return cause
	case len(names) > 0:
		there = "there are: " + strings.Join(names, ", ")
	}
	return newStatusError(codes.NotFound, errorsv1.ErrorReason_ERROR_REASON_KG_NOT_FOUND, ref,
		fmt.Sprintf("open knowledge graph %q: not found; %s",
			ref.GetName(), there))
}

func newStatusError(code codes.Code, reason errorsv1.ErrorReason, ref *graphv1.KnowledgeGraphRef,
	message string) error {
	st := status.New(code, message)
	info := errinfo.New(reason, map[string]string{
		"kg": ref.GetName(), "snapshot": fmt.Sprint(ref.GetSnapshot()),
	})
	if with, err := st.WithDetails(info); err == nil {
		st = with
	}
	return st.Err()
}
