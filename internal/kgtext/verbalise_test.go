package kgtext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRelation(t *testing.T) {
	for name, want := range map[string]struct{ alone, inContext string }{
		"inverse of people.person.parents":        {"is parents of", "is person parents of"},
		"inverse of starred / director":           {"is starred of director", "is starred of director"},
		"inverse of":                              {"inverse of", "inverse of"},
		"place of birth":                          {"place of birth", "place of birth"},
		"people.person.place_of_birth":            {"place of birth", "person place of birth"},
		"film.actor.film / film.performance.film": {"film", "actor film performance film"},
		"award.award_category.winners / award.award_honor.award_winner": {"winners award winner",
			"award category winners award honor award winner"},
		"major_cities":             {"major cities", "major cities"},
		"birthPlace":               {"birth place", "birth place"},
		"DIRECTED_BY":              {"directed by", "directed by"},
		"ISBN":                     {"ISBN", "ISBN"},
		"U.S. state":               {"U.S. state", "U.S. state"},
		"no. of pages":             {"no. of pages", "no. of pages"},
		"and / or":                 {"and or", "and or"},
		" / ":                      {"/", "/"},
		"_":                        {"_", "_"},
		"":                         {"", ""},
		"...":                      {"...", "..."},
		"a/b":                      {"a/b", "a/b"},
		"McDonald's is":            {"McDonald's is", "McDonald's is"},
		"iPhone sales":             {"iPhone sales", "iPhone sales"},
		"runwayLength (in metres)": {"runway length (in metres)", "runway length (in metres)"},
	} {
		if got := VerbaliseRelation(name); got != want.alone {
			t.Errorf("Relation(%q) is %q, want %q", name, got, want.alone)
		}
		if got := VerbaliseRelationInContext(name); got != want.inContext {
			t.Errorf("RelationInContext(%q) is %q, want %q", name, got, want.inContext)
		}
	}
}

func TestCountsHaveTheirNouns(t *testing.T) {
	for want, got := range map[string]string{
		"1 entity": FormatCount(1, "entity"), "0 entities": FormatCount(0, "entity"), "2 model calls": FormatCount(2,
			"model call"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTripleKeepsNamesAsTheyAre(t *testing.T) {
	if got, want := VerbaliseTriple("snake_case.Name", "film.film.directed_by", "X_Y"),
		"snake_case.Name directed by X_Y"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzRelation(f *testing.F) {
	for _, seed := range []string{"a.b.c / d.e", "fooBar_baz", "FOO_BAR", " / / ", "..", "\xff_\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		words := VerbaliseRelation(name)
		if utf8.ValidString(name) && !utf8.ValidString(words) {
			t.Errorf("%q becomes %q, which is not UTF-8", name, words)
		}
		if strings.TrimSpace(name) != "" && strings.TrimSpace(words) == "" {
			t.Errorf("%q becomes nothing", name)
		}
	})
}

func TestSplitIdentifiers(t *testing.T) {
	for text, want := range map[string]string{
		"dateOfBirth": "date of birth", "date_of_birth": "date of birth", "": "",
		"the YouTube of an iPhone": "the YouTube of an iPhone",
	} {
		if got := SplitIdentifiers(text); got != want {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
	if !SaysFormer("previous_club") || !IsLength("running_time") {
		t.Error("words joined by underscores are not told apart")
	}
}
