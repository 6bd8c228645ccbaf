package retriever

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
	"github.com/triplemesh/triplemesh/services/retriever/store/weaviate"
)

// BenchmarkGroundGraph grounds questions over Freebase one at a time.
func BenchmarkGroundGraph(b *testing.B) {
	benchmarkService(b, func(ctx context.Context, s *Service, r *groundRequest) (proto.Message, error) {
		return s.GroundGraph(ctx, r)
	})
}

// BenchmarkLinkEntities links the same questions.
func BenchmarkLinkEntities(b *testing.B) {
	benchmarkService(b, func(ctx context.Context, s *Service, r *groundRequest) (proto.Message, error) {
		return s.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: r.GetKg(), Text: r.GetQuestion()})
	})
}

// BenchmarkSuggestPaths suggests paths of up to 3 hops around the topic entities of the same questions.
func BenchmarkSuggestPaths(b *testing.B) {
	benchmarkService(b, func(ctx context.Context, s *Service, r *groundRequest) (proto.Message, error) {
		req := &retrieverv1.SuggestPathsRequest{Kg: r.GetKg(), Question: r.GetQuestion(), MaxHops: 3}
		for _, t := range r.GetPseudoGraph().GetTriples() {
			req.TopicEntities = append(req.TopicEntities, t.GetSubject())
		}
		return s.SuggestPaths(ctx, req)
	})
}

type groundRequest = retrieverv1.GroundGraphRequest

// benchmarkService asks one question after another, as the service answers them, encoding included;
// nothing is remembered from round to round. It reads
//
//	TRIPLEMESH_BENCH_STORE  a store that has the graph, made by the bundled encoder; with WEAVIATE_GRPC and
//	                        WEAVIATE_HTTP (host:port,…) a directory for what is fetched from that cluster
//	TRIPLEMESH_BENCH_KG     the graph, "freebase" unless it is set
//	TRIPLEMESH_BENCH_PSEUDO a file of {"question": …, "pseudo_graph": [[s, r, o], …]} lines
//
// and without them loads the graph with an encoder that knows letters alone,
// which leaves encoding out, and drafts one fact a question. It reports processor time as well,
// which other work on the machine changes less than latency, and the checksum of all responses: two
// versions of the code that print the same one answer alike.
func benchmarkService(b *testing.B,
	ask func(context.Context, *Service, *groundRequest) (proto.Message, error)) {
	graphs, enc := benchmarkStore(b)
	ctx := auth.WithTenant(b.Context(), auth.DefaultTenant())
	requests := benchmarkRequests(b)
	shipped, err := rank.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	var took, busy []time.Duration
	var service *Service
	responses := sha256.New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(requests) == 0 {
			if service, err = New(graphs, enc, nil, telemetry.Discard()); err != nil {
				b.Fatal(err)
			}
			service.SetRanker(shipped)
		}
		start, used := time.Now(), processorTime(b)
		resp, err := ask(ctx, service, requests[i%len(requests)])
		if err != nil {
			b.Fatal(err)
		}
		took, busy = append(took, time.Since(start)), append(busy, processorTime(b)-used)
		if i < len(requests) {
			message, err := proto.MarshalOptions{Deterministic: true}.Marshal(resp)
			if err != nil {
				b.Fatal(err)
			}
			responses.Write(message)
		}
	}
	if len(took) >= len(requests) {
		b.Logf("checksum of %d responses: %x", len(requests), responses.Sum(nil)[:8])
	}
	for name, times := range map[string][]time.Duration{"ms": took, "cpu-ms": busy} {
		slices.Sort(times)
		for rank, at := range map[string]int{"p50-": len(times) / 2, "p99-": len(times) * 99 / 100} {
			b.ReportMetric(float64(times[at].Microseconds())/1000, rank+name)
		}
	}
	var total time.Duration
	for _, t := range busy {
		total += t
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(len(busy)), "cpu-ms/op")
}

// processorTime is the time that all cores have worked for this process.
func processorTime(b *testing.B) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func benchmarkGraph() string { return cmp.Or(os.Getenv("TRIPLEMESH_BENCH_KG"), "freebase") }

func benchmarkStore(b *testing.B) (store.Tenants, encoder.Encoder) {
	b.Helper()
	dir := os.Getenv("TRIPLEMESH_BENCH_STORE")
	enc := storetest.HashEncoder(384)
	if dir != "" {
		cfg := defaultEncoder()
		cfg.Library = testkit.Cache(b, "onnxruntime", "libonnxruntime.so")
		cfg.Vocabulary, cfg.File = testkit.Cache(b, "encoder", "vocab.txt"), testkit.Cache(b, "encoder", "model.onnx")
		model, closeModel, err := newEncoder(b.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = closeModel() })
		enc = model
	}
	if dir == "" {
		dir = b.TempDir()
	}
	tenants := benchmarkTenants(b, dir)
	graphs, err := tenants.ForTenant(auth.DefaultTenant())
	if err != nil {
		b.Fatal(err)
	}
	snap, err := graphs.Open(b.Context(), benchmarkGraph(), 0)
	if err == nil {
		snap.Release()
		return tenants, enc
	}
	if os.Getenv("TRIPLEMESH_BENCH_STORE") != "" {
		b.Fatal(err)
	}
	file := testkit.SharedData(b, "freebase", "triples.tsv.gz")
	if _, err := load.Files(b.Context(), graphs, enc, []string{file},
		load.Options{KG: "freebase", Vectors: load.AllVectors}); err != nil {
		b.Fatal(err)
	}
	return tenants, enc
}

func benchmarkTenants(b *testing.B, dir string) store.Tenants {
	b.Helper()
	if os.Getenv("WEAVIATE_GRPC") == "" {
		tenants := embedded.NewTenants(dir)
		b.Cleanup(func() { _ = tenants.Close() })
		return tenants
	}
	cfg := weaviate.DefaultConfig()
	cfg.GRPC, cfg.Dir = strings.Split(os.Getenv("WEAVIATE_GRPC"), ","), dir
	for _, host := range strings.Split(os.Getenv("WEAVIATE_HTTP"), ",") {
		cfg.HTTP = append(cfg.HTTP, "http://"+host)
	}
	tenants, err := weaviate.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = tenants.Close() })
	return tenants
}

func benchmarkRequests(b *testing.B) []*retrieverv1.GroundGraphRequest {
	b.Helper()
	path := os.Getenv("TRIPLEMESH_BENCH_PSEUDO")
	if path == "" {
		path = testkit.SharedData(b, "freebase", "simplequestions.jsonl")
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var requests []*retrieverv1.GroundGraphRequest
	for lines := bufio.NewScanner(file); lines.Scan() && len(requests) < 200; {
		var line struct {
			Question      string      `json:"question"`
			PseudoGraph   [][3]string `json:"pseudo_graph"`
			TopicEntities []string    `json:"topic_entities"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatalf("%s: %v", path, err)
		}
		for _, topic := range line.TopicEntities {
			line.PseudoGraph = append(line.PseudoGraph, [3]string{topic, line.Question, "unknown"})
		}
		request := &retrieverv1.GroundGraphRequest{
			Kg: &graphv1.KnowledgeGraphRef{Name: benchmarkGraph()}, Question: line.Question,
			PseudoGraph: &graphv1.PseudoGraph{},
		}
		for _, t := range line.PseudoGraph {
			request.PseudoGraph.Triples = append(request.PseudoGraph.Triples, &graphv1.Triple{Subject: t[0],
				Relation: t[1], Object: t[2]})
		}
		requests = append(requests, request)
	}
	return requests
}
