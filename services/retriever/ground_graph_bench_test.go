package retriever

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/encodertest"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// BenchmarkGroundGraph grounds questions over Freebase one at a time, as the
// service answers them, encoding included; nothing is remembered from round to
// round. It reads
//
//	TRIPLEMESH_BENCH_STORE  a store that has the graph "freebase", made by the bundled encoder
//	TRIPLEMESH_BENCH_PSEUDO a file of {"question": …, "pseudo_graph": [[s, r, o], …]} lines
//
// and without them loads the graph with an encoder that knows letters alone,
// which leaves encoding out, and drafts one fact a question.
func BenchmarkGroundGraph(b *testing.B) {
	graphs, enc := benchmarkStore(b)
	ctx := auth.WithTenant(b.Context(), auth.DefaultTenant())
	requests := benchmarkRequests(b)
	var took []time.Duration
	var service *Service
	for i := 0; b.Loop(); i++ {
		if i%len(requests) == 0 {
			var err error
			if service, err = New(graphs, enc, nil, telemetry.Discard()); err != nil {
				b.Fatal(err)
			}
		}
		start := time.Now()
		if _, err := service.GroundGraph(ctx, requests[i%len(requests)]); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	for name, at := range map[string]int{"p50-ms": len(took) / 2, "p99-ms": len(took) * 99 / 100} {
		b.ReportMetric(float64(took[at].Microseconds())/1000, name)
	}
}

func benchmarkStore(b *testing.B) (store.Tenants, encoder.Encoder) {
	b.Helper()
	dir := os.Getenv("TRIPLEMESH_BENCH_STORE")
	enc := encodertest.Hash(384)
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
	tenants := embedded.NewTenants(dir)
	b.Cleanup(func() { _ = tenants.Close() })
	graphs, err := tenants.ForTenant(auth.DefaultTenant())
	if err != nil {
		b.Fatal(err)
	}
	snap, err := graphs.Open(b.Context(), "freebase", 0)
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
			Kg: &graphv1.KnowledgeGraphRef{Name: "freebase"}, Question: line.Question,
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
