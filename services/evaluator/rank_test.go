package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/services/evaluator"
)

func TestRank(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      int
		want       []string // index:score
		warned     bool
	}{
		{"items keep their weights", `{"ranked":[{"item":2,"weight":0.75},{"item":4,"weight":0.25}]}`, 3,
			[]string{"1:0.75", "3:0.25"}, false},
		{"the best comes first whatever the model's order",
			`{"ranked":[{"item":4,"weight":0.25},{"item":2,"weight":0.75}]}`, 3, []string{"1:0.75", "3:0.25"}, false},
		{"weights that add up to more than 1 are scaled", `{"ranked":[{"item":1,"weight":1},{"item":2,"weight":1}]}`, 3,
			[]string{"0:0.50", "1:0.50"}, false},
		{"a repeat counts once", `{"ranked":[{"item":2,"weight":0.5},{"item":2,"weight":0.5}]}`, 3, []string{"1:0.50"},
			false},
		{"items that there are not leave the first ones", `{"ranked":[{"item":9,"weight":0.5}]}`, 2,
			[]string{"0:0.50", "1:0.50"}, true},
		{"no item leaves the first ones", `{"ranked":[]}`, 2, []string{"0:0.50", "1:0.50"}, true},
		{"all items are cut at the limit", `{"ranked":[{"item":1,"weight":0.1},{"item":2,"weight":0.2},` +
			`{"item":3,"weight":0.3},{"item":4,"weight":0.4}]}`, 2, []string{"3:0.40", "2:0.30"}, false},
		{"weights out of range leave the first ones", `{"ranked":[{"item":1,"weight":7}]}`, 2,
			[]string{"0:0.50", "1:0.50"}, true},
		{"prose leaves the first ones", "director, I think", 8, []string{"0:0.25", "1:0.25", "2:0.25", "3:0.25"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranked, warnings, err := evaluator.NewRanker(replyWith(c.text)).Rank(t.Context(), "q", "about",
				[]string{"genre", "director", "cast", "country"}, c.limit, llm.NewLedger(nil))
			if err != nil || (len(warnings) > 0) != c.warned {
				t.Fatalf("warned of %v, %v", warnings, err)
			}
			var got []string
			for _, r := range ranked {
				got = append(got, fmt.Sprintf("%d:%.2f", r.GetIndex(), r.GetScore()))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if _, _, err := evaluator.NewRanker(modelFunc(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, llm.ErrBudget
	})).Rank(t.Context(), "q", "", []string{"a"}, 1,
		llm.NewLedger(nil)); !errors.Is(err, llm.ErrBudget) {
		t.Errorf("a spent budget gave %v", err)
	}
}

func TestALongCandidateIsShownByItsBeginning(t *testing.T) {
	var shown string
	model := modelFunc(func(_ context.Context, req llm.Request) (llm.Response, error) {
		shown = lastMessage(req)
		return llm.Response{Text: `{"ranked":[{"item":2,"weight":1}]}`}, nil
	})
	ranked, _, err := evaluator.NewRanker(model).Rank(t.Context(), "q", "",
		[]string{strings.Repeat("é", 5000), "director"},
		3, llm.NewLedger(nil))
	if err != nil || len(ranked) != 1 || ranked[0].GetIndex() != 1 {
		t.Fatalf("ranked %v, %v", ranked, err)
	}
	if n := strings.Count(shown, "é"); n != 200 || !strings.Contains(shown, "é…\n") ||
		!strings.Contains(shown, "2. director") {
		t.Errorf("%d characters of 5000 are shown: %s", n, shown)
	}
}
