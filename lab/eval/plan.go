package eval

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// evaluation is one method with one set of options over one sample.
type evaluation struct {
	// name tells it from the others of its command; its directory below --out
	// has it.
	name string
	// dir keeps its results; empty if nothing is kept.
	dir       string
	questions []dataset.Question
	// manifest is what it is to be the results of.
	manifest results.Manifest
	options  *orchestratorv1.AskOptions
	paths    relationPaths // nil if none are given
	journal  journal       // set once it is open
	// stopped is why it was not run to its end; nil if it was.
	stopped error
}

// planner turns entries into evaluations. It reads each file once.
type planner struct {
	command  *Command
	datasets map[[3]string]dataset.Dataset // by path, format and names
	paths    map[string]givenPaths         // by path
}

type givenPaths struct {
	paths relationPaths
	sum   string
}

// plan makes an evaluation of every method of every entry. All that can be
// wrong with them before anything is asked is wrong here.
func (c *Command) plan(entries []Entry) ([]*evaluation, error) {
	p := planner{c, make(map[[3]string]dataset.Dataset), make(map[string]givenPaths)}
	var all []*evaluation
	var problems []error
	for _, e := range entries {
		some, err := p.entry(e)
		if err != nil {
			if e.where != "" {
				err = fmt.Errorf("%s, %s: %w", c.Suite, e.where, err)
			}
			problems = append(problems, err)
		}
		all = append(all, some...)
	}
	taken := make(map[string]bool)
	for _, e := range all {
		if taken[e.name] {
			problems = append(problems,
				fmt.Errorf("two evaluations are called %s: give their datasets different names, or leave one out",
					e.name))
		}
		taken[e.name] = true
		switch {
		case c.Out != "" && (len(all) > 1 || c.Suite != ""):
			e.dir = filepath.Join(c.Out, e.name)
		default:
			e.dir = c.Out
		}
	}
	return all, errors.Join(problems...)
}

func (p *planner) entry(e Entry) ([]*evaluation, error) {
	kgs, err := parseKGs(e.KG, e.OtherKGs)
	if err != nil {
		return nil, err
	}
	sum := ""
	if e.Dataset != "" {
		var format string
		if e.Questions, format, sum, err = dataset.FetchedQuestions(p.command.SetsDir, e.Dataset); err != nil {
			return nil, err
		}
		e.Name, e.Format = cmp.Or(e.Name, e.Dataset), cmp.Or(e.Format, format)
	}
	set, err := p.dataset(e.Questions, e.Format, e.Names)
	if err != nil {
		return nil, err
	}
	if sum != "" && set.SHA256 != sum {
		return nil, fmt.Errorf("question set %s: %s was changed since it was fetched; fetch it again, or name the "+
			"file as --questions", e.Dataset, e.Questions)
	}
	limit, seed := e.Limit, e.Seed
	if limit == 0 {
		limit = p.command.Limit
	}
	if seed == 0 {
		seed = p.command.Seed
	}
	part, err := dataset.ParsePart(cmp.Or(e.Part, p.command.Part))
	if err != nil {
		return nil, fmt.Errorf("--part: %w", err)
	}
	inPart := dataset.Select(set.Questions, part)
	if len(inPart) == 0 {
		return nil, fmt.Errorf("--part %s: none of the %d questions of %s is in it", part, len(set.Questions),
			e.Questions)
	}
	questions := dataset.Sample(inPart, limit, seed)
	if e.Options.AnswerForm == "text" {
		questions = asOpen(questions)
	}
	if e.GoldEntities && !slices.ContainsFunc(questions,
		func(q dataset.Question) bool { return len(q.TopicEntities) > 0 }) {
		return nil, fmt.Errorf("--gold-entities: no question asked of %s has topic_entities; leave the flag out",
			e.Questions)
	}
	given, err := p.givenPaths(e.RelationPaths)
	if err != nil {
		return nil, err
	}
	if given.paths != nil && !slices.ContainsFunc(questions,
		func(q dataset.Question) bool { return given.paths[q.ID] != nil }) {
		return nil, fmt.Errorf("--relation-paths: %s has paths for none of the questions asked of %s; their ids must "+
			"be the same", e.RelationPaths, e.Questions)
	}
	settings := e.Options
	settings.RelationPaths = given.sum
	options, err := askOptions(settings)
	if err != nil {
		return nil, err
	}
	reader, err := p.command.readerName()
	if err != nil {
		return nil, err
	}
	name := e.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(e.Questions), filepath.Ext(e.Questions))
	}
	m := results.Manifest{
		Format: results.Format, Version: p.command.Version,
		Dataset: results.Dataset{Name: name, Path: set.Path, Format: set.Format, SHA256: set.SHA256,
			Questions: len(inPart)},
		Asked:   len(questions),
		Part:    string(part),
		Options: settings, GoldEntities: e.GoldEntities, Reader: reader, Seed: seed,
	}
	if len(kgs) > 0 {
		m.KG, m.Snapshot, m.OtherKGs = kgs[0].Name, kgs[0].Snapshot, kgs[1:]
	}
	out := make([]*evaluation, len(e.Methods))
	for i, method := range e.Methods {
		m.Method = method
		m.OtherKGs = slices.Clone(m.OtherKGs)
		out[i] = &evaluation{name: evaluationName(m), questions: questions, manifest: m, options: options,
			paths: given.paths}
	}
	return out, nil
}

