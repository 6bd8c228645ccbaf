package store

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Difference is a triple that one of two snapshots holds.
type Difference struct {
	Fact
	// Added says that the later one holds it.
	Added bool
}

// Diff hands out the triples that only one of two snapshots holds, in byte
// order of their subjects. It holds the triples of one subject at a time.
func Diff(ctx context.Context, from, to Snapshot, emit func(Difference) error) error {
	return Guard(func() error {
		before, stopBefore := subjects(from)
		defer stopBefore()
		after, stopAfter := subjects(to)
		defer stopAfter()
		old, hasOld := before()
		young, hasYoung := after()
		for n := 0; hasOld || hasYoung; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			order := 0
			switch {
			case !hasYoung:
				order = -1
			case hasOld:
				order = strings.Compare(old.name, young.name)
			default:
				order = 1
			}
			var gone, come []Fact
			var err error
			if order <= 0 {
				if gone, err = factsOf(ctx, from, old); err != nil {
					return err
				}
				old, hasOld = before()
			}
			if order >= 0 {
				if come, err = factsOf(ctx, to, young); err != nil {
					return err
				}
				young, hasYoung = after()
			}
			if err := diffFacts(gone, come, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

// subject is an entity that has triples, with its name.
type subject struct {
	id   EntityID
	name string
}

func subjects(s Snapshot) (next func() (subject, bool), stop func()) {
	return iter.Pull(func(yield func(subject) bool) {
		for id := range s.Entities() {
			if s.Degree(id, Out) > 0 && !yield(subject{id, s.EntityName(id)}) {
				return
			}
		}
	})
}

// factsOf lists a subject's facts in order.
func factsOf(ctx context.Context, s Snapshot, of subject) ([]Fact, error) {
	lists, err := s.Edges(ctx, []EntityID{of.id}, Out, nil)
	if err != nil {
		return nil, err
	}
	facts := make([]Fact, len(lists[0]))
	for i, e := range lists[0] {
		facts[i] = Fact{
			Subject:  Named{Name: of.name, Kind: s.Kind(of.id)},
			Relation: s.RelationName(e.Relation),
			Object:   Named{Name: s.EntityName(e.Entity), Kind: s.Kind(e.Entity)},
			Validity: s.Validity(e.Triple),
		}
	}
	slices.SortFunc(facts, compareFacts)
	return facts, nil
}

// compareFacts orders facts of one subject; kinds do not tell facts apart.
func compareFacts(a, b Fact) int {
	for _, pair := range [][2]string{
		{a.Relation, b.Relation}, {a.Object.Name, b.Object.Name}, {a.Validity.Start, b.Validity.Start}, {a.Validity.End, b.Validity.End},
	} {
		if order := strings.Compare(pair[0], pair[1]); order != 0 {
			return order
		}
	}
	return 0
}

func diffFacts(gone, come []Fact, emit func(Difference) error) error {
	for len(gone) > 0 || len(come) > 0 {
		order := 0
		switch {
		case len(come) == 0:
			order = -1
		case len(gone) == 0:
			order = 1
		default:
			order = compareFacts(gone[0], come[0])
		}
		var err error
		if order < 0 {
			err = emit(Difference{Fact: gone[0]})
		} else if order > 0 {
			err = emit(Difference{Fact: come[0], Added: true})
		}
		if err != nil {
			return err
		}
		if order <= 0 {
			gone = gone[1:]
		}
		if order >= 0 {
			come = come[1:]
		}
	}
	return nil
}
