package kgtext_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", " \n\t ", nil},
		{"one sentence without an end", "Robert Stam works at Google", []string{"Robert Stam works at Google"}},
		{"three ends", "It is. Is it? It is!", []string{"It is.", "Is it?", "It is!"}},
		{"where the space is left off", "It opened in 1998.It has 3 halls.Reik met E.T.The end.",
			[]string{"It opened in 1998.", "It has 3 halls.Reik met E.T.The end."}},
		{"a title is no end", "Dr. Reik met Mrs. Brandt. They left.", []string{"Dr. Reik met Mrs. Brandt.",
			"They left."}},
		{"nor is a saint", "St. John's lies on an island.", []string{"St. John's lies on an island."}},
		{"nor are initials", "The book by J. R. R. Tolkien sold. It did.",
			[]string{"The book by J. R. R. Tolkien sold.", "It did."}},
		{"nor is one that is an abbreviation too", "Albert B. Reik met C. D. Brandt in 1998.",
			[]string{"Albert B. Reik met C. D. Brandt in 1998."}},
		{"nor is a president's", "He met John F. Kennedy in Bonn.", []string{"He met John F. Kennedy in Bonn."}},
		{"nor is the mark of a title", "Mad Monster Party? was made in 1967. Yahoo! is big.",
			[]string{"Mad Monster Party? was made in 1967.", "Yahoo! is big."}},
		{"nor of what somebody says", "“Was it?” asked Reik.", []string{"“Was it?” asked Reik."}},
		{"nor are several without spaces", "He left A.C. Milan. It won.", []string{"He left A.C. Milan.", "It won."}},
		{"a letter that is a thing may end one", "It holds vitamin C. It is sour.", []string{"It holds vitamin C.",
			"It is sour."}},
		{"so may the pronoun", "Taller than I. She ran.", []string{"Taller than I.", "She ran."}},
		{"a country's letters", "She lives in the U.S. army base.", []string{"She lives in the U.S. army base."}},
		{"for example", "Some rivers, e.g. Tessen and Orla, are short.",
			[]string{"Some rivers, e.g. Tessen and Orla, are short."}},
		{"a decimal number is no end", "It weighs 3.14 kg. Pi does not.", []string{"It weighs 3.14 kg.",
			"Pi does not."}},
		{"a number after an abbreviation", "Symphony No. 27 is short. He said no. 27 others did too.",
			[]string{"Symphony No. 27 is short.", "He said no. 27 others did too."}},
		{"a quotation ends with its mark", "“It is so.” Nobody knew. 'Was it?' Yes.",
			[]string{"“It is so.”", "Nobody knew.", "'Was it?'", "Yes."}},
		{"a line's end in a sentence", "The Quiet Harbour is a film that Erik Halvorsen once\ndirected in Norway. It " +
			"is long.", []string{"The Quiet Harbour is a film that Erik Halvorsen once\ndirected in Norway.",
			"It is long."}},
		{"a line's end in Windows' way", "A river,\r\nwhich is short. Yes.",
			[]string{"A river,\r\nwhich is short.", "Yes."}},
		{"a blank line", "A heading\n\nA text of it", []string{"A heading", "A text of it"}},
		{"short lines stand alone", "Velmora\nTessen\nOrla", []string{"Velmora", "Tessen", "Orla"}},
		{"list items", "Rivers of the city of Velmora and of its country are these three:\n- Tessen\n- Orla\n12. Elde",
			[]string{"Rivers of the city of Velmora and of its country are these three:", "- Tessen",
				"- Orla", "12. Elde"}},
		{"markup is none of the sentence before it", "Ann was born in Oslo. {\"role\": 1} She left. <b>so</b>",
			[]string{"Ann was born in Oslo.", "{\"role\": 1}", "She left.", "<b>so</b>"}},
		{"nor are control characters", "Say so\a Ann was born\tin Oslo.",
			[]string{"Say so\a", "Ann was born\tin Oslo."}},
		{"but within one they end none", "Ann\x1b was born in \x01Oslo.", []string{"Ann\x1b was born in \x01Oslo."}},
		{"braces within a sentence", "The sets {a, b} and {c} differ.", []string{"The sets {a, b} and {c} differ."}},
		{"Chinese and Japanese", "他出生于北京。她是谁？はい。", []string{"他出生于北京。", "她是谁？", "はい。"}},
		{"Hindi", "वह दिल्ली में रहता है। वह लेखक है।", []string{"वह दिल्ली में रहता है।", "वह लेखक है।"}},
		{"Arabic", "ولد في القاهرة. هل مات؟ نعم.", []string{"ولد في القاهرة.", "هل مات؟", "نعم."}},
		{"Russian", "Он родился в Москве. Он умер.", []string{"Он родился в Москве.", "Он умер."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range kgtext.SplitSentences(c.text) {
				got = append(got, s.Text)
				if want := string([]rune(c.text)[s.Start:s.End]); s.Text != want {
					t.Errorf("%d to %d is %q, not %q", s.Start, s.End, want, s.Text)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, piece := range []string{"Dr. ", "a\x01", "} A"} { // in time that does not grow with the square
		f.Add(strings.Repeat(piece, 16<<10))
	}
	for _, seed := range []string{"A. B. Dr. C! “D.” 3.14\n\ne.g. x\r\n- y", "他。她？", "\xff. \x00A.\u2029B", "I. I."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var joined strings.Builder
		end := 0
		for _, s := range kgtext.SplitSentences(text) {
			if s.Start < end || s.End <= s.Start || s.End > utf8.RuneCountInString(text) ||
				!strings.Contains(text, s.Text) {
				t.Fatalf("%q has the sentence %+v after %d", text, s, end)
			}
			end = s.End
			joined.WriteString(s.Text)
		}
		spaceless := func(s string) string {
			return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "")
		}
		if got, want := spaceless(joined.String()), spaceless(text); got != want {
			t.Errorf("%q lost words: %q", want, got)
		}
	})
}
