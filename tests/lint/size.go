package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

// Counted are the lines of files that git tracks, with comments and blank lines; not counted are
// tests, generated code and testdata.
//
// The limits are a little above what the code came to when they were set. Lower them when it shrinks:
// 88,000, 10,000 and 115 are the aim.
var limits = []limit{
	{"lines of production code", 119_140, func(dir string, lines int, _ bool) int {
		if notProduction.MatchString(dir) {
			return 0
		}
		return lines
	}},
	{"lines of cmd/triplemesh", 10_100, func(dir string, lines int, _ bool) int {
		if !strings.HasPrefix(dir, "cmd/triplemesh") {
			return 0
		}
		return lines
	}},
	{"packages, with those of tests alone", 132, func(_ string, _ int, isFirst bool) int {
		if isFirst {
			return 1
		}
		return 0
	}},
}

// checkSize prints the figure of each limit and returns those that are exceeded.
func checkSize(sources []source) []string {
	figures, seen := make([]int, len(limits)), map[string]bool{}
	for _, f := range sources {
		count(figures, seen, f.name, f.text)
	}
	var findings []string
	for i, l := range limits {
		fmt.Printf("%6d %s, at most %d\n", figures[i], l.what, l.most)
		if figures[i] > l.most {
			findings = append(findings, fmt.Sprintf("%d %s are too many; remove some, or raise the limit", figures[i],
				l.what))
		}
	}
	return findings
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
