package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/report/plot"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/stats"
)

// Section is the part of a report on one dataset and knowledge graph.
type Section struct {
	// ID names it in links, Title for readers.
	ID, Title string
	// Note says which questions were asked.
	Note string
	// Warnings say why figures may not compare.
	Warnings []string
	// Scores has the scores and the cost of the methods side by side.
	Scores Table
	// Steps has what the methods made on their way; nil if there is nothing.
	Steps *Table
	// Stages has the cost of each stage.
	Stages *Table
	// Plots are drawn side by side.
	Plots []Figure
	// Funnels show where questions were lost, a method each.
	Funnels []Figure
	// Methods are the names of the evaluations, in the order of Questions' cells.
	Methods []Method
	// Questions are all questions asked.
	Questions []Question

	group *Group
	main  results.Figure // what the methods are compared by
	base  int            // the evaluation that others are compared with
	// compared are the comparisons with it; nil for itself, and without a common question.
	compared []*stats.Comparison
	marks    []plot.Mark
}

// Method is one evaluation of a section.
type Method struct {
	// Name is its name.
	Name string
	// Colour is the number of its colour.
	Colour int
}

// Figure is a plot with what it shows.
type Figure struct {
	// Title and Note stand above and below it.
	Title, Note string
	// SVG is the plot.
	SVG template.HTML
}

// newSection makes all of a section but its questions.
func newSection(g *Group, id, baseline string) *Section {
	s := &Section{ID: id, Title: g.Title(), Warnings: g.Warnings, group: g, marks: marks(g.Evaluations)}
	s.main = mainFigure(g)
	s.base = findBaseline(g, baseline)
	s.compared = s.compareAll()
	for i, e := range g.Evaluations {
		s.Methods = append(s.Methods, Method{e.Name, s.marks[i].Colour})
	}
	s.Note = s.note()
	s.Scores = s.scores()
	s.Steps = s.steps()
	s.Stages = s.stages()
	s.Plots = s.plots()
	s.Funnels = s.funnels()
	return s
}

// mainFigure returns F1, or ROUGE-L where all questions are open.
func mainFigure(g *Group) results.Figure {
	all := figures()
	for _, e := range g.Evaluations {
		for _, r := range e.Records {
			if r.Kind != dataset.Open {
				return all["f1"]
			}
		}
	}
	for _, e := range g.Evaluations {
		if _, applies := e.Summary.Figures["rouge_l"]; applies {
			return all["rouge_l"]
		}
	}
	return all["f1"]
}

// findBaseline returns the evaluation that the others are compared with: the one of that
// name or method, else the first.
func findBaseline(g *Group, baseline string) int {
	if i := slices.IndexFunc(g.Evaluations, func(e *Evaluation) bool { return e.Name == baseline }); i >= 0 {
		return i
	}
	return max(0, slices.IndexFunc(g.Evaluations,
		func(e *Evaluation) bool { return e.Manifest().Method == baseline }))
}

func (s *Section) note() string {
	least, most := len(s.group.Evaluations[0].Records), 0
	for _, e := range s.group.Evaluations {
		least, most = min(least, len(e.Records)), max(most, len(e.Records))
	}
	asked := thousands(float64(most))
	if least < most {
		asked = thousands(float64(least)) + " to " + asked
	}
	return fmt.Sprintf("%s of %s questions asked", asked, thousands(float64(s.group.Dataset.Questions)))
}

// scoreKeys are the figures of the first table; those that no evaluation has
// are left out.
var scoreKeys = []string{"f1", "hits_at_1", "hit", "answers_per_question", "rog_f1",
	"exact_match", "rouge_l", "grounded",
	"hits_at_1_grounded", "abstained"}

func (s *Section) scores() Table {
	t := Table{
		Caption: "Scores and cost",
		Note: "Scores in per cent, with 95 % intervals by the bootstrap over the questions. The best of a column " +
			"is bold. Cost and time are per question.",
		Columns: []Column{{Name: "Method", Text: true}, {Name: "Entities", Text: true,
			Note: "whether the topic entities were given (gold) or found in the question (linked)"},
			{Name: "n", Note: "questions asked"}},
	}
	all := figures()
	var keys []string
	for _, key := range scoreKeys {
		if s.anyHasFigure(key) {
			keys = append(keys, key)
			name := all[key].Title
			if all[key].Unit == results.Share {
				name += " %"
			}
			t.Columns = append(t.Columns, Column{Name: name, Note: all[key].Note})
		}
	}
	compared := len(s.group.Evaluations) > 1
	if compared {
		t.Columns = append(t.Columns, Column{
			Name: s.main.Title + " against " + s.group.Evaluations[s.base].Name,
			Note: "difference in points over the questions that both were asked, its 95 % interval, and the p-value " +
				"of a paired permutation test, corrected for the number of tests in the column (Holm)",
		})
	}
	costs := []string{"calls_per_question", "tokens", "cost_usd_per_question", "p50_ms", "p95_ms"}
	if !s.priced() {
		costs = slices.Delete(costs, 2, 3)
	}
	heads := map[string]Column{
		"calls_per_question": {Name: "Calls"}, "tokens": {Name: "Tokens", Note: "read and written"},
		"cost_usd_per_question": {Name: "Cost"},
		"p50_ms":                {Name: "p50", Note: "median time"},
		"p95_ms":                {Name: "p95", Note: "95 % of the runs keep within"},
	}
	for _, key := range costs {
		t.Columns = append(t.Columns, heads[key])
	}
	for i, e := range s.group.Evaluations {
		row := []Cell{{Text: e.Name}, {Text: e.Manifest().Entities()}, {Text: thousands(float64(len(e.Records)))}}
		if e.Summary.Failed > 0 {
			row[2].Below = fmt.Sprintf("%d failed", e.Summary.Failed)
		}
		for _, key := range keys {
			row = append(row, figureCell(all[key], e, s.marks[i]))
		}
		if compared {
			row = append(row, s.compare(i))
		}
		for _, key := range costs {
			row = append(row, costCell(all, key, e))
		}
		t.Rows = append(t.Rows, row)
	}
	for column := 3; column < 3+len(keys); column++ {
		if key := keys[column-3]; key != "abstained" && all[key].Unit == results.Share {
			markBest(t.Rows, column, s.group.Evaluations, keys[column-3])
		}
	}
	return t
}

