package retriever

import (
	"context"

	"google.golang.org/grpc"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Compact implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Compact(ctx context.Context, req *retrieverv1.CompactRequest) (*retrieverv1.CompactResponse, error) {
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	release, err := s.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	kg := req.GetKg().GetName()
	info, err := graphs.Compact(ctx, kg, req.GetKg().GetSnapshot())
	if err != nil {
		return nil, err
	}
	active := active(ctx, graphs, info)
	if !active && !req.GetNoActivate() {
		if info, err = graphs.Activate(ctx, kg, info.Number); err != nil {
			return nil, err
		}
		active = true
	}
	return &retrieverv1.CompactResponse{Snapshot: snapshotInfo(info, active)}, nil
}

// differencesPerMessage keeps messages small and few.
const differencesPerMessage = 256

// Diff implements KnowledgeGraphService.
func (s *KnowledgeGraphs) Diff(req *retrieverv1.DiffRequest, stream grpc.ServerStreamingServer[retrieverv1.DiffResponse]) error {
	ctx, kg := stream.Context(), req.GetKg().GetName()
	graphs, err := store.Of(ctx, s.tenants)
	if err != nil {
		return err
	}
	to, err := graphs.Open(ctx, kg, req.GetKg().GetSnapshot())
	if err != nil {
		return err
	}
	defer to.Release()
	from, err := graphs.Open(ctx, kg, req.GetFrom())
	if err != nil {
		return err
	}
	defer from.Release()
	message := &retrieverv1.DiffResponse{}
	send := func() error {
		full := message
		message = &retrieverv1.DiffResponse{}
		return stream.Send(full)
	}
	err = store.Diff(ctx, from, to, func(d store.Difference) error {
		message.Differences = append(message.Differences, &retrieverv1.Difference{Triple: tripleOfFact(d.Fact), Added: d.Added})
		if len(message.GetDifferences()) < differencesPerMessage {
			return nil
		}
		return send()
	})
	if err != nil || len(message.GetDifferences()) == 0 {
		return err
	}
	return send()
}

func tripleOfFact(f store.Fact) *graphv1.Triple {
	return &graphv1.Triple{
		Subject: f.Subject.Name, Relation: f.Relation, Object: f.Object.Name,
		Validity: validity(f.Validity), ObjectKind: termKind(f.Object.Kind),
	}
}
