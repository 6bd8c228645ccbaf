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
		{"tomato", "tomatoes", true}, {"dish", "Dishes", true}, {"box", "boxes", true}, {"shoe", "shoes", true},
		{"car", "care", false},
	} {
		if kgtext.SameNoun(c.a, c.b) != c.want || kgtext.SameNoun(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}

func TestCountriesAreKnownByTheirCommonNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Portugal": "Portugal", "the Netherlands": "Netherlands",
		"united states": "United States", "U.S.": "United States", "USA": "United States", "Naples": "", "": ""} {
		if got := kgtext.CountryOf(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestCountriesAreOthersUnlessOneIsInTheOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Wales", "Ireland", true}, {"Wales", "the UK", false}, {"USA", "United States", false},
		{"Wales", "Orla", false},
		{"Scotland", "Wales", true},
	} {
		if kgtext.AreOtherCountries(c.a, c.b) != c.want || kgtext.AreOtherCountries(c.b, c.a) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
}
