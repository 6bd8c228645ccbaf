package propose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/lab/propose"
)

func TestPassages(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // context>text@line
	}{
		"every sentence is one": {"Ada knows Bob. Bob knows Cleo.\n\nCleo knows Dan.",
			[]string{">Ada knows Bob.@1", ">Bob knows Cleo.@1", ">Cleo knows Dan.@3"}},
		"nothing is none": {" \n\n", nil},
		"a pronoun has what it stands for": {"Ada knows Bob. She likes tea.", []string{">Ada knows Bob.@1",
			"Ada knows Bob.>She likes tea.@1"}},
		"or the heading": {"# Ada\nShe knows Bob.\n\n## Cleo ##\n\nShe knows Dan.\n",
			[]string{"Ada>She knows Bob.@2", "Cleo>She knows Dan.@6"}},
		"of its own section": {"Ada knows Bob.\n# Cleo\nIn 1843 she met Dan. She liked him.",
			[]string{">Ada knows Bob.@1", "Cleo>In 1843 she met Dan.@3", "In 1843 she met Dan.>She liked him.@3"}},
		"rules and numbers are no sentences": {"Ada knows Bob.\n\n* * *\n\n1.\n\n",
			[]string{">Ada knows Bob.@1"}},
		"front matter, code and comments are none": {"---\ntitle: Bob\n---\nAda knows Bob.\n\n```go\nAda knows " +
			"nobody.\n```\n<!-- Bob knows\nnobody. -->\n\nBob knows Cleo.", []string{">Ada knows Bob.@4",
			">Bob knows Cleo.@12"}},
		"links lose their targets": {"[Ada](https://example.org/a_b.c \"x\") knows `Bob`.",
			[]string{">Ada" + strings.Repeat(" ", 32) + " knows  Bob .@1"}},
		"a byte order mark is none of it":     {"\uFEFFAda knows Bob.", []string{">Ada knows Bob.@1"}},
		"what is no prose at all is left out": {strings.Repeat("abcdefgh", 2000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range (propose.Text{File: "x.md", Content: c.text}).Passages() {
				got = append(got, p.Context+">"+p.Text+fmt.Sprintf("@%d", p.FirstLine))
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
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
