// Package guard watches a model's answer while it comes: it keeps back what is
// no part of it, and ends one that has lost its way. What it looks for are
// loops, the model's own instructions, thoughts spoken aloud, marks of chat
// templates, and more than was asked for.
package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reason is why an answer is ended before the model ends it.
type Reason string

// The reasons.
const (
	// Whole: there is none.
	Whole Reason = ""
	// Stop: the model went on beyond the end of its turn.
	Stop Reason = "stop"
	// Length: there is more than was asked for.
	Length Reason = "length"
	// Repetition: the same came again and again.
	Repetition Reason = "repetition"
	// Leak: it repeats what it was told.
	Leak Reason = "prompt_leak"
)

// Config says what an answer may be.
type Config struct {
	// Most is the most bytes of an answer.
	Most int
	// Told is what the model was told.
	Told Told
	// Tools lets calls of tools stand in the text.
	Tools bool
}

// Guard watches one answer. It is for one goroutine.
type Guard struct {
	cfg   Config
	turn  turn
	loop  loop
	leak  *leak
	text  strings.Builder // without thoughts and marks
	shown int             // bytes of text that were handed out
	end   Reason
	cut   int // of text, once ended
}

// New returns a Guard.
func New(cfg Config) *Guard {
	return &Guard{cfg: cfg, leak: newLeak(cfg.Told), turn: turn{tools: cfg.Tools}}
}

// step is how much text is looked at in one go.
const step = 64

// Add takes the next piece of an answer and returns what may be shown of what
// has come so far. Once there is a reason to end, there is nothing more.
func (g *Guard) Add(piece string) (show string, end Reason) {
	piece = strings.Map(plain, piece)
	for g.end == Whole && piece != "" {
		n := min(step, len(piece))
		for n < len(piece) && !utf8.RuneStart(piece[n]) {
			n++
		}
		g.add(g.turn.add(piece[:n]))
		piece = piece[n:]
		if g.end == Whole && g.turn.over {
			g.finish(g.text.Len(), Stop)
		}
	}
	return g.show(), g.end
}

// plain takes out control characters, which no answer has a use for.
func plain(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
		return -1
	}
	return r
}

// Close takes what was kept back, and returns what may still be shown. It is
// called where the answer ended by itself.
func (g *Guard) Close() (show string, end Reason) {
	if g.end == Whole {
		g.add(g.turn.close())
	}
	if at := g.leak.close(g.text.String()); g.end == Whole && at >= 0 {
		g.finish(at, Leak)
	}
	if g.end == Whole {
		g.finish(g.text.Len(), Whole)
		show := g.text.String()[g.shown:]
		g.shown = g.text.Len()
		return show, Whole
	}
	return g.show(), g.end
}

// Text is the answer so far, or up to where it was ended.
func (g *Guard) Text() string {
	text := g.text.String()
	if g.end != Whole {
		text = text[:g.cut]
	}
	return unopened(text)
}

// Called tells whether the answer was ended by a call of a tool.
func (g *Guard) Called() bool { return g.turn.called }

func (g *Guard) add(more string) {
	if more == "" {
		return
	}
	g.text.WriteString(more)
	text := g.text.String()
	if at := g.leak.add(text); at >= 0 {
		g.finish(at, Leak)
	} else if at := g.loop.add(text); at >= 0 {
		g.finish(at, Repetition)
	} else if len(text) > g.cfg.Most {
		g.finish(g.cfg.Most, Length)
	}
}

func (g *Guard) finish(at int, why Reason) {
	text := g.text.String()
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	g.cut, g.end = at, why
}

// show hands out what is new and sure.
func (g *Guard) show() string {
	to := g.text.Len()
	if g.end != Whole {
		to = g.cut
	} else if held := g.leak.held(); held >= 0 {
		to = held
	}
	if to <= g.shown {
		return ""
	}
	show := g.text.String()[g.shown:to]
	g.shown = to
	return show
}
