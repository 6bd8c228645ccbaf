package check

import (
	"slices"
	"testing"
)

func TestSentencesAnswerQuestions(t *testing.T) {
	for _, c := range []struct{ name, sentence, question string }{
		{"a superlative", "Orla is the oldest member of the club.", "What is the oldest member of the club?"},
		{"whether it is one", "Is Orla the most expensive room?", "What is the most expensive room?"},
		{"one of a value, by the kind of the name", "Orla has the largest budget.",
			"Which ${kind} has the largest budget?"},
		{"what never happened", "The Old Mill was never sold.", "Which ${kind} was never sold?"},
		{"what somebody never did", "Did Orla never pay a fee?", "Which ${kind} never pay a fee?"},
		{"a count of what somebody did", "Orla wrote at least three books.", "How many books has Orla wrote?"},
		{"whether it is so many", "Did Orla write three books in 1990?", "How many books did Orla write in 1990?"},
		{"a count of what somebody has", "Orla has two sons.", "How many sons does Orla have?"},
		{"a count of those who do something", "Three members live in Lund.", "How many members live in Lund?"},
		{"whether so many do", "Do three members live in Lund?", "How many members live in Lund?"},
		{"how many there are", "There are seven rooms with a bath.", "How many rooms with a bath are there?"},
		{"how often", "Orla visited Lund four times.", "How many times has Orla visited Lund?"},
		{"whether so often", "Was Orla sold two times?", "How many times was Orla sold?"},
		{"a comparison", "Orla is cheaper than the Old Mill.", "Is Orla cheaper than the Old Mill?"},
		{"a comparison of times", "The Old Mill opened before Orla.", "Did the Old Mill opened before Orla?"},
		{"no name of one after another", "Orla is named after the Old Mill.", ""},
		{"no bound of a date", "Orla was founded before May 1312.", ""},
		{"no superlative of a place alone", "Orla is the largest in Lund.", ""},
		{"no date", "Orla was built on 3 May 1990.", ""},
		{"no fact", "Orla is a member of the club.", ""},
		{"no year", "Orla opened in 1990.", ""},
		{"no superlative without a kind", "Orla is the best.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if a := readAsked(c.sentence); a != nil {
				got = a.question
			}
			if got != c.question {
				t.Errorf("%q answers %q, want %q", c.sentence, got, c.question)
			}
		})
	}
}

func TestCountsOfASentenceHaveBounds(t *testing.T) {
	a := readAsked("Orla wrote fewer than twelve books.")
	if a == nil || a.most != 11 || a.least > 0 || a.triple.GetObject() != "fewer than twelve" {
		t.Errorf("read as %+v", a)
	}
}

func TestSentencesAreReadAsEvents(t *testing.T) {
	const dated = `thing(name="Orla", lent="Soil").where("lent on", "=", "3 May 1990").exists()`
	for _, c := range []struct {
		name, sentence string
		names, drafts  []string
	}{
		{"two names and a verb", "Orla lent Soil.", []string{"Orla", "Soil"},
			[]string{`thing(name="Orla", lent="Soil").exists()`}},
		{"a date, which may be any of the event", "Orla lent Soil on 3 May 1990.",
			[]string{"Orla", "Soil", "3 May 1990"},
			[]string{dated, `thing(name="Orla", lent="Soil").where("date", "=", "3 May 1990").exists()`}},
		{"an amount", "Did Orla give 500 to Soil?", []string{"Orla", "500", "Soil"},
			[]string{`thing(name="Orla", give_to="Soil").where("give amount", "=", "500").exists()`}},
		{"a kind behind the name", "Orla joined the Soil project.", []string{"Orla", "Soil"},
			[]string{`thing(name="Orla", joined="Soil").exists()`}},
		{"not what something else is described by", "The wife of Orla lent Soil.", []string{"Orla", "Soil"}, nil},
		{"not what is denied", "Orla never lent Soil.", []string{"Orla", "Soil"}, nil},
		{"not lists", "Orla lent Soil, Mill.", []string{"Orla", "Soil", "Mill"}, nil},
		{"not more than the names", "Orla lent Soil when she was young.", []string{"Orla", "Soil"}, nil},
		{"no value alone", "Orla was built on 3 May 1990.", []string{"Orla", "3 May 1990"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var named []mention
			for _, n := range c.names {
				at := findWords(c.sentence, n)
				named = append(named, mention{n, at, at + len(n)})
			}
			got, claimed := readEvent(c.sentence, named)
			if !slices.Equal(got, c.drafts) || (claimed == nil) != (c.drafts == nil) {
				t.Errorf("read as %q, %v; want %q", got, claimed, c.drafts)
			}
		})
	}
}

func TestALessPreciseDateContradictsNothing(t *testing.T) {
	for _, c := range []struct {
		name, value, other string
		want               bool
	}{
		{"the day of a month", "3 May 1990", "1990-05", true},
		{"another month", "3 May 1990", "1990-06", false},
		{"no date", "3 May 1990", "Soil", false},
		{"amounts", "500", "30000", false},
	} {
		if got := mayAgree(c.value, c.other); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzReadSentence(f *testing.F) {
	f.Add("Is Orla the most expensive room?", "Orla", "room")
	f.Add("Orla lent Soil on 3 May 1990.", "Orla", "3 May 1990")
	f.Fuzz(func(t *testing.T, sentence, first, second string) {
		if a := readAsked(sentence); a != nil && (a.question == "" || a.triple == nil) {
			t.Errorf("%q is read as %+v", sentence, a)
		}
		var named []mention
		for _, n := range []string{first, second} {
			if at := findWords(sentence, n); at >= 0 && (len(named) == 0 || at >= named[0].end) {
				named = append(named, mention{n, at, at + len(n)})
			}
		}
		if drafts, claimed := readEvent(sentence, named); (len(drafts) > 0) != (claimed != nil) {
			t.Errorf("%q is read as %q, %v", sentence, drafts, claimed)
		}
	})
}
