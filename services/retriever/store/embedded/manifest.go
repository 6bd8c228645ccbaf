package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// formatVersion is raised by every change of the files' layout.
	formatVersion = 2
	// formatRepeats is that of a delta which names again an entity whose triples deltas below it
	// had taken away. Programs that know only formatVersion would find the entity that is gone.
	formatRepeats = 3
)

const (
	manifestName = "manifest.json"
	// sumName holds the manifest's own checksum, as sha256sum -c reads it.
	sumName = "manifest.json.sha256"
	// maxManifest bounds what is read of a manifest.
	maxManifest = 1 << 20
)

// manifest says what a snapshot holds and what its files must look like.
type manifest struct {
	Format  int       `json:"format"`
	KG      string    `json:"kg"`
	Number  uint64    `json:"number"`
	Created time.Time `json:"created"`
	Encoder string    `json:"encoder,omitempty"`
	// Dims is the length of all vectors; TripleVectors reports whether triples have any.
	Dims          int  `json:"dims,omitempty"`
	TripleVectors bool `json:"triple_vectors,omitempty"`
	// Triples and Entities count what the snapshot shows, with what its base
	// holds; Relations counts numbers.
	Triples   int `json:"triples"`
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	// Base is the snapshot that this one is a delta of, nil for a whole one.
	Base *base `json:"base,omitempty"`
	// Own counts what is in this directory.
	Own ownCounts `json:"own"`
	// Files are all but the manifest and its sum.
	Files map[string]fileSum `json:"files"`
}

// base names a snapshot exactly.
type base struct {
	Number uint64 `json:"number"`
	// SHA256 is the sum of its manifest.
	SHA256 string `json:"sha256"`
	// First are the numbers that the bases leave free.
	FirstEntity   int `json:"first_entity"`
	FirstRelation int `json:"first_relation"`
	FirstTriple   int `json:"first_triple"`
	// Depth is how many snapshots lie below.
	Depth int `json:"depth"`
}

// ownCounts are the lengths of columns.
type ownCounts struct {
	Entities  int `json:"entities"`
	Relations int `json:"relations"`
	Triples   int `json:"triples"`
	Dated     int `json:"dated"`
	Aliases   int `json:"aliases"`
	// Keys counts the entities that have a key besides their name, Provenance the
	// triples that say where they come from.
	Keys       int `json:"keys,omitempty"`
	Provenance int `json:"provenance,omitempty"`
	// The rest is of deltas: Rows are the entities that their triples name.
	Rows            int `json:"rows,omitempty"`
	Removed         int `json:"removed,omitempty"`
	RemovedSubjects int `json:"removed_subjects,omitempty"`
	RemovedObjects  int `json:"removed_objects,omitempty"`
}

// fileSum is what a file must have.
type fileSum struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (m manifest) info() store.Info {
	info := store.Info{
		KG: m.KG, Number: m.Number, Encoder: m.Encoder, Dims: m.Dims, TripleVectors: m.TripleVectors,
		Triples: m.Triples, Entities: m.Entities, Relations: m.Relations,
		Created: m.Created,
	}
	if m.Base != nil {
		info.Base = m.Base.Number
	}
	for _, f := range m.Files {
		info.Bytes += f.Bytes
	}
	return info
}

