// Package nary reads facts of more than two parts, which graphs tell over a
// mediator: who held which office, and from when to when.
package nary

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Reader is what is needed of a snapshot.
type Reader interface {
	EntityName(store.EntityID) string
	Kind(store.EntityID) store.Kind
	RelationName(store.RelationID) string
	Edges(ctx context.Context, entities []store.EntityID, dir store.Direction, relations []store.RelationID) ([][]store.Edge, error)
}

// Validity tells when the facts of mediators hold, by those of their edges
// that lead to a date and are named for a beginning or an end, such as
// "government.government_position_held.from". Mediators without such an edge
// are left out. Of several beginnings the first counts, of several ends the
// last. Only edges from a mediator are read: dates are objects.
func Validity(ctx context.Context, snap Reader, mediators []store.EntityID) (map[store.EntityID]store.Validity, error) {
	if len(mediators) == 0 {
		return nil, nil
	}
	lists, err := snap.Edges(ctx, mediators, store.Out, nil)
	if err != nil {
		return nil, err
	}
	valid := map[store.EntityID]store.Validity{}
	said := map[store.RelationID]bound{}
	for i, m := range mediators {
		for _, e := range lists[i] {
			b, seen := said[e.Relation]
			if !seen {
				b = boundOf(snap.RelationName(e.Relation))
				said[e.Relation] = b
			}
			if b == none {
				continue
			}
			name := snap.EntityName(e.Entity)
			if len(name) > longest || (snap.Kind(e.Entity) != store.Date && !IsDate(name)) {
				continue
			}
			v := valid[m]
			switch {
			case b == start && (v.Start == "" || before(name, v.Start)):
				v.Start = name
			case b == end && (v.End == "" || before(v.End, name)):
				v.End = name
			}
			valid[m] = v
		}
	}
	return valid, nil
}
