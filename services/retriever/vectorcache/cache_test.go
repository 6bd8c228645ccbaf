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

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/encoder/encodertest"
)

// counted is an encoder that remembers what it was asked for.
type counted struct {
	name string
	dims int
	err  error

	mutex sync.Mutex
	calls [][]string
}

func (e *counted) Name() string { return e.name }
func (e *counted) Dims() int    { return e.dims }

func (e *counted) Encode(_ context.Context, texts []string) ([][]float32, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.calls = append(e.calls, slices.Clone(texts))
	if e.err != nil {
		return nil, e.err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = vectorOf(e, text)
	}
	return vectors, nil
}

// vectorOf differs from text to text and from encoder to encoder.
func vectorOf(e *counted, text string) []float32 {
	v := make([]float32, e.dims)
	for i, b := range keyOf("vector of "+e.name, text) {
		v[i%e.dims] += float32(b)
	}
	return v
}

func asDefault(ctx context.Context) context.Context { return tenant.With(ctx, tenant.Default()) }

func open(t testing.TB, dir string, options Options) *Cache {
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

// encode checks that every text gets its own vector, from wherever it comes.
func encode(t testing.TB, c *Cache, e *counted, texts ...string) {
	t.Helper()
	vectors, err := c.Encoder(e).Encode(asDefault(t.Context()), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if !slices.Equal(vectors[i], vectorOf(e, text)) {
			t.Fatalf("%q has the vector %v, want %v", text, vectors[i], vectorOf(e, text))
		}
	}
}

func numbered(from, to int) []string {
	var texts []string
	for i := from; i < to; i++ {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

func TestATextIsEncodedOnce(t *testing.T) {
	dir := t.TempDir()
	e := &counted{name: "model", dims: 8}
	c := open(t, dir, Options{})
	encode(t, c, e)
	encode(t, c, e, "a", "b", "a")
	encode(t, c, e, "b", "c", "a", "d")
	encode(t, c, e, "d", "c")
	if want := [][]string{{"a", "b"}, {"c", "d"}}; !slices.EqualFunc(e.calls, want, slices.Equal) {
		t.Errorf("the encoder was asked for %q, want %q", e.calls, want)
	}
	s := c.Statistics()
	if want := (Statistics{Hits: 5, Misses: 4, Vectors: 4, Bytes: headerSize + 4*(recordSize+32)}); s != want {
		t.Errorf("statistics %+v, want %+v", s, want)
	}

	again := open(t, dir, Options{})
	encode(t, again, e, "a", "b", "c", "d")
	if len(e.calls) != 2 {
		t.Errorf("after opening the cache again the encoder was asked for %q", e.calls[2:])
	}
	if wrapped := again.Encoder(e); wrapped.Name() != "model" || wrapped.Dims() != 8 {
		t.Errorf("the wrapped encoder is %s of %d dims", wrapped.Name(), wrapped.Dims())
	}
}

func TestEncodersLieSideBySide(t *testing.T) {
	dir := t.TempDir()
	encoders := []*counted{{name: "one", dims: 8}, {name: "two", dims: 8}, {name: "three", dims: 16}, {name: "thr", dims: 16}}
	c := open(t, dir, Options{})
	for _, e := range encoders {
		encode(t, c, e, "a", "eea", "")
	}
	c = open(t, dir, Options{})
	for _, e := range encoders {
		encode(t, c, e, "a", "eea", "")
		if len(e.calls) != 1 {
			t.Errorf("%s was asked for %q", e.name, e.calls)
		}
	}
	t.Run("an encoder that changed its dims under its name is asked again", func(t *testing.T) {
		e := &counted{name: "one", dims: 4}
		encode(t, c, e, "a")
		encode(t, c, e, "a")
		if len(e.calls) != 1 {
			t.Errorf("it was asked for %q", e.calls)
		}
	})
}

func TestAnEncoderThatFails(t *testing.T) {
	c := open(t, t.TempDir(), Options{})
	down := errors.New("down")
	e := &counted{name: "model", dims: 4, err: down}
	if _, err := c.Encoder(e).Encode(asDefault(t.Context()), []string{"a"}); !errors.Is(err, down) {
		t.Errorf("error %v, want the encoder's", err)
	}
	e.err = nil
	encode(t, c, e, "a")

	for name, vectors := range map[string][][]float32{
		"too few vectors":    {},
		"a vector too short": {{1, 2}},
	} {
		if _, err := c.Encoder(&fixed{vectors}).Encode(asDefault(t.Context()), []string{name}); err == nil || !strings.Contains(err.Error(), "fixed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	nan := [][]float32{{1, float32(math.NaN()), 2, 3}}
	for range 2 {
		if _, err := c.Encoder(&fixed{nan}).Encode(asDefault(t.Context()), []string{"not a number"}); err != nil {
			t.Error(err)
		}
	}
	if s := c.Statistics(); s.Vectors != 1 {
		t.Errorf("%d vectors are kept, want only the sound one", s.Vectors)
	}
}

type fixed struct{ vectors [][]float32 }

func (f *fixed) Name() string                                          { return "fixed" }
func (f *fixed) Dims() int                                             { return 4 }
func (f *fixed) Encode(context.Context, []string) ([][]float32, error) { return f.vectors, nil }

func TestProcessesShareADirectory(t *testing.T) {
	// Two caches stand for two processes: locks are per open file.
	dir := t.TempDir()
	e := &counted{name: "model", dims: 8}
	one, two := open(t, dir, Options{}), open(t, dir, Options{})
	encode(t, one, e, "a")
	encode(t, two, e, "b")
	encode(t, one, e, "c")
	encode(t, two, e, "d")
	if files, _ := filepath.Glob(filepath.Join(dir, "*"+keysSuffix)); len(files) != 2 {
		t.Errorf("segments %q, want one per writer", files)
	}
	asked := len(e.calls)
	for _, c := range []*Cache{one, two} {
		c.looked = time.Time{} // a moment has passed
		encode(t, c, e, "a", "b", "c", "d")
	}
	if len(e.calls) != asked {
		t.Errorf("the encoder was asked for %q, which the other process had", e.calls[asked:])
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	three := open(t, dir, Options{})
	encode(t, three, e, "e")
	if files, _ := filepath.Glob(filepath.Join(dir, "*"+keysSuffix)); len(files) != 2 {
		t.Errorf("segments %q, want the one whose writer went to be written on", files)
	}
	one.looked = time.Time{}
	encode(t, one, e, "e")
	if got := e.calls[len(e.calls)-1]; !slices.Equal(got, []string{"e"}) || len(e.calls) != asked+1 {
		t.Errorf("the encoder was asked for %q", e.calls[asked:])
	}
}

func TestNoTenantFindsTheVectorsOfAnother(t *testing.T) {
	dir := t.TempDir()
	e := &counted{name: "model", dims: 8}
	for round := range 2 {
		c := open(t, dir, Options{})
		for _, name := range []string{"default", "acme", "globex"} {
			id, err := tenant.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			before := len(e.calls)
			if _, err := c.Encoder(e).Encode(tenant.With(t.Context(), id), []string{"a", "b"}); err != nil {
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
	c := open(t, dir, Options{})
	for range 2 {
		before := len(e.calls)
		if _, err := c.Encoder(e).Encode(t.Context(), []string{"a"}); err != nil || len(e.calls) != before+1 {
			t.Errorf("for nobody the encoder was asked %d times, %v", len(e.calls)-before, err)
		}
	}
	// Vectors kept before there were tenants are the default one's.
	if at, ok := c.index.find(keyOf("model", "a").fingerprint()); !ok {
		t.Errorf("the default tenant's vector is not under its encoder's name: %v", at)
	}
}

func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	e := &counted{name: "model", dims: 8}
	caches := []*Cache{open(t, dir, Options{MaxBytes: 20_000}), open(t, dir, Options{MaxBytes: 20_000})}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for round := range 50 {
				from := (worker * round) % 70
				texts := numbered(from, from+20)
				vectors, err := caches[worker%2].Encoder(e).Encode(asDefault(t.Context()), texts)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range texts {
					if !slices.Equal(vectors[i], vectorOf(e, texts[i])) {
						t.Errorf("%q has another text's vector", texts[i])
					}
				}
			}
		})
	}
	group.Wait()
}

func TestTheOldestSegmentsGo(t *testing.T) {
	dir := t.TempDir()
	e := &counted{name: "model", dims: 8}
	const most = 16_000
	c := open(t, dir, Options{MaxBytes: most})
	for i := range 20 {
		encode(t, c, e, numbered(50*i, 50*i+50)...)
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
	encode(t, c, e, numbered(900, 1000)...)
	if len(e.calls) != asked {
		t.Errorf("texts seen last are gone: %q", e.calls[asked:])
	}
	encode(t, c, e, numbered(0, 50)...)
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
	e := &counted{name: "model", dims: 4}
	encode(t, c, e, "a")
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Encoder(e).Encode(asDefault(t.Context()), []string{"a"}); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
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

func TestWhatCannotBeWrittenIsSaidOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var log bytes.Buffer
	c := open(t, dir, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	e := &counted{name: "model", dims: 4}
	encode(t, c, e, "a")
	// Its segment closed under it stands for a full disk.
	for _, s := range c.segments {
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	encode(t, c, e, "b")
	encode(t, c, e, "c")
	if n := strings.Count(log.String(), "cannot be kept"); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, log.String())
	}
	clear(c.segments)
}

func BenchmarkEncode(b *testing.B) {
	inner := encodertest.Hash(384)
	texts := numbered(0, 10_000)
	c := open(b, b.TempDir(), Options{})
	enc := c.Encoder(inner)
	b.Run("misses", func(b *testing.B) {
		round := 0
		for b.Loop() {
			round++
			for i := range texts {
				texts[i] = fmt.Sprint(round, " ", i)
			}
			if _, err := enc.Encode(asDefault(b.Context()), texts); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
	})
	b.Run("hits", func(b *testing.B) {
		for b.Loop() {
			if _, err := enc.Encode(asDefault(b.Context()), texts); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
	})
}
