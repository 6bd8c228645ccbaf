package bert

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

func newTest(tb testing.TB) *Encoder {
	e, err := New(Config{
		Model:      testkit.Cache(tb, "encoder", "model.onnx"),
		Vocabulary: testkit.Cache(tb, "encoder", "vocab.txt"),
		Name:       "all-MiniLM-L6-v2",
		Threads:    2,
	})
	if err != nil {
		tb.Fatal(err)
	}
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

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestVectorsAreCloseToTheReference(t *testing.T) {
	data, err := os.ReadFile("../onnx/testdata/vectors.json")
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
	var texts []string
	for _, w := range want {
		texts = append(texts, w.Text)
	}
	e := newTest(t)
	eachKernels(t, func(t *testing.T, k *kernels) {
		e.kernels = k
		got, err := e.Encode(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if c := cosine(got[i], w.Vector); !(c > 0.999) || len(got[i]) != e.Dims() {
				t.Errorf("%.40q: cosine %v, %d dims", w.Text, c, len(got[i]))
			}
			if length := cosine(got[i], got[i]); length < 1-1e-5 || length > 1+1e-5 {
				t.Errorf("%.40q: the vector has length %v squared", w.Text, length)
			}
		}
	})
	if name := e.Name(); !strings.HasPrefix(name, "all-MiniLM-L6-v2-int8@") ||
		len(name) != len("all-MiniLM-L6-v2-int8@")+8 {
		t.Errorf("the encoder is named %q", name)
	}
}

func TestKernelsAgree(t *testing.T) {
	e := newTest(t)
	var ids [][]int64
	for _, text := range sampleQueries[5:] {
		ids = append(ids, e.tokenizer.Encode(text, maxTokens))
	}
	calibrated := func(k *kernels) *model {
		m, err := newModel(readTest(t, "model.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		m.calibrate(k, ids)
		return m
	}
	reference := calibrated(&portableKernels)
	want := reference.encode(&portableKernels, &workspace{}, ids)
	eachKernels(t, func(t *testing.T, k *kernels) {
		if k == &portableKernels {
			return
		}
		m := calibrated(k)
		if !slices.Equal(m.spares(), reference.spares()) {
			t.Error("the calibration is another: this processor's encoder would have a name of its own")
		}
		if got := m.encode(k, &workspace{}, ids); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("the vectors are others; cosine of the first %v", cosine(got[0], want[0]))
		}
	})
}

func readTest(t *testing.T, name string) []byte {
	data, err := os.ReadFile(testkit.Cache(t, "encoder", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVectorsDoNotDependOnTheBatch(t *testing.T) {
	e := newTest(t)
	eachKernels(t, func(t *testing.T, k *kernels) {
		e.kernels = k
		alone, err := e.Encode(t.Context(), sampleQueries[:1])
		if err != nil {
			t.Fatal(err)
		}
		for _, before := range []int{1, 5, 30} {
			var texts []string
			for i := range before {
				texts = append(texts, strings.Repeat("beside ", i))
			}
			texts = append(texts, sampleQueries[0], "behind", sampleQueries[0])
			beside, err := e.Encode(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(beside[before], alone[0]) || !slices.Equal(beside[before+2], alone[0]) {
				t.Errorf("behind %d texts the vector is another, with cosine %v", before,
					cosine(beside[before], alone[0]))
			}
		}
	})
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
	go func() {
		w := <-e.workspaces
		e.workspaces <- w
		cancel()
	}()
	if _, err := e.Encode(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who goes in between: %v", err)
	}
	if _, err := e.Encode(t.Context(), sampleQueries); err != nil {
		t.Errorf("the next caller: %v", err)
	}
}

func TestConcurrentCallersGetTheirOwnVectors(t *testing.T) {
	e := newTest(t)
	want, err := e.Encode(t.Context(), sampleQueries)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				got, err := e.Encode(t.Context(), sampleQueries)
				if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("other vectors than alone, error %v", err)
				}
			}
		})
	}
	group.Wait()
}

func TestNewNamesMissingFiles(t *testing.T) {
	whole := Config{Model: testkit.Cache(t, "encoder", "model.onnx"),
		Vocabulary: testkit.Cache(t, "encoder", "vocab.txt")}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("this is no such file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "vocab.txt")
	if err := os.WriteFile(long, append(readTest(t, "vocab.txt"), "onemore"...), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		says   []string
	}{
		"no model": {func(c *Config) { c.Model = nowhere },
			[]string{"model", nowhere, "triplemesh setup"}},
		"no vocabulary": {func(c *Config) { c.Vocabulary = nowhere }, []string{"vocabulary", nowhere,
			"triplemesh setup"}},
		"a broken model":             {func(c *Config) { c.Model = garbage }, []string{garbage, "ONNX"}},
		"a broken vocabulary":        {func(c *Config) { c.Vocabulary = garbage }, []string{garbage, "vocabulary"}},
		"another model's vocabulary": {func(c *Config) { c.Vocabulary = long }, []string{long, "size mismatch"}},
	} {
		cfg := whole
		c.change(&cfg)
		_, err := New(cfg)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not name %q", name, err, says)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		lengths []int
		workers int
		want    []part
	}{
		"nothing":                          {nil, 2, nil},
		"one text":                         {[]int{5}, 2, []part{{0, 1}}},
		"a few texts are split over cores": {[]int{12, 12, 12, 12}, 2, []part{{0, 2}, {2, 4}}},
		"by tokens, not by number":         {[]int{24, 6, 6, 6, 6}, 2, []part{{0, 1}, {1, 5}}},
		"too few tokens are not split":     {[]int{12, 12, 12}, 2, []part{{0, 3}}},
		"one core takes them together":     {[]int{7, 9, 8}, 1, []part{{0, 3}}},
		"many are split by size":           {slices.Repeat([]int{64}, 12), 1, []part{{0, 6}, {6, 12}}},
	} {
		t.Run(name, func(t *testing.T) {
			tokens := make([][]int64, len(c.lengths))
			for i, n := range c.lengths {
				tokens[i] = make([]int64, n)
			}
			if got := split(tokens, c.workers); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	e := newTest(b)
	many := slices.Repeat(sampleQueries, 256)
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
