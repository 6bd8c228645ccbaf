package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`
	isc = `Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY
SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER
RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE
USE OR PERFORMANCE OF THIS SOFTWARE.
`
)

func TestLicencesAreKnownByTheirTexts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // empty: an error
	}{
		{"one file", map[string]string{"LICENSE": mit, "main.go": "package main"}, "MIT"},
		{"another spelling", map[string]string{"Licence.md": isc, "license.go": "package x"}, "ISC"},
		{"two files", map[string]string{"LICENSE-MIT": mit, "LICENSE.isc": isc}, "ISC AND MIT"},
		{"the same twice", map[string]string{"LICENSE": mit, "COPYING": mit}, "MIT"},
		{"no file", map[string]string{"README": mit}, ""},
		{"another text", map[string]string{"LICENSE": "You may use this on Mondays."}, ""},
		{"conditions beside a known licence",
			map[string]string{"LICENSE": mit + strings.Repeat("Whoever sells it owes a fee to its author on the "+
				"first Monday of the month. ", 8)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := detectLicence(dir); got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestLicencesThatAskMoreAreRefused(t *testing.T) {
	if got := disallowed("MIT AND Apache-2.0"); got != nil {
		t.Errorf("%v were refused", got)
	}
	if got, want := disallowed("AGPL-3.0 AND MIT AND SSPL-1.0"), []string{"AGPL-3.0", "SSPL-1.0"}; !slices.Equal(got,
		want) {
		t.Errorf("refused %v, want %v", got, want)
	}
}

// disallowed returns the licences in an expression that are not allowed.
func disallowed(expression string) []string {
	var refused []string
	for id := range strings.SplitSeq(expression, " AND ") {
		if !slices.Contains(allowedLicences, id) {
			refused = append(refused, id)
		}
	}
	return refused
}

// disallowedLicences returns the parts whose licence is not allowed, each with that licence.
func (s shipped) disallowedLicences() (all []string) {
	for _, p := range slices.Concat(s.modules, s.console, s.fetched) {
		if ids := disallowed(p.Licence); len(ids) > 0 {
			all = append(all, fmt.Sprintf("%s: %s", p.Name, strings.Join(ids, ", ")))
		}
	}
	return all
}
