package paths_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/paths"
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

func words(paths []*graphv1.RelationPath) (out []string) {
	for _, p := range paths {
		out = append(out, kgtext.FormatSteps(p.GetSteps()))
	}
	return out
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a path a line", "flows through\nacted in -> director", []string{"flows through", "acted in -> director"}},
		{"list marks, quotes and full stops are passed over",
			"1. \"flows through\".\n- acted in -> 'director'\n* `genre`",
			[]string{"flows through", "acted in -> director", "genre"}},
		{"a relation may begin with digits", "2nd cousin -> 3D model", []string{"2nd cousin -> 3D model"}},
		{"real arrows are read", "acted in → director", []string{"acted in -> director"}},
		{"RoG's own format is read", "<PATH> film.actor.film <SEP> film.film.directed_by </PATH><PATH> " +
			"people.person.born </PATH>", []string{"film -> directed by", "born"}},
		{"a line that announces a list is none", "Here are the plans:\nflows through", []string{"flows through"}},
		{"the same path in other words of writing counts once", "directed_by\ndirected by", []string{"directed by"}},
		{"an arrow at either end leads nowhere", "-> director ->", []string{"director"}},
		{"prose is no hop", strings.Repeat("so ", 60) + "-> director", []string{"director"}},
		{"the limit holds", "a\nb\nc\nd", []string{"a", "b", "c"}},
		{"no path is longer than the contract carries", "a->b->c->d->e->f->g->h->i->j",
			[]string{"a -> b -> c -> d -> e -> f -> g -> h"}},
		{"signs are no hop", "{\n42\n\x01 ->", nil},
		{"nothing is no path", " \n-> \n1.\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := words(paths.Parse(c.text, 3)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a -> b", "<PATH> a <SEP> b </PATH>", "1. a\n2) b", "->->", "\xff -> \xfe",
		"```\n→\n```"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths := paths.Parse(text, 5)
		if len(paths) > 5 {
			t.Fatalf("%d paths", len(paths))
		}
		for _, p := range paths {
			if n := len(p.GetSteps()); n < 1 || n > 8 {
				t.Fatalf("a path of %d hops from %q", n, text)
			}
			for _, s := range p.GetSteps() {
				if r := s.GetRelation(); r == "" || len(r) > 120 || strings.Contains(r, "\n") || !utf8.ValidString(r) {
					t.Fatalf("hop %q from %q", r, text)
				}
			}
		}
	})
}

func TestPropose(t *testing.T) {
	for _, c := range []struct {
		name   string
		model  scriptedModel
		want   []string
		warned bool
		err    error
	}{
		{"what the model expects is taken in its words", "acted in -> director\ncast member",
			[]string{"acted in -> director", "cast member"}, false, nil},
		{"nothing usable is no proposal, with a warning", "nothing", nil, true, nil},
		{"text without a path is no proposal, with a warning", "Let me see:", nil, true, nil},
		{"a spent budget is the caller's to settle", "spent", nil, false, llm.ErrBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, warnings, err := paths.New(c.model, paths.DefaultConfig()).Propose(t.Context(), "q",
				[]string{"Anna"}, 2, llm.NewLedger(nil))
			if !errors.Is(err, c.err) || (len(warnings) > 0) != c.warned || !slices.Equal(words(paths), c.want) {
				t.Errorf("got %q, %v, %v", words(paths), warnings, err)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	var existing []*graphv1.RelationPath
	for _, r := range []string{"genre", "director", "award"} {
		existing = append(existing, &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: r}},
			TopicEntities: []string{"Anna"}})
	}
	for _, c := range []struct {
		name   string
		model  scriptedModel
		want   []string
		warned bool
		err    error
	}{
		{"paths are chosen by number, in the model's order", `{"paths":[3,2]}`, []string{"award", "director"}, false,
			nil},
		{"a number twice counts once", `{"paths":[2,2]}`, []string{"director"}, false, nil},
		{"numbers of no path leave the first ones", `{"paths":[9,0]}`, []string{"genre", "director"}, true, nil},
		{"no number leaves the first ones", `{"paths":[]}`, []string{"genre", "director"}, true, nil},
		{"all numbers are cut at the limit", `{"paths":[3,1,2]}`, []string{"award", "genre"}, false, nil},
		{"text leaves the first ones", "the second", []string{"genre", "director"}, true, nil},
		{"a spent budget is the caller's to settle", "spent", nil, false, llm.ErrBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, warnings, err := paths.New(c.model, paths.DefaultConfig()).Choose(t.Context(), "q",
				existing, 2, llm.NewLedger(nil))
			if !errors.Is(err, c.err) || (len(warnings) > 0) != c.warned || !slices.Equal(words(paths), c.want) {
				t.Errorf("got %q, %v, %v", words(paths), warnings, err)
			}
		})
	}
}
