package leak

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

// long returns a text of 19 different words, "w1 w2 …".
func long() []string {
	words := make([]string, 19)
	for i := range words {
		words[i] = fmt.Sprint("w", i+1)
	}
	return words
}

func set(name, data string, questions ...string) Set {
	s := Set{Name: name, Dataset: data}
	for i, q := range questions {
		s.Texts = append(s.Texts, Text{ID: fmt.Sprint(i + 1), Question: q})
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	other := long()
	other[3] = "else"
	shuffled := strings.Fields("film the made who")
	for _, c := range []struct {
		name string
		sets []Set
		want []Pair // by kind, and the ids and the sets of both
	}{
		{"sets that are disjoint", []Set{set("a", "", "who?", "what?"), set("b", "", "when?")}, nil},
		{"no sets", nil, nil},
		{
			"the same text in other letters", []Set{set("a", "", "x?", "Who made the film?"),
				set("b", "", "who  made film")},
			[]Pair{{SameText, 1, Place{Set: "a", ID: "2"}, Place{Set: "b", ID: "1"}}},
		},
		{"the same text twice in one set", []Set{set("a", "", "who?", "who?")}, nil},
		{
			"the same text in three sets", []Set{set("a", "", "who?"), set("b", "", "who"), set("c", "", "Who")},
			[]Pair{
				{SameText, 1, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}},
				{SameText, 1, Place{Set: "a", ID: "1"}, Place{Set: "c", ID: "1"}},
				{SameText, 1, Place{Set: "b", ID: "1"}, Place{Set: "c", ID: "1"}},
			},
		},
		{
			"every text of the later set that leaks", []Set{set("a", "", "who?", "who"), set("b", "", "who", "WHO!")},
			[]Pair{
				{SameText, 1, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}},
				{SameText, 1, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "2"}},
			},
		},
		{
			"the same words in another order", []Set{set("a", "", "who made the film"),
				set("b", "", strings.Join(shuffled, " "))},
			[]Pair{{Near, 1, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}}},
		},
		{
			"one word of 19 is another", []Set{set("a", "", strings.Join(long(), " ")),
				set("b", "", strings.Join(other, " "))},
			[]Pair{{Near, 18.0 / 20, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}}},
		},
		{"two words of 19 are others", []Set{set("a", "", strings.Join(long(), " ")),
			set("b", "", strings.Join(append(other[:18:18], "more"), " "))}, nil},
		{
			"the same id in the same dataset", []Set{set("a", "webqsp", "who?"), set("b", "webqsp", "which king?")},
			[]Pair{{SameID, 0, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}}},
		},
		{"the same id in another dataset", []Set{set("a", "webqsp", "who?"), set("b", "cwq", "which king?")}, nil},
		{"the same id in datasets without a name", []Set{set("a", "", "who?"), set("b", "", "which king?")}, nil},
		{
			"the text tells more than the id", []Set{set("a", "webqsp", "which king?", "who?"),
				set("b", "webqsp", "who")},
			[]Pair{{SameText, 1, Place{Set: "a", ID: "2"}, Place{Set: "b", ID: "1"}}},
		},
		{"texts without a word", []Set{set("a", "", "", " ", "?"), set("b", "", "", "!")}, nil},
		{
			"texts of articles alone are compared as written", []Set{set("a", "", "The A?"),
				set("b", "", "the  a?", "A")},
			[]Pair{{SameText, 1, Place{Set: "a", ID: "1"}, Place{Set: "b", ID: "1"}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Check(c.sets...)
			for i := range got {
				if got[i].String() == "" || got[i].A.Question == "" || got[i].B.Question == "" {
					t.Errorf("pair %+v does not say what was asked", got[i])
				}
				got[i].A.Question, got[i].B.Question = "", ""
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	d := dataset.Dataset{SHA256: "abc", Questions: []dataset.Question{{ID: "1", Question: "who?"},
		{ID: "2", Question: "when?"}}}
	if got := NewSet("test", d, d.Questions[1:]); !reflect.DeepEqual(got, Set{Name: "test", Dataset: "abc",
		Texts: []Text{{"2", "when?"}}}) {
		t.Errorf("got %+v", got)
	}
}

// TestCheckFindsWhatComparingAllFinds compares the index with a comparison of
// every text with every other.
func TestCheckFindsWhatComparingAllFinds(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom(strings.Fields("b c d e f g h i j k l m n o p q r s t u v w x y z"))
	texts := rapid.SliceOfN(rapid.SliceOfN(word, 8, 40), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		one, two := Set{Name: "one"}, Set{Name: "two"}
		for _, words := range texts.Draw(t, "one") {
			one.Texts = append(one.Texts, Text{Question: strings.Join(words, " ")})
			if rapid.Bool().Draw(t, "changed") { // so that there is something to find
				words = append([]string{"b"}, words[1:]...)
				two.Texts = append(two.Texts, Text{Question: strings.Join(words, " ")})
			}
		}
		for _, words := range texts.Draw(t, "two") {
			two.Texts = append(two.Texts, Text{Question: strings.Join(words, " ")})
		}
		x := newIndex([]Set{one, two})
		want := 0
		for j := range two.Texts {
			best := 0.0
			for i := range one.Texts {
				best = max(best, similarity(x.texts[0][i].words, x.texts[1][j].words))
			}
			if best >= Similar {
				want++
			}
		}
		got := Check(one, two)
		if len(got) != want {
			t.Fatalf("found %d, comparing all finds %d", len(got), want)
		}
		for _, p := range got {
			if p.Similarity < Similar || (p.Kind == SameText) != (normal(p.A.Question) == normal(p.B.Question)) {
				t.Fatalf("found %+v", p)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	draw := rand.New(rand.NewPCG(1, 2))
	questions := func(name string) Set {
		s := Set{Name: name}
		for i := range 10_000 {
			// Templates of few words around names of many, as real sets have them.
			q := fmt.Sprintf("who are the %s that the directors of the films starring name%d surname%d also worked "+
				"with in %d",
				[]string{"writers", "actors", "directors"}[i%3], draw.IntN(5000), draw.IntN(5000), 1950+draw.IntN(70))
			s.Texts = append(s.Texts, Text{ID: fmt.Sprint(i), Question: q})
		}
		return s
	}
	one, two := questions("one"), questions("two")
	for b.Loop() {
		Check(one, two)
	}
}
