package kgtext_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestConfusesNames(t *testing.T) {
	for _, c := range []struct {
		name, question string
		entities       []string
		want           bool
	}{
		{"another of the same last name", "What is the spouse of Anna Mádl?", []string{"Dalma Mádl"}, true},
		{"another of the same first name", "Where was Johnny Schäuble born?", []string{"Johnny Unitas"}, true},
		{"the one that is asked for", "What is the spouse of Dalma Mádl?", []string{"Dalma Mádl"}, false},
		{"one of several is asked for", "Who is Anna Mádl to Dalma Mádl?", []string{"Dalma Mádl"}, false},
		{"a longer name of the same", "Where was Robert Stam born?", []string{"Robert Philip Stam"}, false},
		{"a shorter one", "Where was Robert Philip Stam born?", []string{"Robert Stam"}, false},
		{"in other signs", "Where is St. Mary's Church, Velmora?", []string{"St Mary's Church"}, false},
		{"nothing in common", "Where was Anna Mádl born?", []string{"Budapest", "Hungary"}, false},
		{"a step further on", "Where did the director of The Quiet Harbour study?", []string{"Erik Halvorsen"}, false},
		{"names in lower case", "what is the spouse of anna mádl", []string{"Dalma Mádl"}, false},
		{"one word", "Where was Mádl born?", []string{"Dalma Mádl"}, false},
		{"a common short word", "Where is Rio de Oro?", []string{"Isla de Lobos"}, false},
		{"no entities", "Where was Anna Mádl born?", nil, false},
		{"nothing asked", "", []string{"Dalma Mádl"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.ConfusesNames(c.question, c.entities); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestMissingNames(t *testing.T) {
	for _, c := range []struct {
		name, question string
		entities       []string
		want           string
	}{
		{"nobody of that name", "What films did Anna Mádl direct?", []string{"Direct Action", "Low Tide"}, "Anna Mádl"},
		{"somebody who shares a part", "What films did Anna Mádl direct?", []string{"Dalma Mádl"}, ""},
		{"one of two names", "Did Anna Mádl direct The Grey Door?", []string{"The Grey Door"}, ""},
		{"both of two names", "Did Anna Mádl know Tomas Reed?", []string{"Low Tide"}, "Anna Mádl, Tomas Reed"},
		{"a name of one word", "Did Reed know Anna Mádl?", []string{"Tomas Reed"}, ""},
		{"a preposition is no part of a name", "During WW2 who led Norland?", []string{"Low Tide"}, ""},
		{"lower case", "what films did anna mádl direct", []string{"Low Tide"}, ""},
		{"one word", "What films did Mádl direct?", []string{"Low Tide"}, ""},
		{"no evidence", "What films did Anna Mádl direct?", nil, "Anna Mádl"},
		{"first names by their letters", "What films did A. B. Mádl direct?", nil, "A. B. Mádl"},
		{"letters alone", "What is in vitamin B. or A.?", nil, ""},
		{"a letter that is a number", "Who followed Anna I.", nil, "Anna I"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(kgtext.MissingNames(c.question, c.entities), ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestUnknownName(t *testing.T) {
	for _, c := range []struct {
		name, question string
		entities       []string
		want           string
	}{
		{"another town", "Who is the mayor of Oslo?", []string{"Graz"}, "Oslo"},
		{"the town", "Who is the mayor of Oslo?", []string{"Oslo Municipality"}, ""},
		{"a possessive", "Who is Oslo's mayor?", []string{"Graz"}, "Oslo"},
		{"what comes from there", "Which Norwegian town has a harbour?", []string{"Norway"}, ""},
		{"one of two names", "Is Oslo larger than Graz?", []string{"Graz"}, ""},
		{"several words", "Where was Anna Mádl born?", []string{"Tomas Reed"}, ""},
		{"an entity in lower case", "Did Oslo take part in the harbour treaty?", []string{"Harbour Treaty"}, ""},
		{"a first word alone", "Towns of note are which?", []string{"Graz"}, ""},
		{"lower case", "who is the mayor of oslo?", []string{"Graz"}, ""},
		{"no evidence", "Who is the mayor of Oslo?", nil, ""},
		{"a month", "Who was mayor in March 2014?", []string{"Graz"}, ""},
		{"a name beside a month", "Who was mayor of Oslo in March 2014?", []string{"Graz"}, "Oslo"},
		{"nothing asked", "", []string{"Graz"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.UnknownName(c.question, c.entities); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzConfusesNames(f *testing.F) {
	f.Add("Where was Anna Mádl's Son?", "Dalma Mádl")
	f.Add("\xff A B", "")
	f.Fuzz(func(t *testing.T, question, entity string) {
		if kgtext.ConfusesNames(question, []string{entity}) && kgtext.Mentions(question, entity) {
			t.Errorf("%q names %q", question, entity)
		}
	})
}

func TestIDsAreNamed(t *testing.T) {
	t.Parallel()
	triples := []*graphv1.Triple{
		{Subject: "Empty invoice", SubjectId: "T-107", Relation: "assignee", Object: "Anna Lind",
			ObjectId: "Anna Lind"},
		{Subject: "Orla", SubjectId: "7", Relation: "price", Object: "US$ 5", ObjectId: "p5"},
		{Subject: "Oslo", SubjectId: "https://example.org/Q585"},
	}
	for question, want := range map[string]string{
		"Who fixed t-107?":             "Who fixed Empty invoice?",
		"Was T-107 opened after T-10?": "Was Empty invoice opened after T-10?",
		"Who fixed T-1070?":            "Who fixed T-1070?",
		"What opens after 7?":          "What opens after 7?", // a number may be one
		"What costs p5?":               "What costs US$ 5?",
		"Who is Anna Lind?":            "Who is Anna Lind?",
	} {
		if got := kgtext.NameIDs(question, triples); got != want {
			t.Errorf("%q became %q, want %q", question, got, want)
		}
	}
}
