package sources_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

var (
	old  = &graphv1.KnowledgeGraphRef{Name: "old", Snapshot: 4}
	next = &graphv1.KnowledgeGraphRef{Name: "next", Snapshot: 1}
	both = []*graphv1.KnowledgeGraphRef{old, next}
)

// reader is a retriever over scripted ones, and the warnings it gave.
type reader struct {
	retrieverv1.RetrieverServiceClient
	mesh     *stagetest.Mesh
	warnings []string
}

func newReader(t *testing.T) *reader {
	mesh := stagetest.New(t)
	return &reader{RetrieverServiceClient: sources.New(mesh.Stages(t).Retriever), mesh: mesh}
}

// reading is a context in which the reader reads knowledge graphs.
func (r *reader) reading(t *testing.T, kgs ...*graphv1.KnowledgeGraphRef) context.Context {
	return sources.With(t.Context(), kgs, func(w *llmv1.Warning) { r.warnings = append(r.warnings, w.GetMessage()) })
}

// script answers calls by the knowledge graph they name.
func script[Req interface {
	proto.Message
	GetKg() *graphv1.KnowledgeGraphRef
}, Resp proto.Message](r *reader, by map[string]Resp, fails map[string]error) {
	stagetest.Script(r.mesh, func(_ context.Context, req Req) (Resp, error) {
		resp, ok := by[req.GetKg().GetName()]
		if err := fails[req.GetKg().GetName()]; err != nil || !ok {
			var none Resp
			if err == nil {
				err = status.Errorf(codes.Internal, "%s is not scripted", req.GetKg().GetName())
			}
			return none, err
		}
		return proto.Clone(resp).(Resp), nil
	})
}

func lacking() error {
	s, _ := status.New(codes.NotFound, "no entity has this name").WithDetails(
		&errdetails.ErrorInfo{Reason: "ENTITY_NOT_FOUND"})
	return s.Err()
}

func TestOneKnowledgeGraphPassesThroughUntouched(t *testing.T) {
	r := newReader(t)
	want := &retrieverv1.SearchTriplesResponse{Results: []*retrieverv1.TripleHits{
		{Triples: []*graphv1.ScoredTriple{{Triple: stagetest.Triple("a", "b", "c")}}}}, Kg: old}
	script[*retrieverv1.SearchTriplesRequest](r, map[string]*retrieverv1.SearchTriplesResponse{"old": want}, nil)
	req := &retrieverv1.SearchTriplesRequest{Kg: old, Queries: []string{"?"}}
	for _, ctx := range []context.Context{t.Context(), r.reading(t, old), r.reading(t)} {
		got, err := r.SearchTriples(ctx, req)
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	for _, sent := range stagetest.Requests[*retrieverv1.SearchTriplesRequest](r.mesh) {
		if !proto.Equal(sent, req) {
			t.Errorf("sent %v", sent)
		}
	}
}

func TestOfSeveralKnowledgeGraphs(t *testing.T) {
	fine := &retrieverv1.ListNeighboursResponse{Triples: []*graphv1.Triple{stagetest.Triple("e", "r", "o")}, Total: 1}
	down := status.Error(codes.Unavailable, "the store is down")
	for _, c := range []struct {
		name    string
		fails   map[string]error
		code    codes.Code
		triples int
		warns   string
	}{
		{"all answer", nil, codes.OK, 2, ""},
		{"one that is down is a warning", map[string]error{"next": down}, codes.OK, 1,
			"next was skipped: the store is down"},
		{"one that lacks the entity is a warning", map[string]error{"old": lacking()}, codes.OK, 1,
			"old lacks an entity"},
		{"where all fail, that is the error", map[string]error{"old": down, "next": down}, codes.Unavailable, 0, ""},
		{"that nobody could look says more than that one lacks it", map[string]error{"old": lacking(), "next": down},
			codes.Unavailable, 0, ""},
		{"an entity that none holds is not found", map[string]error{"old": lacking(), "next": lacking()},
			codes.NotFound, 0, ""},
		{"a snapshot that is gone is no missing entity", map[string]error{"old": status.Error(codes.NotFound,
			"no snapshot 4")}, codes.OK, 1, "old was skipped: no snapshot 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t)
			script[*retrieverv1.ListNeighboursRequest](r, map[string]*retrieverv1.ListNeighboursResponse{"old": fine,
				"next": fine}, c.fails)
			got, err := r.ListNeighbours(r.reading(t, both...),
				&retrieverv1.ListNeighboursRequest{Kg: old, Entity: "e"})
			if status.Code(err) != c.code || len(got.GetTriples()) != c.triples {
				t.Errorf("got %v, %v", got, err)
			}
			if all := strings.Join(r.warnings, "; "); c.warns == "" && all != "" || !strings.Contains(all, c.warns) {
				t.Errorf("warned of %q", all)
			}
		})
	}
}

