package vectorcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// recordingEncoder is an encoder that remembers what it was asked for.
type recordingEncoder struct {
	name string
	dims int
	err  error

	mutex sync.Mutex
	calls [][]string
}

func (e *recordingEncoder) Name() string { return e.name }
func (e *recordingEncoder) Dims() int    { return e.dims }

func (e *recordingEncoder) Encode(_ context.Context, texts []string) ([][]float32, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.calls = append(e.calls, slices.Clone(texts))
	if e.err != nil {
		return nil, e.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = testVector(e, text)
	}
	return vectors, nil
}

// testVector differs from text to text and from encoder to encoder.
func testVector(e *recordingEncoder, text string) []float32 {
	v := make([]float32, e.dims)
	for i, b := range hashKey("vector of "+e.name, text) {
		v[i%e.dims] += float32(b)
	}
	return v
}

func withDefaultTenant(ctx context.Context) context.Context {
	return auth.WithTenant(ctx, auth.DefaultTenant())
}

func openCache(t testing.TB, dir string, options Options) *Cache {
	t.Helper()
	c, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// encodeAndCheck checks that every text gets its own vector, from wherever it comes.
func encodeAndCheck(t testing.TB, c *Cache, e *recordingEncoder, texts ...string) {
	t.Helper()
	vectors, err := c.Encoder(e).Encode(withDefaultTenant(t.Context()), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if !slices.Equal(vectors[i], testVector(e, text)) {
			t.Fatalf("%q has the vector %v, want %v", text, vectors[i], testVector(e, text))
		}
	}
}

func numberedTexts(from, to int) []string {
	var texts []string
	for i := from; i < to; i++ {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

func TestATextIsEncodedOnce(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	c := openCache(t, dir, Options{})
	encodeAndCheck(t, c, e)
	encodeAndCheck(t, c, e, "a", "b", "a")
	encodeAndCheck(t, c, e, "b", "c", "a", "d")
	encodeAndCheck(t, c, e, "d", "c")
	if want := [][]string{{"a", "b"}, {"c", "d"}}; !slices.EqualFunc(e.calls, want, slices.Equal) {
		t.Errorf("the encoder was asked for %q, want %q", e.calls, want)
	}
	s := c.Statistics()
	if want := (Statistics{Hits: 5, Misses: 4, Vectors: 4, Bytes: headerSize + 4*(recordSize+32)}); s != want {
		t.Errorf("statistics %+v, want %+v", s, want)
	}

	again := openCache(t, dir, Options{})
	encodeAndCheck(t, again, e, "a", "b", "c", "d")
	if len(e.calls) != 2 {
		t.Errorf("after opening the cache again the encoder was asked for %q", e.calls[2:])
	}
	if wrapped := again.Encoder(e); wrapped.Name() != "model" || wrapped.Dims() != 8 {
		t.Errorf("the wrapped encoder is %s of %d dims", wrapped.Name(), wrapped.Dims())
	}
}

func TestEncodersLieSideBySide(t *testing.T) {
	dir := t.TempDir()
	encoders := []*recordingEncoder{{name: "one", dims: 8}, {name: "two", dims: 8}, {name: "three", dims: 16},
		{name: "thr", dims: 16}}
	c := openCache(t, dir, Options{})
	for _, e := range encoders {
		encodeAndCheck(t, c, e, "a", "eea", "")
	}
	c = openCache(t, dir, Options{})
	for _, e := range encoders {
		encodeAndCheck(t, c, e, "a", "eea", "")
		if len(e.calls) != 1 {
			t.Errorf("%s was asked for %q", e.name, e.calls)
		}
	}
	t.Run("an encoder that changed its dims under its name is asked again", func(t *testing.T) {
		e := &recordingEncoder{name: "one", dims: 4}
		encodeAndCheck(t, c, e, "a")
		encodeAndCheck(t, c, e, "a")
		if len(e.calls) != 1 {
			t.Errorf("it was asked for %q", e.calls)
		}
	})
}

func TestAnEncoderThatFails(t *testing.T) {
	c := openCache(t, t.TempDir(), Options{})
	down := errors.New("down")
	e := &recordingEncoder{name: "model", dims: 4, err: down}
	if _, err := c.Encoder(e).Encode(withDefaultTenant(t.Context()), []string{"a"}); !errors.Is(err, down) {
		t.Errorf("error %v, want the encoder's", err)
	}
	e.err = nil
	encodeAndCheck(t, c, e, "a")

	for name, vectors := range map[string][][]float32{
		"too few vectors":    {},
		"a vector too short": {{1, 2}},
	} {
		if _, err := c.Encoder(&fixedEncoder{vectors}).Encode(withDefaultTenant(t.Context()),
			[]string{name}); err == nil ||
			!strings.Contains(err.Error(), "fixed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	nan := [][]float32{{1, float32(math.NaN()), 2, 3}}
	for range 2 {
		if _, err := c.Encoder(&fixedEncoder{nan}).Encode(withDefaultTenant(t.Context()),
			[]string{"not a number"}); err != nil {
			t.Error(err)
		}
	}
	if s := c.Statistics(); s.Vectors != 1 {
		t.Errorf("%d vectors are kept, want only the sound one", s.Vectors)
	}
}

type fixedEncoder struct{ vectors [][]float32 }

func (f *fixedEncoder) Name() string                                          { return "fixed" }
func (f *fixedEncoder) Dims() int                                             { return 4 }
func (f *fixedEncoder) Encode(context.Context, []string) ([][]float32, error) { return f.vectors, nil }

func TestProcessesShareADirectory(t *testing.T) {
	// Two caches stand for two processes: locks are per open file.
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	one, two := openCache(t, dir, Options{}), openCache(t, dir, Options{})
	encodeAndCheck(t, one, e, "a")
	encodeAndCheck(t, two, e, "b")
	encodeAndCheck(t, one, e, "c")
	encodeAndCheck(t, two, e, "d")
	if files, _ := filepath.Glob(filepath.Join(dir, "*"+keysSuffix)); len(files) != 2 {
		t.Errorf("segments %q, want one per writer", files)
	}
	asked := len(e.calls)
	for _, c := range []*Cache{one, two} {
		c.refreshedAt = time.Time{} // a moment has passed
		encodeAndCheck(t, c, e, "a", "b", "c", "d")
	}
	if len(e.calls) != asked {
		t.Errorf("the encoder was asked for %q, which the other process had", e.calls[asked:])
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	three := openCache(t, dir, Options{})
	encodeAndCheck(t, three, e, "e")
	if files, _ := filepath.Glob(filepath.Join(dir, "*"+keysSuffix)); len(files) != 2 {
		t.Errorf("segments %q, want the one whose writer went to be written on", files)
	}
	one.refreshedAt = time.Time{}
	encodeAndCheck(t, one, e, "e")
	if got := e.calls[len(e.calls)-1]; !slices.Equal(got, []string{"e"}) || len(e.calls) != asked+1 {
		t.Errorf("the encoder was asked for %q", e.calls[asked:])
	}
}

func TestNoTenantFindsTheVectorsOfAnother(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	for round := range 2 {
		c := openCache(t, dir, Options{})
		for _, name := range []string{"default", "acme", "globex"} {
			id, err := auth.ParseTenant(name)
			if err != nil {
				t.Fatal(err)
			}
			before := len(e.calls)
			if _, err := c.Encoder(e).Encode(auth.WithTenant(t.Context(), id), []string{"a", "b"}); err != nil {
				t.Fatal(err)
			}
			if asked := len(e.calls) - before; asked != 1-round {
				t.Errorf("round %d: the encoder was asked %d times for %s, want %d", round, asked, name, 1-round)
			}
		}
		if s := c.Statistics(); s.Vectors != 6 {
			t.Errorf("round %d: %d vectors are kept, want two of each tenant", round, s.Vectors)
		}
	}
	c := openCache(t, dir, Options{})
	for range 2 {
		before := len(e.calls)
		if _, err := c.Encoder(e).Encode(t.Context(), []string{"a"}); err != nil || len(e.calls) != before+1 {
			t.Errorf("for nobody the encoder was asked %d times, %v", len(e.calls)-before, err)
		}
	}
	// Vectors kept before there were tenants are the default one's.
	if at, ok := c.index.find(hashKey("model", "a").fingerprint()); !ok {
		t.Errorf("the default tenant's vector is not under its encoder's name: %v", at)
	}
}

func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	caches := []*Cache{openCache(t, dir, Options{MaxBytes: 20_000}), openCache(t, dir, Options{MaxBytes: 20_000})}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for round := range 50 {
				from := (worker * round) % 70
				texts := numberedTexts(from, from+20)
				vectors, err := caches[worker%2].Encoder(e).Encode(withDefaultTenant(t.Context()), texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range texts {
					if !slices.Equal(vectors[i], testVector(e, texts[i])) {
						t.Errorf("%q has another text's vector", texts[i])
					}
				}
			}
		})
	}
	group.Wait()
}

func TestTheOldestSegmentsAreEvicted(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	const most = 16_000
	c := openCache(t, dir, Options{MaxBytes: most})
	for i := range 20 {
		encodeAndCheck(t, c, e, numberedTexts(50*i, 50*i+50)...)
	}
	s := c.Statistics()
	if s.Bytes > most || s.Bytes < most/2 {
		t.Errorf("%d bytes are held, want at most %d and more than half of it", s.Bytes, most)
	}
	var onDisk int64
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		onDisk += info.Size()
	}
	if onDisk != s.Bytes {
		t.Errorf("the files have %d bytes, the statistics say %d", onDisk, s.Bytes)
	}
	asked := len(e.calls)
	encodeAndCheck(t, c, e, numberedTexts(900, 1000)...)
	if len(e.calls) != asked {
		t.Errorf("texts seen last are gone: %q", e.calls[asked:])
	}
	encodeAndCheck(t, c, e, numberedTexts(0, 50)...)
	if len(e.calls) == asked {
		t.Error("texts seen first are still there, in less room than they need")
	}
	if s := c.Statistics(); s.Vectors*(recordSize+32) > most {
		t.Errorf("%d vectors are said to be there", s.Vectors)
	}
}

func TestUseAfterClose(t *testing.T) {
	c, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &recordingEncoder{name: "model", dims: 4}
	encodeAndCheck(t, c, e, "a")
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Encoder(e).Encode(withDefaultTenant(t.Context()), []string{"a"}); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file for a directory: %v", err)
	}
	if _, err := Open(t.TempDir(), Options{MaxBytes: -1}); err == nil {
		t.Error("a size below nothing: no error")
	}
}

func TestAWriteFailureIsLoggedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var log bytes.Buffer
	c := openCache(t, dir, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	e := &recordingEncoder{name: "model", dims: 4}
	encodeAndCheck(t, c, e, "a")
	// Its segment closed under it stands for a full disk.
	for _, s := range c.segments {
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	encodeAndCheck(t, c, e, "b")
	encodeAndCheck(t, c, e, "c")
	if n := strings.Count(log.String(), logVectorWriteFailed); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, log.String())
	}
	clear(c.segments)
}

func BenchmarkEncode(b *testing.B) {
	inner := storetest.HashEncoder(384)
	texts := numberedTexts(0, 10_000)
	c := openCache(b, b.TempDir(), Options{})
	enc := c.Encoder(inner)
	b.Run("misses", func(b *testing.B) {
		round := 0
		for b.Loop() {
			round++
			for i := range texts {
				texts[i] = fmt.Sprint(round, " ", i)
			}
			if _, err := enc.Encode(withDefaultTenant(b.Context()), texts); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
	})
	b.Run("hits", func(b *testing.B) {
		for b.Loop() {
			if _, err := enc.Encode(withDefaultTenant(b.Context()), texts); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
	})
}
