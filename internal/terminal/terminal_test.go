package terminal

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCleanShowsWhatWouldSteer(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain words stay", "Ada Lovelace", "Ada Lovelace"},
		{"words of every script stay", "مريم 紫式部 Ελένη é", "مريم 紫式部 Ελένη é"},
		{"an escape code is written out", "\x1b[2J\x1b]8;;http://x\x07", `\u001b[2J\u001b]8;;http://x\u0007`},
		{"so is a control character of the other hundred", "\u009b31m", `\u009b31m`},
		{"so is what turns the direction", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"so is what hides", "pay\u200bpal\ufeff", `pay\u200bpal\ufeff`},
		{"so is a tag", "\U000e0041", `\U000e0041`},
		{"bytes that are no text become one character", "\x9b31m", "\ufffd31m"},
		{"line breaks become spaces", "a\r\nb\tc\u2028d", "a  b c d"},
		{"a joiner stays within a word that needs it", "می\u200cخواهم", "می\u200cخواهم"},
		{"a joiner stays within an emoji", "👩\u200d🚀", "👩\u200d🚀"},
		{"a joiner between letters of ASCII is written out", "a\u200cb", `a\u200cb`},
		{"a joiner at the end is written out", "می\u200c", `می\u200c`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Clean(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := Text("a\x1b\n\tb"); got != "a\\u001b\n b" {
		t.Errorf("of several lines it makes %q", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "Ada", "\x1b]8;;javascript:x\x07", "\u202e\u200d\x9b\x80", "می\u200cخواهم",
		"a\nb\r\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := Clean(s)
		if Text(strings.ReplaceAll(clean, "\n", "")) != clean || Clean(clean) != clean {
			t.Errorf("%q is cleaned to %q, which is not clean", s, clean)
		}
		for _, text := range []string{clean, Text(s)} {
			if !utf8.ValidString(text) {
				t.Errorf("%q is cleaned to %q, which is no text", s, text)
			}
			for _, r := range text {
				if r != '\n' && r != '\u200c' && r != '\u200d' && r != unicode.ReplacementChar && !unicode.IsPrint(r) {
					t.Errorf("%q lets %U through", s, r)
				}
			}
		}
		if strings.Contains(clean, "\n") {
			t.Errorf("%q takes two lines", clean)
		}
		for _, line := range Wrap(clean, 20) {
			if Columns(line) > 20 && utf8.RuneCountInString(line) > 1 {
				t.Errorf("%q is longer than 20 columns", line)
			}
		}
	})
}

func TestWhatGoesIntoAPipeIsLeftAsItIs(t *testing.T) {
	var out bytes.Buffer
	w := Cleaner(&out)
	if _, err := w.Write([]byte("\x1b[1m")); err != nil || out.String() != "\x1b[1m" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if Raw(w) != &out {
		t.Error("the writer below is another one")
	}
}

func TestWhatGoesToATerminalIsCleaned(t *testing.T) {
	var out bytes.Buffer
	w := cleaner{&out}
	n, err := w.Write([]byte("a\x1b]0;x\x07\tb\n"))
	if want := `a\u001b]0;x\u0007    b` + "\n"; n != 10 || err != nil || out.String() != want {
		t.Errorf("got %d, %v, %q, want %q", n, err, out.String(), want)
	}
	if Raw(w) != &out {
		t.Error("the writer below is another one")
	}
}

func TestTheLocaleSaysWhetherThereIsUnicode(t *testing.T) {
	for _, test := range []struct {
		name string
		env  []string
		want bool
	}{
		{"UTF-8 in LANG", []string{"LANG=de_DE.UTF-8"}, true},
		{"utf8 without its hyphen", []string{"LANG=C.utf8"}, true},
		{"Latin-1", []string{"LANG=de_DE.ISO-8859-1"}, false},
		{"nothing is the locale C", nil, false},
		{"LC_ALL goes before LANG", []string{"LANG=de_DE.UTF-8", "LC_ALL=C"}, false},
		{"an empty LC_ALL is not set", []string{"LANG=C.UTF-8", "LC_ALL="}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := speaksUnicode(test.env); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := Detect(f, []string{"TERM=xterm"}); got.Live || got.Colour || !got.Unicode || got.Width() != 80 ||
		IsTerminal(f) || IsTerminal("text") {
		t.Errorf("got %+v", got)
	}
}

func TestRegionIsDrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	columns := 40
	r := NewRegion(&Terminal{Out: &out, Live: true, Columns: func() int { return columns }})
	drawn := func(want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("it writes %q, want %q", got, want)
		}
		out.Reset()
	}
	r.Draw("one")
	drawn("one")
	r.Draw("one")
	drawn("") // nothing changed
	r.Draw("two", "\x1b[1mlines\x1b[0m")
	drawn("\r\x1b[Ktwo\n\x1b[1mlines\x1b[0m")
	r.Draw(strings.Repeat("x", 39))
	drawn("\r\x1b[1A\x1b[J" + strings.Repeat("x", 39))
	columns = 20 // the line takes two rows now
	r.Clear()
	drawn("\r\x1b[1A\x1b[J")
	r.Clear()
	drawn("")
}

func TestNothingIsDrawnElsewhere(t *testing.T) {
	var out bytes.Buffer
	r := NewRegion(Detect(&out, nil))
	r.Draw("one")
	r.Clear()
	if out.Len() != 0 {
		t.Errorf("it writes %q", out.String())
	}
}

func TestPadCountsColumns(t *testing.T) {
	for text, want := range map[string]string{"ab": "ab    ", "紫式": "紫式  ", "a long name": "a lon…", "紫式部日記": "紫式… "} {
		if got := Pad(text, 6); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if n := Columns("\x1b[31m紫\x1b[0mb\x1b["); n != 3 {
		t.Errorf("it counts %d columns", n)
	}
	if got := Wrap("wide 紫式部日記 and \x41 more", 10); !slices.Equal(got, []string{"wide", "紫式部日記", "and A more"}) {
		t.Errorf("it wraps to %q", got)
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       []string
	}{
		{"short text stays", "a b", 10, []string{"a b"}},
		{"nothing is one empty line", "", 10, []string{""}},
		{"it breaks at a space", "the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"a long word is cut", "abcdefghijklmnop", 10, []string{"abcdefghij", "klmnop"}},
		{"an indent is no place to break", "    abcdefghijk", 10, []string{"    abcdef", "ghijk"}},
		{"wide characters count twice", "知識知識知識", 8, []string{"知識知識", "知識"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Wrap(tt.text, tt.width); strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
