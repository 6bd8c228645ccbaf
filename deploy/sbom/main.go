// Command sbom writes what the programs in bin are made of: a bill of materials
// (SPDX) for each, and docs/licences.md for all. The images have bills of their
// own (deploy/images).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/triplemesh/triplemesh/deploy/bill"
)

// programs are those that are shipped, and their packages.
var programs = map[string]string{
	"triplemesh":   "./cmd/triplemesh",
	"orchestrator": "./services/orchestrator/cmd/orchestrator",
	"generator":    "./services/generator/cmd/generator",
	"retriever":    "./services/retriever/cmd/retriever",
	"verifier":     "./services/verifier/cmd/verifier",
	"evaluator":    "./services/evaluator/cmd/evaluator",
	"reflector":    "./services/reflector/cmd/reflector",
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	root := flags.String("root", ".", "the checkout")
	bin := flags.String("bin", "bin", "where the programs are; empty writes no bills")
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
		b, err := of(*root, filepath.Join(*bin, name), name, *version)
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

// of is what a program is made of, and what it fetches.
func of(root, file, name, version string) (bill.Bill, error) {
	modules, err := bill.Modules(file)
	if err != nil {
		return bill.Bill{}, err
	}
	b := bill.Bill{Name: name, Version: version, Parts: modules}
	if slices.Contains([]string{"triplemesh", "orchestrator"}, name) {
		console, err := bill.Console(root)
		if err != nil {
			return b, err
		}
		b.Parts = append(b.Parts, console...)
	}
	if name == "triplemesh" {
		fetched, err := bill.Fetched(runtime.GOOS, runtime.GOARCH)
		if err != nil {
			return b, err
		}
		b.Parts = append(b.Parts, fetched...)
	}
	return b, nil
}
