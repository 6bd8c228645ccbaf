// Command lint checks what general linters do not: that no declared name is a bare participle,
// preposition or function word, such as "of", "said" or "whoever", and that the code does not grow
// unnoticed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
)

// source is a Go file of the checkout.
type source struct {
	name string
	text []byte
}

func main() {
	findings, err := check(".")
	if err != nil {
		findings = []string{err.Error()}
	}
	for _, f := range findings {
		fmt.Fprintln(os.Stderr, "lint:", f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

func check(root string) ([]string, error) {
	sources, err := readSources(root)
	if err != nil {
		return nil, err
	}
	findings, err := checkNames(sources)
	return append(findings, checkSize(sources)...), err
}

// readSources reads every Go file below root that git tracks or would track.
func readSources(root string) ([]source, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.go")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var sources []source
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(path.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{name, text})
	}
	return sources, nil
}
