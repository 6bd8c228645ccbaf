package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestNounsAreTheSameWhateverTheirNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"movie", "movies", true}, {"city", "Cities", true}, {"lake", "lakes", true}, {"class", "class", true},
		{"count", "county", false}, {"counts", "county", false}, {"state", "city", false}, {"", "lake", false},
	} {
		if kgtext.SameNoun(c.a, c.b) != c.want || kgtext.SameNoun(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}
