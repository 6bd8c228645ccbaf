package store

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
)

// Fact is a triple by names.
type Fact struct {
	Subject  NamedEntity
	Relation string
	Object   NamedEntity
	Validity Validity
	// Provenance is where it comes from; it does not tell facts apart.
	Provenance string
}

// NamedAlias is a further name of an entity that is itself named.
type NamedAlias struct {
	Entity, Name string
	// Key is the entity's, as NamedEntity.Key.
	Key string
}

// Delta is what a snapshot adds to another one and takes from it. It is held in
// memory: a change that is nearly as large as its base is better loaded whole.
type Delta struct {
	// Base is the snapshot to change; 0 means the active one.
	Base uint64
	// Removed are facts to take away; what is not there is skipped. One without validity takes away
	// all that have its names, whatever theirs is. Kinds do not matter.
	Removed []Fact
	// Added are facts to hold, also where Removed names them; what is there
	// already is skipped. An existing entity keeps its kind. An entity with a key is
	// the base's entity of that key, whatever their names; one that is new and shares
	// its name with another entity that has a key gets its own key behind it.
	Added []Fact
	// Aliases count where a fact names their entity.
	Aliases []NamedAlias

	// Encoder must be that of the base.
	Encoder string
	// TripleVectors returns the vectors of the added facts that the base does
	// not hold, in their order, each of length 1; emit does not keep the slice.
	// It is called if the triples of the base have vectors.
	TripleVectors func(ctx context.Context, facts []Fact, emit func([]float32) error) error
	// RelationVectors returns those of relations that the base does not have. It
	// is called if the relations of the base have vectors.
	RelationVectors func(ctx context.Context, relations []string) ([][]float32, error)
}

// DeltaResult is a snapshot and how it differs from its base.
type DeltaResult struct {
	Info
	// Added and Removed count triples.
	Added, Removed int
}

// Changer builds snapshots from others.
type Changer interface {
	// WriteDelta builds a snapshot that holds only what differs from its base, which it needs from
	// then on. The active one stays as it is. The error is ErrTooManyDeltas if the base is on top
	// of too many others, ErrInvalid if nothing changes or nothing remains.
	WriteDelta(ctx context.Context, kg string, delta Delta) (DeltaResult, error)
	// Compact builds a whole snapshot of what a delta shows, with its vectors; a whole one is
	// returned as it is. Number 0 means the active one, which stays as it is.
	Compact(ctx context.Context, kg string, number uint64) (Info, error)
}

// Exporter moves snapshots between stores.
type Exporter interface {
	// Export writes a snapshot as one file, whole even if it is a delta;
	// number 0 means the active one.
	Export(ctx context.Context, kg string, number uint64, to io.Writer) error
	// Import builds the snapshot that Export wrote, under the next number, and leaves the active
	// one as it is; an empty kg takes the name it had. The error is ErrCorrupt if the file is cut
	// off or damaged, ErrFormat if a newer program wrote it, ErrInvalid if it is none. After an
	// error nothing remains.
	Import(ctx context.Context, kg string, from io.Reader) (Info, error)
}

// Difference is a triple that one of two snapshots holds.
type Difference struct {
	Fact
	// Added reports whether the later one holds it.
	Added bool
}

// Diff returns the triples that only one of two snapshots holds, in byte
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

// subjectEntity is an entity that has triples, with its name.
type subjectEntity struct {
	id   EntityID
	name string
}

func subjects(s Snapshot) (next func() (subjectEntity, bool), stop func()) {
	return iter.Pull(func(yield func(subjectEntity) bool) {
		for id := range s.Entities() {
			if s.Degree(id, Out) > 0 && !yield(subjectEntity{id, s.EntityName(id)}) {
				return
			}
		}
	})
}

// factsOf lists a subject's facts in order.
func factsOf(ctx context.Context, s Snapshot, of subjectEntity) ([]Fact, error) {
	lists, err := s.Edges(ctx, []EntityID{of.id}, Out, nil)
	if err != nil {
		return nil, err
	}
	facts := make([]Fact, len(lists[0]))
	for i, e := range lists[0] {
		facts[i] = Fact{
			Subject:  NamedEntity{Name: of.name, Kind: s.Kind(of.id), Key: s.EntityKey(of.id)},
			Relation: s.RelationName(e.Relation),
			Object:   NamedEntity{Name: s.EntityName(e.Entity), Kind: s.Kind(e.Entity), Key: s.EntityKey(e.Entity)},
			Validity: s.Validity(e.Triple), Provenance: s.Provenance(e.Triple),
		}
	}
	slices.SortFunc(facts, compareFacts)
	return facts, nil
}

// compareFacts orders facts of one subject; kinds do not tell facts apart.
func compareFacts(a, b Fact) int {
	for _, pair := range [][2]string{
		{a.Relation, b.Relation}, {a.Object.Name, b.Object.Name}, {a.Validity.Start, b.Validity.Start},
		{a.Validity.End, b.Validity.End},
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
