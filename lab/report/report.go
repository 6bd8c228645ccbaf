// Package report shows evaluations side by side: a page of HTML that needs
// nothing besides itself, and Markdown. Names of knowledge graphs, what models
// wrote and questions are data that may be hostile: they are escaped wherever
// they stand.
package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/lab/results"
)

// Options are what a report may be told.
type Options struct {
	// Title is the report's; empty takes one.
	Title string
	// Baseline is the name of the evaluation, or the method, that the others of
	// its dataset are compared with. Where a dataset has none, its first is.
	Baseline string
	// Now is the date of the report.
	Now time.Time
}

// Report is what a report says, in the order in which it says it.
type Report struct {
	// Title and Date stand at its top.
	Title, Date string
	// Lead are the facts below the title.
	Lead []string
	// Overviews have the methods by datasets, one with linked topic entities and one with gold ones; none
	// if there is one dataset.
	Overviews []*Table
	// Sections are one for each dataset and knowledge graph.
	Sections []*Section
	// Leaks reports whether few-shot examples are among the questions.
	Leaks Table
	// Sources say what was evaluated by what.
	Sources Table

	evaluations []*Evaluation
}

// New makes a report of evaluations: all of it but the questions.
func New(evaluations []*Evaluation, o Options) *Report {
	r := &Report{Title: o.Title, Date: o.Now.Format("2 January 2006"), evaluations: evaluations}
	for i, g := range GroupEvaluations(evaluations) {
		r.Sections = append(r.Sections, newSection(g, fmt.Sprintf("s%d", i), o.Baseline))
	}
	if r.Title == "" {
		r.Title = "Evaluation"
		if len(r.Sections) == 1 {
			r.Title += " of " + r.Sections[0].Title
		}
	}
	r.Lead = r.lead()
	for _, gold := range []bool{false, true} {
		var sections []*Section
		for _, s := range r.Sections {
			if (s.group.Entities == results.Gold) == gold {
				sections = append(sections, s)
			}
		}
		if len(sections) > 1 {
			r.Overviews = append(r.Overviews, overview(sections, gold))
		}
	}
	r.Leaks, r.Sources = r.leaks(), r.sources()
	return r
}

func (r *Report) lead() []string {
	answers, failed := 0, 0
	var models, versions []string
	datasets := make(map[string]bool)
	for _, e := range r.evaluations {
		answers += len(e.Records)
		failed += e.Summary.Failed
		datasets[e.Manifest().Dataset.SHA256] = true
		models = append(models, e.Models()...)
		versions = append(versions, e.Manifest().Version)
	}
	distinct := func(list []string) string {
		return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ", ")
	}
	lead := []string{
		plural(len(r.evaluations), "evaluation"),
		plural(len(datasets), "dataset"),
		plural(answers, "recorded run"),
	}
	if failed > 0 {
		lead = append(lead, fmt.Sprintf("%s failed, counted as wrong", thousands(float64(failed))))
	}
	if len(models) > 0 {
		lead = append(lead, distinct(models))
	}
	return append(lead, "triplemesh "+distinct(versions), r.Date)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(float64(n)) + " " + one + "s"
}

