package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
)

// Entry is one line of a suite: one dataset over one choice of knowledge
// graphs, asked by each of several methods with the same options.
type Entry struct {
	// Name is what tables call the dataset; by default the file's name without
	// its extension.
	Name string `yaml:"name"`
	// Questions is the file of questions. A relative path is taken from the
	// directory of the suite's file.
	Questions string `yaml:"questions"`
	// Dataset is the name of a set that was fetched, in the place of Questions.
	Dataset string `yaml:"dataset"`
	// Format is the file's format; empty finds it out.
	Format string `yaml:"format"`
	// Names is a file of names for the ids in the questions, relative like
	// Questions; empty if they have names.
	Names string `yaml:"names"`
	// Part is the part of the questions to ask: tune, validate, report or all; empty takes that of the
	// command.
	Part string `yaml:"part"`
	// KG is the knowledge graph, or one snapshot of it, such as wikidata@3.
	KG string `yaml:"kg"`
	// OtherKGs are the knowledge graphs read beside it.
	OtherKGs []string `yaml:"other_kgs"`
	// Methods are the methods, in the order of the table.
	Methods []string `yaml:"methods"`
	// Limit is the size of the sample; 0 takes that of the command.
	Limit int `yaml:"limit"`
	// Seed is the sample's seed; 0 takes that of the command.
	Seed int64 `yaml:"seed"`
	// GoldEntities gives the dataset's topic entities with each question.
	GoldEntities bool `yaml:"gold_entities"`
	// RelationPaths is a file of relation paths to be given with the questions;
	// a relative path is taken from the directory of the suite's file.
	RelationPaths string `yaml:"relation_paths"`
	// Options are the settings of the methods.
	Options results.Options `yaml:"options"`

	where string // "line 3", or empty for one that came from flags
}

// readSuite reads a suite from a file.
func readSuite(path string) ([]Entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	defer file.Close()
	entries, err := parseSuite(file)
	if err != nil {
		return nil, fmt.Errorf("read suite %s: %w", path, err)
	}
	for i := range entries {
		for _, name := range []*string{&entries[i].Questions, &entries[i].Names, &entries[i].RelationPaths} {
			if *name != "" && !filepath.IsAbs(*name) {
				*name = filepath.Join(filepath.Dir(path), *name)
			}
		}
	}
	return entries, nil
}

// parseSuite reads YAML with a list of evaluations. A key that is not known is
// an error: a misspelt option would be measured as if it had been given. Every
// error names its line.
func parseSuite(r io.Reader) ([]Entry, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxLine {
		return nil, fmt.Errorf("is longer than %d MiB", maxLine>>20)
	}
	var suite struct {
		Evaluations []Entry `yaml:"evaluations"`
	}
	var lines struct {
		Evaluations []yaml.Node `yaml:"evaluations"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&suite); err != nil && !errors.Is(err, io.EOF) {
		return nil, describeYAML(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one YAML document; write one list of evaluations")
	}
	if len(suite.Evaluations) == 0 {
		return nil, errors.New("names no evaluations; write a list of them under the key evaluations")
	}
	if err := yaml.Unmarshal(text, &lines); err != nil {
		return nil, describeYAML(err)
	}
	var problems []error
	for i := range suite.Evaluations {
		e := &suite.Evaluations[i]
		e.where = fmt.Sprintf("line %d", lines.Evaluations[i].Line)
		if err := e.check(); err != nil && len(problems) < maxProblems {
			problems = append(problems, fmt.Errorf("%s: %w", e.where, err))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return suite.Evaluations, nil
}

// check finds what is wrong with an entry by itself.
func (e Entry) check() error {
	switch {
	case (e.Questions == "") == (e.Dataset == ""):
		return errors.New("questions: missing; name the file of questions, or a fetched set as dataset")
	case len(e.Methods) == 0:
		return errors.New("methods: missing; list at least one method")
	case e.Limit < 0:
		return fmt.Errorf("limit: must be at least 0, is %d", e.Limit)
	}
	for _, method := range e.Methods {
		if strings.TrimSpace(method) == "" {
			return errors.New("methods: one of them is empty")
		}
	}
	if _, err := dataset.ParsePart(e.Part); err != nil {
		return fmt.Errorf("part: %w", err)
	}
	if _, err := askOptions(e.Options); err != nil {
		return fmt.Errorf("options: %w", err)
	}
	return nil
}

// inType is what the decoder says of Go's types, which the file knows nothing
// of.
var inType = regexp.MustCompile(` not found in type .*`)

// describeYAML says what is wrong in the words of the file.
func describeYAML(err error) error {
	var bad *yaml.TypeError
	if !errors.As(err, &bad) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	problems := make([]string, min(len(bad.Errors), maxProblems))
	for i := range problems {
		problems[i] = inType.ReplaceAllString(bad.Errors[i], " is not known; see docs/methods.md for those that are")
	}
	return errors.New(strings.Join(problems, "\n"))
}
