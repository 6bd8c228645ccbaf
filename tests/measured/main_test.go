package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

func TestMeasurementsOfALogAreEntered(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("=== RUN   TestA\n=== ATTR  TestA measured \"9 kills: 0 \\\"lost\\\"\"\n"+
		"=== ATTR  TestB measured \"| a |\\n|---|\\n\"\n=== ATTR  TestA other \"no\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	measured := map[string]string{}
	if err := readLog(log, measured); err != nil {
		t.Fatal(err)
	}
	text := "| x | <!--TestA-->old<!---->; <!--TestC-->kept<!----> |\n<!--TestB--><!---->\n"
	got, names := enter(text, measured, "1 May 2026")
	want := "| x | <!--TestA-->9 kills: 0 \"lost\" (1 May 2026)<!---->; <!--TestC-->kept<!----> |\n" +
		"<!--TestB-->\nMeasured on 1 May 2026.\n\n| a |\n|---|\n<!---->\n"
	if got != want || len(names) != 2 {
		t.Errorf("got %q of %q, want %q", got, names, want)
	}
}

// TestEveryPlaceHasATestThatMeasures compares the page with the tests of the tree.
func TestEveryPlaceHasATestThatMeasures(t *testing.T) {
	text, err := os.ReadFile(testkit.CheckoutFile(t, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	places := place.FindAllStringSubmatch(string(text), -1)
	if len(places) == 0 {
		t.Fatalf("no place for a measurement in %s", page)
	}
	packages := map[string][]byte{} // the tests of each
	err = filepath.WalkDir(testkit.CheckoutFile(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], source...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var tests []byte // of packages that measure
	for _, sources := range packages {
		if bytes.Contains(sources, []byte("testkit.Measured(")) {
			tests = append(tests, sources...)
		}
	}
	for _, found := range places {
		name, _, _ := strings.Cut(found[1], "/")
		if name != "fuzz" && !bytes.Contains(tests, []byte("func "+name+"(")) {
			t.Errorf("%s has a place for %s, which measures nothing", page, name)
		}
		if strings.HasSuffix(found[0], "--><!---->") {
			t.Errorf("%s has nothing at the place for %s", page, name)
		}
	}
}
