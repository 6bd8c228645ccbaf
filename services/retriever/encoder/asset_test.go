package encoder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadingAnAssetNamesTheMissingFile(t *testing.T) {
	_, err := readAsset("the encoder's model", filepath.Join(t.TempDir(), "model.onnx"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "the encoder's model") ||
		!strings.Contains(err.Error(), "triplemesh setup") {
		t.Errorf("the error is %v", err)
	}
}

func TestFingerprintsDiffer(t *testing.T) {
	one := Fingerprint([]byte("weights"), []byte("words"))
	if len(one) != 8 || one != Fingerprint([]byte("weights"), []byte("words")) || one == Fingerprint([]byte("weights"),
		[]byte("other")) {
		t.Errorf("the fingerprint is %q", one)
	}
}
