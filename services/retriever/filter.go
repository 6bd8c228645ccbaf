package retriever

import (
	"context"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// filterOf finds the names of a request's filter. Those that the snapshot does
// not hold match nothing, so a filter of such names alone lets nothing through.
func filterOf(ctx context.Context, snap store.Snapshot, f *retrieverv1.Filter) (store.Filter, error) {
	subjects, err := numbersOf(ctx, f.GetSubjects(), snap.Entity)
	if err != nil {
		return store.Filter{}, err
	}
	relations, err := numbersOf(ctx, f.GetRelations(), snap.Relation)
	return store.Filter{Subjects: subjects, Relations: relations, At: f.GetAt()}, err
}

// numbersOf finds names; none at all are nil, which takes everything.
func numbersOf[ID any](ctx context.Context, names []string, find func(context.Context, string) (ID, bool, error)) ([]ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ids := []ID{}
	for _, name := range names {
		id, ok, err := find(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
