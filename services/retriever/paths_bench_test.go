package retriever

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// skipping is a benchmark that is left out where the shared data are not.
type skipping struct{ testing.TB }

func (s skipping) Fatalf(format string, args ...any) { s.Skipf(format, args...) }

// recordedRequests are requests with the plans of RoG's planner for each WebQSP
// question. They do not say which way a relation is gone, so each is followed
// all ways, as RoG's undirected graph does.
func recordedRequests(tb testing.TB) []*retrieverv1.FollowPathsRequest {
	topics := map[string][]string{}
	jsonLines(tb, "webqsp.jsonl", func(q struct {
		ID     string
		Topics []string `json:"topic_entities"`
	}) {
		topics[q.ID] = q.Topics
	})
	var requests []*retrieverv1.FollowPathsRequest
	jsonLines(tb, "webqsp_rog_paths.jsonl", func(q struct {
		ID    string
		Paths [][]string
	}) {
		req := &retrieverv1.FollowPathsRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "freebase"},
			TopicEntities: topics[q.ID]}
		for _, path := range q.Paths {
			if len(path) == 0 {
				continue
			}
			for ways := range 1 << len(path) {
				p := &graphv1.RelationPath{}
				for hop, name := range path {
					p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: name, Inverse: ways>>hop&1 == 1})
				}
				req.Paths = append(req.Paths, p)
			}
		}
		if len(req.GetPaths()) > 0 && len(req.GetTopicEntities()) > 0 {
			requests = append(requests, req)
		}
	})
	return requests
}

func jsonLines[T any](tb testing.TB, file string, each func(T)) {
	f, err := os.Open(testkit.SharedData(skipping{tb}, "freebase", file))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	for lines := json.NewDecoder(f); lines.More(); {
		var line T
		if err := lines.Decode(&line); err != nil {
			tb.Fatal(err)
		}
		each(line)
	}
}

// BenchmarkFollowPaths follows the recorded plans of WebQSP over gRPC, from the
// embedded store; a round are all of a question.
func BenchmarkFollowPaths(b *testing.B) {
	requests := recordedRequests(b)
	graphs := embedded.New(b.TempDir())
	b.Cleanup(func() { graphs.Close() })
	file := testkit.SharedData(skipping{b}, "freebase", "triples.tsv.gz")
	_, err := load.Files(b.Context(), graphs, &storetest.WordEncoder{}, []string{file},
		load.Options{KG: "freebase", Vectors: load.RelationVectors, Scratch: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	client := dial(b, graphs, &storetest.WordEncoder{})
	b.ReportAllocs()
	var took []time.Duration
	found := 0
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		resp, err := client.FollowPaths(b.Context(), requests[i%len(requests)])
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		found += len(resp.GetPaths())
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
	b.ReportMetric(float64(found)/float64(len(took)), "walks/op")
}
