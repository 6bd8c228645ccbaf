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
	slot  int
	kind  valueKind
	fresh bool // declared by the clause that is being analysed
}

// scope holds the variables between two WITHs; a row has a slot for each, and
// for each unnamed element of a pattern.
type scope struct {
	names map[string]*binding
	width int
}

func newScope() *scope { return &scope{names: map[string]*binding{}} }

func (s *scope) slot() int {
	s.width++
	return s.width - 1
}

func (s *scope) declare(name string, k valueKind) *binding {
	b := &binding{slot: s.slot(), kind: k, fresh: true}
	if name != "" {
		s.names[name] = b
	}
	return b
}

func (s *scope) sortedNames() []string { return slices.Sorted(maps.Keys(s.names)) }
