// Package walk follows relation paths from topic entities (Ger §3.2), suggests paths that exist,
// and finds the shortest walks between entities.
package walk

import (
	"cmp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Step is one hop of a relation path.
type Step struct {
	Relation store.RelationID
	// Inverse reports that the hop goes from object to subject.
	Inverse bool
}

// Direction is that of the edges it follows.
func (s Step) Direction() store.Direction {
	if s.Inverse {
		return store.In
	}
	return store.Out
}

// Reverse returns the hop back.
func (s Step) Reverse() Step { return Step{Relation: s.Relation, Inverse: !s.Inverse} }

// CompareSteps orders steps by relation, then outgoing ones first.
func CompareSteps(a, b Step) int {
	return cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Direction(), b.Direction()))
}

// Walk is a reasoning path: its entities, the topic entity first, one more than there are steps.
type Walk struct {
	Entities []store.EntityID
	// Validity is the validity of the last mediator on the walk that has one, else nil.
	Validity *store.Validity
}

// NamedStep is a hop with its relation's name.
type NamedStep struct {
	Relation string
	Inverse  bool
}

// DescribePath returns the words that a path is compared with a question by: those of its
// relations, with "inverse" before an inverse one.
func DescribePath(steps []NamedStep) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			b.WriteByte(' ')
		}
		if s.Inverse {
			b.WriteString("inverse ")
		}
		b.WriteString(kgtext.VerbaliseRelationInContext(s.Relation))
	}
	return b.String()
}

func describeSteps(snap Snapshot, steps []Step) string {
	named := make([]NamedStep, len(steps))
	for i, s := range steps {
		named[i] = NamedStep{snap.RelationName(s.Relation), s.Inverse}
	}
	return DescribePath(named)
}
