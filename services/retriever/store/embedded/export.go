package embedded

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

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

// export writes the files of a directory; each page is compared on the way.
func (m *mapping) export(ctx context.Context, to io.Writer) error {
	out := tar.NewWriter(to)
	for _, name := range []string{manifestName, sumName} {
		data, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			return missingFile(err)
		}
		if err := m.exportFile(ctx, out, name, len(data),
			func(from, to int) []byte { return data[from:to] }); err != nil {
			return err
		}
	}
	for _, name := range slices.Insert(m.manifest.names(), 0, pagesFile) {
		read := func(from, to int) []byte { return m.data[name][from:to] }
		if name != pagesFile {
			read = m.files[name].Bytes
		}
		if err := m.exportFile(ctx, out, name, len(m.data[name]), read); err != nil {
			return err
		}
	}
	return out.Close()
}

func (m *mapping) exportFile(ctx context.Context, out *tar.Writer, name string, size int,
	read func(from, to int) []byte) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(size), Mode: 0o644,
		ModTime: m.manifest.Created}
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
