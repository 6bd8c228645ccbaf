package embedded

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
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
	file := bufio.NewReader(from)
	if head, _ := file.Peek(tarHeader); !isExport(head) {
		return store.Info{}, store.WrapError("import", kg, 0, store.Invalidf("the file is not an exported snapshot; "+
			"load triples with `triplemesh kg load`"))
	}
	in := &importer{tar: tar.NewReader(file)}
	if err := in.readManifest(); err != nil {
		return store.Info{}, store.WrapError("import", kg, 0, err)
	}
	kg = cmp.Or(kg, in.manifest.KG)
	m, err := s.build(ctx, kg, func(f *folder) (manifest, error) { return in.readFiles(ctx, f) })
	if err != nil {
		return store.Info{}, store.WrapError("import", kg, 0, err)
	}
	return m.info(), nil
}

// tarHeader is the size of a tar file's first block.
const tarHeader = 512

// isExport reports whether a file that begins with head may be an export, also one that is truncated.
func isExport(head []byte) bool {
	const magic, at = "ustar", 257
	return len(bytes.Trim(head, "\x00")) == 0 || bytes.HasPrefix(head, []byte(manifestName)) ||
		len(head) > at && bytes.HasPrefix(head[at:], []byte(magic))
}

// importer reads the file of an export.
type importer struct {
	tar        *tar.Reader
	manifest   manifest
	sum        string // of the manifest as it was read
	sumChecked bool   // and it is what the file says
}

// next returns the header of the next file; io.EOF if there is none.
func (in *importer) next() (*tar.Header, error) {
	h, err := in.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrInsecurePath):
		return nil, fmt.Errorf("the archive is damaged (%w): %w", err, store.ErrCorrupt)
	case err != nil:
		return nil, truncatedError("the file", err)
	case h.Typeflag != tar.TypeReg:
		return nil, store.Invalidf("%q is not a regular file", h.Name)
	}
	return h, nil
}

// truncatedError marks the early end of a file; other errors are those of the reader.
func truncatedError(what string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s is cut off: %w", what, store.ErrCorrupt)
	}
	return fmt.Errorf("read %s: %w", what, err)
}

func (in *importer) readManifest() error {
	h, err := in.next()
	if errors.Is(err, io.EOF) {
		return truncatedError("the file", err)
	}
	if err != nil {
		return err
	}
	if h.Name != manifestName {
		return store.Invalidf("the archive begins with %q instead of %s; it is not an exported snapshot",
			h.Name, manifestName)
	}
	if h.Size > maxManifest {
		return store.Invalidf("%s has %d bytes, the limit is %d", manifestName, h.Size, maxManifest)
	}
	data, err := io.ReadAll(in.tar)
	if err != nil {
		return truncatedError(manifestName, err)
	}
	in.sum = hexSum(data)
	if in.manifest, err = parseManifest(data); err != nil {
		return err
	}
	if in.manifest.Base != nil {
		return store.Invalidf("the export is a delta, not a whole snapshot")
	}
	return nil
}

// readFiles takes the files over and looks at what they hold.
func (in *importer) readFiles(ctx context.Context, f *folder) (manifest, error) {
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
		if err := in.copyFile(ctx, f, h); err != nil {
			return manifest{}, err
		}
	}
	if !in.sumChecked {
		return manifest{}, truncatedError(sumName, io.EOF)
	}
	for name := range in.manifest.Files {
		if _, ok := f.sums[name]; !ok {
			return manifest{}, truncatedError(name, io.EOF)
		}
	}
	m, err := f.writeManifest(in.manifest)
	if err != nil {
		return m, err
	}
	return m, inspect(ctx, f.dir)
}

// compareSum compares the manifest with its checksum, which has the form that sha256sum reads.
func (in *importer) compareSum(h *tar.Header) error {
	said := make([]byte, len(in.sum))
	if _, err := io.ReadFull(in.tar, said); err != nil {
		return truncatedError(h.Name, err)
	}
	if string(said) != in.sum {
		return fmt.Errorf("checksum of %s: got %.12s…, want %.12q…; export it again: %w", manifestName, in.sum, said,
			store.ErrCorrupt)
	}
	in.sumChecked = true
	return nil
}

func (in *importer) copyFile(ctx context.Context, f *folder, h *tar.Header) error {
	want, ok := in.manifest.Files[h.Name]
	if !ok {
		return store.Invalidf("%s does not name %q", manifestName, h.Name)
	}
	if _, again := f.sums[h.Name]; again {
		return store.Invalidf("%q occurs twice", h.Name)
	}
	if h.Size != want.Bytes {
		return fmt.Errorf("%s has %d bytes, want %d: %w", h.Name, h.Size, want.Bytes, store.ErrCorrupt)
	}
	if err := f.write(h.Name, func(w io.Writer) error { return in.copyData(ctx, w, h.Name) }); err != nil {
		return err
	}
	if got := f.sums[h.Name].SHA256; got != want.SHA256 {
		return fmt.Errorf("checksum of %s: got %.12s…, want %.12s…; export it again: %w", h.Name, got, want.SHA256,
			store.ErrCorrupt)
	}
	return nil
}

func (in *importer) copyData(ctx context.Context, to io.Writer, name string) error {
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
			return truncatedError(name, err)
		}
	}
}
