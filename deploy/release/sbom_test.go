package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spdx/tools-golang/json"
)

const root = "../.."

func TestTheListOfLicencesIsInStepAndHoldsAllowedOnesAlone(t *testing.T) {
	shipped, err := gather(root)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(root, "docs", "licences.md"))
	if err != nil || !bytes.Equal(committed, shipped.list()) {
		t.Errorf("docs/licences.md is out of step (%v): run make sbom", err)
	}
	if refused := shipped.disallowedLicences(); len(refused) > 0 {
		t.Errorf("licences that are not allowed:\n%s", strings.Join(refused, "\n"))
	}
	shipped.console = append(shipped.console, part{Name: "taken", Licence: "MIT AND AGPL-3.0"})
	if got := shipped.disallowedLicences(); !slices.Contains(got, "taken: AGPL-3.0") {
		t.Errorf("a package under the AGPL is taken: %v", got)
	}
}

func TestTheBillOfAProgramIsReadBySPDXTools(t *testing.T) {
	program, err := os.Executable() // of this test: any program of Go will do
	if err != nil {
		t.Fatal(err)
	}
	b, err := describeProgram(root, program, "triplemesh", "v1", source{}.target())
	if err != nil {
		t.Fatal(err)
	}
	data, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := json.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stdlib", "github.com/spdx/tools-golang", "preact",
		"@fontsource-variable/atkinson-hyperlegible-next", "onnxruntime", "Qwen2.5-Coder-1.5B-Instruct", "llama.cpp"} {
		i := slices.IndexFunc(b.Parts, func(p part) bool { return p.Name == name })
		if i < 0 {
			t.Errorf("%s is missing", name)
			continue
		}
		got, want := doc.Packages[i+1], b.Parts[i]
		if got.PackageName != want.Name || got.PackageVersion != want.Version ||
			got.PackageLicenseDeclared != want.Licence || want.Licence == "" {
			t.Errorf("%s is read as %+v", name, got)
		}
		if want.SHA256 == "" && want.PURL == "" {
			t.Errorf("%s has neither a sum nor a name that scanners know", name)
		}
	}
	again, err := b.JSON()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("written twice it differs, %v", err)
	}
}
