package walk

import (
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

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
