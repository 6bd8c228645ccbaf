package walk

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// MediatorReader is the part of a snapshot that MediatorValidity reads.
type MediatorReader interface {
	EntityName(store.EntityID) string
	Kind(store.EntityID) store.Kind
	RelationName(store.RelationID) string
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction,
		relations []store.RelationID) ([][]store.Edge, error)
}

// MediatorValidity returns when the facts of mediators hold: facts of more than two parts, such as
// who held which office from when to when. It reads the mediators' outgoing edges to a date whose
// relation names a start or an end, such as "government.government_position_held.from". Mediators
// without such an edge are omitted. The earliest start and the latest end count.
func MediatorValidity(ctx context.Context, snap MediatorReader,
	mediators []store.EntityID) (map[store.EntityID]store.Validity, error) {
	if len(mediators) == 0 {
		return nil, nil
	}
	lists, err := snap.Edges(ctx, mediators, store.Out, nil)
	if err != nil {
		return nil, err
	}
	valid := map[store.EntityID]store.Validity{}
	said := map[store.RelationID]timeBound{}
	for i, m := range mediators {
		for _, e := range lists[i] {
			b, seen := said[e.Relation]
			if !seen {
				b = parseTimeBound(snap.RelationName(e.Relation))
				said[e.Relation] = b
			}
			if b == noBound {
				continue
			}
			name := snap.EntityName(e.Entity)
			if len(name) > maxDateLength || (snap.Kind(e.Entity) != store.Date && !IsDate(name)) {
				continue
			}
			v := valid[m]
			switch {
			case b == startBound && (v.Start == "" || isBefore(name, v.Start)):
				v.Start = name
			case b == endBound && (v.End == "" || isBefore(v.End, name)):
				v.End = name
			}
			valid[m] = v
		}
	}
	return valid, nil
}
