package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// wordList are bare participles, prepositions and function words: functions are verbs and types are
// nouns (CONTRIBUTING.md).
//
//go:embed words.txt
var wordList string

// checkNames returns the findings of all files.
func checkNames(sources []source) ([]string, error) {
	forbidden := strings.Fields(wordList)
	files := token.NewFileSet()
	var findings []string
	for _, f := range sources {
		file, err := parser.ParseFile(files, f.name, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(file) {
			findings = append(findings, inspect(files, file, forbidden)...)
		}
	}
	return findings, nil
}

// inspect reports the functions, methods and types of a file whose whole name is forbidden.
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