func TestARequestNamesOneKnowledgeGraphAndNothingOfTheOthers(t *testing.T) {
	r := newReader(t)
	var mu sync.Mutex
	var sent []string
	stagetest.Script(r.mesh, func(ctx context.Context, req *retrieverv1.FollowPathsRequest) (
		*retrieverv1.FollowPathsResponse, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		text := req.String()
		for key, values := range md {
			text += key + strings.Join(values, " ")
		}
		for _, name := range []string{"old", "next"} {
			if name != req.GetKg().GetName() && strings.Contains(text, `"`+name+`"`) {
				t.Errorf("%s was told of %s: %s", req.GetKg(), name, text)
			}
		}
		r := ""
		for _, p := range req.GetPaths() {
			r += p.GetSteps()[0].GetRelation()
		}
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, req.GetKg().GetName()+" "+r)
		return &retrieverv1.FollowPathsResponse{}, nil
	})
	path := func(relation, kg string) *graphv1.RelationPath {
		return &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: relation}}, KgName: kg}
	}
	req := &retrieverv1.FollowPathsRequest{Kg: old, TopicEntities: []string{"e"},
		Paths: []*graphv1.RelationPath{path("a", "old"), path("b", "next"), path("c", ""), path("d", "other")}}
	before := proto.Clone(req)
	one := &retrieverv1.FollowPathsRequest{Kg: old, TopicEntities: []string{"e"}, Paths: req.GetPaths()[:1]}
	for _, req := range []*retrieverv1.FollowPathsRequest{req, one} {
		if _, err := r.FollowPaths(r.reading(t, both...), req); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(sent)
	if want := []string{"next bc", "old a", "old ac"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q: labelled paths go to their own knowledge graph alone", sent, want)
	}
	if !proto.Equal(req, before) {
		t.Error("the caller's request was changed")
	}
}

func TestCallsThatAreNotMergedPassThrough(t *testing.T) {
	r := newReader(t)
	script[*retrieverv1.FindShortestPathsRequest](r,
		map[string]*retrieverv1.FindShortestPathsResponse{"old": {Truncated: true}}, nil)
	got, err := r.FindShortestPaths(r.reading(t, both...), &retrieverv1.FindShortestPathsRequest{Kg: old,
		From: []string{"a"},
		To:   []string{"b"}})
	if err != nil || !got.GetTruncated() || len(r.warnings) > 0 {
		t.Errorf("got %v, %v, %q", got, err, r.warnings)
	}
}

func TestNobodyWaitsForAnAnswerThatCameAfterTheCallerLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inner := &leaving{cancel: cancel}
	merged := sources.New(inner)
	_, err := merged.LinkEntities(sources.With(ctx, both, func(*llmv1.Warning) {}),
		&retrieverv1.LinkEntitiesRequest{Kg: old, Text: "?"})
	if status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
}

// leaving answers for one knowledge graph; at the other the caller leaves.
type leaving struct {
	retrieverv1.RetrieverServiceClient
	cancel context.CancelFunc
}

func (l *leaving) LinkEntities(_ context.Context, req *retrieverv1.LinkEntitiesRequest,
	_ ...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error) {
	if req.GetKg().GetName() == "old" {
		return &retrieverv1.LinkEntitiesResponse{}, nil
	}
	l.cancel()
	return nil, status.FromContextError(context.Canceled).Err()
}
