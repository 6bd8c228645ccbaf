package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// release is what is published under one version, except for images and Go modules.
type release struct {
	source source
	// name and program are the command that is archived for each platform, for Linux as cgo program if
	// cgo is set.
	name, program string
	cgo           bool
	platforms     []v1.Platform
	out           string
	// key is a file with the private key that signs the checksums; empty signs nothing.
	key string
}

// semantic matches the versions that are released, with the v of Go modules.
var semantic = regexp.MustCompile(`^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$`)

// cutRelease writes the files of a release: archives of the command line with their bills of
// materials, the Helm chart, the Compose file, release notes, the packages of clients if they are
// built, checksums, and a signature of these. The same commit gives the same bytes.
func cutRelease(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("cut", flag.ContinueOnError)
	r := release{name: "triplemesh", program: "./cmd/triplemesh", cgo: true}
	flags.StringVar(&r.source.root, "root", ".", "the checkout")
	flags.StringVar(&r.source.version, "version", "", "version, such as v0.1.0; empty takes the tag of the commit")
	flags.StringVar(&r.source.cc, "cc", "", "C compiler that takes -target, such as 'python3 -m ziglang cc'")
	flags.StringVar(&r.out, "out", filepath.Join(".cache", "release"), "directory of the files; it is emptied")
	flags.StringVar(&r.key, "key", "", "private key that signs the checksums, of cosign (COSIGN_PASSWORD) or in PEM")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64",
		"platforms of the archives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.source.version == "" {
		tag, err := taggedVersion(r.source.root)
		if err != nil {
			return err
		}
		r.source.version = tag
	}
	for _, p := range strings.Split(*platforms, ",") {
		platform, err := v1.ParsePlatform(p)
		if err != nil {
			return fmt.Errorf("-platforms: %w", err)
		}
		r.platforms = append(r.platforms, *platform)
	}
	files, err := r.cut()
	if err != nil {
		return err
	}
	for _, name := range files {
		fmt.Fprintln(out, filepath.Join(r.out, name))
	}
	return nil
}

// taggedVersion returns the version that the checked-out commit is tagged with.
func taggedVersion(root string) (string, error) {
	describe := exec.Command("git", "describe", "--tags", "--exact-match", "--match", "v*")
	describe.Dir = root
	tag, err := describe.Output()
	if err != nil {
		return "", errors.New("the commit has no version tag: tag it (git tag v0.1.0), or set -version for a snapshot")
	}
	return strings.TrimSpace(string(tag)), nil
}

// number returns the version without its v, as charts and archives have it.
func (r release) number() string { return strings.TrimPrefix(r.source.version, "v") }

