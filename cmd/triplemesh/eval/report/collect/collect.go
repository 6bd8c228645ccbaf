// Package collect finds the results of evaluations in directories and puts them
// side by side: those over the same questions and the same knowledge graph
// together.
package collect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval/results"
)

// Evaluation is what one results directory holds, without the runs.
type Evaluation struct {
	// Results reads the runs.
	Results *results.Results
	// Records are the questions asked, by id.
	Records []results.Record
	// Summary sums them up.
	Summary results.Summary
	// Name tells it from the others of its group: the method, and what differs
	// from the method as it is.
	Name string
}

// Manifest says what was evaluated.
func (e *Evaluation) Manifest() results.Manifest { return e.Results.Manifest }

// ErrNone says that there are no results where they were looked for.
var ErrNone = errors.New("no results")

// Dirs finds the results directories in and below roots, each once, in the
// order of their names. A root without any is an error, ErrNone.
func Dirs(roots []string) ([]string, error) {
	var out []string
	for _, root := range roots {
		if _, err := os.Stat(root); err != nil {
			return nil, fmt.Errorf("find results: %w", err)
		}
		before := len(out)
		// With the separator behind it, a root that is a link is walked too.
		err := filepath.WalkDir(root+string(filepath.Separator), func(at string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !entry.IsDir() && entry.Name() == "manifest.json" {
				out = append(out, filepath.Dir(at))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find results: %w", err)
		}
		if len(out) == before {
			return nil, fmt.Errorf("find results: %w in %s or below: there is no manifest.json; name a directory that `triplemesh eval --out` wrote", ErrNone, root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Open reads the results in and below roots.
func Open(roots []string) ([]*Evaluation, error) {
	dirs, err := Dirs(roots)
	if err != nil {
		return nil, err
	}
	var out []*Evaluation
	for _, dir := range dirs {
		e, err := OpenDir(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// OpenDir reads the results in one directory.
func OpenDir(dir string) (*Evaluation, error) {
	found, err := results.Open(dir)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Results: found}
	for record, err := range found.Records() {
		if err != nil {
			return nil, err
		}
		e.Records = append(e.Records, record)
	}
	slices.SortFunc(e.Records, func(a, b results.Record) int { return cmp.Compare(a.ID, b.ID) })
	e.Summary = results.Summarise(e.Records, found.Manifest.Options.Until != "")
	e.Name = Name(found.Manifest)
	return e, nil
}

// Models are the names of the models that answered. A model that its server
// names by its file is named without the directory, which is nobody's concern.
func (e *Evaluation) Models() []string {
	var names []string
	for _, name := range e.Manifest().Models {
		if strings.HasPrefix(name, "/") {
			name = path.Base(name)
		}
		names = append(names, name)
	}
	return names
}

// Name is a method with the options that make it another, and the knowledge
// graphs that it is asked over beside the first: "ger no-reflection +films".
func Name(m results.Manifest) string {
	name := m.Variant()
	for _, kg := range m.OtherKGs {
		name += " +" + kg.Name
	}
	return name
}
