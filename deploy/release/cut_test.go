package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
	spdx "github.com/spdx/tools-golang/json"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// snapshot is a release of a small program for two platforms.
func snapshot(t *testing.T) release {
	t.Helper()
	return release{
		source: source{root: root, version: "v0.2.0-snapshot", revision: "abc"}, out: filepath.Join(t.TempDir(), "out"),
		name: "hello", program: "./deploy/release/testdata/hello",
		platforms: []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "darwin", Architecture: "arm64"}},
	}
}

func cut(t *testing.T, r release) map[string][]byte {
	t.Helper()
	names, err := r.cut()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, n := range names {
		if files[n], err = os.ReadFile(filepath.Join(r.out, n)); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// unpack returns the files of a .tar.gz.
func unpack(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(zip); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if files[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(header.Name, "/hello") && header.Mode&0o111 == 0 {
			t.Errorf("%s is not executable", header.Name)
		}
	}
}

func TestAReleaseHasEverythingThatOneInstalls(t *testing.T) {
	files := cut(t, snapshot(t))
	var own []string
	for n := range files {
		if !strings.HasSuffix(n, ".whl") && !strings.HasPrefix(n, "npm-") {
			own = append(own, n)
		}
	}
	slices.Sort(own)
	want := []string{"checksums.txt", "compose.yaml", "hello_0.2.0-snapshot_darwin_arm64.spdx.json",
		"hello_0.2.0-snapshot_darwin_arm64.tar.gz", "hello_0.2.0-snapshot_linux_amd64.spdx.json",
		"hello_0.2.0-snapshot_linux_amd64.tar.gz", "release-notes.md", "triplemesh-0.2.0-snapshot.tgz"}
	for _, w := range want {
		if !slices.Contains(own, w) {
			t.Errorf("%s is missing among %q", w, own)
		}
	}
	t.Run("archives hold the program, its licence, its documentation and facts to try it on", func(t *testing.T) {
		base := "hello_0.2.0-snapshot_linux_amd64"
		archive := unpack(t, files[base+".tar.gz"])
		for _, n := range []string{"hello", "LICENSE", "README.md", "CHANGELOG.md",
			"examples/wikidata/triples.tsv.gz"} {
			if len(archive[base+"/"+n]) == 0 {
				t.Errorf("%s is missing", n)
			}
		}
		if !bytes.HasPrefix(archive[base+"/hello"], []byte("\x7fELF")) {
			t.Error("the program for Linux is no ELF file")
		}
		mac := unpack(t, files["hello_0.2.0-snapshot_darwin_arm64.tar.gz"])
		if !bytes.HasPrefix(mac["hello_0.2.0-snapshot_darwin_arm64/hello"], []byte{0xcf, 0xfa, 0xed, 0xfe}) {
			t.Error("the program for macOS is no Mach-O file")
		}
	})
	t.Run("bills are read by SPDX tools", func(t *testing.T) {
		if _, err := spdx.Read(bytes.NewReader(files["hello_0.2.0-snapshot_linux_amd64.spdx.json"])); err != nil {
			t.Error(err)
		}
	})
	t.Run("the chart loads, with the version and the manifests", func(t *testing.T) {
		c, err := loader.LoadArchive(bytes.NewReader(files["triplemesh-0.2.0-snapshot.tgz"]))
		if err != nil {
			t.Fatal(err)
		}
		if c.Metadata.Version != "0.2.0-snapshot" || c.Metadata.AppVersion != "v0.2.0-snapshot" {
			t.Errorf("version %s, appVersion %s", c.Metadata.Version, c.Metadata.AppVersion)
		}
		held := map[string]bool{}
		for _, f := range c.Files {
			held[f.Name] = true
		}
		if !held["files/base/stage.yaml"] || !held["files/components/mtls/certificates.yaml"] {
			t.Errorf("it holds %v", held)
		}
	})
	t.Run("the Compose file names the version", func(t *testing.T) {
		if text := string(files["compose.yaml"]); !strings.Contains(text, "${VERSION:-v0.2.0-snapshot}") ||
			strings.Contains(text, ":-dev}") {
			t.Error("images have another version")
		}
	})
	t.Run("checksums cover every other file", func(t *testing.T) {
		sums := string(files[checksumFile])
		for n, data := range files {
			line := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), n)
			if n != checksumFile && !strings.Contains(sums, line) {
				t.Errorf("no line %q", line)
			}
		}
		if strings.Count(sums, "\n") != len(files)-1 {
			t.Errorf("%d files, and the checksums %s", len(files), sums)
		}
	})
}