// overview has a row for each method and a column for each dataset.
func overview(sections []*Section, gold bool) *Table {
	t := &Table{
		Caption: "Overview",
		Note: "The main score of every method on every dataset in per cent, with its 95 % interval: F1, or " +
			"ROUGE-L F1 for open questions. The best of a column is bold.",
		Columns: []Column{{Name: "Method", Text: true}},
	}
	if gold {
		t.Caption += ", gold topic entities"
	}
	rows := make(map[string][]Cell)
	var names []string
	order := make(map[string]int)
	for column, s := range sections {
		head := s.Title
		if s.main.Key != "f1" {
			head += " (" + s.main.Title + ")"
		}
		t.Columns = append(t.Columns, Column{Name: head})
		best := 0.0
		for _, e := range s.group.Evaluations {
			best = max(best, e.Summary.Figures[s.main.Key].Value)
		}
		for i, e := range s.group.Evaluations {
			if _, applies := e.Summary.Figures[s.main.Key]; !applies {
				continue // stopped before its answers
			}
			if rows[e.Name] == nil {
				rows[e.Name] = make([]Cell, len(sections)+1)
				rows[e.Name][0].Text = e.Name
				names = append(names, e.Name)
				order[e.Name] = s.marks[i].Shape
			}
			cell := figureCell(s.main, e, s.marks[i])
			if v, applies := e.Summary.Figures[s.main.Key]; applies {
				cell.Best = v.Value == best && best > 0 && len(s.group.Evaluations) > 1
				cell.Heat = 1 + min(9, int(v.Value*10))
				cell.Mark = ""
			}
			rows[e.Name][column+1] = cell
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(RankMethod(strings.Fields(a + " ")[0]), RankMethod(strings.Fields(b + " ")[0])),
			cmp.Compare(order[a], order[b]))
	})
	for _, name := range names {
		t.Rows = append(t.Rows, rows[name])
	}
	return t
}

// leaks says for each evaluation what the check for leaks found.
func (r *Report) leaks() Table {
	t := Table{
		Caption: "Leak check",
		Note: "Whether an example that a model is shown is one of the questions it is asked. Figures over such " +
			"questions would be too good.",
		Columns: []Column{{Name: "Evaluation", Text: true}, {Name: "Examples"}, {Name: "Found", Text: true}},
	}
	for _, e := range r.evaluations {
		name := e.Name + ", " + e.Manifest().Dataset.Name
		leak := e.Manifest().Leak
		switch {
		case leak == nil:
			t.Rows = append(t.Rows, words(name, "", "not checked"))
		case len(leak.Pairs) == 0:
			t.Rows = append(t.Rows, words(name, thousands(float64(leak.Examples+leak.Calibration)), "none of the "+
				leak.Looked()+" is among the questions"))
		}
		if leak == nil {
			continue
		}
		for i, pair := range leak.Pairs {
			if i == 20 {
				t.Rows = append(t.Rows, words(name, "", fmt.Sprintf("and %d more", len(leak.Pairs)-i)))
				break
			}
			t.Rows = append(t.Rows, words(name, thousands(float64(leak.Examples)),
				fmt.Sprintf("%s shows %q, asked as %s: %q", pair.Stage, pair.Example, pair.ID, pair.Question)))
		}
	}
	return t
}

// sources say what each evaluation is of.
func (r *Report) sources() Table {
	t := Table{
		Caption: "Provenance",
		Note:    "What was evaluated by what. The seed chooses the sample of questions.",
		Columns: []Column{
			{Name: "Evaluation", Text: true}, {Name: "Questions", Text: true}, {Name: "Knowledge graph", Text: true},
			{Name: "Encoder", Text: true},
			{Name: "Models", Text: true}, {Name: "Options", Text: true}, {Name: "Seed"}, {Name: "Version", Text: true},
			{Name: "Directory", Text: true},
		},
	}
	for _, e := range r.evaluations {
		m := e.Manifest()
		var kgs, options []string
		for _, kg := range m.KGs() {
			kgs = append(kgs, kg.String())
		}
		for _, option := range m.Options.List() {
			options = append(options, option[0]+" "+option[1])
		}
		if m.GoldEntities {
			options = append(options, "gold entities")
		}
		if m.Reader != "" {
			options = append(options, "reader "+m.Reader)
		}
		row := words(e.Name, fmt.Sprintf("%s of %s %s", thousands(float64(len(e.Records))),
			thousands(float64(m.Dataset.Questions)), m.Dataset.Name),
			strings.Join(kgs, ", "), m.Encoder, strings.Join(e.Models(), ", "), strings.Join(options, ", "),
			fmt.Sprint(m.Seed), m.Version, filepath.Base(e.Results.Dir))
		row[1].Below = m.Dataset.Format + ", sha256 " + m.Dataset.SHA256[:min(12, len(m.Dataset.SHA256))]
		t.Rows = append(t.Rows, row)
	}
	return t
}
