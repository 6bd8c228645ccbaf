package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	spdx "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

var here = source{root: "..", version: "v1", revision: "abc"}

// hello is an image of a small program and one file.
func hello(t *testing.T) image {
	t.Helper()
	from := filepath.Join("release", "testdata", "hello", "main.go")
	return image{
		name: "hello", title: "Says hello", program: "./release/testdata/hello",
		files: []file{{from: from, to: "opt/main.go", name: "a file", licence: "MIT"}},
	}
}

func built(t *testing.T, i image) (v1.Image, []byte) {
	t.Helper()
	img, bill, err := i.build(here)
	if err != nil {
		t.Fatal(err)
	}
	return img, bill
}

func contents(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	files := map[string]string{}
	r := mutate.Extract(img)
	defer r.Close()
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Mode&0o022 != 0 || !header.ModTime.Equal(epoch) {
			t.Errorf("%s: owner %d, mode %o, time %s; want root's, not writable, at the epoch", header.Name, header.Uid,
				header.Mode, header.ModTime)
		}
		files[header.Name] = string(data)
	}
}

func TestAnImageBuiltTwiceIsTheSame(t *testing.T) {
	first, _ := built(t, hello(t))
	second, _ := built(t, hello(t))
	a, err := first.Digest()
	if err != nil {
		t.Fatal(err)
	}
	b, err := second.Digest()
	if err != nil || a != b {
		t.Errorf("digests %s and %s, error %v", a, b, err)
	}
	other := here
	other.revision = "def"
	third, _, err := hello(t).build(other)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := third.Digest(); err != nil || a == c {
		t.Errorf("another revision has the digest %s too, error %v", c, err)
	}
}

func TestALayerDoesNotTellWhenItsFilesWereMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	digest := func() string {
		var e entries
		e.addFile("b/f", file)
		e.addData("a", []byte("x"))
		l, err := e.layer()
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	if err := os.WriteFile(file, []byte("f"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := digest()
	if err := os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if after := digest(); after != before {
		t.Errorf("got %s, then %s", before, after)
	}
}

func TestAnImageHoldsItsProgramAndLittleElse(t *testing.T) {
	img, _ := built(t, hello(t))
	files := contents(t, img)
	for _, name := range []string{"hello", "opt/main.go", "etc/passwd", "etc/group",
		"var/lib/db/sbom/hello.spdx.json"} {
		if files[name] == "" {
			t.Errorf("%s is missing among %q", name, slices.Sorted(maps.Keys(files)))
		}
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(files["etc/ssl/certs/ca-certificates.crt"])) {
		t.Error("there is no certificate of an authority")
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || config.OS != "linux" || config.Config.Entrypoint[0] != "/hello" {
		t.Errorf("config %+v", config.Config)
	}
	for _, label := range []string{"title", "description", "version", "revision", "licenses", "source"} {
		if config.Config.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("label %s is missing", label)
		}
	}
}

func TestTheBillNamesModulesAndFiles(t *testing.T) {
	_, bill := built(t, hello(t))
	doc, err := spdx.Read(bytes.NewReader(bill))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]*v2_3.Package{}
	for _, p := range doc.Packages {
		packages[p.PackageName] = p
	}
	module := packages["golang.org/x/crypto/x509roots/fallback"]
	if module == nil || len(module.PackageExternalReferences) != 1 || module.PackageLicenseDeclared != "BSD-3-Clause" ||
		!strings.HasPrefix(module.PackageExternalReferences[0].Locator,
			"pkg:golang/golang.org/x/crypto/x509roots/fallback@v") {
		t.Errorf("module %+v", module)
	}
	if f := packages["a file"]; f == nil || len(f.PackageChecksums) != 1 || f.PackageLicenseDeclared != "MIT" {
		t.Errorf("file %+v", f)
	}
	if std := packages["stdlib"]; std == nil || !strings.HasPrefix(std.PackageVersion, "go1.") {
		t.Errorf("standard library %+v", std)
	}
	if len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d relationships for %d packages", len(doc.Relationships), len(doc.Packages))
	}
}

func TestADynamicProgramBringsItsLoader(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := image{cgo: true}.libraries(here, program)
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range libraries {
		if _, err := os.Stat(lib); err != nil {
			t.Error(err)
		}
	}
	if _, err := locate("libnobody.so.9"); err == nil || !strings.Contains(err.Error(), "libnobody.so.9") {
		t.Errorf("error %v does not name the library", err)
	}
}

func TestRunWritesTarballsAndRefusesWhatIsTooLarge(t *testing.T) {
	out := t.TempDir()
	j := job{repository: "localhost/x", tag: "t", out: out, source: here}
	small := hello(t)
	small.limit = 1000
	if err := j.make(small, io.Discard); err == nil || !strings.Contains(err.Error(), "limit is 1000") {
		t.Errorf("error %v", err)
	}
	var output strings.Builder
	if err := j.make(hello(t), &output); err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(filepath.Join(out, "hello.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.ConfigName()
	if err != nil || digest.Hex == "" || !strings.Contains(output.String(), "localhost/x/hello:t") {
		t.Errorf("%s, %v, printed %q", digest, err, output.String())
	}
	if _, err := os.Stat(filepath.Join(out, "hello.spdx.json")); err != nil {
		t.Error(err)
	}
}

func TestEveryStageHasAnImage(t *testing.T) {
	stages, err := filepath.Glob(filepath.Join("..", "..", "services", "*"))
	if err != nil || len(stages) == 0 {
		t.Fatal(stages, err)
	}
	for _, dir := range stages {
		name := filepath.Base(dir)
		if !slices.ContainsFunc(images(), func(i image) bool {
			return i.name == name && strings.HasSuffix(i.program, "/services/"+name+"/cmd/"+name)
		}) {
			t.Errorf("%s has no image", name)
		}
	}
}
