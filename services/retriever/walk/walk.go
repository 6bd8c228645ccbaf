// Package walk follows relation paths from topic entities (Ger §3.2), suggests paths that exist,
// and finds the shortest walks between entities.
package walk

import (
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Step is one hop of a relation path.
type Step struct {
	Relation store.RelationID
	// Inverse reports that the hop goes from object to subject.
	Inverse bool
}

func (s Step) direction() store.Direction {
	if s.Inverse {
		return store.In
	}
	return store.Out
}

// undoes reports whether a hop reverses the one before it.
func (s Step) undoes(before Step) bool {
	return s.Relation == before.Relation && s.Inverse != before.Inverse
}

// Walk is a reasoning path: its entities, the topic entity first, one more than there are steps.
type Walk struct {
	Entities []store.EntityID
	// Validity is the validity of the last mediator on the walk that has one, else nil.
	Validity *store.Validity
}
