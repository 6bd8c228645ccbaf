package retriever

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// open resolves a request's knowledge graph once, among those of its tenant: all
// of the request reads one snapshot. The caller must release it.
func (s *Service) open(ctx context.Context, ref *graphv1.KnowledgeGraphRef) (store.Snapshot, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	snap, err := graphs.Open(ctx, ref.GetName(), ref.GetSnapshot())
	if errors.Is(err, store.ErrNotFound) {
		return nil, notFound(ctx, graphs, ref, err)
	}
	return snap, err
}

// openForSearch is open for requests that compare meanings: the snapshot's
// vectors must come from the encoder that is running.
func (s *Service) openForSearch(ctx context.Context, ref *graphv1.KnowledgeGraphRef) (store.Snapshot, error) {
	snap, err := s.open(ctx, ref)
	if err != nil {
		return nil, err
	}
	info := snap.Info()
	if info.Encoder == s.model {
		return snap, nil
	}
	snap.Release()
	return nil, failed(codes.FailedPrecondition, "KG_OTHER_ENCODER", ref, fmt.Sprintf(
		"read snapshot %s@%d: its vectors were made by encoder %q, this retriever runs %q; load the knowledge graph again or start the retriever with that encoder",
		info.KG, info.Number, info.Encoder, s.model))
}

// notFound says which knowledge graphs the tenant has instead.
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
	return failed(codes.NotFound, "KG_NOT_FOUND", ref, fmt.Sprintf("open knowledge graph %q: not found; %s", ref.GetName(), there))
}

func failed(code codes.Code, reason string, ref *graphv1.KnowledgeGraphRef, message string) error {
	st := status.New(code, message)
	info := &errdetails.ErrorInfo{Domain: "triplemesh", Reason: reason, Metadata: map[string]string{
		"kg": ref.GetName(), "snapshot": fmt.Sprint(ref.GetSnapshot()),
	}}
	if with, err := st.WithDetails(info); err == nil {
		st = with
	}
	return st.Err()
}
