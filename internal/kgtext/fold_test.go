package kgtext_test

import (
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"case, spacing and punctuation do not count", " St.  John's\tRiver!", "st john s river"},
		{"letters of any script and their marks stay", "Zoë Ωmega का", "zoë ωmega का"},
		{"numbers stay", "Soyuz-25 ½", "soyuz 25 ½"},
		{"signs alone are nothing", "… — !", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := kgtext.Fold(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		name, text, mention string
		want                bool
	}{
		{"a name in the text is mentioned", "Is K2 in Nepal?", "K2", true},
		{"case and punctuation do not count", "is mount-everest high?", "Mount Everest", true},
		{"a part of a word is not a mention", "Is Nepalese spoken there?", "Nepal", false},
		{"a name without letters and digits is never mentioned", "Is it ?", "?", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := kgtext.Mentions(tt.text, tt.mention); got != tt.want {
				t.Errorf("Mentions(%q, %q) = %v, want %v", tt.text, tt.mention, got, tt.want)
			}
		})
	}
}
