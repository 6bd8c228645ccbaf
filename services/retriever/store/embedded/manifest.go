package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// formatVersion is raised by every change of the files' layout.
const formatVersion = 1

const (
	manifestName = "manifest.json"
	// sumName holds the manifest's own checksum, as sha256sum -c reads it.
	sumName = "manifest.json.sha256"
)

// manifest says what a snapshot holds and what its files must look like.
type manifest struct {
	Format    int                `json:"format"`
	KG        string             `json:"kg"`
	Number    uint64             `json:"number"`
	Created   time.Time          `json:"created"`
	Encoder   string             `json:"encoder"`
	Dims      int                `json:"dims"`
	Triples   int                `json:"triples"`
	Entities  int                `json:"entities"`
	Relations int                `json:"relations"`
	Files     map[string]fileSum `json:"files"`
}

// fileSum is what a file must have.
type fileSum struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (m manifest) info() store.Info {
	info := store.Info{
		KG: m.KG, Number: m.Number, Encoder: m.Encoder, Dims: m.Dims,
		Triples: m.Triples, Entities: m.Entities, Relations: m.Relations,
		Created: m.Created,
	}
	for _, f := range m.Files {
		info.Bytes += f.Bytes
	}
	return info
}

// readManifest reads a snapshot's manifest and compares its checksum.
func readManifest(dir string) (manifest, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return manifest{}, lost(err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, sumName))
	if err != nil {
		return manifest{}, lost(err)
	}
	want, _, _ := strings.Cut(string(sum), " ")
	if got := hexSum(data); got != want {
		return manifest{}, mismatch(manifestName, got, want)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w: %w", manifestName, store.ErrCorrupt, err)
	}
	if m.Format != formatVersion {
		return manifest{}, fmt.Errorf("format %d, this program reads %d; load the files again: %w", m.Format, formatVersion, store.ErrInvalid)
	}
	return m, nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mismatch(name, got, want string) error {
	return fmt.Errorf("checksum of %s: got %.12s…, want %.12s…; load the files again: %w", name, got, want, store.ErrCorrupt)
}

// lost marks a file that is gone from a snapshot that exists.
func lost(err error) error {
	if os.IsNotExist(err) {
		return fmt.Errorf("%s is missing; load the files again: %w", filepath.Base(pathOf(err)), store.ErrCorrupt)
	}
	return err
}
