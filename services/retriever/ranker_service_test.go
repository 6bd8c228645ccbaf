package retriever

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// ranking is a retriever over an embedded store with rankers.
type ranking struct {
	t      *testing.T
	graphs retrieverv1.KnowledgeGraphServiceClient
	paths  retrieverv1.RetrieverServiceClient
	stored *rankerStore
	log    *bytes.Buffer
}

const rankDims = 32

var rankedKG = &graphv1.KnowledgeGraphRef{Name: "rivers"}

// newRanking serves a graph of rivers to the tenants default and acme. The latter reads that of the
// former, if it is shared.
func newRanking(t *testing.T, shared bool) *ranking {
	t.Helper()
	dir := t.TempDir()
	own := embedded.NewTenants(dir)
	var tenants store.Tenants = own
	if shared {
		tenants = store.WithSharedGraphs(own, auth.DefaultTenant())
	}
	enc := storetest.HashEncoder(rankDims)
	service, err := New(tenants, enc, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	r := &ranking{t: t, log: &bytes.Buffer{}, stored: newRankerStore(filepath.Join(dir, ".rankers"))}
	service.rankers.stored, service.rankers.log = r.stored, slog.New(slog.NewTextHandler(r.log, nil))
	service.rankers.shipped = nil
	if shared {
		service.rankers.sharedBy = auth.DefaultTenant()
	}
	knowledgeGraphs := NewKnowledgeGraphs(tenants, enc, t.TempDir())
	knowledgeGraphs.rankers = &service.rankers
	server := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
			handle grpc.UnaryHandler) (any, error) {
			return handle(auth.WithTenant(ctx, callingTenant(ctx)), req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
			handle grpc.StreamHandler) error {
			return handle(srv, ofTenant{stream, callingTenant(stream.Context())})
		}),
	)
	service.Register(server)
	knowledgeGraphs.Register(server)
	listener := bufconn.Listen(1 << 20)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///memory",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := errors.Join(<-served, own.Close()); err != nil {
			t.Error(err)
		}
	})
	r.graphs, r.paths = retrieverv1.NewKnowledgeGraphServiceClient(conn), retrieverv1.NewRetrieverServiceClient(conn)
	r.load(t.Context())
	return r
}

func callingTenant(ctx context.Context) auth.Tenant {
	md, _ := metadata.FromIncomingContext(ctx)
	if len(md.Get("tenant")) == 0 {
		return auth.DefaultTenant()
	}
	tenant, err := auth.ParseTenant(md.Get("tenant")[0])
	if err != nil {
		panic(err)
	}
	return tenant
}

func asAcme(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "tenant", "acme")
}

func (r *ranking) load(ctx context.Context) {
	r.t.Helper()
	stream, err := r.graphs.LoadKnowledgeGraph(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	facts := "Rhine\tmouth\tNorth Sea\nRhine\tcountry\tGermany\nGermany\tcapital\tBerlin\n"
	for _, m := range []*retrieverv1.LoadKnowledgeGraphRequest{
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_Header{Header: &retrieverv1.LoadHeader{Kg: rankedKG}}},
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_File{File: &retrieverv1.FileHeader{Name: "facts.tsv"}}},
		{Part: &retrieverv1.LoadKnowledgeGraphRequest_Chunk{Chunk: []byte(facts)}},
	} {
		if err := stream.Send(m); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		r.t.Fatal(err)
	}
}

// riverWeights are weights that know the relations of the rivers.
func riverWeights(change func(*rank.Weights)) *rank.Weights {
	matrix := func(height, width int) [][]float32 {
		m := make([][]float32, height)
		for i := range m {
			m[i] = make([]float32, width)
		}
		return m
	}
	ones := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	m := matrix(2, rankDims)
	w := &rank.Weights{Encoder: storetest.HashEncoder(rankDims).Name(), Dims: rankDims, Values: rank.ValueNames[:],
		Networks: []rank.Network{{Mean: make([]float32, rank.ValueCount), Deviation: ones(rank.ValueCount),
			Linear:        make([]float32, rank.ValueCount),
			QuestionSteps: m, QuestionEnds: m, StepMean: m, StepFirst: m, StepLast: m, Profile: m}}, Temperature: 1,
		Provenance: rank.Provenance{Questions: []string{"q.jsonl"}, Graphs: []string{"rivers@1"}, Trained: 40, Held: 10,
			First: .9, FirstBefore: .5}}
	for _, relation := range []string{"mouth", "country", "capital"} {
		w.Relations = append(w.Relations, rank.HashRelation(relation))
	}
	change(w)
	return w
}