func (s *Section) anyHasFigure(key string) bool {
	return slices.ContainsFunc(s.group.Evaluations, func(e *Evaluation) bool {
		_, applies := e.Summary.Figures[key]
		return applies
	})
}

func (s *Section) priced() bool {
	return slices.ContainsFunc(s.group.Evaluations, func(e *Evaluation) bool {
		return e.Summary.Figures["cost_usd_per_question"].Value > 0
	})
}

// figureCell shows a figure with its interval.
func figureCell(f results.Figure, e *Evaluation, m plot.Mark) Cell {
	v, applies := e.Summary.Figures[f.Key]
	if !applies {
		return Cell{}
	}
	cell := Cell{Text: show(f.Unit, v.Value)}
	if f.Unit == results.Share {
		cell.Below = show(f.Unit, v.Low) + "–" + show(f.Unit, v.High)
		cell.Mark = plot.Interval(v.Value, v.Low, v.High, m)
	}
	return cell
}

func costCell(all map[string]results.Figure, key string, e *Evaluation) Cell {
	cached := e.Summary.Figures["cached_calls_per_question"].Value
	if key == "tokens" {
		read, applies := e.Summary.Figures["prompt_tokens_per_question"]
		written := e.Summary.Figures["completion_tokens_per_question"]
		if !applies {
			return Cell{}
		}
		return Cell{Text: amount(read.Value + written.Value), Quiet: cached > 0}
	}
	v, applies := e.Summary.Figures[key]
	if !applies {
		return Cell{}
	}
	cell := Cell{Text: show(all[key].Unit, v.Value)}
	if key == "calls_per_question" && cached > 0 {
		cell.Below = "+ " + amount(cached) + " cached"
	}
	return cell
}

// compare returns the difference of an evaluation and the baseline over the
// questions that both were asked.
func (s *Section) compare(i int) Cell {
	if i == s.base {
		return Cell{Text: "baseline", Quiet: true}
	}
	c := s.compared[i]
	if c == nil {
		return Cell{Text: "no common questions", Quiet: true}
	}
	cell := Cell{
		Text: points(c.Difference.Mean),
		Below: fmt.Sprintf("%s to %s\n%s", points(c.Difference.Low), points(c.Difference.High),
			pValue(c.Corrected)),
		Best: c.Corrected < 0.05 && c.Difference.Mean > 0,
	}
	if c.Difference.N < len(s.group.Evaluations[i].Records) {
		cell.Below += fmt.Sprintf(", %d common", c.Difference.N)
	}
	return cell
}

// compareAll compares every evaluation with the baseline, and corrects for their number.
func (s *Section) compareAll() []*stats.Comparison {
	compared := make([]*stats.Comparison, len(s.group.Evaluations))
	var tests []*stats.Comparison
	var ps []float64
	for i, e := range s.group.Evaluations {
		a, b, keys := Paired(e.Records, s.group.Evaluations[s.base].Records, s.main)
		if c, err := stats.Compare(a, b, keys, 0, 1); err == nil && len(a) > 0 && i != s.base {
			compared[i] = &c
			tests, ps = append(tests, &c), append(ps, c.P)
		}
	}
	for i, p := range stats.Holm(ps) {
		tests[i].Corrected = p
	}
	return compared
}

// Paired returns the values that a figure has for the questions in both records, and their clusters.
// All are in the order of the ids.
func Paired(one, other []results.Record, f results.Figure) (a, b []float64, keys []string) {
	byID := make(map[string]results.Record, len(other))
	for _, r := range other {
		byID[r.ID] = r
	}
	for _, r := range one {
		beside, there := byID[r.ID]
		if !there {
			continue
		}
		x, applies := f.Of(r)
		y, applies2 := f.Of(beside)
		if applies && applies2 {
			a, b, keys = append(a, x), append(b, y), append(keys, r.ClusterKey())
		}
	}
	return a, b, keys
}

// markBest marks the best of a column, if there is more than one row.
func markBest(rows [][]Cell, column int, evaluations []*Evaluation, key string) {
	best := -1.0
	for _, e := range evaluations {
		if v, applies := e.Summary.Figures[key]; applies {
			best = max(best, v.Value)
		}
	}
	for i, e := range evaluations {
		if v, applies := e.Summary.Figures[key]; applies && v.Value == best && best > 0 && len(rows) > 1 {
			rows[i][column].Best = true
		}
	}
}
