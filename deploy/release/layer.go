package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// entry is a file of a layer: data, or the contents of the file from.
type entry struct {
	to, from string
	data     []byte
	mode     int64
}

type entries []entry

func (e *entries) addFile(to, from string) { *e = append(*e, entry{to: to, from: from, mode: 0o555}) }

func (e *entries) addData(to string, data []byte) {
	*e = append(*e, entry{to: to, data: data, mode: 0o444})
}

// baseFiles returns the files that any program expects: Mozilla's root certificates and the name of
// its user.
func baseFiles() (entries, error) {
	var roots bytes.Buffer
	for cert := range bundle.Roots() {
		if cert.Constraint != nil {
			// Certificates that are only trusted with constraints are skipped: a PEM file cannot
			// express the constraints.
			continue
		}
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate}); err != nil {
			return nil, err
		}
	}
	var e entries
	e.addData("etc/ssl/certs/ca-certificates.crt", roots.Bytes())
	e.addData("etc/passwd", []byte("nonroot:x:"+nonroot+":"+nonroot+":nonroot:/:/sbin/nologin\n"))
	e.addData("etc/group", []byte("nonroot:x:"+nonroot+":\n"))
	return e, nil
}

// layer returns the files sorted by path, with their directories, all owned by root and with the
// same time.
func (e entries) layer() (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := e.writeTo(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive.Bytes())), nil
	})
}

// writeTo writes the files in that order.
func (e entries) writeTo(w *tar.Writer) error {
	sorted := slices.Clone(e)
	for i := range sorted {
		sorted[i].to = strings.TrimPrefix(sorted[i].to, "/")
	}
	slices.SortFunc(sorted, func(a, b entry) int { return strings.Compare(a.to, b.to) })
	made := map[string]bool{".": true}
	for _, file := range sorted {
		if err := makeDirs(w, path.Dir(file.to), made); err != nil {
			return err
		}
		if err := file.write(w); err != nil {
			return fmt.Errorf("archive %s: %w", file.to, err)
		}
	}
	return nil
}

func makeDirs(w *tar.Writer, dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	if err := makeDirs(w, path.Dir(dir), made); err != nil {
		return err
	}
	made[dir] = true
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: epoch})
}

func (e entry) write(w *tar.Writer) error {
	data := e.data
	if e.from != "" {
		var err error
		if data, err = os.ReadFile(e.from); err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.to, Mode: e.mode, Size: int64(len(data)),
		ModTime: epoch}); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