func rankerFile(t *testing.T, w *rank.Weights) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// trained returns the file of a ranker that differs from others by its number of questions.
func trained(t *testing.T, questions int) []byte {
	t.Helper()
	return rankerFile(t, riverWeights(func(w *rank.Weights) { w.Provenance.Trained = questions }))
}

func (r *ranking) create(ctx context.Context, file []byte, activate bool) (*retrieverv1.RankerInfo, error) {
	r.t.Helper()
	stream, err := r.graphs.CreateRanker(ctx)
	if err != nil {
		return nil, err
	}
	messages := []*retrieverv1.CreateRankerRequest{{Part: &retrieverv1.CreateRankerRequest_Header{
		Header: &retrieverv1.RankerHeader{Kg: rankedKG, Activate: activate}}}}
	for len(file) > 0 {
		n := min(len(file), 1000)
		messages = append(messages, &retrieverv1.CreateRankerRequest{
			Part: &retrieverv1.CreateRankerRequest_Chunk{Chunk: file[:n]}})
		file = file[n:]
	}
	for _, m := range messages {
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	resp, err := stream.CloseAndRecv()
	return resp.GetRanker(), err
}

func (r *ranking) activate(ctx context.Context, number uint64) error {
	_, err := r.graphs.ActivateRanker(ctx, &retrieverv1.ActivateRankerRequest{Kg: rankedKG, Number: number})
	return err
}

func (r *ranking) remove(ctx context.Context, number uint64) error {
	_, err := r.graphs.DeleteRanker(ctx, &retrieverv1.DeleteRankerRequest{Kg: rankedKG, Number: number})
	return err
}

// mustCreate creates and activates a ranker.
func (r *ranking) mustCreate(questions int) uint64 {
	r.t.Helper()
	info, err := r.create(r.t.Context(), trained(r.t, questions), true)
	if err != nil {
		r.t.Fatal(err)
	}
	return info.GetNumber()
}

// isRanked reports whether a ranker ranks paths.
func (r *ranking) isRanked(ctx context.Context) bool {
	r.t.Helper()
	resp, err := r.paths.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{Kg: rankedKG,
		Question: "what country is the Rhine in", TopicEntities: []string{"Rhine"}})
	if err != nil || len(resp.GetPaths()) == 0 {
		r.t.Fatalf("no paths: %v", err)
	}
	return resp.GetPaths()[0].Probability != nil
}

// exported returns the number of questions of the ranker that ranks, 0 if there is none.
func (r *ranking) exported(ctx context.Context) int {
	r.t.Helper()
	stream, err := r.graphs.ExportRanker(ctx, &retrieverv1.ExportRankerRequest{Kg: rankedKG})
	var all []byte
	for err == nil {
		var m *retrieverv1.ExportRankerResponse
		m, err = stream.Recv()
		all = append(all, m.GetChunk()...)
	}
	if status.Code(err) == codes.NotFound {
		return 0
	}
	if !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
	w, err := rank.Read(bytes.NewReader(all))
	if err != nil {
		r.t.Fatal(err)
	}
	return w.Provenance.Trained
}

func (r *ranking) path(number string) string {
	return filepath.Join(r.stored.dir, "default", "rivers", number)
}

