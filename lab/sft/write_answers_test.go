package sft

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestReason(t *testing.T) {
	long := strings.Repeat("a very long name ", 6)
	for _, tt := range []struct {
		name                  string
		right, wrong, missing []string
		want                  string
	}{
		{"one of each", []string{"Orla"}, []string{"Harn"}, []string{"Tessen"},
			"Orla is right, Harn is wrong, Tessen is missing"},
		{"two are spelt out", []string{"Orla", "Tessen"}, nil, nil, "Orla and Tessen are right"},
		{"more are counted", nil, []string{"A", "B", "C", "D"}, nil, "A, B and 2 more are wrong"},
		{"long names are counted too", []string{long, long}, []string{long}, nil, "2 are right, 1 is wrong"},
		{"nothing to say", nil, nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := reason(tt.right, tt.wrong, tt.missing); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnswersAreReadAsTheyAreWritten(t *testing.T) {
	names := []string{`Erik "the Red" Halvorsen`, "AT&T <Corp>", "Zoë"}
	if got := formatBraces(names[1:]); got != "{AT&T <Corp>} {Zoë}" {
		t.Errorf("braces: got %q", got)
	}
	if got := dropUnquotable([]string{"{odd}", "Zoë", "two\nlines"}); !slices.Equal(got, []string{"Zoë"}) {
		t.Errorf("got %q", got)
	}
	var answers struct{ Answers []string }
	if err := json.Unmarshal([]byte(answersText(names)), &answers); err != nil ||
		!slices.Equal(answers.Answers, names) {
		t.Errorf("answers: got %q, %v", answers.Answers, err)
	}
	var verdict struct {
		Reason              string
		Correct, Incomplete bool
	}
	if err := json.Unmarshal([]byte(verdictText(names[0], true, false)), &verdict); err != nil ||
		verdict.Reason != names[0] || !verdict.Correct || verdict.Incomplete {
		t.Errorf("verdict: got %+v, %v", verdict, err)
	}
	long := "base.x2010fifaworldcupsouthafrica.world_cup_squad.current_world_cup_squad / " +
		"base.x2010fifaworldcupsouthafrica.current_world_cup_squad.current_club"
	steps := []*graphv1.RelationStep{{Relation: long}, {Relation: "place of birth", Inverse: true}}
	if got, want := formatRoGPath(steps), "<PATH> "+long+" <SEP> place of birth </PATH>"; got != want {
		t.Errorf("relation path: got %q, want %q", got, want)
	}
}

func FuzzAnswersText(f *testing.F) {
	f.Add("a", `"{`, "\u2028")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || !utf8.ValidString(c) {
			return
		}
		var said struct{ Answers []string }
		if err := json.Unmarshal([]byte(answersText([]string{a, b, c})), &said); err != nil ||
			!slices.Equal(said.Answers, []string{a, b, c}) {
			t.Errorf("got %q, %v", said.Answers, err)
		}
		if text := reason([]string{a}, []string{b}, []string{c, a, b}); utf8.RuneCountInString(text) > maxReasonRunes {
			t.Errorf("a reason of %d letters", utf8.RuneCountInString(text))
		}
	})
}
