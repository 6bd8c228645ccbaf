package walk

import (
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// Named is one hop by its relation's name.
type Named struct {
	Relation string
	Inverse  bool
}

// Words are what a path is called when it is compared with a question: the
// words of its relations, "inverse" before one that is gone backwards.
func Words(steps []Named) string {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			b.WriteByte(' ')
		}
		if s.Inverse {
			b.WriteString("inverse ")
		}
		b.WriteString(verbalise.RelationInContext(s.Relation))
	}
	return b.String()
}

func words(snap Snapshot, steps []Step) string {
	named := make([]Named, len(steps))
	for i, s := range steps {
		named[i] = Named{snap.RelationName(s.Relation), s.Inverse}
	}
	return Words(named)
}
