package sentence_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/sentence"
)

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
			if got := sentence.Foreign(c.text, c.known); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
