package claims_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/generator/claims"
)

// scriptedModel is a model that says the same to everything.
type scriptedModel struct {
	text, finish string
	err          error
}

func (s scriptedModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: s.text, FinishReason: s.finish}, s.err
}

func TestClaimsStandWhereTheTextHasThem(t *testing.T) {
	for _, c := range []struct {
		name, text, before, said string
		relation                 string
		span, object             string // the words there; empty for none
	}{
		{"from subject to object", "In 1998, Robert Stam worked at Google.", "", "Robert Stam | employer | Google",
			"employer", "Robert Stam worked at Google", "Google"},
		{"from object to subject", "Velmora is the birthplace of Reik.", "", "Reik | place of birth | Velmora",
			"place of birth", "Velmora is the birthplace of Reik", "Velmora"},
		{"in the sentence that has both", "Reik sang. Reik lives in Orla.", "", "Reik | residence | Orla", "residence",
			"Reik lives in Orla", "Orla"},
		{"the sentence, where the subject is a pronoun", "He was born in Velmora.", "Reik sang.",
			"Reik | place of birth | Velmora", "place of birth", "He was born in Velmora.", "Velmora"},
		{"the sentence, where the object is in other words", "Reik acted.", "", "Reik | occupation | actor",
			"occupation", "Reik acted.", ""},
		{"whatever the case", "robert stam works at GOOGLE", "", "Robert Stam | employer | Google", "employer",
			"robert stam works at GOOGLE", "GOOGLE"},
		{"without an article that the text lacks", "Reik directed Tides.", "", "Reik | director of | The Tides",
			"director of", "Reik directed Tides", "Tides"},
		{"not within a longer word", "Orlanda borders Orla.", "", "Orlanda | shares border with | Orla",
			"shares border with", "Orlanda borders Orla", "Orla"},
		{"not within the subject", "New York University is in New York.", "",
			"New York University | location | New York", "location", "New York University is in New York", "New York"},
		{"in scripts without spaces", "他出生于北京。", "", "他 | 出生地 | 北京", "出生地", "他出生于北京", "北京"},
		{"past characters of several bytes", "Zoë – née Ωmega – ist in Zürich.", "", "Zoë | residence | Zürich",
			"residence", "Zoë – née Ωmega – ist in Zürich", "Zürich"},
		{"in the text's words, where the model has none for it", "Nammo belongs to Orla.", "",
			"Nammo | instance of | Orla", "belongs to", "Nammo belongs to Orla", "Orla"},
		{"an instance stays one where the text says so", "Nammo is a company.", "", "Nammo | instance of | company",
			"instance of", "Nammo is a company", "company"},
	} {
		t.Run(c.name, func(t *testing.T) {
			claims, warnings, err := claims.New(scriptedModel{text: c.said}, claims.DefaultConfig()).Read(t.Context(),
				c.text, c.before,
				llm.NewLedger(nil))
			if err != nil || len(claims) != 1 || len(warnings) > 0 {
				t.Fatalf("got %v, %v, %v", claims, warnings, err)
			}
			got := claims[0]
			if got.GetTriple().GetRelation() != c.relation || textAt(c.text, got.GetSpan()) != c.span ||
				textAt(c.text, got.GetObjectSpan()) != c.object {
				t.Errorf("got %q at %q, its object at %q", got.GetTriple().GetRelation(), textAt(c.text, got.GetSpan()),
					textAt(c.text, got.GetObjectSpan()))
			}
		})
	}
}

// textAt are the words of a text at a span.
func textAt(text string, s *graphv1.TextSpan) string {
	if s == nil {
		return ""
	}
	return string([]rune(text)[s.GetStart():s.GetEnd()])
}

func TestClaimsComeInTheOrderOfTheText(t *testing.T) {
	claims, _, err := claims.New(scriptedModel{text: "Orla | mouth | Elde\nReik | spouse | Ilse"},
		claims.DefaultConfig()).Read(t.Context(),
		"Reik married Ilse. The Orla flows into the Elde.", "", llm.NewLedger(nil))
	if err != nil || len(claims) != 2 || claims[0].GetTriple().GetSubject() != "Reik" {
		t.Errorf("got %v, %v", claims, err)
	}
}

func TestClaimsOfTheTextBeforeAreNotRepeated(t *testing.T) {
	read, warnings, err := claims.New(scriptedModel{text: "Reik | employer | Globex\nReik | spouse | Ilse"},
		claims.DefaultConfig()).Read(t.Context(), "His wife is Ilse.", "Reik works for Globex.", llm.NewLedger(nil))
	if err != nil || len(warnings) > 0 || len(read) != 1 || read[0].GetTriple().GetObject() != "Ilse" {
		t.Errorf("got %v, %v, %v", read, warnings, err)
	}
}

