package retriever

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestEncoderConfigSaysWhatIsWrong(t *testing.T) {
	for name, spoil := range map[string]func(*EncoderConfig){
		"encoder.kind":            func(c *EncoderConfig) { c.Kind = "int4" },
		"encoder.cache.max_bytes": func(c *EncoderConfig) { c.Cache.MaxBytes = -1 },
	} {
		c := defaultEncoder()
		spoil(&c)
		if err := c.validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}

func TestVectorsAreKeptBetweenStarts(t *testing.T) {
	c := defaultEncoder()
	c.Kind = integers
	c.File, c.Vocabulary = testkit.Cache(t, "encoder", "model.onnx"), testkit.Cache(t, "encoder", "vocab.txt")
	c.Cache.Dir = filepath.Join(t.TempDir(), "vectors")
	texts := []string{"Berlin capital of Germany", "Paris capital of France"}
	var first [][]float32
	for range 2 {
		enc, closeEncoder, err := newEncoder(t.Context(), c, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := enc.Encode(tenant.With(t.Context(), tenant.Default()), texts)
		if err != nil {
			t.Fatal(err)
		}
		if err := closeEncoder(); err != nil {
			t.Error(err)
		}
		if first == nil {
			first = vectors
		} else if !slices.EqualFunc(vectors, first, slices.Equal) {
			t.Error("after a new start the vectors are others")
		}
	}
	var size int64
	files, err := os.ReadDir(c.Cache.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if least := int64(2 * 4 * 384); size < least || size > least+100 {
		t.Errorf("%d bytes are kept, want those of two vectors, %d, and their keys", size, least)
	}
}

func TestAnEncoderNeedsItsFilesWhateverItsKind(t *testing.T) {
	for _, kind := range []string{inProcess, integers} {
		c := defaultEncoder()
		c.Kind, c.Vocabulary = kind, "no such file"
		if _, _, err := newEncoder(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: error %v does not name the file", kind, err)
		}
	}
}