func TestAReleaseCutTwiceIsTheSame(t *testing.T) {
	if diff := cmp.Diff(cut(t, snapshot(t)), cut(t, snapshot(t))); diff != "" {
		t.Errorf("two runs differ: %.2000s", diff)
	}
}

func TestPackagesOfClientsAreReleasedIfTheyAreBuilt(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"python/dist/triplemesh-1-py3-none-any.whl", "python/dist/triplemesh-1.tar.gz",
		"typescript/triplemesh-1.tgz"} {
		file = filepath.Join(dir, "clients", filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := release{source: source{root: dir}, out: t.TempDir(), name: "hello"}
	if err := r.collect(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"triplemesh-1-py3-none-any.whl", "triplemesh-1.tar.gz", "npm-triplemesh-1.tgz"} {
		if _, err := os.Stat(filepath.Join(r.out, n)); err != nil {
			t.Error(err)
		}
	}
}

func TestReleaseNotesAreTheSectionOfTheVersion(t *testing.T) {
	const log = "# Changelog\n\n## [Unreleased]\n- new\n\n## [0.2.0] - 2026-12-01\n### Added\n- b\n\n## [0.1.0]\n- a\n"
	for version, want := range map[string]string{
		"0.2.0": "### Added\n- b\n", "0.1.0": "- a\n", "0.3.0-rc.1": "- new\n",
	} {
		if got, err := sectionOf(log, version); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", version, got, err, want)
		}
	}
	if _, err := sectionOf(log, "0.3.0"); err == nil ||
		!strings.Contains(err.Error(), "rename [Unreleased] to [0.3.0]") {
		t.Errorf("error %v", err)
	}
}

func TestAReleaseNeedsAVersionThatIsSemantic(t *testing.T) {
	for _, version := range []string{"", "1.2.3", "v1", "latest", "v1.2.3+dirty", "v1.2.3/x"} {
		r := snapshot(t)
		r.source.version = version
		if _, err := r.cut(); err == nil || !strings.Contains(err.Error(), "not semantic") {
			t.Errorf("%q: error %v", version, err)
		}
	}
}

func TestCgoForAnotherPlatformNeedsACompilerForIt(t *testing.T) {
	src := source{platform: v1.Platform{OS: "linux", Architecture: "arm64"}}
	if runtime.GOARCH == "arm64" {
		src.platform.Architecture = "amd64"
	}
	if _, err := src.environment(true); err == nil || !strings.Contains(err.Error(), "-cc 'python3 -m ziglang cc'") {
		t.Errorf("error %v", err)
	}
	src.cc = "cc"
	env, err := src.environment(true)
	if err != nil || !slices.Contains(env, "CC=cc -target "+targets[src.platform.String()]) ||
		!slices.Contains(env, "CGO_ENABLED=1") {
		t.Errorf("%v, %v", env[max(0, len(env)-6):], err)
	}
	src.platform = v1.Platform{OS: "plan9", Architecture: "mips"}
	if _, err := src.environment(true); err == nil || !strings.Contains(err.Error(), "unknown target") {
		t.Errorf("error %v", err)
	}
}

