package eval

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/lab/results"
	"github.com/triplemesh/triplemesh/lab/stats"
)

// summed is what an evaluation came to.
type summed struct {
	// Name tells it from the others.
	Name string `json:"name"`
	// Dir is its results directory; empty if nothing was kept.
	Dir string `json:"dir,omitempty"`
	// Manifest says what was evaluated.
	Manifest results.Manifest `json:"manifest"`
	// Left is the number of questions not yet asked: a budget ended it.
	Left int `json:"left"`
	// Summary has its figures, over the questions asked.
	Summary results.Summary `json:"summary"`
	// Against compares it with the first evaluation of the same questions,
	// knowledge graphs and entities; nil for the first.
	Against *comparison `json:"against,omitempty"`

	records map[string]results.Record
}

// comparison is how two evaluations differ on the questions that both asked.
type comparison struct {
	// First is the name of the evaluation it is compared with.
	First string `json:"first"`
	// Figures are the comparisons by the figure's key; above 0 is better than
	// the first.
	Figures map[string]stats.Comparison `json:"figures"`
}

// sumUp sums up evaluations of which at least one question was asked.
func sumUp(evaluations []*evaluation) []*summed {
	var out []*summed
	for _, e := range evaluations {
		m := e.journal.Manifest()
		s := &summed{Name: e.name, Dir: e.dir, Manifest: m, records: make(map[string]results.Record)}
		var records []results.Record
		for _, q := range e.questions {
			record, asked := e.journal.Record(q.ID)
			if !asked {
				s.Left++
				continue
			}
			records = append(records, record)
			s.records[q.ID] = record
		}
		s.Summary = results.Summarise(records, m.Options.Until != "")
		for _, first := range out {
			if sameQuestions(first.Manifest, m) {
				s.Against = compare(first, s, e)
				break
			}
		}
		out = append(out, s)
	}
	correct(out)
	return out
}

// correct corrects the comparisons by each figure for their number.
func correct(sums []*summed) {
	for _, key := range compared {
		var of []*summed
		var ps []float64
		for _, s := range sums {
			if s.Against != nil {
				if c, there := s.Against.Figures[key]; there {
					of, ps = append(of, s), append(ps, c.P)
				}
			}
		}
		for i, p := range stats.Holm(ps) {
			c := of[i].Against.Figures[key]
			c.Corrected = p
			of[i].Against.Figures[key] = c
		}
	}
}

// sameQuestions reports whether two evaluations asked the same: the same questions
// over the same knowledge graphs, with gold entities or without. Over other
// graphs, or with other entities, a difference is not that of the methods.
func sameQuestions(a, b results.Manifest) bool {
	if a.Dataset.SHA256 != b.Dataset.SHA256 || a.Part != b.Part || a.GoldEntities != b.GoldEntities || a.KG != b.KG ||
		len(a.OtherKGs) != len(b.OtherKGs) {
		return false
	}
	for i := range a.OtherKGs {
		if a.OtherKGs[i].Name != b.OtherKGs[i].Name {
			return false
		}
	}
	return true
}

// compared are the keys of the figures by which evaluations are compared.
var compared = []string{"f1", "hits_at_1", "hit", "rouge_l"}

func compare(first, second *summed, e *evaluation) *comparison {
	c := &comparison{First: first.Name, Figures: make(map[string]stats.Comparison)}
	for _, f := range results.Figures() {
		if !f.IsOneOf(compared) {
			continue
		}
		var a, b []float64
		var keys []string
		for _, q := range e.questions {
			before, asked := first.records[q.ID]
			after, too := second.records[q.ID]
			x, applies := f.Of(before)
			y, _ := f.Of(after)
			if asked && too && applies {
				a, b, keys = append(a, x), append(b, y), append(keys, before.ClusterKey())
			}
		}
		_, scored := first.Summary.Figures[f.Key]
		_, scoredToo := second.Summary.Figures[f.Key]
		if len(a) == 0 || !scored || !scoredToo {
			continue
		}
		if result, err := stats.Compare(b, a, keys, 0, 1); err == nil {
			c.Figures[f.Key] = result
		}
	}
	if len(c.Figures) == 0 {
		return nil
	}
	return c
}

// writeSums writes what evaluations came to: a page for one, a table for several.
func writeSums(w io.Writer, sums []*summed, asJSON bool) error {
	var err error
	switch {
	case asJSON:
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(struct {
			Evaluations []*summed `json:"evaluations"`
		}{sums})
	case len(sums) == 1:
		err = writePage(w, sums[0])
	default:
		err = writeTable(w, sums)
	}
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}
