package neo4j

import (
	"context"
	"slices"
	"sync"
	"time"
)

// nameIndex knows which labels have an index on the property that names their
// nodes. It looks again now and then: an index may be made at any time.
type nameIndex struct {
	mutex  sync.Mutex
	looked time.Time
	pairs  [][2]string
}

const (
	// lookAgain is how long what is known of indexes counts.
	lookAgain = time.Minute
	// maxIndexes are used for a name.
	maxIndexes = 8
)

// of lists labels and properties, quoted.
func (n *nameIndex) of(ctx context.Context, g *graph) ([][2]string, error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if !n.looked.IsZero() && time.Since(n.looked) < lookAgain {
		return n.pairs, nil
	}
	rows, err := g.reader.read(ctx, nameIndexes, nil)
	if err != nil {
		return nil, err
	}
	n.pairs = nil
	for _, row := range rows {
		label, property := text(row[0]), text(row[1])
		naming, ok := g.NameProperties[label]
		if !ok {
			naming = g.NameProperty
		}
		if property != naming || len(g.Labels) > 0 && !slices.Contains(g.Labels, label) || len(n.pairs) == maxIndexes {
			continue
		}
		quotedLabel, plainLabel := quoted(label)
		quotedProperty, plainProperty := quoted(property)
		if plainLabel && plainProperty {
			n.pairs = append(n.pairs, [2]string{quotedLabel, quotedProperty})
		}
	}
	n.looked = time.Now()
	return n.pairs, nil
}
