package retriever

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/paging"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// findRankers returns the ranker store and the rankers of a request's tenant and knowledge graph, which
// must exist.
func (s *KnowledgeGraphs) findRankers(ctx context.Context, kg string) (*rankerStore, rankerSet, error) {
	tenant, err := auth.TenantFrom(ctx)
	if err != nil {
		return nil, rankerSet{}, err
	}
	graphs, err := s.tenants.ForTenant(tenant)
	if err == nil {
		_, err = graphs.List(ctx, kg)
	}
	if err != nil {
		return nil, rankerSet{}, err
	}
	if s.rankers == nil || s.rankers.stored == nil {
		return nil, rankerSet{}, &store.Error{Op: "store rankers of", KG: kg, Err: store.ErrUnsupported}
	}
	return s.rankers.stored, rankerSet{tenant, kg}, nil
}

// CreateRanker implements KnowledgeGraphService.
func (s *KnowledgeGraphs) CreateRanker(stream grpc.ClientStreamingServer[retrieverv1.CreateRankerRequest,
	retrieverv1.CreateRankerResponse]) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	header := first.GetHeader()
	if header == nil {
		return errOutOfOrder("create a ranker", "the first message is no header")
	}
	kg := header.GetKg().GetName()
	stored, set, err := s.findRankers(ctx, kg)
	if err != nil {
		return err
	}
	file, err := io.ReadAll(io.LimitReader(readChunks("create a ranker", stream.Recv), maxRankerBytes+1))
	if err == nil && len(file) > maxRankerBytes {
		err = status.Errorf(codes.InvalidArgument, "create a ranker of knowledge graph %q: it has more than %d MiB", kg,
			maxRankerBytes>>20)
	}
	if err != nil {
		return err
	}
	ranker, err := parseRanker(bytes.NewReader(file))
	if err == nil {
		err = s.checkRanker(ctx, kg, ranker)
	}
	if err != nil {
		return describeRefusal("create", kg, 0, err)
	}
	number, err := stored.add(set, file)
	if err == nil && header.GetActivate() {
		err = stored.activate(set, number, func(*rank.Ranker) error { return nil })
	}
	if err != nil {
		return rankerError("create", kg, number, err)
	}
	info, err := describeRanker(stored, set, number)
	if err != nil {
		return rankerError("create", kg, number, err)
	}
	return stream.SendAndClose(&retrieverv1.CreateRankerResponse{Ranker: info})
}

// describeRefusal leaves errors about the knowledge graph as they are: only others are the ranker's.
func describeRefusal(op, kg string, number uint64, err error) error {
	if _, ok := errors.AsType[*store.Error](err); ok {
		return err
	}
	return rankerError(op, kg, number, err)
}

// checkRanker refuses weights that cannot rank the active snapshot of a knowledge graph.
func (s *KnowledgeGraphs) checkRanker(ctx context.Context, kg string, ranker *rank.Ranker) error {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return err
	}
	snap, err := graphs.Open(ctx, kg, 0)
	if err != nil {
		return err
	}
	defer snap.Release()
	info := snap.Info()
	if err := checkEncoder(ranker.Weights(), info.Encoder); err != nil || coversAny(ranker, snap) {
		return err
	}
	return fmt.Errorf("it was trained on %d relations, and snapshot %s@%d has none of them; train it on questions "+
		"about this knowledge graph", len(ranker.Weights().Relations), info.KG, info.Number)
}

// describeRanker describes a stored ranker.
func describeRanker(stored *rankerStore, set rankerSet, number uint64) (*retrieverv1.RankerInfo, error) {
	file, err := os.Stat(stored.path(set, number))
	if err != nil {
		return nil, err
	}
	info := &retrieverv1.RankerInfo{Kg: &graphv1.KnowledgeGraphRef{Name: set.kg}, Number: number,
		CreateTime: timestamppb.New(file.ModTime().Truncate(time.Second))}
	if c, err := stored.current(set); err == nil {
		info.Active = c.Active == number
	}
	ranker, err := stored.load(set, number)
	if err != nil {
		info.Defect = err.Error()
		return info, nil
	}
	w := ranker.Weights()
	p := w.Provenance
	info.Encoder, info.Bytes, info.Relations = w.Encoder, uint64(file.Size()), uint32(len(w.Relations))
	info.QuestionSets, info.Snapshots = p.Questions, p.Graphs
	info.Trained, info.Held = uint32(p.Trained), uint32(p.Held)
	info.First, info.FirstBefore = float32(p.First), float32(p.FirstBefore)
	return info, nil
}

