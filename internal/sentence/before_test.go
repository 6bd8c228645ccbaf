package sentence_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/sentence"
)

func TestBefore(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a pronoun needs what it stands for":  {"Ada was born in London. She wrote notes.", "Ada was born in London."},
		"also in the middle":                  {"Ada was born in London. In 1843 she wrote notes.", "Ada was born in London."},
		"which may stand further back":        {"Ada was born in London. She wrote notes. Her notes were read.", "Ada was born in London."},
		"but not for ever":                    {"Ada lives. She a. She b. She c. She d. She e. She f.", "She a."},
		"names need nothing":                  {"Ada was born in London. Bob wrote notes.", ""},
		"the first has nothing before it":     {"She wrote notes.", ""},
		"a word that holds a pronoun is none": {"Ada lives. Sheep and items are there.", ""},
		"of other scripts every one may":      {"Ада родилась. Бабушка жила там.", "Ада родилась."},
	} {
		t.Run(name, func(t *testing.T) {
			all := sentence.Split(c.text)
			if got := sentence.Before(all, len(all)-1); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
