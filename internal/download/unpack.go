package download

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/triplemesh/triplemesh/internal/terminal"
)

// Unpack unpacks a zip or a gzipped tar archive, at most maxBytes, to dir, which it empties first.
// Names and links that lead outside are refused. Of a zip archive, only the members that fit a
// pattern are unpacked; no patterns take all.
func Unpack(archive, dir string, maxBytes int64, members ...string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{root: root, max: maxBytes, left: maxBytes}
	z, err := zip.OpenReader(archive)
	if errors.Is(err, zip.ErrFormat) {
		return u.unpackTar(archive)
	}
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		fits := func(pattern string) bool { ok, err := path.Match(pattern, f.Name); return err == nil && ok }
		if !f.Mode().IsRegular() || len(members) > 0 && !slices.ContainsFunc(members, fits) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(u.write(f.Name, r, f.Mode().Perm()), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// unpacker writes files below a root that nothing escapes from.
type unpacker struct {
	root      *os.Root
	max, left int64
}

func (u *unpacker) unpackTar(archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("it is neither a zip nor a gzipped tar archive: %w", err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			err = u.write(h.Name, r, h.FileInfo().Mode().Perm())
		case tar.TypeSymlink:
			if !filepath.IsLocal(path.Join(path.Dir(h.Name), h.Linkname)) || path.IsAbs(h.Linkname) {
				return fmt.Errorf("the archive links to a file outside: %q", h.Linkname)
			}
			if err = u.root.MkdirAll(path.Dir(path.Clean(h.Name)), 0o755); err == nil {
				err = u.root.Symlink(h.Linkname, path.Clean(h.Name))
			}
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) write(name string, r io.Reader, mode os.FileMode) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("the archive holds a file outside its folder: %q", name)
	}
	name = path.Clean(name)
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(r, u.left+1))
	if u.left -= n; err == nil && u.left < 0 {
		err = fmt.Errorf("the archive unpacks to more than %s", terminal.FormatSize(u.max))
	}
	return errors.Join(err, f.Close())
}
