package verbalise_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"case, spacing and punctuation do not count", " St.  John's\tRiver!", "st john s river"},
		{"letters of any script and their marks stay", "Zoë Ωmega का", "zoë ωmega का"},
		{"numbers stay", "Soyuz-25 ½", "soyuz 25 ½"},
		{"signs alone are nothing", "… — !", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verbalise.Fold(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
