package retriever

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func rivers() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"Rhine", "mouth", "North Sea"},
		[3]string{"Rhine", "country", "Germany"},
		[3]string{"Rhine", "country", "Netherlands"},
		[3]string{"Germany", "capital", "Berlin"},
		[3]string{"Netherlands", "capital", "Amsterdam"},
		[3]string{"Main", "tributary of", "Rhine"},
	).WithAlias("Rhine", "Rhein")
}

// dial serves a Service over an in-memory connection, behind the interceptors of every stage.
func dial(t testing.TB, graphs storetest.GraphReader, enc encoder.Encoder) retrieverv1.RetrieverServiceClient {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	cfg := server.DefaultConfig("in memory:0")
	cfg.Listener = listener
	srv, err := server.New(cfg, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	service, err := New(storetest.TenantsOver(graphs), enc, nil, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	service.Register(srv.Registrar())
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx) }()
	conn, err := grpc.NewClient("passthrough:///retriever", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return listener.DialContext(ctx)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return retrieverv1.NewRetrieverServiceClient(conn)
}

var kg = &graphv1.KnowledgeGraphRef{Name: "test"}

func line(t *graphv1.Triple) string {
	return t.GetSubject() + " | " + t.GetRelation() + " | " + t.GetObject()
}

func TestGroundGraph(t *testing.T) {
	g := rivers()
	client := dial(t, g, &storetest.WordEncoder{})
	resp, err := client.GroundGraph(t.Context(), &retrieverv1.GroundGraphRequest{
		Kg: kg, Question: "Where is the mouth of the Rhine?",
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: "rhine", Relation: "mouth",
			Object: "Atlantic"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetKg().GetSnapshot() != 1 || g.Released != 1 {
		t.Errorf("snapshot %v read, released %d times; want 1 and once", resp.GetKg(), g.Released)
	}
	subjects := resp.GetGroundGraph().GetSubjects()
	if len(subjects) == 0 || subjects[0].GetSubject() != "Rhine" {
		t.Fatalf("subjects %v, want Rhine first", subjects)
	}
	best := subjects[0].GetTriples()[0]
	if line(best.GetTriple()) != "Rhine | mouth | North Sea" || len(best.GetPseudoTripleScores()) != 1 ||
		best.GetQuestionScore() <= 0 {
		t.Errorf("best triple %v", best)
	}
	for _, d := range resp.GetDropped() {
		if d.GetReason() == graphv1.DropReason_DROP_REASON_UNSPECIFIED {
			t.Errorf("dropped %v for no reason", d)
		}
	}
}

func TestGroundingOptionsOverrideThePreset(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	one, none := uint32(1), float32(1)
	for name, tt := range map[string]struct {
		options  *retrieverv1.GroundingOptions
		subjects int
		hits     int
	}{
		"top k and max subjects": {&retrieverv1.GroundingOptions{TopK: &one, MaxSubjects: &one,
			MinConfidence: new(float32)}, 1, 2}, // one found, one more of the river that the question names
		"a threshold nothing can reach": {&retrieverv1.GroundingOptions{MinConfidence: &none}, 0, 6},
		"the paper's threshold and rule": {&retrieverv1.GroundingOptions{Preset: retrieverv1.Preset_PRESET_PAPER}, 0,
			6},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := client.GroundGraph(t.Context(), &retrieverv1.GroundGraphRequest{Kg: kg,
				Question: "Rhine mouth", Options: tt.options})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(resp.GetGroundGraph().GetSubjects()); got != tt.subjects || len(resp.GetHits()) != tt.hits {
				t.Errorf("%d subjects and %d hits, want %d and %d", got, len(resp.GetHits()), tt.subjects, tt.hits)
			}
		})
	}
}

func TestSuggestedPathsCanBeFollowed(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	suggested, err := client.SuggestPaths(t.Context(), &retrieverv1.SuggestPathsRequest{
		Kg: kg, Question: "capital of the country of the Rhine", TopicEntities: []string{"Rhine", "Nile"}, Limit: 1,
		Proposed: []*graphv1.RelationPath{{Steps: []*graphv1.RelationStep{{Relation: "country"},
			{Relation: "capital"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(suggested.GetUnknownEntities(), []string{"Nile"}) || len(suggested.GetPaths()) != 1 {
		t.Fatalf("got %v", suggested)
	}
	if p := suggested.GetPaths()[0]; p.GetEnds() != 2 || !slices.Equal(p.GetTopicEntities(), []string{"Rhine"}) {
		t.Errorf("path %v, want two ends from the Rhine", p)
	}
	followed, err := client.FollowPaths(t.Context(), &retrieverv1.FollowPathsRequest{
		Kg: kg, TopicEntities: []string{"Rhine", "Nile"},
		Paths: append(suggested.GetPaths(),
			&graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: "no such relation"}}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range followed.GetPaths() {
		got = append(got, strings.Join(p.GetEntities(), " > "))
		if p.GetScore() != suggested.GetPaths()[0].GetScore() || len(p.GetSteps()) != 2 {
			t.Errorf("reasoning path %v", p)
		}
	}
	if want := []string{"Rhine > Germany > Berlin", "Rhine > Netherlands > Amsterdam"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(followed.GetUnknownEntities(), []string{"Nile"}) || followed.GetTruncated() {
		t.Errorf("unknown %q, truncated %v", followed.GetUnknownEntities(), followed.GetTruncated())
	}
}

func TestSearch(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	triples, err := client.SearchTriples(t.Context(), &retrieverv1.SearchTriplesRequest{Kg: kg,
		Queries: []string{"Germany capital Berlin", "mouth"}, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(triples.GetResults()) != 2 || len(triples.GetResults()[0].GetTriples()) != 2 ||
		line(triples.GetResults()[0].GetTriples()[0].GetTriple()) != "Germany | capital | Berlin" {
		t.Errorf("triples %v", triples)
	}
	relations, err := client.SearchRelations(t.Context(), &retrieverv1.SearchRelationsRequest{Kg: kg,
		Queries: []string{"capital"}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r := relations.GetResults()[0].GetRelations(); len(r) != 1 || r[0].GetRelation() != "capital" ||
		r[0].GetTriples() != 2 || r[0].GetScore() < 0.99 {
		t.Errorf("relations %v", r)
	}
}

func TestNeighbours(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	tests := []struct {
		name  string
		req   *retrieverv1.ListNeighboursRequest
		want  []string
		total uint64
	}{
		{"both directions, outgoing first", &retrieverv1.ListNeighboursRequest{Entity: "Rhine"},
			[]string{"Rhine | country | Germany", "Rhine | country | Netherlands", "Rhine | mouth | North Sea",
				"Main | tributary of | Rhine"}, 4},
		{"incoming alone", &retrieverv1.ListNeighboursRequest{Entity: "Rhine",
			Direction: retrieverv1.Direction_DIRECTION_IN}, []string{"Main | tributary of | Rhine"}, 1},
		{"one relation", &retrieverv1.ListNeighboursRequest{Entity: "Rhine", Relations: []string{"mouth", "no such"}},
			[]string{"Rhine | mouth | North Sea"}, 1},
		{"no known relation", &retrieverv1.ListNeighboursRequest{Entity: "Rhine", Relations: []string{"no such"}}, nil,
			0},
		{"a limit leaves the total", &retrieverv1.ListNeighboursRequest{Entity: "Rhine", Limit: 1},
			[]string{"Rhine | country | Germany"}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Kg = kg
			resp, err := client.ListNeighbours(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, triple := range resp.GetTriples() {
				got = append(got, line(triple))
			}
			if !slices.Equal(got, tt.want) || resp.GetTotal() != tt.total {
				t.Errorf("got %q of %d, want %q of %d", got, resp.GetTotal(), tt.want, tt.total)
			}
		})
	}
}

func TestLinkEntities(t *testing.T) {
	client := dial(t, rivers(), &storetest.WordEncoder{})
	resp, err := client.LinkEntities(t.Context(), &retrieverv1.LinkEntitiesRequest{Kg: kg,
		Text: "Where does the Rhein end?"})
	if err != nil {
		t.Fatal(err)
	}
	if l := resp.GetLinks(); len(l) != 1 || l[0].GetEntity() != "Rhine" || l[0].GetMention() != "Rhein" ||
		l[0].GetMatch() != graphv1.LinkMatch_LINK_MATCH_ALIAS {
		t.Errorf("links %v, want Rhine by its alias", l)
	}
}

// faulty is a store whose graph cannot be opened.
type faulty struct {
	*storetest.Graph
	err error
}

func (f faulty) Open(context.Context, string, uint64) (store.Snapshot, error) {
	return nil, &store.Error{Op: "open", KG: "test", Err: f.err}
}

// otherEncoder is an encoder with another name than the snapshot's.
type otherEncoder struct{ storetest.WordEncoder }

func (*otherEncoder) Name() string { return "other" }

func TestErrors(t *testing.T) {
	search := &retrieverv1.SearchTriplesRequest{Kg: kg, Queries: []string{"x"}}
	tests := []struct {
		name   string
		graphs storetest.GraphReader
		enc    encoder.Encoder
		call   func(context.Context, retrieverv1.RetrieverServiceClient) error
		code   codes.Code
		reason string
		says   string
	}{
		{
			"an unknown graph is not found, and the answer names those there are", rivers(), &storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.LinkEntities(ctx,
					&retrieverv1.LinkEntitiesRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "nowhere"}, Text: "x"})
				return err
			}, codes.NotFound, "KG_NOT_FOUND", "there are: test",
		},
		{
			"an unknown snapshot of a known graph is not found", rivers(), &storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.LinkEntities(ctx,
					&retrieverv1.LinkEntitiesRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "test", Snapshot: 7},
						Text: "x"})
				return err
			}, codes.NotFound, "KG_NOT_FOUND", "test@7",
		},
		{
			"a graph with no active snapshot is a failed precondition", faulty{rivers(), store.ErrNoActive},
			&storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.SearchTriples(ctx, search)
				return err
			}, codes.FailedPrecondition, "KG_NO_ACTIVE_SNAPSHOT", "activate",
		},
		{
			"a broken snapshot is data loss", faulty{rivers(), store.ErrCorrupt}, &storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.SearchTriples(ctx, search)
				return err
			}, codes.DataLoss, "KG_CORRUPT", "corrupt",
		},
		{
			"vectors of another encoder are not compared", rivers(), &otherEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.SearchTriples(ctx, search)
				return err
			}, codes.FailedPrecondition, "KG_OTHER_ENCODER", "load the knowledge graph again",
		},
		{
			"an encoder that fails keeps its code", rivers(),
			&storetest.WordEncoder{Err: status.Error(codes.Unavailable, "encoder is down")},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.SearchTriples(ctx, search)
				return err
			}, codes.Unavailable, "UNAVAILABLE", "encoder is down",
		},
		{
			"an unknown entity has no neighbours", rivers(), &storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: kg, Entity: "Nile"})
				return err
			}, codes.NotFound, "ENTITY_NOT_FOUND", "LinkEntities",
		},
		{
			"a request against the contract is refused", rivers(), &storetest.WordEncoder{},
			func(ctx context.Context, c retrieverv1.RetrieverServiceClient) error {
				_, err := c.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{Kg: kg})
				return err
			}, codes.InvalidArgument, "", "queries",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.call(t.Context(), dial(t, tt.graphs, tt.enc))
			st := status.Convert(err)
			if st.Code() != tt.code || !strings.Contains(st.Message(), tt.says) {
				t.Fatalf("got %v, want %v that says %q", err, tt.code, tt.says)
			}
			var reason string
			for _, d := range st.Details() {
				if info, ok := d.(*errdetails.ErrorInfo); ok {
					reason = info.GetReason()
				}
			}
			if tt.reason != "" && reason != tt.reason {
				t.Errorf("reason %q, want %q", reason, tt.reason)
			}
		})
	}
}

func TestConfigValidation(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	for name, spoil := range map[string]func(*Config){
		"store.dir":    func(c *Config) { c.Store.Dir = "" },
		"store.shared": func(c *Config) { c.Store.Shared = "../library" },
		"store.kind":   func(c *Config) { c.Store.Kind = "shoebox" },
		"encoder.kind": func(c *Config) { c.Encoder.Kind = "abacus" },
	} {
		cfg := DefaultConfig()
		spoil(&cfg)
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}

func TestDefaultConfigIsValid(t *testing.T) {
	if _, err := config.Load("retriever", DefaultConfig(), config.Sources{}); err != nil {
		t.Errorf("with nothing configured: %v", err)
	}
}

func TestRunNamesTheMissingFile(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Encoder.Vocabulary = "no such file"
	err := Run(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "no such file") || errors.Is(err, context.Canceled) {
		t.Errorf("error %v does not name the file", err)
	}
}
