package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowedLicences are the licences that shipped software may have, by SPDX identifier. None places a
// condition on running the mesh; redistribution requires passing on the notices and, for MPL-2.0,
// the sources of its files.
var allowedLicences = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "OFL-1.1", "Unlicense",
}

// coverage is the minimum share of a file's words, in percent, that must belong to a known licence.
const coverage = 75

// licenceFiles are the base names of licence files, without extension.
var licenceFiles = []string{"license", "licence", "copying", "unlicense"}

// detectLicence returns the licence of the software in a directory, as an SPDX expression. The error names
// the file to look at.
func detectLicence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.ToLower(e.Name()), ".")
		name, _, _ = strings.Cut(name, "-")
		if e.IsDir() || filepath.Ext(e.Name()) == ".go" || !slices.Contains(licenceFiles, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		ids := readLicences(text)
		if len(ids) == 0 {
			return "", fmt.Errorf("%s is none of the licences known: read it, and name it in deploy/release",
				filepath.Join(dir, e.Name()))
		}
		found = append(found, ids...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s holds no licence", dir)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND "), nil
}

// readLicences finds the licences that a text consists of.
func readLicences(text []byte) []string {
	scan := licensecheck.Scan(text)
	if scan.Percent < coverage {
		return nil
	}
	var ids []string
	for _, m := range scan.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

const intro = "# Licences\n" +
	"triplemesh is under the [Apache License 2.0](../LICENSE). This page lists the third-party software shipped with " +
	"it, found from what is compiled and fetched. `make sbom` regenerates it; a test fails if it is out of date, or " +
	"if a licence is not one that `deploy/release` allows. Each program and each image has a list of its own with " +
	"checksums, its bill of materials (SPDX, `.cache/sbom`, `.cache/images`).\n\n"

// shipped is the third-party software shipped.
type shipped struct{ modules, console, fetched []part }

func gather(root string) (s shipped, err error) {
	if s.modules, err = compiledModules(root, slices.Sorted(maps.Values(programs))...); err != nil {
		return s, err
	}
	s.modules = append(s.modules, part{Name: "the Go standard library", Licence: "BSD-3-Clause"})
	if s.console, err = consolePackages(root); err != nil {
		return s, err
	}
	s.fetched = fetchedParts("linux", "amd64")
	return s, nil
}

// list renders docs/licences.md. Versions are omitted: they change with every update, and are in
// go.sum and the bills.
func (s shipped) list() []byte {
	var out bytes.Buffer
	out.WriteString(intro)
	table(&out, "Compiled into the programs", s.modules)
	table(&out, "Compiled into the console", s.console)
	table(&out, "Fetched by setup, and beside the retriever in its image", s.fetched)
	out.WriteString(loaded)
	return out.Bytes()
}

// loaded describes the libraries that images take from the build machine.
const loaded = "## Loaded at run time\n" +
	"The images of the retriever and of the command line contain the C library that they were built with, and the " +
	"retriever's also the C++ library for ONNX Runtime, as separate files that the programs load: glibc " +
	"(LGPL-2.1-or-later), libstdc++ and libgcc (GPL-3.0-or-later with the GCC Runtime Library Exception).\n"

// table lists parts by licence; each name is listed once.
func table(out *bytes.Buffer, title string, parts []part) {
	byLicence := map[string][]string{}
	for _, p := range parts {
		byLicence[p.Licence] = append(byLicence[p.Licence], p.Name)
	}
	fmt.Fprintf(out, "## %s\n| licence | software |\n|---|---|\n", title)
	for _, id := range slices.Sorted(maps.Keys(byLicence)) {
		names := slices.Compact(slices.Sorted(slices.Values(byLicence[id])))
		fmt.Fprintf(out, "| %s | %s |\n", strings.ReplaceAll(id, " AND ", " and "), strings.Join(names, ", "))
	}
	out.WriteByte('\n')
}
