package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"golang.org/x/mod/module"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
)

// part is third-party software or data.
type part struct {
	Name, Version string
	// Licence is an SPDX expression; empty if unknown.
	Licence string
	// Source is the URL that it comes from; empty if unknown.
	Source string
	// PURL is the package URL that vulnerability scanners match; may be empty.
	PURL string
	// SHA256 is the checksum of the file in hexadecimal; may be empty.
	SHA256 string
}

// billOfMaterials (SBOM, SPDX 2.3) lists the components of a program or an image, with licences and
// checksums.
type billOfMaterials struct {
	// Name and Version identify the program or image itself.
	Name, Version string
	Parts         []part
}

// unsaid is SPDX's value for an unknown field.
const unsaid = "NOASSERTION"

// JSON returns the bill as SPDX. The same parts give the same bytes: the creation time is always
// the epoch.
func (b billOfMaterials) JSON() ([]byte, error) {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "triplemesh-" + b.Name,
		DocumentNamespace: "https://github.com/triplemesh/triplemesh/sbom/" + b.Name + "/" + b.Version,
		CreationInfo: &spdx.CreationInfo{
			Created:  time.Unix(0, 0).UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "triplemesh-bill"}},
		},
	}
	root := part{Name: "triplemesh-" + b.Name, Version: b.Version, Licence: "Apache-2.0"}
	doc.Packages = []*spdx.Package{root.spdx("root")}
	doc.Relationships = []*spdx.Relationship{relation("DOCUMENT", common.TypeRelationshipDescribe, "root")}
	for i, p := range b.Parts {
		id := fmt.Sprintf("part-%d", i+1)
		doc.Packages = append(doc.Packages, p.spdx(id))
		doc.Relationships = append(doc.Relationships, relation("root", common.TypeRelationshipContains, id))
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out, spdxjson.Indent(" "), spdxjson.EscapeHTML(false)); err != nil {
		return nil, fmt.Errorf("bill of %s: %w", b.Name, err)
	}
	return out.Bytes(), nil
}

func relation(from, kind, to string) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", from), Relationship: kind,
		RefB: common.MakeDocElementID("", to)}
}

func (p part) spdx(id string) *spdx.Package {
	out := &spdx.Package{
		PackageName: p.Name, PackageSPDXIdentifier: common.ElementID(id), PackageVersion: p.Version,
		PackageDownloadLocation: orUnknown(p.Source), PackageLicenseDeclared: orUnknown(p.Licence),
		PackageLicenseConcluded: unsaid, PackageCopyrightText: unsaid,
	}
	if p.SHA256 != "" {
		out.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: p.SHA256}}
	}
	if p.PURL != "" {
		out.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: p.PURL,
		}}
	}
	return out
}

func orUnknown(text string) string {
	if text == "" {
		return unsaid
	}
	return text
}

// Sum returns the part with the checksum of a file.
func (p part) Sum(file string) (part, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("bill of materials: %w", err)
	}
	sum := sha256.Sum256(data)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, nil
}

// fetchedParts returns what `triplemesh setup` fetches for an operating system and an architecture: the
// encoder, ONNX Runtime, the model, and llama.cpp, which it builds.
func fetchedParts(goos, goarch string) []part {
	var parts []part
	for _, p := range setup.Pins(goos, goarch) {
		parts = append(parts, part{Name: p.Name, Version: p.Version, Licence: p.Licence, Source: p.Home,
			SHA256: p.SHA256})
	}
	return parts
}

// Paths of the console, relative to the checkout.
var (
	consoleDist = filepath.Join("services", "orchestrator", "http", "console", "dist")
	consoleLock = filepath.Join("console", "package-lock.json")
)

// bundled matches the heading of a package in the licence file that the console's build writes for
// every package it bundles.
var bundled = regexp.MustCompile(`(?m)^## (\S+) - (\S+) \(([^)]+)\)$`)

// font matches the name of a bundled font file, without its hash.
var font = regexp.MustCompile(`^([a-z-]+)-latin`)

