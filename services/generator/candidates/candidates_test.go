package candidates_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
)

// scriptedModel is a model that answers one text; "spent" and "nothing" are failures.
type scriptedModel string

func (s scriptedModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	switch s {
	case "spent":
		return llm.Response{}, llm.ErrBudget
	case "nothing":
		return llm.Response{}, llm.ErrUnusable
	}
	return llm.Response{Text: string(s)}, nil
}

func walks(relation string, ends ...string) (out []*graphv1.ReasoningPath) {
	for _, end := range ends {
		out = append(out, &graphv1.ReasoningPath{Entities: []string{"Velmora", end},
			Steps: []*graphv1.RelationStep{{Relation: relation}}})
	}
	return out
}

func TestRead(t *testing.T) {
	rivers := walks("river", "Tessen", "Orla")
	long := walks("person", "P1", "P2", "P3", "P4", "P5")
	for _, c := range []struct {
		name   string
		model  scriptedModel
		paths  []*graphv1.ReasoningPath
		want   []string
		warned string
		err    error
	}{
		{"ends that the model names are candidates, spelt as the graph has them", "{orla}  {  TESSEN }", rivers,
			[]string{"Orla", "Tessen"}, "", nil},
		{"an end that it names twice is one", "{Orla} {Orla}", rivers, []string{"Orla"}, "", nil},
		{"a name that no path ends in is left out", "{Orla} {Atlantis}", rivers, []string{"Orla"}, llm.WarnDropped,
			nil},
		{"where it names none the ends of the best path are taken", "{Atlantis}", slices.Concat(rivers,
			walks("twin", "Harn")), []string{"Tessen", "Orla"}, llm.WarnDropped + llm.WarnUnusable, nil},
		{"where it says nothing usable too", "nothing", slices.Concat(rivers, walks("twin", "Harn")),
			[]string{"Tessen", "Orla"}, llm.WarnUnusable, nil},
		{"where it takes all that it saw of a long list, it takes the list", "{P1} {P2} {P3}", long,
			[]string{"P1", "P2", "P3", "P4", "P5"}, "", nil},
		{"where it takes a part of a long list, it takes that part", "{P1} {P3}", long, []string{"P1", "P3"}, "", nil},
		{"of many paths the best are shown, with a warning", "{Harn}", slices.Concat(rivers, walks("twin", "Harn"),
			walks("mayor", "Reik")), []string{"Harn"}, llm.WarnShortened, nil},
		{"no paths, no candidates", "{Orla}", nil, nil, "", nil},
		{"a spent budget is the caller's to settle", "spent", rivers, nil, "", llm.ErrBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := candidates.New(c.model, candidates.Config{MaxGroups: 2, MaxEnds: 3,
				MaxTokens: 64}).Read(t.Context(), "q", c.paths, nil, llm.NewLedger(nil))
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			var names []string
			for _, a := range got {
				names = append(names, a.GetAnswer())
				if len(a.GetPaths()) == 0 {
					t.Errorf("the candidate %s has no path", a.GetAnswer())
				}
			}
			warned := ""
			for _, w := range warnings {
				warned += w.GetCode()
			}
			if !slices.Equal(names, c.want) || warned != c.warned {
				t.Errorf("got %q with %q, want %q with %q", names, warned, c.want, c.warned)
			}
		})
	}
}

func TestTheBestPathIsCutToWhatIsShown(t *testing.T) {
	var ends []string
	for i := range 40 {
		ends = append(ends, fmt.Sprint("P", i))
	}
	got, _, err := candidates.New(scriptedModel("nothing"), candidates.Config{MaxGroups: 2, MaxEnds: 3,
		MaxTokens: 64}).Read(
		t.Context(), "q", walks("person", ends...), nil, llm.NewLedger(nil))
	if err != nil || len(got) != 3 {
		t.Errorf("got %d candidates, %v; want 3", len(got), err)
	}
}
