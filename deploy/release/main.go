// Command release builds what is published: container images and their multi-platform indexes, bills of
// materials and the list of licences, and the files of a release. `release COMMAND -help` lists the
// flags.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 0 && args[0] == "images":
		return buildImages(args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "sbom":
		return writeBills(args[1:])
	case len(args) > 0 && args[0] == "index":
		return indexImages(args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "cut":
		return cutRelease(args[1:], os.Stdout)
	}
	return errors.New("usage: go run ./deploy/release images|index|sbom|cut [flags]")
}
