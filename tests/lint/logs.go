package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// document holds the table, between the lines begin and end.
const (
	document = "docs/operations.md"
	begin    = "<!-- log messages: begin; written by go run ./tests/lint -w -->"
	end      = "<!-- log messages: end -->"
)

// checkLogs compares the table of log messages in docs/operations.md with the code, or writes it: every
// package that logs declares its messages as constants in a file log.go, each with a comment
// `logCircuitOpened: meaning. Do: action.`
func checkLogs(write bool) error {
	messages, err := collectMessages(os.DirFS("."))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return fmt.Errorf("%s: the lines %q and %q are missing", document, begin, end)
	}
	want := slices.Concat(before, []byte(begin+"\n"+messageTable(messages)+end), after)
	switch {
	case bytes.Equal(text, want):
		return nil
	case write:
		return os.WriteFile(document, want, 0o644)
	}
	return fmt.Errorf("%s is out of step with the log messages in the code: run `go run ./tests/lint -w`", document)
}

// message is one log message: where it comes from, what it means, what an operator does about it.
type message struct{ text, source, meaning, action string }

// collectMessages reads the constants of every log.go.
func collectMessages(root fs.FS) ([]message, error) {
	var messages []message
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" ||
			d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Name() != "log.go":
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		found, err := parseMessages(name, source)
		messages = append(messages, found...)
		return err
	})
	slices.SortFunc(messages, func(a, b message) int {
		return strings.Compare(a.text+a.source, b.text+b.source)
	})
	return messages, err
}

// parseMessages reads the constants named log… of one file. Each must have a comment.
func parseMessages(name string, source []byte) ([]message, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var messages []message
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			value := spec.(*ast.ValueSpec)
			id := value.Names[0].Name
			if !strings.HasPrefix(id, "log") || len(value.Values) != 1 {
				continue
			}
			literal, ok := value.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				return nil, err
			}
			doc := value.Doc
			if doc == nil && len(consts.Specs) == 1 {
				doc = consts.Doc
			}
			comment := strings.Join(strings.Fields(doc.Text()), " ")
			rest, ok := strings.CutPrefix(comment, id+": ")
			if !ok {
				return nil, fmt.Errorf("%s: %s needs a comment `%s: meaning. Do: action.`", name, id, id)
			}
			meaning, action, _ := strings.Cut(rest, "Do: ")
			messages = append(messages, message{text, path.Dir(name), strings.TrimSpace(meaning), action})
		}
	}
	return messages, nil
}

// messageTable renders the messages in Markdown.
func messageTable(messages []message) string {
	var out strings.Builder
	out.WriteString("| message | package | meaning | action |\n|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`)
	for _, m := range messages {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s | %s |\n", m.text, m.source, cell.Replace(sentence(m.meaning)),
			cell.Replace(sentence(m.action)))
	}
	return out.String()
}

// sentence begins a text with a capital letter.
func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
