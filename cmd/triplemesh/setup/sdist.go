package setup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// unpackFolder unpacks one folder of a gzipped tar archive to dir, which
// appears whole or not at all. Links and paths that lead outside are refused.
func unpackFolder(archive, folder, dir string) error {
	partial := dir + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.RemoveAll(dir)); err != nil {
		return err
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	files := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		name, inside := strings.CutPrefix(h.Name, folder+"/")
		if !inside || h.Typeflag != tar.TypeReg {
			continue
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the archive holds a file outside its folder: %q", h.Name)
		}
		if err := writeFile(filepath.Join(partial, name), r, h.FileInfo().Mode().Perm()|0o600); err != nil {
			return err
		}
		files++
	}
	if files == 0 {
		return fmt.Errorf("the archive has no folder %s", folder)
	}
	return os.Rename(partial, dir)
}

func writeFile(path string, r io.Reader, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
