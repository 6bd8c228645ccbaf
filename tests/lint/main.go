// Command lint checks what general linters do not: that no declared name is a bare participle,
// preposition or function word, such as "of", "said" or "whoever", that the code does not grow
// unnoticed, and that the table of log messages in docs/operations.md is that of the code; -w writes it.
package main

import (
	"flag"
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
	write := flag.Bool("w", false, "write the table of log messages instead of comparing it")
	flag.Parse()
	findings, err := check(".")
	if err == nil {
		err = checkLogs(*write)
	}
	if err != nil {
		findings = append(findings, err.Error())
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
