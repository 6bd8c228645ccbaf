package report

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

	"github.com/triplemesh/triplemesh/lab/results"
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

// ErrNoResults says that there are no results where they were looked for.
var ErrNoResults = errors.New("no results")

// ResultDirs finds the results directories in and below roots, each once, in the
// order of their names. A root without any is an error, ErrNoResults.
func ResultDirs(roots []string) ([]string, error) {
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
			return nil, fmt.Errorf("find results: %w in %s or below: there is no manifest.json; name a directory "+
				"that `triplemesh eval --out` wrote", ErrNoResults, root)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// OpenEvaluations reads the results in and below roots.
func OpenEvaluations(roots []string) ([]*Evaluation, error) {
	dirs, err := ResultDirs(roots)
	if err != nil {
		return nil, err
	}
	var out []*Evaluation
	for _, dir := range dirs {
		e, err := OpenEvaluation(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// OpenEvaluation reads the results in one directory.
func OpenEvaluation(dir string) (*Evaluation, error) {
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
	e.Name = EvaluationName(found.Manifest)
	return e, nil
}

// Models returns the names of the models that answered. A model that its server
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

// EvaluationName returns a method with the options that make it another, and the knowledge
// graphs that it is asked over beside the first: "ger no-reflection +films".
func EvaluationName(m results.Manifest) string {
	name := m.Variant()
	for _, kg := range m.OtherKGs {
		name += " +" + kg.Name
	}
	return name
}
