package verifier_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

func facts(triples []*graphv1.Triple) []string {
	var out []string
	for _, t := range triples {
		out = append(out, kgtext.FormatFact(t))
	}
	return out
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one triple a line", "A | r | B\nC | s | D", []string{"A | r | B", "C | s | D"}},
		{"other lines are passed over", "Here it is:\nA | r | B\n| | \nA | B\na | b | c | d\n```",
			[]string{"A | r | B"}},
		{"marks of a list are passed over", "- A | r | B\n2. C | s | D\n3) E | t | F",
			[]string{"A | r | B", "C | s | D", "E | t | F"}},
		{"a name may begin with digits", "2010 FIFA World Cup | winner | Spain\n30 Rock | genre | comedy\n1984 | " +
			"author | Orwell",
			[]string{"2010 FIFA World Cup | winner | Spain", "30 Rock | genre | comedy", "1984 | author | Orwell"}},
		{"the time it holds is left to the evidence", "A | r | B (since 2006)\nA | r | C (1998 to 2006)\nA | r | D " +
			"(until 1998-05)", []string{"A | r | B", "A | r | C", "A | r | D"}},
		{"brackets of a name stay", "A | r | Song (Back to Black)\nA | r | B (film)",
			[]string{"A | r | Song (Back to Black)", "A | r | B (film)"}},
		{"a repeat counts once", "A | r | B\nA  |  r | B", []string{"A | r | B"}},
		{"bytes that are no text are replaced", "A\xff | r | B", []string{"A\uFFFD | r | B"}},
		{"prose holds no triple", "I cannot do that.", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := facts(verifier.ParseRewriting(c.text)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if n := len(verifier.ParseRewriting(strings.Repeat("A | r | B\n", 10) + strings.Repeat("x | y | "+"z\nx",
		1000))); n > 200 {
		t.Errorf("a model in a loop gave %d triples", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"A | r | B", "1. A | r | B (since 2006)", "|||", "a|b|c\xff", "- | - | -",
		"| (since 1) |x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, got := range verifier.ParseRewriting(text) {
			for _, part := range []string{got.GetSubject(), got.GetRelation(), got.GetObject()} {
				if part == "" || strings.ContainsAny(part, "|\n") || !utf8.ValidString(part) {
					t.Fatalf("Parse(%q) holds %q", text, part)
				}
			}
			if seen[align.Key(got)] {
				t.Fatalf("Parse(%q) holds %v twice", text, got)
			}
			seen[align.Key(got)] = true
		}
	})
}

func TestDiff(t *testing.T) {
	pool := []*graphv1.ScoredTriple{{Triple: triple("H", "film.directed_by", "Erik")},
		{Triple: triple("Erik", "born in", "Bergen")}}
	for _, c := range []struct {
		name            string
		drafts, written []*graphv1.Triple
		want            []string
	}{
		{"a draft that still stands was kept, unverified where no evidence says so",
			[]*graphv1.Triple{triple("H", "genre", "drama")}, []*graphv1.Triple{triple("h", "genre", "drama")},
			[]string{"KEEP h | genre | drama"}},
		{"a draft gave way to a triple of its subject, spelt and backed by the evidence",
			[]*graphv1.Triple{triple("H", "directed by", "Holm")}, []*graphv1.Triple{triple("h", "directed by",
				"erik")}, []string{"REPLACE H | directed by | Erik backed"}},
		{"a draft that is gone was deleted",
			[]*graphv1.Triple{triple("X", "r", "Y")}, []*graphv1.Triple{triple("Erik", "born in", "Bergen")},
			[]string{"DELETE", "ADD Erik | born in | Bergen backed"}},
		{"a triple that no evidence holds is added unverified",
			nil, []*graphv1.Triple{triple("A", "r", "B")}, []string{"ADD A | r | B"}},
		{"one new triple replaces one draft",
			[]*graphv1.Triple{triple("A", "r", "1"), triple("A", "r", "2")}, []*graphv1.Triple{triple("A", "r", "3")},
			[]string{"REPLACE A | r | 3", "DELETE"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range verifier.DiffTriples(c.drafts, c.written, pool) {
				s := strings.TrimPrefix(e.GetKind().String(), "EDIT_KIND_")
				if e.GetAfter() != nil {
					s += " " + kgtext.FormatFact(e.GetAfter())
				}
				if len(e.GetEvidence()) > 0 {
					s += " backed"
				}
				got = append(got, s)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Applying the edits to the drafts gives what was written, word for word but
// for spelling, and every draft has its edit.
func TestEditsLeadToWhatWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "B", "c", "b", "C"}
	some := func() (out []*graphv1.Triple) {
		for range random.IntN(6) {
			out = append(out, triple(names[random.IntN(5)], names[random.IntN(5)], names[random.IntN(5)]))
		}
		return out
	}
	words := func(triples []*graphv1.Triple) []string {
		out := facts(triples)
		for i := range out {
			out[i] = strings.ToLower(out[i])
		}
		slices.Sort(out)
		return out
	}
	for range 500 {
		drafts, written := some(), some()
		var pool []*graphv1.ScoredTriple
		for _, e := range some() {
			pool = append(pool, &graphv1.ScoredTriple{Triple: e})
		}
		edits := verifier.DiffTriples(drafts, written, pool)
		var after []*graphv1.Triple
		for i, e := range edits {
			if i < len(drafts) && e.GetBefore() != drafts[i] {
				t.Fatalf("edit %d is of %v, want %v", i, e.GetBefore(), drafts[i])
			}
			if e.GetAfter() != nil {
				after = append(after, e.GetAfter())
			}
		}
		if got, want := words(after), words(written); !slices.Equal(got, want) {
			t.Fatalf("edits lead to %q, want %q", got, want)
		}
	}
}

// rewritingModel is a model that writes one text.
type rewritingModel llm.Response

func (s rewritingModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response(s), nil
}

func TestRewrite(t *testing.T) {
	drafts := &graphv1.PseudoGraph{Triples: []*graphv1.Triple{triple("H", "director", "Holm")}}
	pool := []*graphv1.ScoredTriple{{Triple: triple("H", "director", "Erik")}}
	for _, c := range []struct {
		name  string
		model rewritingModel
		want  []string
	}{
		{"what was written stands, evidence last", rewritingModel{Text: "H | director | Erik\nH | genre | drama"},
			[]string{"H | genre | drama", "H | director | Erik"}},
		{"the line at which the model was cut is left out", rewritingModel{Text: "H | director | Erik\nH | genre | dra",
			FinishReason: "length"}, []string{"H | director | Erik"}},
		{"text without a triple is unusable", rewritingModel{Text: "Nothing to correct."}, nil},
		{"one line that was cut is unusable", rewritingModel{Text: "H | director | Er", FinishReason: "length"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := verifier.NewRewriter(c.model, 384).Rewrite(t.Context(), "q", drafts, pool,
				llm.NewLedger(nil))
			if errors.Is(err, llm.ErrUnusable) != (c.want == nil) {
				t.Fatal(err)
			}
			var stands []string
			for _, f := range got.FixedGraph.GetTriples() {
				stands = append(stands, kgtext.FormatFact(f.GetTriple()))
			}
			if !slices.Equal(stands, c.want) {
				t.Errorf("got %q, want %q", stands, c.want)
			}
		})
	}
}
