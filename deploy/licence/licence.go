// Package licence tells under which licences the software of others stands that
// is shipped.
package licence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Allowed are the licences under which shipped software may stand, by their
// SPDX identifiers. None asks anything of those who run the mesh; all that is
// asked of those who pass it on is to pass the notices on too, and for MPL-2.0
// the sources of its files.
var Allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "OFL-1.1", "Unlicense",
}

// coverage is the least share of a file's words, in percent, that must be a
// known licence's.
const coverage = 75

// files are the names under which licences lie, without what follows a dot.
var files = []string{"license", "licence", "copying", "unlicense"}

// Of is the licence of what lies in a directory, as an SPDX expression. The
// error says what to look at.
func Of(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.ToLower(e.Name()), ".")
		name, _, _ = strings.Cut(name, "-")
		if e.IsDir() || filepath.Ext(e.Name()) == ".go" || !slices.Contains(files, name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		ids := read(text)
		if len(ids) == 0 {
			return "", fmt.Errorf("%s is none of the licences known: read it, and name it in deploy/licence", filepath.Join(dir, e.Name()))
		}
		found = append(found, ids...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s holds no licence", dir)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND "), nil
}

// read finds the licences that a text consists of.
func read(text []byte) []string {
	scan := licensecheck.Scan(text)
	if scan.Percent < coverage {
		return nil
	}
	var ids []string
	for _, m := range scan.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Refused are the licences of an expression that are not allowed.
func Refused(expression string) []string {
	var refused []string
	for id := range strings.SplitSeq(expression, " AND ") {
		if !slices.Contains(Allowed, id) {
			refused = append(refused, id)
		}
	}
	return refused
}
