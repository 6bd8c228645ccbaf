package ground

import (
	"context"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

var films = storetest.NewGraph(
	[3]string{"Quiet Harbour", "starred", "Anna"},
	[3]string{"Long Shore", "starred", "Anna"},
	[3]string{"Quiet Harbour", "director", "Erik"},
	[3]string{"Long Shore", "director", "Berit"},
	[3]string{"Quiet Harbour", "genre", "Drama"},
	[3]string{"Anna", "born", "Bergen"},
	[3]string{"Erik", "born", "Oslo"},
	[3]string{"Anna", "role", "m.0aaaa1"},
	[3]string{"m.0aaaa1", "captain", "Nora"},
)

func TestFactsSeveralHopsAwayAreShownIfTheQuestionNeedsThem(t *testing.T) {
	t.Parallel()
	without := Default()
	without.MaxWalked = 0
	one := Default()
	one.MaxWalked = 1
	filtered := Default()
	filtered.Filter = store.Filter{At: "2020"}
	for _, c := range []struct {
		name, question string
		options        Options
		want, absent   []string
	}{
		{
			"both facts are shown as one", "director of starred Anna", Default(),
			[]string{"Anna | inverse of starred / director | Erik", "Anna | inverse of starred / director | Berit"},
			nil,
		},
		{
			"a question for one fact is answered by it", "born Anna", Default(),
			[]string{"Anna | born | Bergen"}, []string{"Anna | inverse of starred / director | Erik"},
		},
		{
			"facts joined by a mediator count as one", "role captain Anna", Default(),
			[]string{"Anna | role / captain | Nora"}, []string{"Anna | inverse of starred / director | Erik"},
		},
		{
			"it can be switched off", "director of starred Anna", without,
			nil, []string{"Anna | inverse of starred / director | Erik",
				"Anna | inverse of starred / director | Berit"},
		},
		{
			"a path with more ends than MaxWalked is not followed", "director of starred Anna", one,
			nil, []string{"Anna | inverse of starred / director | Erik",
				"Anna | inverse of starred / director | Berit"},
		},
		{
			"a filter disables paths", "director of starred Anna", filtered,
			nil, []string{"Anna | inverse of starred / director | Erik"},
		},
		{
			"a question without entities follows no path", "director of starred", Default(),
			nil, []string{"Anna | inverse of starred / director | Erik"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := Ground(context.Background(), films, &storetest.WordEncoder{}, runStep, c.question, nil, c.options)
			if err != nil {
				t.Fatal(err)
			}
			got := evidence(r)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("evidence %q lacks %q", got, want)
				}
			}
			for _, absent := range c.absent {
				if slices.Contains(got, absent) {
					t.Errorf("evidence %q has %q", got, absent)
				}
			}
			for _, s := range r.Subjects {
				for i, f := range s.Facts {
					if i > 0 && f.Score > s.Facts[i-1].Score {
						t.Errorf("%s: fact %d scores higher than the one before it", s.Subject, i)
					}
				}
			}
		})
	}
}

func TestAPathThatGoesOnFromWhatIsAskedForIsNotFollowed(t *testing.T) {
	t.Parallel()
	step := func(name string) walk.Step {
		id, ok, err := films.Relation(t.Context(), name)
		if err != nil || !ok {
			t.Fatalf("relation %q: %v, %v", name, ok, err)
		}
		return walk.Step{Relation: id}
	}
	steps := []walk.Step{step("director"), step("born")}
	directorBorn := walk.Suggestion{Plan: walk.Plan{Steps: steps}, LeastHopScore: -1}
	alsoSaid := directorBorn
	alsoSaid.LeastHopScore = 0.2
	for _, c := range []struct {
		question string
		path     walk.Suggestion
		want     bool
	}{
		{"who directed Quiet Harbour", directorBorn, true},
		{"where was the director of Quiet Harbour born", directorBorn, false},
		{"who was born for Quiet Harbour", directorBorn, false},
		{"which town is Quiet Harbour from", directorBorn, false},
		{"in which town was Quiet Harbour directed", alsoSaid, false},
	} {
		g := &grounding{snap: films, plan: queries{texts: []string{c.question}}}
		if got := g.goesBeyond(c.path); got != c.want {
			t.Errorf("%q goes beyond: %v, want %v", c.question, got, c.want)
		}
	}
}