func (p *planner) dataset(path, format, names string) (dataset.Dataset, error) {
	key := [3]string{path, format, names}
	if set, read := p.datasets[key]; read {
		return set, nil
	}
	set, err := dataset.Read(path, format)
	if err == nil && names != "" {
		set, err = set.WithNames(names)
	}
	if err == nil {
		p.datasets[key] = set
	}
	return set, err
}

func (p *planner) givenPaths(path string) (givenPaths, error) {
	if path == "" {
		return givenPaths{}, nil
	}
	if given, read := p.paths[path]; read {
		return given, nil
	}
	paths, sum, err := readRelationPaths(path)
	if err != nil {
		return givenPaths{}, err
	}
	p.paths[path] = givenPaths{paths, sum}
	return p.paths[path], nil
}

// asOpen takes the answers of questions as references where the dataset does
// not say what they are: text answers are compared with texts.
func asOpen(questions []dataset.Question) []dataset.Question {
	out := slices.Clone(questions)
	for i := range out {
		if out[i].Kind == "" {
			out[i].Kind = dataset.Open
		}
	}
	return out
}

func parseKGs(first string, others []string) ([]results.KG, error) {
	if first == "" && len(others) > 0 {
		return nil, errors.New("--other-kg: is read beside --kg, which is missing")
	}
	if first == "" {
		return nil, nil
	}
	var kgs []results.KG
	for i, text := range append([]string{first}, others...) {
		kg, err := parseKG(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", []string{"--kg", "--other-kg"}[min(i, 1)], err)
		}
		kgs = append(kgs, kg)
	}
	return kgs, nil
}

// unfit is what does not go into the name of a directory.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._+@-]+`)

// evaluationName returns <dataset>-<kg>-<method>, and the options that are set: what tells
// the evaluations of a suite apart.
func evaluationName(m results.Manifest) string {
	parts := []string{m.Dataset.Name}
	if kgs := m.KGs(); len(kgs) > 0 {
		names := make([]string, len(kgs))
		for i, kg := range kgs {
			names[i] = kg.String()
		}
		parts = append(parts, strings.Join(names, "+"))
	}
	parts = append(parts, m.Method)
	if m.GoldEntities {
		parts = append(parts, "gold")
	}
	for _, option := range m.Options.List() {
		switch name, value := option[0], option[1]; {
		case name == "ablation":
			parts = append(parts, value)
		case name == "relation-paths":
			parts = append(parts, "given-paths")
		default:
			parts = append(parts, name+"-"+value)
		}
	}
	if m.Reader != "" {
		parts = append(parts, "reader-"+m.Reader)
	}
	if m.Part != "" && m.Part != string(dataset.All) {
		parts = append(parts, m.Part)
	}
	if m.Seed != 1 {
		parts = append(parts, "seed-"+strconv.FormatInt(m.Seed, 10))
	}
	return strings.Trim(unfit.ReplaceAllString(strings.Join(parts, "-"), "_"), ".")
}