// keyFile writes a key as `cosign generate-key-pair` does, and returns its file.
func keyFile(t *testing.T, key *ecdsa.PrivateKey, password string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	kind := "PRIVATE KEY"
	if password != "" {
		kind = "ENCRYPTED SIGSTORE PRIVATE KEY"
		if der, err = encrypted.Encrypt(der, []byte(password)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// signedBy reports whether a signature in base64 is a key's, as cosign verifies it.
func signedBy(t *testing.T, key *ecdsa.PrivateKey, data []byte, signature string) bool {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return ecdsa.VerifyASN1(&key.PublicKey, sum[:], raw)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestChecksumsAreSignedWithAKeyOfCosign(t *testing.T) {
	key := newKey(t)
	t.Setenv("COSIGN_PASSWORD", "secret")
	for _, password := range []string{"", "secret"} {
		r := snapshot(t)
		r.key, r.platforms = keyFile(t, key, password), nil
		files := cut(t, r)
		if !signedBy(t, key, files[checksumFile], string(files[checksumFile+".sig"])) {
			t.Errorf("password %q: the signature is not the key's", password)
		}
	}
	if _, err := readKey(keyFile(t, key, "secret"), "wrong"); err == nil || !strings.Contains(err.Error(),
		"COSIGN_PASSWORD") {
		t.Errorf("error %v", err)
	}
	if _, err := parseKey([]byte("ssh-ed25519 AAAA"), ""); err == nil {
		t.Error("a key that is none is taken")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("ENCRYPTED")) {
			t.Skip() // derives a key for a second
		}
		if key, err := parseKey(text, ""); err == nil && key.PrivateKey == nil {
			t.Error("no key and no error")
		}
	})
}

func TestImagesOfTwoMachinesAreJoinedAndSignedInARegistry(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/triplemesh"
	for _, arch := range []string{"amd64", "arm64"} {
		src := here
		src.platform = v1.Platform{OS: "linux", Architecture: arch}
		j := job{repository: repository, tag: "v1-" + arch, out: t.TempDir(), push: true, source: src}
		if err := j.make(hello(t), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	key := newKey(t)
	j := indexer{repository: repository, tag: "v1", architectures: []string{"amd64", "arm64"},
		key: &signingKey{key}}
	if err := j.join(context.Background(), "hello", io.Discard); err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewTag(repository + "/hello:v1")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		built, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			t.Fatal(err)
		}
		files := contents(t, built)
		machine := map[string]byte{"amd64": 0x3e, "arm64": 0xb7}[arch]
		if program := files["hello"]; len(program) < 20 || program[18] != machine {
			t.Errorf("%s: the program is for another machine", arch)
		}
	}
	t.Run("cosign finds the signature", func(t *testing.T) {
		at := ref.Context().Tag(strings.Replace(digest.String(), ":", "-", 1) + ".sig")
		signed, err := remote.Image(at)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := signed.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		layers, err := signed.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatal(layers, err)
		}
		r, err := layers[0].Compressed()
		if err != nil {
			t.Fatal(err)
		}
		payload, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		signature := manifest.Layers[0].Annotations["dev.cosignproject.cosign/signature"]
		if !signedBy(t, key, payload, signature) || manifest.Layers[0].MediaType != cosignPayload {
			t.Errorf("media type %s, signature %s", manifest.Layers[0].MediaType, signature)
		}
		var said struct {
			Critical struct {
				Image struct {
					Digest string `json:"docker-manifest-digest"`
				}
			}
		}
		if err := json.Unmarshal(payload, &said); err != nil || said.Critical.Image.Digest != digest.String() {
			t.Errorf("it signs %s, want %s: %v", said.Critical.Image.Digest, digest, err)
		}
	})
	t.Run("an image for another architecture is refused", func(t *testing.T) {
		wrong, err := remote.Image(ref.Context().Tag("v1-amd64"))
		if err != nil {
			t.Fatal(err)
		}
		wrong = mutate.Annotations(wrong, map[string]string{"a": "b"}).(v1.Image)
		if err := remote.Write(ref.Context().Tag("v2-arm64"), wrong); err != nil {
			t.Fatal(err)
		}
		other := indexer{repository: repository, tag: "v2", architectures: []string{"arm64"}}
		if err := other.join(context.Background(), "hello", io.Discard); err == nil ||
			!strings.Contains(err.Error(), "built for amd64") {
			t.Errorf("error %v", err)
		}
	})
}
