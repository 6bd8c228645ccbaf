package source_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// zeros reads as n bytes of nothing.
type zeros struct{ n int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n <= 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), z.n)]
	clear(p)
	z.n -= len(p)
	return len(p), nil
}

// bomb packs n bytes of nothing.
func bomb(t *testing.T, archive string, n int) []byte {
	t.Helper()
	var packed bytes.Buffer
	var w io.WriteCloser
	var err error
	switch archive {
	case "gzip":
		w, err = gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	case "zstd":
		w, err = zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, &zeros{n}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestAnArchiveThatIsABombIsNotUnpacked(t *testing.T) {
	for archive, name := range map[string]string{"gzip": "facts.tsv.gz", "zstd": "facts.tsv.zst"} {
		t.Run(archive, func(t *testing.T) {
			const plain = 1 << 30
			packed := bomb(t, archive, plain)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := source.Unpack(name, bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n, err := io.Copy(io.Discard, r)
			runtime.ReadMemStats(&after)
			var place *source.PlaceError
			if !errors.As(err, &place) || !strings.Contains(err.Error(), "200 times") {
				t.Errorf("%d bytes of %d became %d: %v", len(packed), plain, n, err)
			}
			if made := after.TotalAlloc - before.TotalAlloc; n > 300<<20 || made > 64<<20 {
				t.Errorf("%d bytes were unpacked and %d allocated", n, made)
			}
		})
	}
	small, err := source.Unpack("facts.tsv.gz", bytes.NewReader(bomb(t, "gzip", 10<<20)))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, small); n != 10<<20 || err != nil {
		t.Errorf("a file that packs well came to %d bytes, %v", n, err)
	}
}

// A zstd archive says itself how much memory it takes to unpack.
func TestAnArchiveThatAsksForMuchMemoryIsRefused(t *testing.T) {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithWindowSize(512<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, &zeros{1 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := source.Unpack("facts.tsv.zst", &packed)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("got %v", err)
	}
}
