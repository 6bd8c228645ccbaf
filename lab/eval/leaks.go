package eval

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/lab/results"
)

// maxWarnedLeaks is how many pairs of one dataset are named on the terminal; the
// manifest names all.
const maxWarnedLeaks = 5

// checkLeaks compares the few-shot examples of every stage, and the questions
// that something was calibrated on, with the questions to be asked, notes in
// the manifests what it finds, and warns of it. It looks at the prompts of this
// build: services of another version may have others.
func checkLeaks(prompts []leak.Prompts, evaluations []*evaluation, calibratedOn []string,
	part string, stderr io.Writer) error {
	examples, err := leak.FewShot(prompts)
	if err != nil {
		return fmt.Errorf("check for leaks: %w", err)
	}
	calibration, err := readCalibration(calibratedOn, part)
	if err != nil {
		return fmt.Errorf("check for leaks: %w", err)
	}
	checked := make(map[string]*results.Leak)
	for _, e := range evaluations {
		key := fmt.Sprint(e.manifest.Dataset.SHA256, e.manifest.Dataset.Format, e.manifest.Seed, len(e.questions))
		if checked[key] == nil {
			checked[key] = findLeaks(examples, calibration, e.questions)
			warn(stderr, e.manifest.Dataset.Name, checked[key].Pairs)
		}
		e.manifest.Leak = checked[key]
	}
	return nil
}

// readCalibration reads the questions that something was calibrated on: of each file the part that
// tuning commands read, which is tune by default.
func readCalibration(files []string, part string) (leak.Set, error) {
	set := leak.Set{Name: "calibration"}
	for _, file := range files {
		data, err := dataset.Tuning{Part: part}.Read(file, "")
		if err != nil {
			return set, err
		}
		for _, q := range data.Questions {
			set.Texts = append(set.Texts, leak.Text{ID: "calibration/" + filepath.Base(file) + " " + q.ID,
				Question: q.Question})
		}
	}
	return set, nil
}

func findLeaks(examples, calibration leak.Set, questions []dataset.Question) *results.Leak {
	asked := leak.Set{Name: "questions asked"}
	for _, q := range questions {
		asked.Texts = append(asked.Texts, leak.Text{ID: q.ID, Question: q.Question})
	}
	found := &results.Leak{Examples: len(examples.Texts), Calibration: len(calibration.Texts),
		Pairs: []results.LeakPair{}}
	for _, shown := range []leak.Set{examples, calibration} {
		for _, p := range leak.Check(shown, asked) {
			found.Pairs = append(found.Pairs, results.LeakPair{
				Kind: string(p.Kind), Stage: p.A.ID, Example: p.A.Question, ID: p.B.ID, Question: p.B.Question,
			})
		}
	}
	return found
}

func warn(stderr io.Writer, name string, pairs []results.LeakPair) {
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(stderr, "warning: few-shot examples, or questions that something was calibrated on, are among the "+
		"questions of %s, or nearly so; figures over these are too good\n", name)
	for _, p := range pairs[:min(len(pairs), maxWarnedLeaks)] {
		fmt.Fprintf(stderr, "  %s: %q is %s, %q\n", p.ID, p.Question, p.Stage, p.Example)
	}
	if more := len(pairs) - maxWarnedLeaks; more > 0 {
		fmt.Fprintf(stderr, "  and %d more; the manifest names all\n", more)
	}
}
