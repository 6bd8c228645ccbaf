// Command triplemesh answers questions with a language model and a knowledge
// graph, and shows what each part of an answer rests on.
package main

import (
	"os"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
)

func main() { os.Exit(cli.Main("", os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)) }
