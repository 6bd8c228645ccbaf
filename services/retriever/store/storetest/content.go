package storetest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Content puts facts and aliases (entity, alias) into the form that stores
// take.
func Content(t testing.TB, facts []store.Fact, aliases ...[2]string) store.Content {
	t.Helper()
	named := map[string]store.NamedEntity{}
	relations := []string{}
	for _, f := range facts {
		named[f.Subject.Name], named[f.Object.Name] = f.Subject, f.Object
		relations = append(relations, f.Relation)
	}
	slices.Sort(relations)
	c := store.Content{Relations: slices.Compact(relations), Encoder: Encoder().Name(), Dims: Dims}
	names := slices.Sorted(maps.Keys(named))
	var entities []store.NamedEntity
	for _, name := range names {
		entities = append(entities, named[name])
	}
	c.Entities, c.EntityCount = store.SliceStream(entities), len(entities)
	triples := []store.DatedTriple{}
	for _, f := range facts {
		subject, _ := slices.BinarySearch(names, f.Subject.Name)
		relation, _ := slices.BinarySearch(c.Relations, f.Relation)
		object, _ := slices.BinarySearch(names, f.Object.Name)
		triples = append(triples, store.DatedTriple{
			Triple: store.Triple{Subject: store.EntityID(subject), Relation: store.RelationID(relation),
				Object: store.EntityID(object)},
			Validity: f.Validity, Provenance: f.Provenance,
		})
	}
	slices.SortFunc(triples, compareDated)
	triples = slices.CompactFunc(triples, func(a, b store.DatedTriple) bool { return compareDated(a, b) == 0 })
	c.Triples, c.TripleCount = store.SliceStream(triples), len(triples)
	var known []store.Alias
	for _, a := range aliases {
		if id, ok := slices.BinarySearch(names, a[0]); ok {
			known = append(known, store.Alias{Entity: store.EntityID(id), Name: a[1]})
		}
	}
	c.Aliases = store.SliceStream(known)
	c.RelationVectors = relationVectors(t, c.Relations)
	c.TripleVectors = func(ctx context.Context, emit func([]float32) error) error {
		for _, d := range triples {
			text := kgtext.VerbaliseTriple(names[d.Subject], c.Relations[d.Relation], names[d.Object])
			vectors, err := Encoder().Encode(ctx, []string{text})
			if err != nil {
				return err
			}
			if err := emit(vectors[0]); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

func compareDated(a, b store.DatedTriple) int {
	for _, order := range []int{
		int(a.Subject) - int(b.Subject), int(a.Relation) - int(b.Relation), int(a.Object) - int(b.Object),
		strings.Compare(a.Validity.Start, b.Validity.Start), strings.Compare(a.Validity.End, b.Validity.End),
	} {
		if order != 0 {
			return order
		}
	}
	return 0
}

func relationVectors(t testing.TB, relations []string) [][]float32 {
	t.Helper()
	phrases := make([]string, len(relations))
	for i, r := range relations {
		phrases[i] = kgtext.VerbaliseRelationInContext(r)
	}
	return encode(t, phrases...)
}

// Delta is a change with the vectors of the suite's encoder.
func Delta(removed, added []store.Fact, aliases ...store.NamedAlias) store.Delta {
	return store.Delta{
		Removed: removed, Added: added, Aliases: aliases, Encoder: Encoder().Name(),
		TripleVectors: func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
			for _, f := range facts {
				vectors, err := Encoder().Encode(ctx,
					[]string{kgtext.VerbaliseTriple(f.Subject.Name, f.Relation, f.Object.Name)})
				if err != nil {
					return err
				}
				if err := emit(vectors[0]); err != nil {
					return err
				}
			}
			return nil
		},
		RelationVectors: func(ctx context.Context, relations []string) ([][]float32, error) {
			phrases := make([]string, len(relations))
			for i, r := range relations {
				phrases[i] = kgtext.VerbaliseRelationInContext(r)
			}
			return Encoder().Encode(ctx, phrases)
		},
	}
}
