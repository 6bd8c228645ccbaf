package claims_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/generator/claims"
)

func TestParse(t *testing.T) {
	stam := claims.Draft{Subject: "Robert Stam", Relation: "employer", Object: "Google"}
	for _, c := range []struct {
		name, text string
		want       []claims.Draft
	}{
		{"one claim a line", "Robert Stam | employer | Google\nVelmora | capital | Brisk",
			[]claims.Draft{stam, {Subject: "Velmora", Relation: "capital", Object: "Brisk"}}},
		{"the same twice counts once", "Robert Stam | employer | Google\nRobert Stam | employer | Google\n",
			[]claims.Draft{stam}},
		{"list marks, fences, bars and quotes are passed over", "```\n- |\"Robert Stam\" | employer | `Google` |\n```",
			[]claims.Draft{stam}},
		{"a number is part of a name", "1. FC Velmora | league | First League",
			[]claims.Draft{{Subject: "1. FC Velmora", Relation: "league", Object: "First League"}}},
		{"a number in brackets is a list's", "(2) Robert Stam | employer | Google", []claims.Draft{stam}},
		{"two parts say what a thing is", "Cryptocala | genus",
			[]claims.Draft{{Subject: "Cryptocala", Relation: "instance of", Object: "genus"}}},
		{"a relation that is denied", "Reik | not director of | Tides",
			[]claims.Draft{{Subject: "Reik", Relation: "director of", Object: "Tides", Negated: true}}},
		{"one that is denied in a sentence's way", "Reik | was never a member of | The Guild",
			[]claims.Draft{{Subject: "Reik", Relation: "member of", Object: "The Guild", Negated: true}}},
		{"one that is denied in short", "Reik | doesn't own | Tides",
			[]claims.Draft{{Subject: "Reik", Relation: "own", Object: "Tides", Negated: true}}},
		{"a word that begins so is no denial", "Reik | notable work | Tides",
			[]claims.Draft{{Subject: "Reik", Relation: "notable work", Object: "Tides"}}},
		{"no claims", "none", nil},
		{"prose is none", "The text states that Robert Stam works at Google.", nil},
		{"too many parts are none", "a | b | c | d", nil},
		{"an empty part is none", "Robert Stam | | Google", nil},
		{"a thing is not its own", "Tides | part of | tides", nil},
		{"what is not known is no object", "Reik | spouse | unknown", nil},
		{"what is longer than a name is none", "Reik | spouse | " + strings.Repeat("x", 401), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := claims.Parse(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAModelThatRunsWildIsCutOff(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString("Reik | knows | " + strings.Repeat("x", i%300+1) + "\n")
	}
	if n := len(claims.Parse(b.String())); n != 64 {
		t.Errorf("got %d claims", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a | not b | c", "|||", "- x | y", "\xff | \x00 | \u2028",
		"1) a | isn't b | c\n```"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range claims.Parse(text) {
			for _, part := range []string{d.Subject, d.Relation, d.Object} {
				if part == "" || !utf8.ValidString(part) || strings.ContainsAny(part, "|\n") {
					t.Errorf("%q holds the claim %+v", text, d)
				}
			}
		}
	})
}