func TestWhatTheTextSaysOfTime(t *testing.T) {
	for text, want := range map[string][2]string{
		"Reik led Velmora.":                             {"", ""},
		"Reik led Velmora in 1995.":                     {"1995", "1995"},
		"Reik led Velmora from 1995 to March 1999.":     {"1995", "1999"},
		"Reik led Velmora between 1995 and 1999.":       {"1995", "1999"},
		"Reik has led Velmora since May 1995.":          {"1995", ""},
		"Reik led Velmora until 1999.":                  {"", "1999"},
		"Reik led Velmora, a town of 1995 inhabitants.": {"", ""},
	} {
		claims, _, err := claims.New(scriptedModel{text: "Reik | leader of | Velmora"},
			claims.DefaultConfig()).Read(t.Context(),
			text, "",
			llm.NewLedger(nil))
		if err != nil || len(claims) != 1 {
			t.Fatalf("%s: got %v, %v", text, claims, err)
		}
		v := claims[0].GetTriple().GetValidity()
		if v.GetStart() != want[0] || v.GetEnd() != want[1] {
			t.Errorf("%s: it held from %q to %q", text, v.GetStart(), v.GetEnd())
		}
	}
	claims, _, _ := claims.New(scriptedModel{text: "Reik | date of birth | 1951"},
		claims.DefaultConfig()).Read(t.Context(),
		"Reik was born in 1951.",
		"", llm.NewLedger(nil))
	if claims[0].GetTriple().GetValidity() != nil {
		t.Error("a date that is the claim's object is not when the claim held")
	}
}

func TestADenialIsOneOfTheText(t *testing.T) {
	for text, want := range map[string]bool{
		"Reik never married Ilse.": true, "Reik didn't marry Ilse.": true, "Reik hat Ilse nicht geheiratet.": true,
		"Рейк не женат на Ilse.": true, "Reik married Ilse.": false, "Reik knotted Ilse.": false,
	} {
		claims, _, err := claims.New(scriptedModel{text: "Reik | not spouse | Ilse"},
			claims.DefaultConfig()).Read(t.Context(),
			text, "",
			llm.NewLedger(nil))
		if err != nil || len(claims) != 1 || claims[0].GetNegated() != want {
			t.Errorf("%s: got %v, %v", text, claims, err)
		}
	}
}

func TestADenialMayStandInTheObject(t *testing.T) {
	for _, c := range []struct {
		text, object string
		negated      bool
	}{{"Reik is not a captain.", "captain", true}, {"Is Reik a captain?", "captain", false},
		{"Before Reik, Per was captain.", "not captain", false}} {
		claims, _, err := claims.New(scriptedModel{text: "Reik | occupation | not captain"},
			claims.DefaultConfig()).Read(t.Context(), c.text, "", llm.NewLedger(nil))
		if err != nil || len(claims) != 1 || claims[0].GetNegated() != c.negated ||
			claims[0].GetTriple().GetObject() != c.object {
			t.Errorf("%s: got %v, %v", c.text, claims, err)
		}
	}
}

func TestOutputThatCannotBeUsed(t *testing.T) {
	down := errors.New("down")
	for _, c := range []struct {
		name     string
		model    scriptedModel
		claims   int
		warnings int
		err      error
	}{
		{"none", scriptedModel{text: "none"}, 0, 0, nil},
		{"names of nothing in the text are left out",
			scriptedModel{text: "Bergen | capital | Oslo\nReik | spouse | Ilse"}, 1, 1,
			nil},
		{"what was cut off is told", scriptedModel{text: "Reik | spouse | Ilse", finish: "length"}, 1, 1, nil},
		{"an answer that is none is told", scriptedModel{err: llm.ErrUnusable}, 0, 1, nil},
		{"a model that is down is an error", scriptedModel{err: down}, 0, 0, down},
	} {
		t.Run(c.name, func(t *testing.T) {
			claims, warnings, err := claims.New(c.model, claims.DefaultConfig()).Read(t.Context(), "Reik married Ilse.",
				"",
				llm.NewLedger(nil))
			if len(claims) != c.claims || len(warnings) != c.warnings || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v, %v", claims, warnings, err)
			}
		})
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("Robert Stam works at Google.", "Robert Stam | employer | Google")
	f.Add("他。İ\u0130ß \xff", "İ | ß | 他")
	f.Add("a a a. a", "a | x | a a")
	f.Fuzz(func(t *testing.T, text, said string) {
		if !utf8.ValidString(text) || strings.TrimSpace(text) == "" {
			return // the contract carries none
		}
		claims, _, err := claims.New(scriptedModel{text: said}, claims.DefaultConfig()).Read(t.Context(), text, "",
			llm.NewLedger(nil))
		if err != nil {
			t.Fatal(err)
		}
		n := uint32(utf8.RuneCountInString(text))
		for _, c := range claims {
			for _, s := range []*graphv1.TextSpan{c.GetSpan(), c.GetSubjectSpan(), c.GetObjectSpan()} {
				if s != nil && (s.GetStart() >= s.GetEnd() || s.GetEnd() > n) {
					t.Errorf("%q of %q stands at %v of %d characters", said, text, s, n)
				}
			}
		}
	})
}
