// Command size counts the Go code of the checkout and fails if it exceeds the limits below, so that
// the code does not grow unnoticed. Counted are the lines of files that git tracks, with comments and
// blank lines; not counted are tests, generated code, testdata, and what limits leave out.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

// limit bounds one figure.
type limit struct {
	what string
	most int
	// count returns what a file adds to the figure. dir is its directory; isFirst is set for the first
	// file of a directory.
	count func(dir string, lines int, isFirst bool) int
}

// notProduction matches the directories of what measures, of the contract, and of what supports tests.
var notProduction = regexp.MustCompile(`^(lab|bench|proto|tests|internal/testkit)(/|$)|[a-z]test$`)

// The limits are a little above what the code came to when they were set. Lower them when it shrinks:
// 88,000, 10,000 and 115 are the aim.
var limits = []limit{
	{"lines of production code", 105_000, func(dir string, lines int, _ bool) int {
		if notProduction.MatchString(dir) {
			return 0
		}
		return lines
	}},
	{"lines of cmd/triplemesh", 11_450, func(dir string, lines int, _ bool) int {
		if !strings.HasPrefix(dir, "cmd/triplemesh") {
			return 0
		}
		return lines
	}},
	{"packages, with those of tests alone", 141, func(_ string, _ int, isFirst bool) int {
		if isFirst {
			return 1
		}
		return 0
	}},
}

func main() {
	figures, err := measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
	code := 0
	for i, l := range limits {
		fmt.Printf("%6d %s, at most %d\n", figures[i], l.what, l.most)
		if figures[i] > l.most {
			fmt.Fprintf(os.Stderr, "size: %d %s are too many; remove some, or raise the limit\n", figures[i],
				l.what)
			code = 1
		}
	}
	os.Exit(code)
}

// measure returns the figure of each limit for the checkout at root.
func measure(root string) ([]int, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	figures := make([]int, len(limits))
	seen := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(path.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		count(figures, seen, name, text)
	}
	return figures, nil
}

// count adds a file to the figures. seen holds the directories counted before.
func count(figures []int, seen map[string]bool, name string, text []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil || ast.IsGenerated(file) || strings.Contains(name, "testdata/") {
		return
	}
	dir, lines := path.Dir(name), 0
	if !strings.HasSuffix(name, "_test.go") {
		lines = strings.Count(string(text), "\n")
	}
	for i, l := range limits {
		figures[i] += l.count(dir, lines, !seen[dir])
	}
	seen[dir] = true
}
