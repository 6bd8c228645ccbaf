package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestOwnAnswerTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		sources string
		plural  bool
		text    string
		want    string
	}{
		{"one graph does not say", "the knowledge graph films", false, "{Oslo}",
			"The knowledge graph films does not say. The model's own answer: {Oslo}"},
		{"several graphs do not say", "the knowledge graphs films and books", true, "It was {Oslo}.",
			"The knowledge graphs films and books do not say. The model's own answer: It was {Oslo}."},
		{"a text that says so is kept", "the knowledge graph films", false,
			"The knowledge graph does not say who directed it. It may be Oslo.",
			"The knowledge graph does not say who directed it. It may be Oslo."},
		{"a text about knowledge graphs is marked", "the knowledge graph films", false,
			"The knowledge graph of Google began in 2012.",
			"The knowledge graph films does not say. The model's own answer: The knowledge graph of Google began in " +
				"2012."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := kgtext.MarkOwnAnswer(c.sources, c.plural, c.text)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if again := kgtext.MarkOwnAnswer(c.sources, c.plural, got); again != got {
				t.Errorf("marked twice: %q", again)
			}
			if back := kgtext.TrimOwnAnswer(got); back != c.text {
				t.Errorf("trimmed to %q, want %q", back, c.text)
			}
		})
	}
	const other = "Nobody does not say. The model's own answer: x"
	if got := kgtext.TrimOwnAnswer(other); got != other {
		t.Errorf("a text that was not marked is trimmed to %q", got)
	}
}
