// Command names reports declared functions, methods and types whose whole name is a bare
// participle, preposition or function word, such as "of", "said" or "whoever". Functions are verbs
// and types are nouns here; see CONTRIBUTING.md.
package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
)

//go:embed words.txt
var wordList string

func main() {
	findings, err := check(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check parses every Go file that git tracks below root, generated code left out.
func check(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	forbidden := strings.Fields(wordList)
	files := token.NewFileSet()
	var findings []string
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		source, err := os.ReadFile(root + "/" + name)
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(file) {
			continue
		}
		findings = append(findings, inspect(files, file, forbidden)...)
	}
	return findings, nil
}

// inspect reports the forbidden names that a file declares.
func inspect(files *token.FileSet, file *ast.File, forbidden []string) []string {
	var findings []string
	report := func(kind string, id *ast.Ident) {
		if slices.Contains(forbidden, strings.ToLower(id.Name[:1])+id.Name[1:]) {
			findings = append(findings, fmt.Sprintf("%s: %s %s: name it with a %s", files.Position(id.Pos()), kind,
				id.Name, map[string]string{"func": "verb", "type": "noun"}[kind]))
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			report("func", decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					report("type", spec.Name)
				}
			}
		}
	}
	return findings
}