func TestRankersAreActivatedAndRolledBack(t *testing.T) {
	r := newRanking(t, false)
	ctx := t.Context()
	if r.isRanked(ctx) || r.exported(ctx) != 0 {
		t.Fatal("a graph without a ranker is ranked by one")
	}
	first, err := r.create(ctx, trained(t, 41), false)
	if err != nil || first.GetNumber() != 1 || first.GetActive() || r.isRanked(ctx) {
		t.Fatalf("without activation: %v, %v", first, err)
	}
	if err := r.activate(ctx, 1); err != nil || !r.isRanked(ctx) || r.exported(ctx) != 41 {
		t.Fatalf("the first ranker does not rank: %v", err)
	}
	second, err := r.create(ctx, trained(t, 42), true)
	if err != nil || second.GetNumber() != 2 || !second.GetActive() || second.GetTrained() != 42 ||
		second.GetRelations() != 3 || second.GetEncoder() != storetest.HashEncoder(rankDims).Name() ||
		second.GetFirst() != .9 || second.GetFirstBefore() != .5 || r.exported(ctx) != 42 {
		t.Fatalf("the second: %v, %v", second, err)
	}
	again, err := r.create(ctx, trained(t, 41), false)
	if err != nil || again.GetNumber() != 1 {
		t.Errorf("a ranker that is stored already became %v, %v", again, err)
	}
	if err := r.remove(ctx, 2); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("the active ranker was deleted: %v", err)
	}
	for _, want := range []int{41, 0} {
		if _, err := r.graphs.RollbackRanker(ctx, &retrieverv1.RollbackRankerRequest{Kg: rankedKG}); err != nil ||
			r.exported(ctx) != want || r.isRanked(ctx) != (want > 0) {
			t.Errorf("rolled back to %d: %v", r.exported(ctx), err)
		}
	}
	if _, err := r.graphs.RollbackRanker(ctx, &retrieverv1.RollbackRankerRequest{Kg: rankedKG}); status.Code(err) !=
		codes.FailedPrecondition {
		t.Errorf("a rollback without a ranker: %v", err)
	}
	if err := r.remove(ctx, 1); err != nil {
		t.Error(err)
	}
	if err := r.remove(ctx, 1); status.Code(err) != codes.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if third := r.mustCreate(43); third != 3 {
		t.Errorf("the third ranker is number %d", third)
	}
	page, err := r.graphs.ListRankers(ctx, &retrieverv1.ListRankersRequest{KgName: "rivers", PageSize: 1})
	if err != nil || len(page.GetRankers()) != 1 || page.GetRankers()[0].GetNumber() != 3 {
		t.Fatalf("listed %v, %v", page, err)
	}
	page, err = r.graphs.ListRankers(ctx, &retrieverv1.ListRankersRequest{KgName: "rivers",
		PageToken: page.GetNextPageToken()})
	if err != nil || len(page.GetRankers()) != 1 || page.GetRankers()[0].GetNumber() != 2 ||
		page.GetNextPageToken() != "" {
		t.Errorf("the second page is %v, %v", page, err)
	}
}

func TestUnusableRankersAreRefusedByName(t *testing.T) {
	r := newRanking(t, false)
	whole := trained(t, 41)
	nan := riverWeights(func(w *rank.Weights) { w.Networks[0].Linear[3] = float32(math.NaN()) })
	for _, c := range []struct {
		name string
		file []byte
		says string
	}{
		{"nothing", nil, "no ranker of this version"},
		{"another file", []byte("PK\x03\x04 and some more than forty bytes of a file that is no ranker"),
			"no ranker of this version"},
		{"truncated", whole[:len(whole)/2], "checksum mismatch"},
		{"a flipped bit", append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1), "checksum mismatch"},
		{"a value that is no number", rankerFile(t, nan), "linear: a value is no number"},
		{"another encoder", rankerFile(t, riverWeights(func(w *rank.Weights) { w.Encoder = "other" })),
			`it reads vectors of the encoder "other"`},
		{"other values", rankerFile(t, riverWeights(func(w *rank.Weights) { w.Values = w.Values[1:] })),
			"train it again"},
		{"relations of another graph",
			rankerFile(t, riverWeights(func(w *rank.Weights) { w.Relations = []uint64{1, 2} })),
			"snapshot rivers@1 has none of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.create(t.Context(), c.file, true)
			if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	if list, err := r.graphs.ListRankers(t.Context(), &retrieverv1.ListRankersRequest{KgName: "rivers"}); err != nil ||
		len(list.GetRankers()) > 0 {
		t.Errorf("stored %v, %v", list, err)
	}
	stream, err := r.graphs.CreateRanker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("without a header: %v", err)
	}
}

