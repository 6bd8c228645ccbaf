// Command scale writes a large knowledge graph in which the graphs of real questions are hidden: all
// triples of the given files, then copies of them under recombined names, up to a number of triples.
//
//	go run ./lab/scale -triples 10000000 ../shared/data/*/triples.tsv.gz | gzip -1 >large.tsv.gz
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	size := flag.Int("triples", 1_000_000, "number of triples to write")
	hubs := flag.Int("hubs", 100, "objects with most edges that all copies share: they grow with the graph")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: scale [flags] FILE... >OUT: tab-separated, gzip allowed")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*size, *hubs, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(size, hubs int, files []string) error {
	g, err := readGraph(files)
	if err != nil {
		return err
	}
	if size < len(g.triples) {
		return fmt.Errorf("the files have %d triples; -triples must be at least that many", len(g.triples))
	}
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := g.write(w, size, hubs); err != nil {
		return err
	}
	return w.Flush()
}
