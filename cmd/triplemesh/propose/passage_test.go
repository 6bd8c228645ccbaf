package propose_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/propose"
)

func TestPassages(t *testing.T) {
	long := strings.Repeat("Ada wrote another letter to Bob on that day. ", 20)
	for name, c := range map[string]struct {
		text string
		want []string // context>text@line
	}{
		"a short text is one":                      {"Ada knows Bob.\n\nBob knows Cleo.", []string{">Ada knows Bob.\n\nBob knows Cleo.@1"}},
		"nothing is none":                          {" \n\n", nil},
		"a heading goes before, and begins anew":   {"# Ada\nShe knows Bob.\n\n## Bob ##\n\nHe knows Cleo.\n", []string{"Ada>She knows Bob.@2", "Bob>He knows Cleo.@6"}},
		"rules and numbers are no sentences":       {"Ada knows Bob.\n\n* * *\n\n1.\n\n", []string{">Ada knows Bob.@1"}},
		"front matter, code and comments are none": {"---\ntitle: Bob\n---\nAda knows Bob.\n```go\nAda knows nobody.\n```\n<!-- Bob knows\nnobody. -->\nBob knows Cleo.", []string{">Ada knows Bob.\n     \n                 \n   \n              \n           \nBob knows Cleo.@4"}},
		"links lose their targets":                 {"[Ada](https://example.org/a_b.c \"x\") knows `Bob`.", []string{">Ada" + strings.Repeat(" ", 32) + " knows  Bob .@1"}},
		"a byte order mark is none of it":          {"\uFEFFAda knows Bob.", []string{">Ada knows Bob.@1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range (propose.Text{File: "x.md", Content: c.text}).Passages() {
				got = append(got, p.Context+">"+p.Text+"@"+string(rune('0'+p.FirstLine)))
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("a long text is parted between sentences, each part with the sentence before", func(t *testing.T) {
		all := propose.Text{File: "x.txt", Content: "# Letters\n" + long}.Passages()
		if len(all) != 2 {
			t.Fatalf("%d passages", len(all))
		}
		for i, p := range all {
			want := []string{"Letters", "Letters. Ada wrote another letter to Bob on that day."}[i]
			if p.Context != want || !strings.HasPrefix(p.Text, "Ada") || !strings.HasSuffix(p.Text, "day.") || p.Length() > 600 {
				t.Errorf("passage %d is %d characters behind %q", i, p.Length(), p.Context)
			}
		}
	})
	t.Run("what is no prose at all is left out", func(t *testing.T) {
		if all := (propose.Text{Content: strings.Repeat("abcdefgh", 2000)}).Passages(); len(all) != 0 {
			t.Errorf("got %d passages", len(all))
		}
	})
}

func FuzzPassages(f *testing.F) {
	for _, seed := range []string{"# A\nB. C.", "---\n---\nÄ b\r\n\r\nc", "```\nx", "<!-- ]( -->", "a\xffb. C"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		runes := []rune(text)
		end := 0
		for _, p := range (propose.Text{Content: text}).Passages() {
			if p.Start < end || p.Start+p.Length() > len(runes) || p.Length() == 0 {
				t.Fatalf("%q: a passage at %d of %d characters, after %d", text, p.Start, p.Length(), end)
			}
			end = p.Start + p.Length()
			if line := 1 + strings.Count(string(runes[:p.Start]), "\n"); line != p.FirstLine {
				t.Errorf("%q: line %d, want %d", text, p.FirstLine, line)
			}
			if first := []rune(p.Text)[0]; first != runes[p.Start] {
				t.Errorf("%q: the passage begins with %q, the text there with %q", text, first, runes[p.Start])
			}
		}
	})
}