func TestAnotherProcessActivatesARanker(t *testing.T) {
	r := newRanking(t, false)
	for _, questions := range []int{41, 42} {
		if _, err := r.create(t.Context(), trained(t, questions), true); err != nil {
			t.Fatal(err)
		}
	}
	other := newRankerStore(r.stored.dir)
	for _, number := range []uint64{1, 2, 1} {
		set := rankerSet{auth.DefaultTenant(), "rivers"}
		if err := other.activate(set, number, func(*rank.Ranker) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := r.exported(t.Context()); got != 40+int(number) {
			t.Errorf("ranker %d is active, that of %d questions ranks", number, got)
		}
	}
}

func TestASnapshotOfUnknownRelationsHasNoRanker(t *testing.T) {
	for relation, want := range map[string]bool{"country": true, "director": false} {
		snap := storetest.NewGraph([3]string{"Rhine", relation, "Germany"})
		ranker, err := rank.New(riverWeights(func(w *rank.Weights) { w.Encoder = snap.Info().Encoder }))
		if err != nil {
			t.Fatal(err)
		}
		r := rankers{shipped: ranker}
		for range 2 { // the second time from the cache
			if got := r.forSnapshot(t.Context(), snap) != nil; got != want {
				t.Errorf("a graph of the relation %s has a ranker: %v, want %v", relation, got, want)
			}
		}
	}
}

func TestTheLastGoodRankerStays(t *testing.T) {
	damages := map[string]func(t *testing.T, path string){
		"truncated": func(t *testing.T, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		},
		"deleted": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"made for another encoder": func(t *testing.T, path string) {
			other := rankerFile(t, riverWeights(func(w *rank.Weights) { w.Encoder = "other" }))
			if err := os.WriteFile(path, other, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			r := newRanking(t, false)
			r.mustCreate(41)
			r.mustCreate(42)
			damage(t, r.path("2.ranker"))
			for range 3 {
				if got := r.exported(t.Context()); got != 41 || !r.isRanked(t.Context()) {
					t.Fatalf("the ranker of %d questions ranks, want that of 41", got)
				}
			}
			if said := r.log.String(); strings.Count(said, logRankerRefused) != 1 ||
				!strings.Contains(said, "ranker=2") || !strings.Contains(said, "kg=rivers") {
				t.Errorf("logged %s", said)
			}
			damage(t, r.path("1.ranker"))
			if r.isRanked(t.Context()) {
				t.Error("a damaged ranker ranks")
			}
		})
	}
	t.Run("an unreadable CURRENT", func(t *testing.T) {
		r := newRanking(t, false)
		r.mustCreate(41)
		if err := os.WriteFile(r.path("CURRENT"), []byte(`{"active": 2}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if r.isRanked(t.Context()) || !strings.Contains(r.log.String(), "activate a ranker to rewrite it") {
			t.Errorf("logged %s", r.log.String())
		}
		if err := r.activate(t.Context(), 1); err != nil || !r.isRanked(t.Context()) {
			t.Errorf("activating again: %v", err)
		}
	})
}

func TestADamagedRankerIsListedWithItsDefect(t *testing.T) {
	r := newRanking(t, false)
	r.mustCreate(41)
	if err := os.Truncate(r.path("1.ranker"), 100); err != nil {
		t.Fatal(err)
	}
	list, err := r.graphs.ListRankers(t.Context(), &retrieverv1.ListRankersRequest{KgName: "rivers"})
	if err != nil || len(list.GetRankers()) != 1 || !strings.Contains(list.GetRankers()[0].GetDefect(), "checksum") {
		t.Errorf("listed %v, %v", list, err)
	}
}

func TestRankersBelongToTheirTenant(t *testing.T) {
	r := newRanking(t, false)
	acme := asAcme(t.Context())
	r.load(acme)
	r.mustCreate(41)
	if r.isRanked(acme) || r.exported(acme) != 0 {
		t.Error("another tenant's ranker ranks")
	}
	if err := r.activate(acme, 1); status.Code(err) != codes.NotFound {
		t.Errorf("another tenant's ranker was activated: %v", err)
	}
	list, err := r.graphs.ListRankers(acme, &retrieverv1.ListRankersRequest{KgName: "rivers"})
	if err != nil || len(list.GetRankers()) > 0 {
		t.Errorf("another tenant's rankers are listed: %v, %v", list, err)
	}
}

func TestASharedGraphIsRankedByItsOwnersRankerUntilOneHasItsOwn(t *testing.T) {
	r := newRanking(t, true)
	r.mustCreate(41)
	acme := asAcme(t.Context())
	if !r.isRanked(acme) || r.exported(acme) != 41 {
		t.Error("the owner's ranker does not rank")
	}
	if _, err := r.create(acme, trained(t, 42), true); err != nil || r.exported(acme) != 42 ||
		r.exported(t.Context()) != 41 {
		t.Errorf("the tenant's own ranker does not rank: %v", err)
	}
	if _, err := r.graphs.RollbackRanker(acme, &retrieverv1.RollbackRankerRequest{Kg: rankedKG}); err != nil {
		t.Fatal(err)
	}
	r.load(acme) // a graph of its own, of the same name
	if r.isRanked(acme) {
		t.Error("the ranker of a shared graph ranks another")
	}
}

func TestDroppingAGraphDropsItsRankers(t *testing.T) {
	r := newRanking(t, false)
	r.mustCreate(41)
	if _, err := r.graphs.DropKnowledgeGraph(t.Context(),
		&retrieverv1.DropKnowledgeGraphRequest{Kg: rankedKG}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.path("")); !os.IsNotExist(err) {
		t.Errorf("rankers are left: %v", err)
	}
	if _, err := r.create(t.Context(), trained(t, 42), false); status.Code(err) != codes.NotFound {
		t.Errorf("a ranker of no graph: %v", err)
	}
}
