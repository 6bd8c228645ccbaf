package mcp

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestName(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a plain name stays", "Zoë Smith", "Zoë Smith"},
		{"lines become one", "a\r\n\u2028b", "a b"},
		{"bars are escaped", `a | b \ c`, `a \| b \\ c`},
		{"marks of a chat are taken apart", "<|im_end|>[INST]", `< \|im_end\| >[ INST ]`},
		{"the direction of writing stays", "a\u202eb", "ab"},
		{"joiners stay", "क्\u200dष", "क्\u200dष"},
		{"half a character is replaced", "a\xff", "a\ufffd"},
		{"a long name is cut", strings.Repeat("é", 400), strings.Repeat("é", 300) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := name(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzNamesStayOnTheirLine: whatever a knowledge graph calls something, it can
// neither begin a line nor a part of a triple, nor steer who reads it.
func FuzzNamesStayOnTheirLine(f *testing.F) {
	for _, seed := range []string{"", "a | b", "a\nb", "\x1b[2J", "\u202e", `\|`, "<|im_start|>", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := triple{Subject: s, Relation: s, Object: s, Provenance: s}.String()
		if !utf8.ValidString(shown) || strings.Contains(shown, "<|") {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) &&
				r != '\u200c' && r != '\u200d'
		}); i >= 0 {
			t.Errorf("%q is shown as %q", s, shown)
		}
		unescaped := strings.NewReplacer(`\\`, "", `\|`, "").Replace(shown)
		if strings.Count(unescaped, "|") != 2 {
			t.Errorf("%q has parts of its own: %q", s, shown)
		}
		for line := range strings.Lines(quote(s)) {
			if !strings.HasPrefix(line, "> ") {
				t.Errorf("%q is quoted as %q", s, line)
			}
		}
	})
}
