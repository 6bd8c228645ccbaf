package ground

import (
	"context"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// lastRelation prefers paths of some steps.
type lastRelation struct {
	steps []string
	knows bool
}

func (r lastRelation) Covers(*rank.Question) bool { return r.knows }

func (r lastRelation) Probabilities(q *rank.Question) ([]float32, error) {
	p := make([]float32, len(q.Paths))
	for i, path := range q.Paths {
		var names []string
		for _, s := range path.Steps {
			names = append(names, q.Relations[s].Name)
		}
		if slices.Equal(names, r.steps) {
			p[i] = 0.8
		}
	}
	return p, nil
}

func TestTheFactsOfRankedPathsAreEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question string
		ranker         lastRelation
		maxWalked      int
		want           []string
		paths          bool
	}{
		{"of several steps", "who made what Anna did", lastRelation{[]string{"starred", "director"}, true}, 30,
			[]string{"Anna | inverse of starred / director | Erik", "Anna | inverse of starred / director | Berit"},
			true},
		{"of one step", "what about Anna", lastRelation{[]string{"born"}, true}, 30, []string{"Anna | born | Bergen"},
			true},
		{"over a mediator", "what about Anna", lastRelation{[]string{"role", "captain"}, true}, 30,
			[]string{"Anna | role / captain | Nora"}, true},
		{"none of a ranker that does not know the graph", "what about Anna", lastRelation{[]string{"born"}, false}, 30,
			nil, false},
		{"none if walks are switched off", "what about Anna", lastRelation{[]string{"born"}, true}, 0, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := Default()
			options.Ranker, options.MaxWalked = c.ranker, c.maxWalked
			r, err := Ground(context.Background(), films, &storetest.WordEncoder{}, runStep, c.question, nil, options)
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Paths) > 0) != c.paths {
				t.Errorf("%d ranked paths", len(r.Paths))
			}
			got := evidence(r)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("evidence %q lacks %q", got, want)
				}
			}
			marked := 0
			for _, s := range r.Subjects {
				for i, f := range s.Facts {
					if f.Probability != nil {
						marked++
					}
					if slices.IndexFunc(s.Facts, func(o ScoredFact) bool { return o.Fact == f.Fact }) != i {
						t.Errorf("%v is shown twice", f.Fact)
					}
				}
			}
			if marked != len(c.want) {
				t.Errorf("%d facts have a probability, want %d", marked, len(c.want))
			}
		})
	}
}
