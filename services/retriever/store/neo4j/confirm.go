package neo4j

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// confirmBatch is the number of facts one statement asks for.
const confirmBatch = 2000

// confirm says which of some indexed triples Neo4j still holds: one statement
// for all relationships and one for all literals that were not met before.
func (s *snapshot) confirm(ctx context.Context, triples []store.TripleID) (map[store.TripleID]bool, error) {
	there := make(map[store.TripleID]bool, len(triples))
	var ask []store.TripleID
	s.live.mutex.Lock()
	for _, t := range triples {
		if is, known := s.live.confirmed[t]; known {
			there[t] = is
		} else if !s.indexedTriple(t) {
			there[t] = true // Met in Neo4j.
		} else {
			ask = append(ask, t)
		}
	}
	s.live.mutex.Unlock()
	slices.Sort(ask)
	ask = slices.Compact(ask)
	for some := range slices.Chunk(ask, confirmBatch) {
		if err := s.confirmSome(ctx, some, there); err != nil {
			return nil, err
		}
	}
	lost := 0
	s.live.mutex.Lock()
	for _, t := range ask {
		s.live.confirmed[t] = there[t]
		if !there[t] {
			lost++
		}
	}
	s.live.mutex.Unlock()
	s.countStale(ctx, lost)
	return there, nil
}

func (s *snapshot) confirmSome(ctx context.Context, triples []store.TripleID, there map[store.TripleID]bool) error {
	var relationships, literals []any
	for i, id := range triples {
		t := s.local.Triple(id)
		subject, err := s.index.node(t.Subject)
		if err != nil {
			return err
		}
		object, err := s.index.node(t.Object)
		if err != nil {
			return err
		}
		types := s.byRelation[t.Relation]
		switch {
		case subject == noNode:
		case object != noNode && len(types) > 0:
			relationships = append(relationships, map[string]any{"i": i, "s": subject, "o": object, "types": types})
		case s.literal(t.Relation):
			fact := map[string]any{"i": i, "s": subject, "p": nil, "l": nil}
			if p, ok := s.byProperty[t.Relation]; ok {
				fact["p"] = p
			} else {
				fact["l"] = s.byLabel[t.Object]
			}
			literals = append(literals, fact)
		}
	}
	if len(relationships) > 0 {
		rows, err := s.graph.reader.query(ctx, s.graph.confirm(),
			s.graph.parameters(map[string]any{"facts": relationships}))
		if err != nil {
			return err
		}
		if err := s.takeRelationships(ctx, rows, triples, there); err != nil {
			return err
		}
	}
	if len(literals) > 0 {
		rows, err := s.graph.reader.query(ctx, s.graph.confirmLiterals(),
			s.graph.parameters(map[string]any{"facts": literals}))
		if err != nil {
			return err
		}
		return s.takeLiterals(ctx, rows, triples, there)
	}
	return nil
}

func (s *snapshot) takeRelationships(ctx context.Context, rows [][]any, triples []store.TripleID,
	there map[store.TripleID]bool) error {
	for _, row := range rows {
		id := triples[number(row[0])]
		t := s.local.Triple(id)
		validity, bad := neo4j.ParseValidity(row[3], row[4])
		if bad != nil || validity != s.local.Validity(id) {
			continue
		}
		subject, err := s.isUnchanged(ctx, t.Subject, row[1])
		if err != nil {
			return err
		}
		object, err := s.isUnchanged(ctx, t.Object, row[2])
		if err != nil {
			return err
		}
		if subject && object {
			there[id] = true
		}
	}
	return nil
}

func (s *snapshot) takeLiterals(ctx context.Context, rows [][]any, triples []store.TripleID,
	there map[store.TripleID]bool) error {
	for _, row := range rows {
		id := triples[number(row[0])]
		t := s.local.Triple(id)
		same, err := s.isUnchanged(ctx, t.Subject, row[1])
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		labelled, _ := row[3].(bool)
		is := s.local.EntityName(t.Object)
		there[id] = labelled || slices.ContainsFunc(neo4j.Literals(row[2]),
			func(l store.NamedEntity) bool { return l.Name == is })
	}
	return nil
}

// isUnchanged reports whether the node of an indexed entity still has its indexed name.
func (s *snapshot) isUnchanged(ctx context.Context, e store.EntityID, name any) (bool, error) {
	id, err := s.index.node(e)
	if err != nil {
		return false, err
	}
	is, ok, err := s.entity(ctx, id, name)
	return ok && is == e, err
}
