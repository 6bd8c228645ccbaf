package score

import (
	"testing"
	"unicode/utf8"
)

func TestNormalise(t *testing.T) {
	t.Parallel()
	// What the reference implementation gives for each, run under Python 3.11.
	for _, c := range []struct{ name, in, want string }{
		{"an article goes and case is folded", "The Beatles", "beatles"},
		{"articles go wherever they stand alone", "An an THE the A a end", "end"},
		{"an article within a word stays", "Thea Anna", "thea anna"},
		{"punctuation goes without leaving a space", "U.S.A.", "usa"},
		{"a hyphen joins", "O'Neil-Smith", "oneilsmith"},
		{"a hyphen makes a word of an article", "the-atre the", "theatre"},
		{"an underscore is punctuation", "the_end", "theend"},
		{"a dash outside ASCII stays", "Mexican–American War", "mexican–american war"},
		{"an article beside a quotation mark goes", "“The Who”", "“ who”"},
		{"white space is squeezed", "a  b\tc\n d", "b c d"},
		{"every kind of white space is squeezed", "x\x1cy\u0085z\u00a0w\u2003v", "x y z w v"},
		{"a sigma that ends a word has its own form", "ΟΔΟΣ", "οδος"},
		{"a dotted capital I becomes two characters", "İstanbul", "i\u0307stanbul"},
		{"a combining mark ends a word", "a\u0301 b", "\u0301 b"},
		{"an article after a combining mark stands alone", "x\u0301a y", "x\u0301 y"},
		{"accented letters are not articles", "naïve à la carte", "naïve à la carte"},
		{"digits beside an article keep it", "A1 the2 3an", "a1 the2 3an"},
		{"raised digits beside an article keep it", "²a a²", "²a a²"},
		{"letters of any script keep an article", "日本 a 日本the", "日本 日本the"},
		{"the padding token loses its brackets only", "<pad> Paris <pad>", "pad paris pad"},
		{"sharp s stays", "Straße", "straße"},
		{"an article alone leaves nothing", "A", ""},
		{"punctuation alone leaves nothing", "!!!", ""},
		{"nothing stays nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Normalise(c.in); got != c.want {
				t.Errorf("Normalise(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{"The Beatles", "x\u0301a the ΟΔΟΣ", "İ <pad> a\xffthe", "\x1c\u2003"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Normalise(s)
		if twice := Normalise(once); twice != once {
			t.Errorf("Normalise is not settled after one pass: %q, then %q", once, twice)
		}
		if !utf8.ValidString(once) {
			t.Errorf("Normalise(%q) = %q is not UTF-8", s, once)
		}
		if squeeze(once) != once {
			t.Errorf("Normalise(%q) = %q has white space to squeeze", s, once)
		}
	})
}
