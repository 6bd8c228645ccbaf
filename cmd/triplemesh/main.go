// Command triplemesh answers questions with a language model and a knowledge
// graph, and shows what each part of an answer rests on.
package main

import (
	"os"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
)

// version is set by the Makefile from git describe.
var version string

func main() { os.Exit(cli.Main(version, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)) }
