package store_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

func TestFold(t *testing.T) {
	for name, want := range map[string]string{
		"São Paulo":           "sao paulo",
		"  Paris \t (France)": "paris france",
		"AC/DC":               "ac dc",
		"U.S.":                "us",
		"O’Brien's":           "obriens",
		"Łódź":                "lodz",
		"Straße":              "strasse",
		"STRASSE":             "strasse",
		"Øresund":             "oresund",
		"Encyclopædia":        "encyclopaedia",
		"ﬁlm ½":               "film 1 2",
		"İstanbul":            "istanbul",
		"東京":                  "東京",
		"Ελλάς":               "ελλας",
		"m.0jst5_":            "m0jst5",
		"+":                   "+",
		"!!!":                 "!!!",
		" ? ":                 "?",
		"":                    "",
	} {
		if got := store.Fold(name); got != want {
			t.Errorf("Fold(%q) is %q, want %q", name, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{"São Paulo", "नमस्ते", "U.S.", "+", "\xff\x00", "ǅ", "a\u0301", "…"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		folded := store.Fold(name)
		if !utf8.ValidString(folded) && utf8.ValidString(name) {
			t.Errorf("Fold(%q) is not UTF-8: %q", name, folded)
		}
		if strings.TrimSpace(folded) != folded || strings.Contains(folded, "  ") {
			t.Errorf("Fold(%q) has spaces to spare: %q", name, folded)
		}
		if letters := strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) }); letters &&
			folded == "" {
			t.Errorf("Fold(%q) lost all letters", name)
		}
	})
}
