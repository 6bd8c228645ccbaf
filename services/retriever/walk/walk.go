// Package walk follows relation paths from topic entities (Ger §3.2) and
// suggests those that exist.
package walk

import (
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Step is one hop of a relation path.
type Step struct {
	Relation store.RelationID
	// Inverse says that the hop goes from object to subject.
	Inverse bool
}

func (s Step) direction() store.Direction {
	if s.Inverse {
		return store.In
	}
	return store.Out
}

// back tells whether a hop undoes the one before it.
func (s Step) back(before Step) bool {
	return s.Relation == before.Relation && s.Inverse != before.Inverse
}

// Walk is a reasoning path: the entities passed, the topic entity first. There
// is one more of them than there are steps.
type Walk struct {
	Entities []store.EntityID
	// Validity is when its facts hold, where a mediator that it passes says so;
	// else nil. Of several mediators the last counts: it tells of the end.
	Validity *store.Validity
}
