//go:build cgo

package onnx

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

func newTest(tb testing.TB) *Encoder {
	e, err := New(Config{
		Library:    testkit.Cache(tb, "onnxruntime", "libonnxruntime.so"),
		Model:      testkit.Cache(tb, "encoder", "model.onnx"),
		Vocabulary: testkit.Cache(tb, "encoder", "vocab.txt"),
		Name:       "all-MiniLM-L6-v2",
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// sampleQueries are the queries of one question.
var sampleQueries = []string{
	"who wrote the novel that Blade Runner is based on?",
	"Blade Runner based on Do Androids Dream of Electric Sheep?",
	"Do Androids Dream of Electric Sheep? author Philip K. Dick",
	"Blade Runner based on", "Do Androids Dream of Electric Sheep? author",
	"Blade Runner director Ridley Scott", "Blade Runner director", "Philip K. Dick occupation writer",
}

func BenchmarkEncode(b *testing.B) {
	e := newTest(b)
	many := make([]string, 0, 2048)
	for len(many) < cap(many) {
		many = append(many, sampleQueries...)
	}
	for name, texts := range map[string][]string{"one": sampleQueries[:1], "eight": sampleQueries, "2048": many} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Encode(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}
