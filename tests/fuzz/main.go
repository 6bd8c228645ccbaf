// Command fuzz runs the fuzz targets of the workspace one after the other, and prints a table of
// the results.
//
//	go run ./tests/fuzz -time 30s              # what `make fuzz` does
//	go run ./tests/fuzz -only 'FuzzImport|rdf' # some of them
//	go run ./tests/fuzz -corpus                # what `make fuzz-corpus` does
//
// Inputs that reached new code stay in Go's build cache, and the next run continues from them. With
// -corpus nothing is fuzzed: cached inputs that reach lines which no committed input reaches are
// copied into testdata/fuzz/<target>, where every `go test` runs them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	time     time.Duration
	parallel int
	only     string
	corpus   bool
	largest  int64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flags()); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func flags() options {
	var o options
	flag.DurationVar(&o.time, "time", 30*time.Second, "how long each target runs")
	flag.IntVar(&o.parallel, "parallel", 1, "how many inputs are tried at once")
	flag.StringVar(&o.only, "only", "", "run the targets whose PACKAGE.NAME this regular expression matches")
	flag.BoolVar(&o.corpus, "corpus", false, "take what was found before into testdata, instead of running")
	flag.Int64Var(&o.largest, "largest", 4<<10, "with -corpus, how many bytes an input may have")
	flag.Parse()
	return o
}

func run(ctx context.Context, o options) error {
	packages, err := find(".", o.only)
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return fmt.Errorf("no fuzz target is called %q; run it at the root of the repository", o.only)
	}
	scratch, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	if o.corpus {
		return gather(ctx, packages, scratch, o.largest, os.Stdout)
	}
	return fuzz(ctx, packages, scratch, o, os.Stdout)
}
