package download_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/download"
)

func TestUnpackRefusesWhatLeadsOutside(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"a file that climbs out":     {Name: "a/../../evil", Typeflag: tar.TypeReg},
		"a link that climbs out":     {Name: "a/b", Linkname: "../../etc", Typeflag: tar.TypeSymlink},
		"a link to an absolute path": {Name: "a/b", Linkname: "/etc", Typeflag: tar.TypeSymlink},
		"an absolute path":           {Name: "/evil", Typeflag: tar.TypeReg},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			w := tar.NewWriter(z)
			file := filepath.Join(t.TempDir(), "a.tar.gz")
			if err := errors.Join(w.WriteHeader(&h), w.Close(), z.Close(),
				os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
			err := download.Unpack(file, filepath.Join(t.TempDir(), "out"), 1<<20)
			if err == nil || !strings.Contains(err.Error(), "outside") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnpackRefusesMoreThanTheLimit(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("large")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(make([]byte, 11))
	file := filepath.Join(t.TempDir(), "a.zip")
	if err := errors.Join(err, z.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := download.Unpack(file, filepath.Join(t.TempDir(), "out"), 11); err != nil {
		t.Error(err)
	}
	if err := download.Unpack(file, filepath.Join(t.TempDir(), "out"), 10); err == nil ||
		!strings.Contains(err.Error(), "unpacks to more than") {
		t.Errorf("got %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if _, err := z.Create("dir/llama-server"); err != nil {
		f.Fatal(err)
	}
	z.Close()
	f.Add(b.Bytes())
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, content []byte) {
		root := t.TempDir()
		file := filepath.Join(root, "archive")
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		_ = download.Unpack(file, filepath.Join(root, "out"), 1<<20)
		if files, err := os.ReadDir(root); err != nil || len(files) > 2 {
			t.Fatalf("files beside the folder: %v, %v", files, err)
		}
	})
}