// consolePackages returns the npm packages whose code and fonts are part of the console, which is compiled
// into the orchestrator. root is the checkout.
func consolePackages(root string) ([]part, error) {
	text, err := os.ReadFile(filepath.Join(root, consoleDist, "licenses.md"))
	if err != nil {
		return nil, fmt.Errorf("packages of the console: %w", err)
	}
	var parts []part
	for _, m := range bundled.FindAllStringSubmatch(string(text), -1) {
		parts = append(parts, npm(m[1], m[2], m[3]))
	}
	fonts, err := consoleFonts(root)
	if err != nil {
		return nil, fmt.Errorf("fonts of the console: %w", err)
	}
	return append(parts, fonts...), nil
}

func npm(name, version, licence string) part {
	return part{
		Name: name, Version: version, Licence: licence,
		PURL: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version,
	}
}

// consoleFonts returns the packages of the font files, with the versions in the lock file.
func consoleFonts(root string) ([]part, error) {
	data, err := os.ReadFile(filepath.Join(root, consoleLock))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Version, License string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", consoleLock, err)
	}
	files, err := filepath.Glob(filepath.Join(root, consoleDist, "assets", "*.woff2"))
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, file := range files {
		m := font.FindStringSubmatch(filepath.Base(file))
		if m == nil {
			return nil, fmt.Errorf("%s is of no package known", file)
		}
		name := "@fontsource-variable/" + m[1]
		of, ok := lock.Packages["node_modules/"+name]
		if !ok {
			return nil, fmt.Errorf("%s: %s does not name %s", file, consoleLock, name)
		}
		if n := len(parts); n == 0 || parts[n-1].Name != name {
			parts = append(parts, npm(name, of.Version, of.License))
		}
	}
	return parts, nil
}

// ownModules is the path prefix of this repository's modules.
const ownModules = "github.com/triplemesh/triplemesh/"

// linkedModules returns the Go modules that a program was linked from according to its build information,
// plus the standard library, without the modules of this repository.
func linkedModules(program string) ([]part, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("modules of %s: %w", program, err)
	}
	parts := []part{standard(info.GoVersion)}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if strings.HasPrefix(dep.Path, ownModules) || strings.HasPrefix(dep.Path, ".") {
			continue
		}
		p, err := linked(dep)
		if err != nil {
			return nil, fmt.Errorf("modules of %s: %w", program, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func standard(version string) part {
	return part{Name: "stdlib", Version: version, Licence: "BSD-3-Clause", Source: "https://go.dev",
		PURL: "pkg:golang/stdlib@" + version}
}

func linked(dep *debug.Module) (part, error) {
	p := part{Name: dep.Path, Version: dep.Version, PURL: "pkg:golang/" + dep.Path + "@" + dep.Version}
	dir, err := moduleDir(dep.Path, dep.Version)
	if err != nil {
		return p, err
	}
	if p.Licence, err = detectLicence(dir); err != nil {
		return p, fmt.Errorf("licence of %s: %w", dep.Path, err)
	}
	return p, nil
}

var moduleCache = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	return strings.TrimSpace(string(out)), err
})

// moduleDir returns the directory of a module in the module cache.
func moduleDir(path, version string) (string, error) {
	cache, err := moduleCache()
	if err != nil {
		return "", fmt.Errorf("find the module cache: %w", err)
	}
	escapedPath, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	escapedVersion, err := module.EscapeVersion(version)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, escapedPath+"@"+escapedVersion)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%w: run go mod download", err)
	}
	return dir, nil
}

// compiledModules returns the Go modules that programs would be linked from, without building them. root
// is the checkout.
func compiledModules(root string, programs ...string) ([]part, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}"},
		programs...)...)
	list.Dir = root
	// Releases are built for Linux; the list must not depend on the machine that makes it.
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of %s: %w", strings.Join(programs, ", "), err)
	}
	lines := slices.Sorted(strings.SplitSeq(strings.TrimSpace(string(out)), "\n"))
	var parts []part
	for _, line := range slices.Compact(lines) {
		path, version, ok := strings.Cut(line, " ")
		if !ok || version == "" || strings.HasPrefix(path, ownModules) {
			continue
		}
		p, err := linked(&debug.Module{Path: path, Version: version})
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