// names lists the files in the order in which their sums stand.
func (m manifest) names() []string {
	var names []string
	for name := range m.Files {
		if name != pagesFile {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// first are the numbers of what a snapshot adds.
func (m manifest) first() base {
	if m.Base == nil {
		return base{}
	}
	return *m.Base
}

func (m manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", manifestName, err)
	}
	return data, nil
}

// sumLine is the content of the file that holds a manifest's checksum.
func sumLine(manifest []byte) []byte {
	return fmt.Appendf(nil, "%s  %s\n", hexSum(manifest), manifestName)
}

// readManifest reads a snapshot's manifest and compares its checksum, which it returns.
func readManifest(dir string) (manifest, string, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return manifest{}, "", missingFile(err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, sumName))
	if err != nil {
		return manifest{}, "", missingFile(err)
	}
	want, _, _ := strings.Cut(string(sum), " ")
	if got := hexSum(data); got != want {
		return manifest{}, "", checksumMismatch(manifestName, got, want)
	}
	m, err := parseManifest(data)
	return m, want, err
}

// parseManifest looks at the format first: what a newer one means by the rest is not known.
func parseManifest(data []byte) (manifest, error) {
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w: %w", manifestName, store.ErrCorrupt, err)
	}
	if v := version.Format; v > formatRepeats {
		return manifest{}, fmt.Errorf("its format is %d, this program reads %d and %d; use a newer triplemesh: %w", v,
			formatVersion, formatRepeats, store.ErrFormat)
	} else if v < formatVersion {
		return manifest{}, fmt.Errorf("its format is %d, this program reads %d and %d; load the files again: %w", v,
			formatVersion, formatRepeats, store.ErrFormat)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, fmt.Errorf("read %s: %w: %w", manifestName, store.ErrCorrupt, err)
	}
	return m, m.check()
}

// check refuses counts that cannot be, so that sizes computed from them can be trusted.
func (m manifest) check() error {
	first := m.first()
	for name, n := range map[string]int{
		"dims": m.Dims / 1024, "triples": m.Triples, "entities": m.Entities, "relations": m.Relations,
		"own entities": m.Own.Entities, "own relations": m.Own.Relations, "own triples": m.Own.Triples,
		"own dated": m.Own.Dated, "own aliases": m.Own.Aliases, "own rows": m.Own.Rows,
		"own keys": m.Own.Keys, "own provenance": m.Own.Provenance,
		"own removed": m.Own.Removed, "own removed subjects": m.Own.RemovedSubjects,
		"own removed objects":  m.Own.RemovedObjects,
		"entities of the base": first.FirstEntity, "relations of the base": first.FirstRelation,
		"triples of the base": first.FirstTriple,
	} {
		if n < 0 || int64(n) > maxCount {
			return fmt.Errorf("%s: %d %s: %w", manifestName, n, name, store.ErrCorrupt)
		}
	}
	for name, sum := range m.Files {
		if sum.Bytes < 0 || sum.Bytes > maxFile || filepath.Base(name) != name || !filepath.IsLocal(name) ||
			strings.HasPrefix(name, ".") || name == manifestName || name == sumName {
			return fmt.Errorf("%s: a file %q of %d bytes: %w", manifestName, name, sum.Bytes, store.ErrCorrupt)
		}
	}
	return nil
}

const (
	// maxCount is how many things 32 bits number; the last number is kept free.
	maxCount = 1<<32 - 2
	// maxFile bounds a file: 2^32 vectors of 4096 components.
	maxFile = 1 << 46
)

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func checksumMismatch(name, got, want string) error {
	return fmt.Errorf("checksum of %s: got %.12s…, want %.12s…; load the files again: %w", name, got, want,
		store.ErrCorrupt)
}

// missingFile turns a not-exist error of a snapshot's file into ErrCorrupt.
func missingFile(err error) error {
	if os.IsNotExist(err) {
		return fmt.Errorf("%s is missing; load the files again: %w", filepath.Base(errorPath(err)), store.ErrCorrupt)
	}
	return err
}

// hashBlock is the number of bytes hashed between two checks of the context.
const hashBlock = 1 << 20

// compareSum reads a whole mapped file and compares its checksum with want.
func compareSum(ctx context.Context, name string, data []byte, want string) error {
	hash := sha256.New()
	err := store.Guard(func() error {
		for len(data) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(hashBlock, len(data))
			hash.Write(data[:n])
			data = data[n:]
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return checksumMismatch(name, got, want)
	}
	return nil
}

// errorPath returns the path an error of the file system names.
func errorPath(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Path
	}
	return ""
}
