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
	t.Cleanup(func() { closeCache(t, c) })
	return c
}

func closeCache(t testing.TB, c *Cache) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// encodeAndCheck checks that every text gets its own vector, from wherever it comes, and returns
// how many of them the encoder was asked for.
func encodeAndCheck(t testing.TB, c *Cache, e *recordingEncoder, texts ...string) (encoded int) {
	t.Helper()
	before := len(e.calls)
	vectors, err := c.Encoder(e).Encode(withDefaultTenant(t.Context()), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if !slices.Equal(vectors[i], testVector(e, text)) {
			t.Fatalf("%q has the vector %v, want %v", text, vectors[i], testVector(e, text))
		}
	}
	for _, call := range e.calls[before:] {
		encoded += len(call)
	}
	return encoded
}

func numberedTexts(from, to int) []string {
	var texts []string
	for i := from; i < to; i++ {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

func logTo(log *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) }

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
	closeCache(t, c)

	again := openCache(t, dir, Options{})
	if n := encodeAndCheck(t, again, e, "a", "b", "c", "d"); n != 0 {
		t.Errorf("after opening the cache again %d texts were encoded", n)
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
	closeCache(t, c)
	c = openCache(t, dir, Options{})
	for _, e := range encoders {
		if n := encodeAndCheck(t, c, e, "a", "eea", ""); n != 0 {
			t.Errorf("%s was asked for %q", e.name, e.calls)
		}
	}
	t.Run("an encoder that changed its dims under its name is asked again", func(t *testing.T) {
		e := &recordingEncoder{name: "one", dims: 4}
		for i, want := range []int{1, 0} {
			if n := encodeAndCheck(t, c, e, "a"); n != want {
				t.Errorf("in turn %d it was asked for %d texts, want %d", i, n, want)
			}
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
		if _, err := c.Encoder(&fixedEncoder{vectors: vectors}).Encode(withDefaultTenant(t.Context()),
			[]string{name}); err == nil || !strings.Contains(err.Error(), "fixed") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	nan := &fixedEncoder{vectors: [][]float32{{1, float32(math.NaN()), 2, 3}}}
	for range 2 {
		if _, err := c.Encoder(nan).Encode(withDefaultTenant(t.Context()), []string{"not a number"}); err != nil {
			t.Error(err)
		}
	}
	if nan.calls != 2 {
		t.Errorf("a vector that is not finite was encoded %d times, want 2: it is not kept", nan.calls)
	}
}

type fixedEncoder struct {
	vectors [][]float32
	calls   int
}

func (f *fixedEncoder) Name() string { return "fixed" }
func (f *fixedEncoder) Dims() int    { return 4 }
func (f *fixedEncoder) Encode(context.Context, []string) ([][]float32, error) {
	f.calls++
	return f.vectors, nil
}

func TestASecondProcessEncodesByItselfUntilTheFirstEnds(t *testing.T) {
	// Two caches stand for two processes: locks are per open file.
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 8}
	first := openCache(t, dir, Options{})
	encodeAndCheck(t, first, e, "a")
	var log bytes.Buffer
	start := time.Now()
	second := openCache(t, dir, Options{Logger: logTo(&log)})
	if took := time.Since(start); took > 20*lockTimeout {
		t.Errorf("the second process waited %s for the lock", took)
	}
	for range 2 {
		second.openedAt = time.Time{} // some time has passed
		if n := encodeAndCheck(t, second, e, "a", "b"); n != 2 {
			t.Errorf("the second process encoded %d texts, want 2", n)
		}
	}
	if strings.Count(log.String(), logUnavailable) != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log says\n%s\nwant one line with %q", log.String(), logUnavailable)
	}
	closeCache(t, first)
	if n := encodeAndCheck(t, second, e, "b"); n != 1 {
		t.Error("the lock was tried again at once")
	}
	second.openedAt = time.Time{}
	encodeAndCheck(t, second, e, "b") // takes over
	if n := encodeAndCheck(t, second, e, "a", "b"); n != 0 {
		t.Errorf("the second process encoded %d texts of those that the first and it have kept", n)
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
		closeCache(t, c)
	}
	c := openCache(t, dir, Options{})
	for range 2 {
		before := len(e.calls)
		if _, err := c.Encoder(e).Encode(t.Context(), []string{"a"}); err != nil || len(e.calls) != before+1 {
			t.Errorf("for nobody the encoder was asked %d times, %v", len(e.calls)-before, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	e := &recordingEncoder{name: "model", dims: 8}
	c := openCache(t, t.TempDir(), Options{MaxBytes: 200_000})
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for round := range 50 {
				from := (worker * round) % 70
				texts := numberedTexts(from, from+20)
				vectors, err := c.Encoder(e).Encode(withDefaultTenant(t.Context()), texts)
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

func TestTheOldestVectorsAreEvicted(t *testing.T) {
	for name, dims := range map[string]int{
		"vectors much smaller than a page": 8, "two vectors in a page": 384, "a vector larger than a page": 1536,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e := &recordingEncoder{name: "model", dims: dims}
			most := int64(1 << 20)
			if dims > 8 {
				most = 6 << 20
			}
			c := openCache(t, dir, Options{MaxBytes: most})
			perTurn := int(most) / (4*dims + recordHeader) / 10
			for i := range 40 { // four times what there is room for
				encodeAndCheck(t, c, e, numberedTexts(perTurn*i, perTurn*(i+1))...)
			}
			if n := encodeAndCheck(t, c, e, numberedTexts(39*perTurn, 40*perTurn)...); n != 0 {
				t.Errorf("%d of the %d texts seen last are gone", n, perTurn)
			}
			if n := encodeAndCheck(t, c, e, numberedTexts(0, perTurn)...); n != perTurn {
				t.Errorf("%d of the %d texts seen first are gone, want all", n, perTurn)
			}
			closeCache(t, c)
			info, err := os.Stat(c.path())
			if err != nil || info.Size() > most || info.Size() < most/3 {
				t.Errorf("the file: %+v, %v; want at most %d bytes and more than a third of them", info, err, most)
			}
			kept := func() int { return 40*perTurn - encodeAndCheck(t, c, e, numberedTexts(0, 40*perTurn)...) }
			c = openCache(t, dir, Options{MaxBytes: most})
			if n := kept(); n*(4*dims+recordHeader) < int(most)/8 {
				t.Errorf("%d vectors are kept in %d bytes", n, most)
			}
		})
	}
}

func TestAFileLargerThanItsLimitIsDropped(t *testing.T) {
	dir := t.TempDir()
	e := &recordingEncoder{name: "model", dims: 384}
	c := openCache(t, dir, Options{})
	encodeAndCheck(t, c, e, numberedTexts(0, 1000)...)
	closeCache(t, c)
	var log bytes.Buffer
	c = openCache(t, dir, Options{MaxBytes: 1 << 20, Logger: logTo(&log)})
	if !strings.Contains(log.String(), logFileDropped) || !strings.Contains(log.String(), errTooLarge.Error()) {
		t.Errorf("the log says %s", log.String())
	}
	if info, err := os.Stat(c.path()); err != nil || info.Size() > 1<<20 {
		t.Errorf("the file: %v, %v", info, err)
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

func TestAFileThatCannotBeOpenedIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "vectors.db")
	if err := os.Mkdir(file, 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := openCache(t, dir, Options{Logger: logTo(&log)})
	encodeAndCheck(t, c, &recordingEncoder{name: "model", dims: 4}, "a")
	if !strings.Contains(log.String(), logUnavailable) || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("the log says\n%s\nwant one line with %q", log.String(), logUnavailable)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestAWriteFailureIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	c := openCache(t, t.TempDir(), Options{MaxBytes: 1 << 20, Logger: logTo(&log)})
	// A database closed under it stands for a full disk.
	if err := c.db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		encodeAndCheck(t, c, &recordingEncoder{name: "model", dims: 4}, "a")
		c.add([]key{hashKey("model", "a")}, [][]float32{make([]float32, c.batchBytes())})
	}
	if n := strings.Count(log.String(), logVectorWriteFailed); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, log.String())
	}
	if len(c.pending) != 0 {
		t.Errorf("%d vectors are held for a file that cannot be written", len(c.pending))
	}
}

func TestTheSegmentsOfTheFormatBeforeAreDeleted(t *testing.T) {
	dir := t.TempDir()
	files := map[string]bool{
		"00001795601955004738-31.keys": true, "00001795601955004738-31.vectors": true,
		".new-00001795601955004738-31.keys": true, "1.vectors": false, "README.keys": false, "notes.txt": false,
	}
	for name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	openCache(t, dir, Options{})
	for name, gone := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err != nil) != gone {
			t.Errorf("%s is gone: %v, want %v", name, err != nil, gone)
		}
	}
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
