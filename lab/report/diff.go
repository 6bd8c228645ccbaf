package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/stats"
)

// Diff is what got better and what got worse between two evaluations of the same questions. All of it
// is over the questions that both were asked.
type Diff struct {
	// A and B are the evaluations, B being compared with A.
	A DiffSide `json:"a"`
	B DiffSide `json:"b"`
	// Warnings say what differs besides what was to be compared.
	Warnings []string `json:"warnings"`
	// Common is how many questions both were asked.
	Common int `json:"common"`
	// Scores are the figures that can be better or worse.
	Scores []DiffScore `json:"scores"`
	// Costs are the figures of cost.
	Costs []DiffCost `json:"costs"`
	// Better are the questions that were answered wrong and are answered right,
	// Worse the reverse.
	Better []DiffChange `json:"better"`
	Worse  []DiffChange `json:"worse"`
	// Up and Down are the other questions whose F1, or ROUGE-L for open ones,
	// rose or fell.
	Up   []DiffChange `json:"up"`
	Down []DiffChange `json:"down"`
}

// DiffSide is one of the evaluations.
type DiffSide struct {
	// Dir is its results directory.
	Dir string `json:"dir"`
	// Name is the method with its options.
	Name string `json:"name"`
	// Dataset and KG are what it was evaluated on.
	Dataset string `json:"dataset"`
	KG      string `json:"kg,omitempty"`
	// N is how many questions were asked, Failed how many of them failed.
	N      int `json:"n"`
	Failed int `json:"failed"`
}

// DiffScore is one figure of both.
type DiffScore struct {
	// Key names the figure for programs, Title for people.
	Key   string `json:"key"`
	Title string `json:"title"`
	// A and B are the means.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// Difference is the mean of B - A with its 95 % interval.
	Difference results.Interval `json:"difference"`
	// P is how likely a difference as large would be if there were none, Corrected the same corrected for
	// the number of scores compared.
	P         float64 `json:"p"`
	Corrected float64 `json:"p_corrected"`
}

// DiffCost is one figure of cost of both; nil if it does not apply.
type DiffCost struct {
	Key   string       `json:"key"`
	Title string       `json:"title"`
	Unit  results.Unit `json:"-"`
	A     *float64     `json:"a"`
	B     *float64     `json:"b"`
}

// DiffChange is a question whose answers are better or worse in B.
type DiffChange struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
	// A and B are the F1, or the ROUGE-L F1 of an open question.
	A float64 `json:"a"`
	B float64 `json:"b"`
	// LostA and LostB are the steps at which the right answer was lost; empty
	// if it was not.
	LostA string `json:"lost_a,omitempty"`
	LostB string `json:"lost_b,omitempty"`
}

var (
	diffScoreKeys = []string{"f1", "hits_at_1", "hit", "exact_match", "rouge_l", "answer_in_hits", "answer_in_ground",
		"answer_in_fixed", "answer_in_paths", "answer_in_candidates"}
	costKeys = []string{"calls_per_question", "cached_calls_per_question", "prompt_tokens_per_question",
		"completion_tokens_per_question", "cost_usd_per_question", "p50_ms", "p95_ms"}
)

// CompareEvaluations compares two evaluations. Evaluations without a question in common are an
// error.
func CompareEvaluations(a, b *Evaluation) (*Diff, error) {
	d := &Diff{A: side(a), B: side(b), Warnings: warnings(a, b)}
	before, after, renamed := common(a.Records, b.Records)
	d.Common = len(before)
	if renamed > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d questions have the same id but another text: they are left out",
			renamed))
	}
	if d.Common == 0 {
		return nil, fmt.Errorf("compare %s with %s: they have no question in common: the one is of %s, the other of "+
			"%s; compare evaluations of the same dataset",
			a.Results.Dir, b.Results.Dir, a.Manifest().Dataset.Name, b.Manifest().Dataset.Name)
	}
	if d.Common < len(a.Records) || d.Common < len(b.Records) {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("only the %d questions that both were asked are compared: %d were asked there, %d here",
				d.Common, len(a.Records), len(b.Records)))
	}
	one := results.Summarise(before, a.Manifest().Options.Until != "")
	other := results.Summarise(after, b.Manifest().Options.Until != "")
	for _, f := range results.Figures() {
		x, inA := one.Figures[f.Key]
		y, inB := other.Figures[f.Key]
		switch {
		case slices.Contains(diffScoreKeys, f.Key) && inA && inB:
			score, err := compareFigure(f, before, after)
			if err != nil {
				return nil, err
			}
			d.Scores = append(d.Scores, score)
		case slices.Contains(costKeys, f.Key) && (inA || inB):
			cost := DiffCost{Key: f.Key, Title: f.Title, Unit: f.Unit}
			if inA {
				cost.A = &x.Value
			}
			if inB {
				cost.B = &y.Value
			}
			d.Costs = append(d.Costs, cost)
		}
	}
	ps := make([]float64, len(d.Scores))
	for i, s := range d.Scores {
		ps[i] = s.P
	}
	for i, p := range stats.Holm(ps) {
		d.Scores[i].Corrected = p
	}
	if cached := "cached_calls_per_question"; one.Figures[cached].Value != other.Figures[cached].Value {
		d.Warnings = append(d.Warnings, "answers came from the cache, more in one of them: calls, tokens, cost and "+
			"times are those of the other calls")
	}
	d.changes(before, after)
	return d, nil
}

