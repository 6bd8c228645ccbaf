package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Dump reads all that a snapshot shows and writes it down by names, so that
// two snapshots of the same content have the same dump whatever numbers they
// use. Damage comes out as an error.
func Dump(ctx context.Context, s store.Snapshot) (dump string, err error) {
	var b strings.Builder
	err = store.Guard(func() error {
		info := s.Info()
		fmt.Fprintln(&b, info.Triples, "triples", info.Entities, "entities", info.Encoder, info.Dims,
			info.TripleVectors)
		for e := range s.Entities() {
			if err := dumpEntity(ctx, &b, s, e); err != nil {
				return err
			}
		}
		var relations []string
		for id := range store.RelationID(info.Relations) {
			if n := s.RelationTriples(id); n > 0 {
				relations = append(relations, fmt.Sprintf("%s: %d triples, %.4f\n", s.RelationName(id), n,
					s.RelationVector(id)))
			}
		}
		slices.Sort(relations)
		b.WriteString(strings.Join(relations, ""))
		return nil
	})
	return b.String(), err
}

func dumpEntity(ctx context.Context, b *strings.Builder, s store.Snapshot, e store.EntityID) error {
	name := s.EntityName(e)
	if id, ok, err := s.Entity(ctx, name); err != nil || !ok || id != e {
		return fmt.Errorf("entity %q is %d, its name leads to %d, %v: %w", name, e, id, ok, err)
	}
	key := s.EntityKey(e)
	if key != "" && key != name {
		if id, ok, err := s.EntityByKey(ctx, key); err != nil || !ok || id != e {
			return fmt.Errorf("entity %q is %d, its key %q leads to %d, %v: %w", name, e, key, id, ok, err)
		}
	}
	fmt.Fprintf(b, "%s, key %q, kind %d, degrees %d and %d\n", name, key, s.Kind(e), s.Degree(e, store.Out),
		s.Degree(e, store.In))
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := s.Edges(ctx, []store.EntityID{e}, dir, nil)
		if err != nil {
			return err
		}
		if err := compareCounts(ctx, s, e, dir, lists[0]); err != nil {
			return err
		}
		var lines []string
		for _, edge := range lists[0] {
			line := fmt.Sprintf("  %d %s | %s %v %q\n", dir, s.RelationName(edge.Relation), s.EntityName(edge.Entity),
				s.Validity(edge.Triple), s.Provenance(edge.Triple))
			lines = append(lines, line)
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
		if err := dumpVectors(ctx, b, s, lists[0], lines); err != nil {
			return err
		}
	}
	same, err := s.Match(ctx, store.Fold(name))
	if err != nil {
		return err
	}
	alike, err := s.Fuzzy(ctx, store.Fold(name), 0.9, 1000)
	if err != nil {
		return err
	}
	for _, m := range alike {
		same = append(same, m.Entity)
	}
	names := entityNames(s, same)
	slices.Sort(names)
	fmt.Fprintf(b, "  is called like %q\n", names)
	return nil
}

// compareCounts returns an error if counting or sampling an entity's edges disagrees with
// reading them.
func compareCounts(ctx context.Context, s store.Snapshot, e store.EntityID, dir store.Direction,
	edges []store.Edge) error {
	counts, err := s.Relations(ctx, e, dir)
	if err != nil {
		return err
	}
	for _, c := range counts {
		if c.Edges == 0 || c.Edges > len(edges) || edges[0].Relation != c.Relation ||
			edges[c.Edges-1].Relation != c.Relation {
			return fmt.Errorf("%s: %d edges of relation %d are counted, the next are %v", s.EntityName(e), c.Edges,
				c.Relation, edges)
		}
		sampled, err := s.Sample(ctx, e, dir, c.Relation, 1<<20)
		if err != nil {
			return err
		}
		if !slices.Equal(sampled, edges[:c.Edges]) {
			return fmt.Errorf("%s: sampling all edges of relation %d gives %v, want %v", s.EntityName(e), c.Relation,
				sampled, edges[:c.Edges])
		}
		if edges = edges[c.Edges:]; len(edges) > 0 && edges[0].Relation == c.Relation {
			return fmt.Errorf("%s: more than %d edges have relation %d", s.EntityName(e), c.Edges, c.Relation)
		}
	}
	if len(edges) > 0 {
		return fmt.Errorf("%s: no count tells of %v", s.EntityName(e), edges)
	}
	return nil
}

// dumpVectors writes what the vectors of some triples have in common with a
// query.
func dumpVectors(ctx context.Context, b *strings.Builder, s store.Snapshot, edges []store.Edge, lines []string) error {
	if !s.Info().TripleVectors {
		return nil
	}
	query := make([]float32, s.Info().Dims)
	for i := range query {
		query[i] = float32(i%7) / 10
	}
	var ids []store.TripleID
	for _, e := range edges {
		ids = append(ids, e.Triple)
	}
	scores, err := s.ScoreTriples(ctx, [][]float32{query}, ids)
	if err != nil {
		return err
	}
	slices.Sort(scores[0])
	fmt.Fprintf(b, "  %d lines, %.4f\n", len(lines), scores[0])
	return nil
}
