package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// programs are the released programs and their packages.
var programs = map[string]string{
	"triplemesh":   "./cmd/triplemesh",
	"orchestrator": "./services/orchestrator/cmd/orchestrator",
	"generator":    "./services/generator/cmd/generator",
	"retriever":    "./services/retriever/cmd/retriever",
	"verifier":     "./services/verifier/cmd/verifier",
	"evaluator":    "./services/evaluator/cmd/evaluator",
	"reflector":    "./services/reflector/cmd/reflector",
}

// writeBills writes the bills of materials (SPDX) of the programs in bin, one each, and
// docs/licences.md for all. The images have bills of their own.
func writeBills(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	root := flags.String("root", ".", "the checkout")
	bin := flags.String("bin", "bin", "directory of the programs; empty writes no bills")
	out := flags.String("out", filepath.Join(".cache", "sbom"), "directory of the bills")
	version := flags.String("version", "unknown", "version written into the bills")
	licences := flags.String("licences", "", "file to write the list of licences to; empty writes none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *licences != "" {
		shipped, err := gather(*root)
		if err != nil {
			return err
		}
		if err := os.WriteFile(*licences, shipped.list(), 0o644); err != nil {
			return err
		}
	}
	if *bin == "" {
		return nil
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	for name := range programs {
		b, err := describeProgram(*root, filepath.Join(*bin, name), name, *version, source{}.target())
		if err != nil {
			return err
		}
		data, err := b.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(*out, name+".spdx.json"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// describeProgram returns the bill of a program: what it was linked from and what it fetches.
func describeProgram(root, file, name, version string, platform v1.Platform) (billOfMaterials, error) {
	modules, err := linkedModules(file)
	if err != nil {
		return billOfMaterials{}, err
	}
	b := billOfMaterials{Name: name, Version: version, Parts: modules}
	if slices.Contains([]string{"triplemesh", "orchestrator"}, name) {
		console, err := consolePackages(root)
		if err != nil {
			return b, err
		}
		b.Parts = append(b.Parts, console...)
	}
	if name == "triplemesh" {
		b.Parts = append(b.Parts, fetchedParts(platform.OS, platform.Architecture)...)
	}
	return b, nil
}
