package cypher

import (
	"cmp"
	"slices"
)

// note is a diagnostic before its line and column are known.
type note struct {
	offset  int32
	message string
}

// notes collects what Decode forgives, each once. What the lexer forgives
// counts only where the reader then found code; prose is full of apostrophes.
type notes struct {
	list   []note
	seen   map[note]bool
	lexed  []note // ordered by offset
	placed int    // how many of lexed were looked at
}

func (n *notes) add(offset int32, message string) {
	one := note{offset, message}
	if len(n.list) < maxDiagnostics && !n.seen[one] {
		n.seen[one] = true
		n.list = append(n.list, one)
	}
}

// code takes over what the lexer forgave between two offsets.
func (n *notes) code(from, to int32) {
	for ; n.placed < len(n.lexed) && n.lexed[n.placed].offset < to; n.placed++ {
		if one := n.lexed[n.placed]; one.offset >= from {
			n.add(one.offset, one.message)
		}
	}
}

// sorted gives the diagnostics in the order of the text.
func (n *notes) sorted(s *source) []Diagnostic {
	var all []Diagnostic
	for _, one := range n.list {
		line, column := s.position(int(one.offset))
		all = append(all, Diagnostic{line, column, one.message})
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}
