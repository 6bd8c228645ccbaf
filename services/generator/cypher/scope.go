package cypher

import (
	"maps"
	"slices"
)

// valueKind is what the analyser knows of a value before the query runs.
type valueKind uint8

const (
	anyKind valueKind = iota
	nodeKind
	relKind
	relsKind // of a pattern of variable length
	pathKind
	nullKind
	boolKind
	numberKind
	textKind
	listKind
	nodesKind // a list that holds a node
	mapKind
)

// isEntityFree reports whether such a value can be neither node nor
// relationship.
func (k valueKind) isEntityFree() bool { return k >= boolKind }

// binding is a variable in scope.
type binding struct {
	slot   int
	kind   valueKind
	clause int // by number, that declared it; 0 for an outer one
}

// scope holds the variables between two WITHs; a row has a slot for each, and
// for each unnamed element of a pattern.
type scope struct {
	names  map[string]*binding
	width  int
	clause int // number of the clause that is being analysed, from 1
}

func newScope() *scope { return &scope{names: map[string]*binding{}} }

func (s *scope) slot() int {
	s.width++
	return s.width - 1
}

func (s *scope) declare(name string, k valueKind) *binding {
	b := &binding{slot: s.slot(), kind: k, clause: s.clause}
	if name != "" {
		s.names[name] = b
	}
	return b
}

// fresh reports whether the clause that is being analysed declared a variable.
func (s *scope) fresh(b *binding) bool { return b.clause == s.clause && b.clause > 0 }

func (s *scope) sortedNames() []string { return slices.Sorted(maps.Keys(s.names)) }
