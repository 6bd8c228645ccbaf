package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestBefore(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a pronoun needs what it stands for": {"Ada was born in London. She wrote notes.", "Ada was born in London."},
		"also in the middle": {"Ada was born in London. In 1843 she wrote notes.",
			"Ada was born in London."},
		"which may stand further back": {"Ada was born in London. She wrote notes. Her notes were read.",
			"Ada was born in London."},
		"but not for ever":                    {"Ada lives. She a. She b. She c. She d. She e. She f.", "She a."},
		"names need nothing":                  {"Ada was born in London. Bob wrote notes.", ""},
		"the first has nothing before it":     {"She wrote notes.", ""},
		"a word that holds a pronoun is none": {"Ada lives. Sheep and items are there.", ""},
		"of other scripts every one may":      {"Ада родилась. Бабушка жила там.", "Ада родилась."},
	} {
		t.Run(name, func(t *testing.T) {
			all := kgtext.SplitSentences(c.text)
			if got := kgtext.FindAntecedent(all, len(all)-1); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestForeign(t *testing.T) {
	for _, c := range []struct {
		name, text, known string
		want              bool
	}{
		{"Chinese to an English question", "这个问题很难回答", "Who directed Alexander?", true},
		{"Japanese to a Chinese question", "オリバー・ストーンです", "谁导演了亚历山大？", false},
		{"Russian to an English question", "Оливер Стоун", "Who directed Alexander?", true},
		{"a name in its own script within a sentence", "It was 宮崎 駿, a director.", "Who directed it?", false},
		{"a name that the facts have", "宮崎 駿", "Who directed it? film | director | 宮崎 駿", false},
		{"another language of the same script", "Es war Oliver Stone.", "Who directed Alexander?", false},
		{"numbers", "1951", "когда", false},
		{"nothing", "", "x", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.IsForeignScript(c.text, c.known); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
