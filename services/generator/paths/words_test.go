package paths_test

import (
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/paths"
)

func TestFindWords(t *testing.T) {
	examples := []*graphv1.Triple{{Subject: "Ida Brandt", Relation: "spouse", Object: "Karl Brandt"}}
	for _, c := range []struct {
		name, wrote string
		want        []string
	}{
		{"a list", "husband; wife; better half", []string{"husband", "wife", "better half"}},
		{"in capitals, twice, with a full stop", "Husband; husband; Wife.", []string{"husband", "wife"}},
		{"a definition", "husband; person somebody is married to", []string{"husband"}},
		{"a name of the example", "Karl Brandt; wife", []string{"wife"}},
		{"what lacks its end", "wife; offspring of", []string{"wife"}},
		{"nothing", " ; ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := paths.NewWordFinder(scriptedModel(c.wrote)).Find(t.Context(), examples,
				llm.NewLedger(nil))
			if err != nil || !slices.Equal(got, c.want) || (len(got) == 0) != (len(warnings) > 0) {
				t.Errorf("got %q, %v, %v, want %q", got, warnings, err, c.want)
			}
		})
	}
}

func FuzzFindWords(f *testing.F) {
	f.Add("husband; wife; better half", "Karl Brandt")
	f.Add(";;\u0000;a b c d; KARL", "karl")
	f.Fuzz(func(t *testing.T, wrote, name string) {
		got, _, err := paths.NewWordFinder(scriptedModel(wrote+";")).Find(t.Context(),
			[]*graphv1.Triple{{Subject: "Ida Brandt", Relation: "spouse", Object: name}}, llm.NewLedger(nil))
		if err != nil {
			t.Fatal(err)
		}
		for i, word := range got {
			if word == "" || word != kgtext.Fold(word) || word == kgtext.Fold(name) || slices.Contains(got[:i], word) {
				t.Errorf("%q has %q", got, word)
			}
		}
	})
}
