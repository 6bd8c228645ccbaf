//go:build cgo

package onnx

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestVectorsMatchTheReference(t *testing.T) {
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Text   string
		Vector []float32
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	e := newTest(t)
	var texts []string
	for _, w := range want {
		texts = append(texts, w.Text)
	}
	got, err := e.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if len(got[i]) != e.Dims() || len(w.Vector) != e.Dims() {
			t.Fatalf("%.40q: %d dims, want %d", w.Text, len(got[i]), len(w.Vector))
		}
		for d := range w.Vector {
			if math.Abs(float64(got[i][d]-w.Vector[d])) > 1e-5 {
				t.Fatalf("%.40q: component %d is %v, want %v", w.Text, d, got[i][d], w.Vector[d])
			}
		}
		if length := cosine(got[i], got[i]); math.Abs(length-1) > 1e-5 {
			t.Errorf("%.40q: the vector has length %v", w.Text, math.Sqrt(length))
		}
	}
	if name := e.Name(); !strings.HasPrefix(name, "all-MiniLM-L6-v2@") || len(name) != len("all-MiniLM-L6-v2@")+8 {
		t.Errorf("the encoder is named %q", name)
	}
}

func TestVectorsDoNotDependOnTheBatch(t *testing.T) {
	e := newTest(t)
	alone, err := e.Encode(t.Context(), sampleQueries[:1])
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i := range 70 {
		texts = append(texts, strings.Repeat("beside ", i))
	}
	texts = append(texts, sampleQueries[0])
	beside, err := e.Encode(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if c := cosine(alone[0], beside[70]); c < 1-1e-5 {
		t.Errorf("cosine of one text alone and among others is %v", c)
	}
}

func TestEncodeOfNoTexts(t *testing.T) {
	if vectors, err := newTest(t).Encode(t.Context(), nil); err != nil || len(vectors) != 0 {
		t.Errorf("got %v, error %v", vectors, err)
	}
}

func TestEncodeStopsOnCancellation(t *testing.T) {
	e := newTest(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Encode(gone, sampleQueries); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who is gone already: %v", err)
	}
	// The texts below take minutes; cancelled in between, they must not.
	ctx, cancel := context.WithCancel(t.Context())
	texts := slices.Repeat([]string{strings.Repeat("long ", 300)}, 5000)
	busy := make(chan struct{})
	go func() {
		e.slots <- struct{}{} // between two batches, or before the first
		<-e.slots
		close(busy)
		cancel()
	}()
	if _, err := e.Encode(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who goes in between: %v", err)
	}
	<-busy
	if _, err := e.Encode(t.Context(), sampleQueries); err != nil {
		t.Errorf("the next caller: %v", err)
	}
}

func TestEncodersShareTheEnvironment(t *testing.T) {
	first, second := newTest(t), newTest(t)
	if first.Name() != second.Name() {
		t.Errorf("one model has two names: %s and %s", first.Name(), second.Name())
	}
	var group sync.WaitGroup
	for _, e := range []*Encoder{first, second, first, second} {
		group.Go(func() {
			for range 5 {
				if vectors, err := e.Encode(t.Context(), sampleQueries); err != nil || len(vectors) != 8 {
					t.Errorf("%d vectors, error %v", len(vectors), err)
				}
			}
		})
	}
	group.Wait()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := first.Encode(t.Context(), sampleQueries); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := second.Encode(t.Context(), sampleQueries); err != nil {
		t.Errorf("the other encoder: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if _, err := newTest(t).Encode(t.Context(), sampleQueries); err != nil {
		t.Errorf("an encoder after the last one was closed: %v", err)
	}
}

func TestNewNamesMissingFiles(t *testing.T) {
	whole := Config{
		Library:    testkit.Cache(t, "onnxruntime", "libonnxruntime.so"),
		Model:      testkit.Cache(t, "encoder", "model.onnx"),
		Vocabulary: testkit.Cache(t, "encoder", "vocab.txt"),
		Name:       "model",
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("this is no such file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		says   []string
	}{
		"no library": {func(c *Config) { c.Library = nowhere }, []string{"ONNX Runtime", nowhere,
			"triplemesh setup"}},
		"no model": {func(c *Config) { c.Model = nowhere }, []string{"model", nowhere, "triplemesh setup"}},
		"no vocabulary": {func(c *Config) { c.Vocabulary = nowhere }, []string{"vocabulary", nowhere,
			"triplemesh setup"}},
		"a broken library": {func(c *Config) { c.Library = garbage }, []string{"ONNX Runtime", garbage,
			"triplemesh setup"}},
		"a broken model":       {func(c *Config) { c.Model = garbage }, []string{garbage}},
		"a broken vocabulary":  {func(c *Config) { c.Vocabulary = garbage }, []string{garbage, "vocabulary"}},
		"a model without path": {func(c *Config) { c.Model = "" }, []string{"model", "triplemesh setup"}},
	} {
		cfg := whole
		c.change(&cfg)
		e, err := New(cfg)
		if err == nil {
			t.Errorf("%s: no error", name)
			_ = e.Close()
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not name %q", name, err, says)
			}
		}
	}
	held := newTest(t)
	other := whole
	other.Library = garbage
	if _, err := New(other); err == nil || !strings.Contains(err.Error(), "beside it") {
		t.Errorf("a second library in one process: %v", err)
	}
	if _, err := held.Encode(t.Context(), sampleQueries[:1]); err != nil {
		t.Errorf("the first encoder after that: %v", err)
	}
}

func TestPlan(t *testing.T) {
	for name, c := range map[string]struct {
		lengths []int
		workers int
		want    [][]int // lengths per batch
	}{
		"nothing":                          {nil, 2, nil},
		"one text":                         {[]int{5}, 2, [][]int{{5}}},
		"a few texts are split over cores": {[]int{4, 4, 4, 4}, 2, [][]int{{4, 4}, {4, 4}}},
		"by tokens, not by number":         {[]int{3, 12, 3, 3, 3}, 2, [][]int{{12}, {3, 3, 3, 3}}},
		"no more parts than texts":         {[]int{7, 9}, 4, [][]int{{9}, {7}}},
		"one core takes them together":     {[]int{7, 9, 8}, 1, [][]int{{9, 8, 7}}},
		"at most 32 stand in a batch": {slices.Repeat([]int{3}, 65), 1, [][]int{slices.Repeat([]int{3}, 22),
			slices.Repeat([]int{3}, 21), slices.Repeat([]int{3}, 22)}},
		"a long one does not drag others in": {[]int{256, 3, 3}, 2, [][]int{{256}, {3, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			tokens := make([][]int64, len(c.lengths))
			for i, n := range c.lengths {
				tokens[i] = make([]int64, n)
			}
			batches := plan(tokens, c.workers)
			seen := map[int]bool{}
			var got [][]int
			for _, b := range batches {
				var lengths []int
				for _, text := range b {
					if seen[text] {
						t.Errorf("text %d stands in two batches", text)
					}
					seen[text] = true
					lengths = append(lengths, c.lengths[text])
				}
				if len(b) > maxBatch {
					t.Errorf("a batch holds %d texts", len(b))
				}
				got = append(got, lengths)
			}
			if len(seen) != len(c.lengths) {
				t.Errorf("%d of %d texts are in a batch", len(seen), len(c.lengths))
			}
			if !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
