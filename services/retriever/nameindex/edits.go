package nameindex

import (
	"unicode/utf8"

	"github.com/blevesearch/vellum"
)

// mostEdits is the largest distance that is searched for.
const mostEdits = 2

// edits is a Levenshtein automaton: it accepts the keys that differ from a text
// by at most so many insertions, deletions, replacements and swaps of
// neighbouring characters. It is worked out while the transducer is walked: a
// state is the depth of the walk, and holds the band of the dynamic programme's
// row around the diagonal. So nothing is allocated per state, where vellum's
// own automata take a megabyte for a name of two words. It only works for a
// walk in depth, as vellum.FSTIterator does.
type edits struct {
	text []rune
	most int
	// rows has a row per byte of the path, row 0 before the first.
	rows []row
}

// row is where the walk stands after some bytes of a key.
type row struct {
	// chars counts the whole characters so far, char is the last of them.
	chars int
	char  rune
	// before is the row before that character.
	before int
	// partial holds the bytes of a character that is not whole yet, size of
	// them.
	partial [utf8.UTFMax]byte
	size    int
	// band[k] is the distance between the characters so far and the first
	// chars-most+k of the text.
	band [2*mostEdits + 1]uint8
}

// far is more than any distance looked for.
const far = mostEdits + 1

func newEdits(text string, most int) *edits {
	e := &edits{text: []rune(text), most: most}
	e.rows = make([]row, 1, len(text)+8)
	for k := range e.rows[0].band {
		e.rows[0].band[k] = far
		if at := k - most; at >= 0 && at <= most && at <= len(e.text) {
			e.rows[0].band[k] = uint8(at)
		}
	}
	return e
}

var _ vellum.Automaton = (*edits)(nil)

// dead is the state from which nothing is accepted.
const dead = -1

// Start implements vellum.Automaton.
func (e *edits) Start() int { return 0 }

// CanMatch implements vellum.Automaton.
func (e *edits) CanMatch(state int) bool { return state != dead }

// WillAlwaysMatch implements vellum.Automaton.
func (e *edits) WillAlwaysMatch(int) bool { return false }

// IsMatch implements vellum.Automaton.
func (e *edits) IsMatch(state int) bool {
	return state != dead && e.rows[state].size == 0 && e.distance(state) <= e.most
}

// distance is the distance of a whole key to the text.
func (e *edits) distance(state int) int {
	r := &e.rows[state]
	k := len(e.text) - r.chars + e.most
	if k < 0 || k > 2*e.most {
		return far
	}
	return int(r.band[k])
}

// Accept implements vellum.Automaton.
func (e *edits) Accept(state int, b byte) int {
	if state == dead {
		return dead
	}
	next := state + 1
	if next == len(e.rows) {
		e.rows = append(e.rows, row{})
	}
	from, to := &e.rows[state], &e.rows[next]
	*to = *from
	if from.size == 0 {
		to.before = state
	}
	to.partial[from.size] = b
	to.size = from.size + 1
	if to.size < utf8.UTFMax && !utf8.FullRune(to.partial[:to.size]) {
		return next
	}
	char, _ := utf8.DecodeRune(to.partial[:to.size])
	to.size = 0
	if !e.step(to, char) {
		return dead
	}
	return next
}

// step works out a row from the one before its character, and tells whether
// any distance in it is near enough.
func (e *edits) step(to *row, char rune) bool {
	above := &e.rows[to.before]
	to.chars, to.char = above.chars+1, char
	near := false
	for k := range 2*e.most + 1 {
		// at is how many characters of the text this distance is to.
		at := to.chars - e.most + k
		best := uint8(far)
		if at < 0 || at > len(e.text) {
			to.band[k] = best
			continue
		}
		if k+1 <= 2*e.most {
			best = min(best, above.band[k+1]+1)
		}
		if k > 0 {
			best = min(best, to.band[k-1]+1)
		}
		if at > 0 {
			same := uint8(1)
			if e.text[at-1] == char {
				same = 0
			}
			best = min(best, above.band[k]+same)
			if at > 1 && above.chars > 0 && e.text[at-2] == char && e.text[at-1] == above.char {
				best = min(best, e.rows[above.before].band[k]+1)
			}
		}
		to.band[k] = min(best, far)
		near = near || int(best) <= e.most
	}
	return near
}
