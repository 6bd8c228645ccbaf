package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestNamesThatAreNeitherVerbsNorNounsAreReported(t *testing.T) {
	const source = `package p

type said struct{}
type Reader struct{}

func of(x int) int         { return x }
func (Reader) Within() bool { return true }
func classifyTerm(x int) int { return x }
`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := inspect(files, file, strings.Fields(wordList))
	want := []string{
		"p.go:3:6: type said: name it with a noun",
		"p.go:6:6: func of: name it with a verb",
		"p.go:7:15: func Within: name it with a verb",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