// cut writes the files and returns their names, sorted.
func (r release) cut() ([]string, error) {
	if !semantic.MatchString(r.source.version) {
		return nil, fmt.Errorf("version %q is not semantic: want v0.1.0 or v0.1.0-rc.1", r.source.version)
	}
	if err := os.RemoveAll(r.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	steps := []func() error{r.archives, r.chart, r.compose, r.notes, r.collect}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := r.checksums(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

func (r release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

func (r release) readFile(path ...string) ([]byte, error) {
	return os.ReadFile(filepath.Join(append([]string{r.source.root}, path...)...))
}

// archives writes the command line for each platform, and its bill of materials beside it.
func (r release) archives() error {
	dir, err := os.MkdirTemp("", "triplemesh-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, p := range r.platforms {
		src := r.source
		src.platform = p
		binary := filepath.Join(dir, p.OS+"-"+p.Architecture)
		if err := src.compile(r.program, binary, r.cgo && p.OS == "linux"); err != nil {
			return err
		}
		bill, err := describeProgram(r.source.root, binary, r.name, r.source.version, p)
		if err != nil {
			return err
		}
		spdx, err := bill.JSON()
		if err != nil {
			return err
		}
		base := fmt.Sprintf("%s_%s_%s_%s", r.name, r.number(), p.OS, p.Architecture)
		var files entries
		files.addFile(base+"/"+r.name, binary)
		// With the facts that the README loads.
		for _, file := range []string{"LICENSE", "README.md", "CHANGELOG.md", "examples/wikidata/README.md",
			"examples/wikidata/triples.tsv.gz"} {
			content, err := r.readFile(filepath.FromSlash(file))
			if err != nil {
				return err
			}
			files.addData(base+"/"+file, content)
		}
		archive, err := files.archive()
		if err != nil {
			return err
		}
		if err := errors.Join(r.write(base+".tar.gz", archive), r.write(base+".spdx.json", spdx)); err != nil {
			return err
		}
	}
	return nil
}

// archive returns the files as a .tar.gz whose bytes depend on them alone.
func (e entries) archive() ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zip)
	if err := e.writeTo(w); err != nil {
		return nil, err
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// chart writes the Helm chart as `helm package` names it, with the version of the release. Links are
// resolved: the package contains the files of deploy/k8s.
func (r release) chart() error {
	c, err := loader.Load(filepath.Join(r.source.root, "deploy", "helm", "triplemesh"))
	if err != nil {
		return fmt.Errorf("load the chart: %w", err)
	}
	var files entries
	for _, f := range c.Raw {
		if f.Name == "Chart.yaml" {
			f.Data = chartVersion.ReplaceAll(f.Data, []byte("version: "+r.number()))
			f.Data = appVersion.ReplaceAll(f.Data, []byte("appVersion: "+r.source.version))
		}
		files.addData(c.Name()+"/"+f.Name, f.Data)
	}
	archive, err := files.archive()
	if err != nil {
		return err
	}
	return r.write(c.Name()+"-"+r.number()+".tgz", archive)
}

var (
	chartVersion = regexp.MustCompile(`(?m)^version: .*$`)
	appVersion   = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

// compose writes the Compose file, whose images have the version of the release by default.
func (r release) compose() error {
	text, err := r.readFile("deploy", "compose", "compose.yaml")
	if err != nil {
		return err
	}
	return r.write("compose.yaml", bytes.ReplaceAll(text, []byte("${VERSION:-dev}"),
		[]byte("${VERSION:-"+r.source.version+"}")))
}

// notes writes the section of CHANGELOG.md for the version; before a release it is under Unreleased.
func (r release) notes() error {
	text, err := r.readFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	notes, err := sectionOf(string(text), r.number())
	if err != nil {
		return err
	}
	return r.write("release-notes.md", []byte(notes))
}

// sectionOf returns the changes of a version in the format Keep a Changelog: those of a version with a
// suffix (0.1.0-rc.1) are the unreleased ones.
func sectionOf(changelog, version string) (string, error) {
	wanted := []string{"[" + version + "]"}
	if strings.Contains(version, "-") {
		wanted = append(wanted, "[Unreleased]")
	}
	for _, section := range strings.Split(changelog, "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		if slices.ContainsFunc(wanted, func(w string) bool { return strings.HasPrefix(heading, w) }) {
			// Links at the end of the file belong to no section.
			if i := strings.Index(body, "\n[Unreleased]: "); i >= 0 {
				body = body[:i]
			}
			return strings.TrimSpace(body) + "\n", nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s: rename [Unreleased] to [%s]", version, version)
}

// collect copies the packages of clients that are built, wheels and npm packages. npm's would be named
// as the chart is.
func (r release) collect() error {
	clients := filepath.Join(r.source.root, "clients", "*")
	patterns := []string{filepath.Join(clients, "dist", "*.whl"), filepath.Join(clients, "dist", "*.tar.gz"),
		filepath.Join(clients, "*.tgz")}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name := filepath.Base(file)
			if strings.HasSuffix(name, ".tgz") {
				name = "npm-" + name
			}
			if err := r.write(name, data); err != nil {
				return err
			}
		}
	}
	return nil
}

const checksumFile = "checksums.txt"

// checksums writes the SHA-256 of every file as sha256sum does, and signs them if there is a key.
func (r release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	if err := r.write(checksumFile, sums.Bytes()); err != nil || r.key == "" {
		return err
	}
	key, err := readKey(r.key, os.Getenv("COSIGN_PASSWORD"))
	if err != nil {
		return err
	}
	signature, err := key.sign(sums.Bytes())
	if err != nil {
		return err
	}
	return r.write(checksumFile+".sig", []byte(signature))
}
