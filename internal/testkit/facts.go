package testkit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Facts are the facts of examples/wikidata that keep takes, as TSV. It is given
// which fact it is, from 0, and its subject, relation and object.
func Facts(tb testing.TB, keep func(n int, fields []string) bool) []byte {
	tb.Helper()
	f, err := os.Open(CheckoutFile(tb, "examples", "wikidata", "triples.tsv.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var taken bytes.Buffer
	lines := bufio.NewScanner(unpacked)
	for n := 0; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			tb.Fatalf("line %d of the bundled facts has %d fields", n+1, len(fields))
		}
		if keep(n, fields) {
			fmt.Fprintln(&taken, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return taken.Bytes()
}
