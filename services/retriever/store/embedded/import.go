package embedded

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Import implements store.Exporter. The file may come from anywhere: names and
// sizes are those that its manifest announces, every checksum is compared, and
// what the checksums cannot tell is looked at before the snapshot is there.
func (s *Store) Import(ctx context.Context, kg string, from io.Reader) (store.Info, error) {
	in := &importer{tar: tar.NewReader(from)}
	if err := in.readManifest(); err != nil {
		return store.Info{}, wrap("import", kg, 0, err)
	}
	if kg == "" {
		kg = in.manifest.KG
	}
	m, err := s.build(ctx, kg, func(f *folder) (manifest, error) { return in.run(ctx, f) })
	if err != nil {
		return store.Info{}, wrap("import", kg, 0, err)
	}
	return m.info(), nil
}

// importer reads the file of an export.
type importer struct {
	tar      *tar.Reader
	manifest manifest
	sum      string // of the manifest as it was read
	summed   bool   // and it is what the file says
}

// next returns the header of the next file; io.EOF where there is none.
func (in *importer) next() (*tar.Header, error) {
	h, err := in.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrInsecurePath):
		return nil, fmt.Errorf("it is no export of a snapshot, or a damaged one (%w): %w", err, store.ErrCorrupt)
	case err != nil:
		return nil, cutOff("the file", err)
	case h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("%q in it is no plain file: %w", h.Name, store.ErrInvalid)
	}
	return h, nil
}

// cutOff marks the early end of a file; other errors are those of the reader.
func cutOff(what string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is cut off: %w", what, store.ErrCorrupt)
	}
	return fmt.Errorf("read %s: %w", what, err)
}

func (in *importer) readManifest() error {
	h, err := in.next()
	if errors.Is(err, io.EOF) {
		return cutOff("the file", err)
	}
	if err != nil {
		return err
	}
	if h.Name != manifestName {
		return fmt.Errorf("it begins with %q and not with %s; it is no export of a snapshot: %w", h.Name, manifestName, store.ErrInvalid)
	}
	if h.Size > maxManifest {
		return fmt.Errorf("%s has %d bytes, %d at most are read: %w", manifestName, h.Size, maxManifest, store.ErrInvalid)
	}
	data, err := io.ReadAll(in.tar)
	if err != nil {
		return cutOff(manifestName, err)
	}
	in.sum = hexSum(data)
	if in.manifest, err = parseManifest(data); err != nil {
		return err
	}
	if in.manifest.Base != nil {
		return fmt.Errorf("it is a delta, and no whole snapshot: %w", store.ErrInvalid)
	}
	return nil
}

// run takes the files over and looks at what they hold.
func (in *importer) run(ctx context.Context, f *folder) (manifest, error) {
	for {
		if err := ctx.Err(); err != nil {
			return manifest{}, err
		}
		h, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return manifest{}, err
		}
		if h.Name == sumName {
			if err := in.compareSum(h); err != nil {
				return manifest{}, err
			}
			continue // the manifest gets a new number, and with it a new sum
		}
		if err := in.take(ctx, f, h); err != nil {
			return manifest{}, err
		}
	}
	if !in.summed {
		return manifest{}, cutOff(sumName, io.EOF)
	}
	for name := range in.manifest.Files {
		if _, ok := f.sums[name]; !ok {
			return manifest{}, cutOff(name, io.EOF)
		}
	}
	m, err := f.seal(in.manifest)
	if err != nil {
		return m, err
	}
	return m, inspect(ctx, f.dir)
}

// compareSum compares the manifest with its checksum, which has the form that
// sha256sum reads.
func (in *importer) compareSum(h *tar.Header) error {
	said := make([]byte, len(in.sum))
	if _, err := io.ReadFull(in.tar, said); err != nil {
		return cutOff(h.Name, err)
	}
	if string(said) != in.sum {
		return fmt.Errorf("checksum of %s: got %.12s…, want %.12q…; export it again: %w", manifestName, in.sum, said, store.ErrCorrupt)
	}
	in.summed = true
	return nil
}

func (in *importer) take(ctx context.Context, f *folder, h *tar.Header) error {
	want, ok := in.manifest.Files[h.Name]
	if !ok {
		return fmt.Errorf("%s does not name %q: %w", manifestName, h.Name, store.ErrInvalid)
	}
	if _, again := f.sums[h.Name]; again {
		return fmt.Errorf("%q is there twice: %w", h.Name, store.ErrInvalid)
	}
	if h.Size != want.Bytes {
		return fmt.Errorf("%s has %d bytes, want %d: %w", h.Name, h.Size, want.Bytes, store.ErrCorrupt)
	}
	if err := f.write(h.Name, func(w io.Writer) error { return in.copy(ctx, w, h.Name) }); err != nil {
		return err
	}
	if got := f.sums[h.Name].SHA256; got != want.SHA256 {
		return fmt.Errorf("checksum of %s: got %.12s…, want %.12s…; export it again: %w", h.Name, got, want.SHA256, store.ErrCorrupt)
	}
	return nil
}

func (in *importer) copy(ctx context.Context, to io.Writer, name string) error {
	buffer := make([]byte, exportBlock)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := in.tar.Read(buffer)
		if _, failed := to.Write(buffer[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cutOff(name, err)
		}
	}
}
