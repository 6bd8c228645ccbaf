// Package terminal knows the terminal that output goes to: how wide it is and
// what it can show. It keeps what others wrote, be it a knowledge graph, a
// model or a user, from steering it.
package terminal

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Terminal is a place that lines are written to.
type Terminal struct {
	// Out takes what is written, escape codes included.
	Out io.Writer
	// Live says that lines can be drawn again: it is a terminal, and no dumb one.
	Live bool
	// Colour says that colours are shown and wanted.
	Colour bool
	// Unicode says that more than ASCII is shown.
	Unicode bool
	// Columns asks for the width; nil where there is none.
	Columns func() int
}

// Of is the terminal behind a writer, as the environment describes it: TERM,
// NO_COLOR, and LC_ALL, LC_CTYPE or LANG. What is no terminal, such as a pipe,
// takes Unicode and nothing else.
func Of(w io.Writer, env []string) *Terminal {
	t := &Terminal{Out: Raw(w), Unicode: true}
	f, ok := t.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t
	}
	t.Live = value(env, "TERM") != "dumb"
	t.Colour = t.Live && value(env, "NO_COLOR") == ""
	t.Unicode = speaksUnicode(env)
	t.Columns = func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return columns
	}
	return t
}

// Is tells whether a writer leads to a terminal.
func Is(w any) bool {
	if writer, ok := w.(io.Writer); ok {
		w = Raw(writer)
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

const (
	// usual is the width of a terminal that does not say.
	usual = 80
	// narrowest is the least width that is believed.
	narrowest = 20
)

// Width is how many columns there are now: it changes with the window.
func (t *Terminal) Width() int {
	if t.Columns != nil {
		if n := t.Columns(); n > 0 {
			return max(n, narrowest)
		}
	}
	return usual
}

// Pick is the first text where Unicode is shown, and else the second.
func (t *Terminal) Pick(unicode, ascii string) string {
	if t.Unicode {
		return unicode
	}
	return ascii
}

// speaksUnicode reads the locale as libc does: the first of the variables that
// is set counts, and none of them is the locale C.
func speaksUnicode(env []string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(value(env, name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

// value is the last of a variable's values; empty where it is not set.
func value(env []string, name string) (last string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			last = v
		}
	}
	return last
}
