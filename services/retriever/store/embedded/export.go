package embedded

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// exportBlock is the number of bytes written between two checks of the context.
const exportBlock = 1 << 20

// Export implements store.Exporter: a tar of the snapshot's directory, the manifest first. A delta
// is compacted on the way, which takes as much disk as the whole one does until it is written.
func (s *Store) Export(ctx context.Context, kg string, number uint64, to io.Writer) error {
	snap, err := s.open(ctx, kg, number)
	if err != nil {
		return store.WrapError("export", kg, number, err)
	}
	defer snap.Release()
	if snap.isWhole() {
		return store.WrapError("export", kg, snap.info.Number, snap.layers[0].mapping.export(ctx, to))
	}
	return store.WrapError("export", kg, snap.info.Number, s.withBuildDir(ctx, kg, func(f *folder) error {
		m, err := snap.copyTo(ctx, f)
		if err != nil {
			return err
		}
		m.KG, m.Number, m.Created = kg, snap.info.Number, snap.info.Created
		if _, err := f.writeManifest(m); err != nil {
			return err
		}
		whole, err := mapFiles(f.dir)
		if err != nil {
			return err
		}
		defer whole.release()
		return whole.export(ctx, to)
	}))
}

// ExportStructure writes all that Export does but the vectors of triples, for a store that keeps these
// by itself. The snapshot must be whole. What is written is the same for the same triples: it has no
// number and no time.
func (s *Store) ExportStructure(ctx context.Context, kg string, number uint64, to io.Writer) error {
	snap, err := s.open(ctx, kg, number)
	if err != nil {
		return store.WrapError("export", kg, number, err)
	}
	defer snap.Release()
	if !snap.isWhole() {
		return snap.wrap("export", store.Invalidf("a delta has a structure only with its bases; compact it first"))
	}
	return snap.wrap("export", snap.layers[0].mapping.exportStructure(ctx, to))
}

func (m *mapping) export(ctx context.Context, to io.Writer) error {
	data, err := os.ReadFile(filepath.Join(m.dir, manifestName))
	if err != nil {
		return missingFile(err)
	}
	if got := hexSum(data); got != m.sum {
		return checksumMismatch(manifestName, got, m.sum)
	}
	return m.exportFiles(ctx, to, m.manifest, data, m.data[pagesFile])
}

func (m *mapping) exportStructure(ctx context.Context, to io.Writer) error {
	left := m.manifest
	left.KG, left.Number, left.Created, left.TripleVectors = "", 0, time.Time{}, false
	left.Files = maps.Clone(left.Files)
	maps.DeleteFunc(left.Files, func(name string, _ fileSum) bool { return slices.Contains(vectorFiles[:], name) })
	var pages []byte
	for _, name := range left.names() {
		pages = append(pages, m.files[name].sums...)
	}
	left.Files[pagesFile] = fileSum{Bytes: int64(len(pages)), SHA256: hexSum(pages)}
	data, err := left.encode()
	if err != nil {
		return err
	}
	return m.exportFiles(ctx, to, left, data, pages)
}

// exportFiles writes a manifest, which data encodes, and the files that it names; each page is
// compared on the way.
func (m *mapping) exportFiles(ctx context.Context, to io.Writer, man manifest, data, pages []byte) error {
	out := tar.NewWriter(to)
	for _, f := range []struct {
		name string
		data []byte
	}{{manifestName, data}, {sumName, sumLine(data)}, {pagesFile, pages}} {
		read := func(from, to int) []byte { return f.data[from:to] }
		if err := exportFile(ctx, out, man, f.name, len(f.data), read); err != nil {
			return err
		}
	}
	for _, name := range man.names() {
		if err := exportFile(ctx, out, man, name, len(m.data[name]), m.files[name].Bytes); err != nil {
			return err
		}
	}
	return out.Close()
}

func exportFile(ctx context.Context, out *tar.Writer, man manifest, name string, size int,
	read func(from, to int) []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(size), Mode: 0o644, ModTime: man.Created}
	if err := out.WriteHeader(header); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	for from := 0; from < size; from += exportBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := store.Guard(func() error {
			_, err := out.Write(read(from, min(from+exportBlock, size)))
			return err
		}); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
