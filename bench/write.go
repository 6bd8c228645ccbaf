package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Write puts results.json, results.md and a plot of each contest with two
// contestants or more into a directory.
func Write(dir string, rows []Row) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var asJSON, asMarkdown bytes.Buffer
	if err := WriteJSON(&asJSON, rows); err != nil {
		return err
	}
	if err := WriteMarkdown(&asMarkdown, rows); err != nil {
		return err
	}
	files := map[string][]byte{"results.json": asJSON.Bytes(), "results.md": asMarkdown.Bytes()}
	for n, contest := range contests(rows) {
		if len(contest) < 2 || !slices.ContainsFunc(contest, func(r Row) bool { return r.Ratio > 0 }) {
			continue
		}
		var plot bytes.Buffer
		if err := WriteSVG(&plot, contest); err != nil {
			return err
		}
		files[fmt.Sprintf("contest-%d.svg", n+1)] = plot.Bytes()
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contests parts rows by contest, in their order.
func contests(rows []Row) [][]Row {
	var parts [][]Row
	for i, r := range rows {
		if i == 0 || r.Contest != rows[i-1].Contest {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], r)
	}
	return parts
}
