package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/deploy/bill"
	"github.com/triplemesh/triplemesh/deploy/licence"
)

const intro = `# Licences
triplemesh is under the [Apache License 2.0](../LICENSE). This is what of others is shipped with it, found from what is compiled and fetched. ` + "`make sbom`" + ` writes it anew; a test holds it in step and refuses licences but those that ` + "`deploy/licence`" + ` allows. Each program's and each image's own list, with checksums, is its bill of materials (SPDX, ` + "`.cache/sbom`, `.cache/images`" + `).

`

// shipped is what of others is shipped.
type shipped struct{ modules, console, fetched []bill.Part }

func gather(root string) (s shipped, err error) {
	if s.modules, err = bill.Compiled(root, slices.Sorted(maps.Values(programs))...); err != nil {
		return s, err
	}
	s.modules = append(s.modules, bill.Part{Name: "the Go standard library", Licence: "BSD-3-Clause"})
	if s.console, err = bill.Console(root); err != nil {
		return s, err
	}
	s.fetched, err = bill.Fetched("linux", "amd64")
	return s, err
}

// list is docs/licences.md. Versions are left out: they change by every update,
// and stand in go.sum and the bills.
func (s shipped) list() []byte {
	var out bytes.Buffer
	out.WriteString(intro)
	table(&out, "Compiled into the programs", s.modules)
	table(&out, "Compiled into the console", s.console)
	table(&out, "Fetched by setup, and beside the retriever in its image", s.fetched)
	out.WriteString(loaded)
	return out.Bytes()
}

// refused are those whose licence is not allowed, each with that licence.
func (s shipped) refused() (all []string) {
	for _, p := range slices.Concat(s.modules, s.console, s.fetched) {
		if ids := licence.Refused(p.Licence); len(ids) > 0 {
			all = append(all, fmt.Sprintf("%s: %s", p.Name, strings.Join(ids, ", ")))
		}
	}
	return all
}

// loaded is what images take from the machine that builds them.
const loaded = `## Loaded at run time
The images of the retriever and of the command line hold the C library that they were built with, and the retriever's the C++ library for ONNX Runtime, each as files of their own that the programs load: glibc (LGPL-2.1-or-later), libstdc++ and libgcc (GPL-3.0-or-later with the GCC Runtime Library Exception).
`

// table lists parts by licence; the same name is listed once.
func table(out *bytes.Buffer, title string, parts []bill.Part) {
	byLicence := map[string][]string{}
	for _, p := range parts {
		byLicence[p.Licence] = append(byLicence[p.Licence], p.Name)
	}
	fmt.Fprintf(out, "## %s\n| licence | of |\n|---|---|\n", title)
	for _, id := range slices.Sorted(maps.Keys(byLicence)) {
		names := slices.Compact(slices.Sorted(slices.Values(byLicence[id])))
		fmt.Fprintf(out, "| %s | %s |\n", strings.ReplaceAll(id, " AND ", " and "), strings.Join(names, ", "))
	}
	out.WriteByte('\n')
}
