package retriever

import (
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

// BenchmarkShortestPaths connects the topic entities and the answers of WebQSP questions over gRPC,
// from the embedded store; a round is one question.
func BenchmarkShortestPaths(b *testing.B) {
	var requests []*retrieverv1.FindShortestPathsRequest
	jsonLines(b, "webqsp.jsonl", func(q struct {
		Topics  []string `json:"topic_entities"`
		Answers []string
	}) {
		if len(q.Topics) > 0 && len(q.Answers) > 0 {
			requests = append(requests, &retrieverv1.FindShortestPathsRequest{
				Kg: &graphv1.KnowledgeGraphRef{Name: "freebase"}, From: q.Topics,
				To: q.Answers[:min(len(q.Answers), 1024)],
			})
		}
	})
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
	joined, cut := 0, 0
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		resp, err := client.FindShortestPaths(b.Context(), requests[i%len(requests)])
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		if len(resp.GetPaths()) > 0 {
			joined++
		}
		if resp.GetTruncated() {
			cut++
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
	b.ReportMetric(100*float64(joined)/float64(len(took)), "%joined")
	b.ReportMetric(100*float64(cut)/float64(len(took)), "%truncated")
}