func side(e *Evaluation) DiffSide {
	m := e.Manifest()
	var kgs []string
	for _, kg := range m.KGs() {
		kgs = append(kgs, kg.String())
	}
	return DiffSide{Dir: e.Results.Dir, Name: e.Name, Dataset: m.Dataset.Name, KG: strings.Join(kgs, ", "),
		N: len(e.Records), Failed: e.Summary.Failed}
}

// common returns the records of the questions that both were asked, pairwise, and
// how many have one id and two texts. Both lists are in the order of the ids.
func common(a, b []results.Record) (before, after []results.Record, renamed int) {
	byID := make(map[string]results.Record, len(a))
	for _, r := range a {
		byID[r.ID] = r
	}
	for _, r := range b {
		old, there := byID[r.ID]
		switch {
		case !there:
		case old.Question != r.Question:
			renamed++
		default:
			before, after = append(before, old), append(after, r)
		}
	}
	return before, after, renamed
}

func compareFigure(f results.Figure, before, after []results.Record) (DiffScore, error) {
	var a, b []float64
	var keys []string
	for i := range before {
		x, inA := f.Of(before[i])
		y, inB := f.Of(after[i])
		if inA && inB {
			a, b, keys = append(a, x), append(b, y), append(keys, before[i].ClusterKey())
		}
	}
	c, err := stats.Compare(b, a, keys, 0, 1)
	if err != nil {
		return DiffScore{}, fmt.Errorf("compare by %s: %w", f.Key, err)
	}
	s := DiffScore{Key: f.Key, Title: f.Title, P: c.P, Difference: results.Interval{Value: c.Difference.Mean,
		Low: c.Difference.Low, High: c.Difference.High}}
	for i := range a {
		s.A += a[i] / float64(len(a))
		s.B += b[i] / float64(len(b))
	}
	return s, nil
}

func (d *Diff) changes(before, after []results.Record) {
	for i, old := range before {
		now := after[i]
		c := DiffChange{ID: now.ID, Question: now.Question, Answers: now.Answers, A: quality(old), B: quality(now),
			LostA: loss(old), LostB: loss(now)}
		was, _ := IsRight(old)
		is, _ := IsRight(now)
		switch {
		case is && !was:
			d.Better = append(d.Better, c)
		case was && !is:
			d.Worse = append(d.Worse, c)
		case c.B > c.A:
			d.Up = append(d.Up, c)
		case c.B < c.A:
			d.Down = append(d.Down, c)
		}
	}
}

func quality(r results.Record) float64 {
	switch {
	case r.Measures == nil:
		return 0
	case r.Kind == dataset.Open:
		return r.Measures.Scores.RougeL
	}
	return r.Measures.Scores.F1
}

func loss(r results.Record) string {
	step, is := LostAt(r)
	if !is {
		return ""
	}
	return step.Loss
}

// warnings say what differs that a reader may not expect to.
func warnings(a, b *Evaluation) []string {
	x, y := a.Manifest(), b.Manifest()
	var out []string
	differ := func(what, there, here string) {
		if there != here && there != "" && here != "" {
			out = append(out, fmt.Sprintf("%s: %s there, %s here", what, there, here))
		}
	}
	if x.Dataset.SHA256 != y.Dataset.SHA256 {
		out = append(out, fmt.Sprintf("the questions are from different files: %s there, %s here", x.Dataset.Name,
			y.Dataset.Name))
	}
	kgs := func(m results.Manifest) string {
		var names []string
		for _, kg := range m.KGs() {
			if kg.Snapshot > 0 {
				names = append(names, kg.String())
			}
		}
		return strings.Join(names, ", ")
	}
	differ("different knowledge graphs or snapshots", kgs(x), kgs(y))
	differ("different encoders", x.Encoder, y.Encoder)
	differ("different models", strings.Join(a.Models(), ", "), strings.Join(b.Models(), ", "))
	differ("different versions of triplemesh", x.Version, y.Version)
	entities := map[bool]string{true: "gold", false: "linked"}
	differ("different topic entities", entities[x.GoldEntities], entities[y.GoldEntities])
	differ("different readers", cmp.Or(x.Reader, "the model"), cmp.Or(y.Reader, "the model"))
	return out
}
