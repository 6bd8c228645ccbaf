package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// CheckoutFile is the path of a file or folder of the checkout, whose root is
// where go.work stands. It fails the test when the file is not there.
func CheckoutFile(tb testing.TB, rel ...string) string {
	tb.Helper()
	return existing(tb, filepath.Join(append([]string{root(tb)}, rel...)...), "it should be part of the checkout")
}

// Cache is the path of something that setup fetched: in TRIPLEMESH_CACHE, or in
// .cache of the checkout. It fails the test when it is not there.
func Cache(tb testing.TB, rel ...string) string {
	tb.Helper()
	dir := os.Getenv("TRIPLEMESH_CACHE")
	if dir == "" {
		dir = filepath.Join(root(tb), ".cache")
	}
	return existing(tb, filepath.Join(append([]string{dir}, rel...)...),
		"run `make setup`, or set TRIPLEMESH_CACHE to where it was run before")
}

// SharedData is the path of a reference data set that is not part of the
// checkout: in TRIPLEMESH_DATA, or in shared/data beside the checkout. It fails
// the test when it is not there.
func SharedData(tb testing.TB, rel ...string) string {
	tb.Helper()
	dir := os.Getenv("TRIPLEMESH_DATA")
	if dir == "" {
		dir = filepath.Join(root(tb), "..", "shared", "data")
	}
	return existing(tb, filepath.Join(append([]string{dir}, rel...)...),
		"set TRIPLEMESH_DATA to the folder that holds the data sets (after `make setup`)")
}

func existing(tb testing.TB, path, mend string) string {
	tb.Helper()
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("%v: %s", err, mend)
	}
	return path
}

func root(tb testing.TB) string {
	tb.Helper()
	start, err := os.Getwd()
	if err != nil {
		tb.Fatalf("find the checkout: %v", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatalf("find the checkout: no go.work in %s or above", start)
		}
	}
}
