package check

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

func TestPronounsAndShortNamesAreResolved(t *testing.T) {
	for _, c := range []struct {
		name, subject string
		before        []string
		want          string
	}{
		{"a pronoun is the last subject", "She", []string{"Erik Halvorsen", "Anna Lindqvist"}, "Anna Lindqvist"},
		{"not another pronoun", "he", []string{"Erik Halvorsen", "they"}, "Erik Halvorsen"},
		{"a pronoun with nothing before it stays", "It", nil, "It"},
		{"a last name is a name before it", "Stam", []string{"Robert Stam", "Anna Lindqvist"}, "Robert Stam"},
		{"a first name may be anybody's", "Robert", []string{"Robert Stam"}, "Robert"},
		{"another name stays", "Reik", []string{"Robert Stam"}, "Reik"},
		{"a part of a long title is none", "Holm", []string{"The Life and Times of Lars Holm"}, "Holm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := resolveName(c.subject, c.before); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNamesResolveAcrossBatches(t *testing.T) {
	finding := func(subject string) *Finding {
		return &Finding{Extracted: &generatorv1.ExtractedClaim{Triple: &graphv1.Triple{Subject: subject}}}
	}
	found := []*Finding{finding("she"), finding("Reik"), finding("he")}
	name([]*Finding{finding("Anna Lindqvist")}, found)
	for i, want := range []string{"Anna Lindqvist", "Reik", "Reik"} {
		if got := found[i].Extracted.GetTriple().GetSubject(); got != want {
			t.Errorf("claim %d is of %q, want %q", i, got, want)
		}
	}
}

func TestPhrasesAreTheWordsOfARelation(t *testing.T) {
	at := func(start, end uint32) *graphv1.TextSpan { return &graphv1.TextSpan{Start: start, End: end} }
	finding := func(subject, object, span *graphv1.TextSpan) *Finding {
		return &Finding{Extracted: &generatorv1.ExtractedClaim{SubjectSpan: subject, ObjectSpan: object, Span: span}}
	}
	for _, c := range []struct {
		name, text string
		found      []*Finding
		want       []string
	}{
		{"all of a sentence with one claim", "The capital of Zoë's land is Brisk.",
			[]*Finding{finding(at(15, 25), at(29, 34), at(15, 34))}, []string{"capital of"}},
		{"what is between the names where there are several", "Reik wed Ilse and led towns like Velmora.", []*Finding{
			finding(at(0, 4), at(9, 13), at(0, 13)), finding(at(0, 4), at(33, 40), at(0, 40)),
		}, []string{"", "led towns like"}},
		{"none without both names", "He led Velmora.", []*Finding{finding(nil, at(7, 14), at(0, 15))}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := phrases(kgtext.SplitSentences(c.text), c.found)
			for i := range c.want {
				if got[i] != c.want[i] {
					t.Errorf("claim %d is told by %q, want %q", i, got[i], c.want[i])
				}
			}
		})
	}
}

func TestANameWithWordsInParenthesesIsItsOwnWithoutThem(t *testing.T) {
	for _, c := range []struct {
		name     string
		entities []string
		match    graphv1.LinkMatch
		want     int
	}{
		{"of one", []string{"Abner (footballer)", "Abner Vale"}, graphv1.LinkMatch_LINK_MATCH_FUZZY, 1},
		{"not of two", []string{"Abner (footballer)", "Abner (film)"}, graphv1.LinkMatch_LINK_MATCH_FUZZY, 0},
		{"nor where another thing has the name itself", []string{"Abner (footballer)", "Abner"},
			graphv1.LinkMatch_LINK_MATCH_EXACT, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			links := []*graphv1.EntityLink{{Entity: c.entities[0], Match: graphv1.LinkMatch_LINK_MATCH_FUZZY},
				{Entity: c.entities[1], Match: c.match}}
			nameQualified("abner", links)
			aliases := 0
			for _, l := range links {
				if l.GetMatch() == graphv1.LinkMatch_LINK_MATCH_ALIAS {
					aliases++
				}
			}
			if aliases != c.want {
				t.Errorf("got %v", links)
			}
		})
	}
}

func TestNamesAreShortened(t *testing.T) {
	for _, c := range []struct {
		name    string
		shorten func(string) string
		full    string
		want    string
	}{
		{"by a word before it", bareName, "the musician Kristina Holm", "Kristina Holm"},
		{"by what is in brackets", bareName, "Tides (a film)", "Tides"},
		{"by what it is", bareName, "Lorn chain", "Lorn"},
		{"by where it is", bareName, "Lorn Motors in Tessen", "Lorn Motors"},
		{"not by what it is of", bareName, "The University of Tessen", "University of Tessen"},
		{"unless that is tried", cutOf, "Lorn Motors of Tessen", "Lorn Motors"},
		{"but not down to a word", cutOf, "University of Tessen", "University of Tessen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.shorten(c.full); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
