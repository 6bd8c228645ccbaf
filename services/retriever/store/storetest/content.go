package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Content puts facts and aliases (entity, alias) into the form that stores
// take.
func Content(t testing.TB, facts []store.Fact, aliases ...[2]string) store.Content {
	t.Helper()
	kinds := map[string]store.Kind{}
	relations := []string{}
	for _, f := range facts {
		kinds[f.Subject.Name], kinds[f.Object.Name] = f.Subject.Kind, f.Object.Kind
		relations = append(relations, f.Relation)
	}
	slices.Sort(relations)
	c := store.Content{Relations: slices.Compact(relations), Encoder: Encoder().Name(), Dims: Dims}
	var entities []store.Named
	var names []string
	for name, kind := range kinds {
		entities = append(entities, store.Named{Name: name, Kind: kind})
		names = append(names, name)
	}
	slices.SortFunc(entities, func(a, b store.Named) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(names)
	c.Entities, c.EntityCount = store.All(entities), len(entities)
	triples := []store.Dated{}
	for _, f := range facts {
		subject, _ := slices.BinarySearch(names, f.Subject.Name)
		relation, _ := slices.BinarySearch(c.Relations, f.Relation)
		object, _ := slices.BinarySearch(names, f.Object.Name)
		triples = append(triples, store.Dated{
			Triple:   store.Triple{Subject: store.EntityID(subject), Relation: store.RelationID(relation), Object: store.EntityID(object)},
			Validity: f.Validity,
		})
	}
	slices.SortFunc(triples, compareDated)
	triples = slices.Compact(triples)
	c.Triples, c.TripleCount = store.All(triples), len(triples)
	var known []store.Alias
	for _, a := range aliases {
		if id, ok := slices.BinarySearch(names, a[0]); ok {
			known = append(known, store.Alias{Entity: store.EntityID(id), Name: a[1]})
		}
	}
	c.Aliases = store.All(known)
	c.RelationVectors = relationVectors(t, c.Relations)
	c.TripleVectors = func(ctx context.Context, emit func([]float32) error) error {
		for _, d := range triples {
			text := verbalise.Triple(names[d.Subject], c.Relations[d.Relation], names[d.Object])
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

func compareDated(a, b store.Dated) int {
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
		phrases[i] = verbalise.RelationInContext(r)
	}
	return encode(t, phrases...)
}

// Delta is a change with the vectors of the suite's encoder.
func Delta(removed, added []store.Fact, aliases ...store.Nickname) store.Delta {
	return store.Delta{
		Removed: removed, Added: added, Aliases: aliases, Encoder: Encoder().Name(),
		TripleVectors: func(ctx context.Context, facts []store.Fact, emit func([]float32) error) error {
			for _, f := range facts {
				vectors, err := Encoder().Encode(ctx, []string{verbalise.Triple(f.Subject.Name, f.Relation, f.Object.Name)})
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
				phrases[i] = verbalise.RelationInContext(r)
			}
			return Encoder().Encode(ctx, phrases)
		},
	}
}
