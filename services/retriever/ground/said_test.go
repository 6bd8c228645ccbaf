package ground

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestFactsWhoseRelationsTheQuestionSaysAreShown(t *testing.T) {
	t.Parallel()
	few := Default()
	few.MaxFacts, few.MaxWalked = 1, 0
	director := "Quiet Harbour | director | Erik Holm"
	graph := storetest.NewGraph(
		[3]string{"Quiet Harbour", "director", "Erik Holm"}, [3]string{"Quiet Harbour", "genre", "Drama"},
		[3]string{"Erik Holm", "born", "Oslo"}, [3]string{"Erik Holm", "lived in", "Bergen"},
		[3]string{"Erik Holm", "spouse", "Anna"}, [3]string{"Erik Holm", "taught by", "Nora"},
	)
	for _, c := range []struct {
		name, question string
		options        Options
		want           bool
	}{
		{"in another form of the word", "who directs Quiet Harbour", few, true},
		{"by their subjects", "Erik Holm directed", few, true},
		{"not if it says another", "genre of Quiet Harbour", few, false},
		{"beside others", "genre and director of Quiet Harbour", few, true},
		{"not with the published parameters", "who directs Quiet Harbour", Paper(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := Ground(t.Context(), graph, &storetest.WordEncoder{}, runStep, c.question, nil, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := evidence(r); slices.Contains(got, director) != c.want {
				t.Errorf("evidence %q: has %q: %v, want %v", got, director, !c.want, c.want)
			}
		})
	}
}
