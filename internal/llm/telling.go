package llm

import "strings"

// telling hands an answer on while it comes, over several attempts at it: what
// was told once is not told again. Where a later attempt says something else,
// nothing more is told; the whole answer comes at the end.
type telling struct {
	out   func(string)
	said  string
	at    int  // how much of what was said this attempt has said
	other bool // this attempt says something else
}

// again begins an attempt. Without anybody to tell, there is nothing to do.
func (t *telling) again(plain func(string)) func(string) {
	if t == nil {
		return plain
	}
	t.at, t.other = 0, false
	return t.tell
}

func (t *telling) tell(piece string) {
	if t.other {
		return
	}
	known := t.said[t.at:]
	if !strings.HasPrefix(piece, known) {
		t.other = !strings.HasPrefix(known, piece)
		t.at += len(piece)
		return
	}
	t.at += len(piece)
	if piece = piece[len(known):]; piece != "" {
		t.said += piece
		t.out(piece)
	}
}
