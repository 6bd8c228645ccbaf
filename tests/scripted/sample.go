package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/home"
)

// about are the entities that the script speaks of: all of their facts are
// taken.
var about = []string{"Robert Stam", "Alexander", "Oliver Stone"}

// sample is one in every nth of the bundled facts, and all those about some
// entities, as TSV.
func sample(nth int) ([]byte, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := home.Checkout(dir)
	if root == "" {
		return nil, errors.New("the bundled facts lie in the checkout: run this within it")
	}
	f, err := os.Open(filepath.Join(root, "examples", "wikidata", "triples.tsv.gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var taken bytes.Buffer
	lines := bufio.NewScanner(unpacked)
	for n := 0; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if n%max(nth, 1) == 0 || slices.Contains(about, fields[0]) || slices.Contains(about, fields[len(fields)-1]) {
			fmt.Fprintln(&taken, lines.Text())
		}
	}
	return taken.Bytes(), lines.Err()
}
