package encoder_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
)

func TestOpenFindsWhatSetupFetched(t *testing.T) {
	cache := filepath.Dir(filepath.Dir(testkit.Cache(t, "encoder", "model.onnx")))
	e, release, err := encoder.Open(t.Context(), encoder.DefaultConfig().In(cache))
	if err != nil {
		t.Fatal(err)
	}
	if e.Dims() != 384 {
		t.Errorf("%d dims, want 384", e.Dims())
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestOpenEndpoint(t *testing.T) {
	e, release, err := encoder.Open(t.Context(), encoder.Config{Kind: encoder.Endpoint, BaseURL: "http://127.0.0.1:9", Model: "embed", Dims: 8})
	if err != nil || e.Name() != "embed" || e.Dims() != 8 {
		t.Fatalf("%v, error %v", e, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for says, cfg := range map[string]encoder.Config{
		"triplemesh setup": encoder.DefaultConfig().In(t.TempDir()),
		`kind "word2vec"`:  {Kind: "word2vec"},
		"encoder.base_url": {Kind: encoder.Endpoint},
		"my.onnx":          {Kind: encoder.ONNX, VocabPath: testkit.Cache(t, "encoder", "vocab.txt"), ModelPath: "my.onnx"},
	} {
		if _, _, err := encoder.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, want it to say %q", err, says)
		}
	}
}
