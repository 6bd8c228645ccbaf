package execute_test

import (
	"fmt"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// BenchmarkCount counts 100,000 rows: what is read, the scratch graph, and both runs of the engine.
func BenchmarkCount(b *testing.B) {
	triples := make([][3]string, 100_000)
	for i := range triples {
		triples[i] = [3]string{fmt.Sprintf("person %d", i), "born in", "Velmora"}
	}
	g := storetest.NewGraph(triples...)
	p := plan(count, "who", match(v("who"), "born in", e("Velmora")))
	b.ReportAllocs()
	for b.Loop() {
		got, err := execute.Run(b.Context(), g, p, 100, execute.Limits{})
		if err != nil || got.Value != "100000" {
			b.Fatalf("got %+v, %v", got, err)
		}
	}
}
