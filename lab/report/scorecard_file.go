package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/lab/results"
)

// Threshold is one line of a scorecard: what a figure of one evaluation must at least or at most be,
// so that a change that makes answers worse or dearer does not pass unseen.
type Threshold struct {
	// Dataset is the dataset's name.
	Dataset string `yaml:"dataset" json:"dataset"`
	// KG is the knowledge graph's name; empty takes whichever was read, where
	// there is only one.
	KG string `yaml:"kg,omitempty" json:"kg,omitempty"`
	// Method is the method with its options, as reports name it: "pg-akv", "ger
	// no-reflection".
	Method string `yaml:"method" json:"method"`
	// Metric is the figure's key, as `triplemesh eval --json` has it: "hit", "f1",
	// "calls_per_question".
	Metric string `yaml:"metric" json:"metric"`
	// AtLeast and AtMost are the bounds, in the unit of the figure: shares are 0
	// to 1. One of them is set.
	AtLeast *float64 `yaml:"at_least,omitempty" json:"at_least,omitempty"`
	AtMost  *float64 `yaml:"at_most,omitempty" json:"at_most,omitempty"`
	// Interval is "low" where the lower bound of the 95 % interval must keep to
	// AtLeast, "high" where the upper one must keep to AtMost. Empty takes the
	// figure itself.
	Interval string `yaml:"interval,omitempty" json:"interval,omitempty"`
	// GoldEntities chooses between evaluations with gold and with linked
	// entities; unset takes whichever there is.
	GoldEntities *bool `yaml:"gold_entities,omitempty" json:"gold_entities,omitempty"`

	line int
}

// file is a scorecard as it is written.
type file struct {
	Thresholds []Threshold `yaml:"thresholds"`
}

// maxSize bounds a scorecard, in bytes.
const maxSize = 4 << 20

// ReadThresholds reads a scorecard. The error names every bad place, up to ten, by its
// line.
func ReadThresholds(path string) ([]Threshold, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read scorecard: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read scorecard: %w", err)
	}
	thresholds, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read scorecard %s: %w", path, err)
	}
	return thresholds, nil
}

// parse reads the text of a scorecard. A key that is not known is an error: a
// misspelt bound would never be missed.
func parse(text []byte) ([]Threshold, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("is longer than %d MiB", maxSize>>20)
	}
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, describe(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one YAML document; write one list of thresholds")
	}
	if len(f.Thresholds) == 0 {
		return nil, errors.New("has no thresholds; write a list of them under the key thresholds, or let --update " +
			"write one")
	}
	var lines struct {
		Thresholds []yaml.Node `yaml:"thresholds"`
	}
	if err := yaml.Unmarshal(text, &lines); err != nil {
		return nil, describe(err)
	}
	var problems []error
	for i := range f.Thresholds {
		t := &f.Thresholds[i]
		t.line = lines.Thresholds[i].Line
		if err := t.check(); err != nil && len(problems) < 10 {
			problems = append(problems, fmt.Errorf("line %d: %w", t.line, err))
		}
	}
	return f.Thresholds, errors.Join(problems...)
}

// check finds what is wrong with a threshold by itself.
func (t *Threshold) check() error {
	switch {
	case t.Dataset == "":
		return errors.New("dataset: missing; name the dataset as reports do")
	case t.Method == "":
		return errors.New("method: missing; name the method as reports do, such as pg-akv")
	case !slices.Contains(metrics(), t.Metric):
		return fmt.Errorf("metric: there is no %q; choose one of %s", t.Metric, strings.Join(metrics(), ", "))
	case (t.AtLeast == nil) == (t.AtMost == nil):
		return errors.New("give either at_least or at_most")
	}
	switch t.Interval {
	case "":
	case "low":
		if t.AtLeast == nil {
			return errors.New("interval: low goes with at_least; choose high for at_most")
		}
	case "high":
		if t.AtMost == nil {
			return errors.New("interval: high goes with at_most; choose low for at_least")
		}
	default:
		return fmt.Errorf("interval: must be low or high, is %q", t.Interval)
	}
	return nil
}

// metrics returns the keys of all figures, and of the two counts.
func metrics() []string {
	keys := []string{"n", "errors"}
	for _, f := range results.Figures() {
		keys = append(keys, f.Key)
	}
	return keys
}

// inType is what the decoder says of Go's types, which the file knows nothing
// of.
var inType = regexp.MustCompile(` not found in type \S+`)

func describe(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.Replace(text, "unmarshal errors:\n  ", "", 1)
	return errors.New(strings.ReplaceAll(inType.ReplaceAllString(text, " is no key of a scorecard"), "\n  ", "; "))
}