// ListRankers implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ListRankers(ctx context.Context,
	req *retrieverv1.ListRankersRequest) (*retrieverv1.ListRankersResponse, error) {
	stored, set, err := s.findRankers(ctx, req.GetKgName())
	if err != nil {
		return nil, err
	}
	numbers, err := stored.numbers(set)
	if err != nil {
		return nil, rankerError("list", set.kg, 0, err)
	}
	slices.Reverse(numbers)
	resp := &retrieverv1.ListRankersResponse{}
	numbers, resp.NextPageToken, err = paging.Cut(numbers, rankerKey, req.GetPageSize(), 100, req.GetPageToken())
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		info, err := describeRanker(stored, set, n)
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, rankerError("list", set.kg, n, err)
		}
		resp.Rankers = append(resp.Rankers, info)
	}
	return resp, nil
}

// rankerKey orders rankers, the newest first.
func rankerKey(number uint64) string { return fmt.Sprintf("%020d", math.MaxUint64-number) }

// ActivateRanker implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ActivateRanker(ctx context.Context,
	req *retrieverv1.ActivateRankerRequest) (*retrieverv1.ActivateRankerResponse, error) {
	kg, number := req.GetKg().GetName(), req.GetNumber()
	stored, set, err := s.findRankers(ctx, kg)
	if err != nil {
		return nil, err
	}
	err = stored.activate(set, number, func(r *rank.Ranker) error { return s.checkRanker(ctx, kg, r) })
	if err != nil {
		return nil, describeRefusal("activate", kg, number, err)
	}
	info, err := describeRanker(stored, set, number)
	return &retrieverv1.ActivateRankerResponse{Ranker: info}, rankerError("activate", kg, number, err)
}

// RollbackRanker implements KnowledgeGraphService.
func (s *KnowledgeGraphs) RollbackRanker(ctx context.Context,
	req *retrieverv1.RollbackRankerRequest) (*retrieverv1.RollbackRankerResponse, error) {
	kg := req.GetKg().GetName()
	stored, set, err := s.findRankers(ctx, kg)
	if err != nil {
		return nil, err
	}
	number, err := stored.rollback(set)
	if err != nil || number == 0 {
		return &retrieverv1.RollbackRankerResponse{}, rankerError("roll back the", kg, 0, err)
	}
	info, err := describeRanker(stored, set, number)
	return &retrieverv1.RollbackRankerResponse{Ranker: info}, rankerError("roll back to", kg, number, err)
}

// DeleteRanker implements KnowledgeGraphService.
func (s *KnowledgeGraphs) DeleteRanker(ctx context.Context,
	req *retrieverv1.DeleteRankerRequest) (*retrieverv1.DeleteRankerResponse, error) {
	kg, number := req.GetKg().GetName(), req.GetNumber()
	stored, set, err := s.findRankers(ctx, kg)
	if err != nil {
		return nil, err
	}
	return &retrieverv1.DeleteRankerResponse{}, rankerError("delete", kg, number, stored.remove(set, number))
}

// ExportRanker implements KnowledgeGraphService.
func (s *KnowledgeGraphs) ExportRanker(req *retrieverv1.ExportRankerRequest,
	stream grpc.ServerStreamingServer[retrieverv1.ExportRankerResponse]) error {
	ctx, kg, number := stream.Context(), req.GetKg().GetName(), req.GetNumber()
	stored, set, err := s.findRankers(ctx, kg)
	if err != nil {
		return err
	}
	var ranker *rank.Ranker
	if number != 0 {
		if ranker, err = stored.load(set, number); err != nil {
			return rankerError("export", kg, number, err)
		}
	} else if ranker, err = s.presentRanker(ctx, kg); err != nil {
		return describeRefusal("export", kg, number, err)
	}
	out := bufio.NewWriterSize(chunkWriter(func(chunk []byte) error {
		return stream.Send(&retrieverv1.ExportRankerResponse{Chunk: chunk})
	}), exportChunk)
	if err := ranker.Weights().Write(out); err != nil {
		return err
	}
	return out.Flush()
}

// presentRanker returns the ranker that ranks the paths of a knowledge graph now.
func (s *KnowledgeGraphs) presentRanker(ctx context.Context, kg string) (*rank.Ranker, error) {
	graphs, err := store.ForRequest(ctx, s.tenants)
	if err != nil {
		return nil, err
	}
	snap, err := graphs.Open(ctx, kg, 0)
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	if ranker := s.rankers.find(ctx, snap.Info()); ranker != nil {
		return ranker, nil
	}
	return nil, os.ErrNotExist
}

// dropRankers deletes the rankers of a knowledge graph that was dropped.
func (s *KnowledgeGraphs) dropRankers(ctx context.Context, kg string) error {
	if s.rankers == nil || s.rankers.stored == nil {
		return nil
	}
	tenant, err := auth.TenantFrom(ctx)
	if err != nil {
		return err
	}
	return rankerError("delete every", kg, 0, s.rankers.stored.removeAll(rankerSet{tenant, kg}))
}
