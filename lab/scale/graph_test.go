package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = "Anna Lindqvist\tspouse\tJon Falk\n" +
	"Anna Lindqvist\tborn\t1966\n" +
	"Jon Falk\tcountry\tVelmora\n" +
	"Mira Holt\tcountry\tVelmora\n" +
	"Mira Holt\tmarriage\tm.0abc12\n"

func readSmall(t *testing.T) *graph {
	t.Helper()
	file := filepath.Join(t.TempDir(), "triples.tsv")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := readGraph([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTheOriginalTriplesAreHiddenAmongCopies(t *testing.T) {
	g := readSmall(t)
	var out bytes.Buffer
	if err := g.write(&out, 23, 1); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 23 || !strings.HasPrefix(out.String(), small) {
		t.Fatalf("got %d lines:\n%s", len(lines), out.String())
	}
	for _, line := range lines[5:] {
		fields := strings.Split(line, "\t")
		if _, original := g.known[fields[0]]; original {
			t.Errorf("an original entity got a new fact: %s", line)
		}
		if fields[1] == "country" && fields[2] != "Velmora" {
			t.Errorf("the hub is not shared: %s", line)
		}
		if fields[1] == "born" && fields[2] != "1966" {
			t.Errorf("a number changed: %s", line)
		}
		if fields[1] == "marriage" && !strings.HasPrefix(fields[2], "m.0") {
			t.Errorf("an opaque node got a name: %s", line)
		}
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct{ text, want string }{
		"a line of two fields is named by its number": {"a\tb\tc\na\tb\n", "line 2: 2 fields"},
		"a file without triples is refused":           {"", "no triple was read"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "x.tsv")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readGraph([]string{file}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if err := run(2, 1, []string{filepath.Join(dir, "none.tsv")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
