package weaviate

import (
	"context"
	"fmt"
	"iter"
	"slices"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What one request asks for, and how many are under way for one reader.
const (
	lookupBatch = 2000
	scoreBatch  = 1000
	maxParallel = 6
)

// readFact reads a row of a triple, and remembers it with both its ends.
func (g *graph) readFact(r *resultRow) (store.TripleID, fact, error) {
	id := store.TripleID(r.number(propTriple, g.entry.Triples))
	f := fact{Triple: store.Triple{
		Subject:  store.EntityID(r.number(propSubject, g.entry.Entities)),
		Relation: store.RelationID(r.number(propRelation, g.entry.Relations)),
		Object:   store.EntityID(r.number(propObject, g.entry.Entities)),
	}}
	if g.entry.Dated {
		v := r.exactTexts(propValidity, 2)
		f.validity = store.Validity{Start: v[0], End: v[1]}
	}
	f.provenance = r.optionalText(propProvenance)
	texts := 2
	if g.entry.Keyed {
		texts = 4
	}
	ends, names := r.exactInts(propEnds, 6), append(r.exactTexts(propNames, texts), "", "")
	if r.err != nil {
		return 0, fact{}, r.err
	}
	g.entities.Add(f.Subject, parseEntity(names[0], names[2], ends[:3]))
	g.entities.Add(f.Object, parseEntity(names[1], names[3], ends[3:]))
	g.facts.Add(id, f)
	return id, f, nil
}

func parseEntity(name, key string, numbers []int64) entity {
	return entity{name: name, key: key, kind: store.Kind(numbers[0]), degree: [2]int32{int32(numbers[1]),
		int32(numbers[2])}}
}

// forEachRow reads rows by their numbers, some at a time, and hands them out one
// after the other. Every number must come once.
func forEachRow[N ~uint32](ctx context.Context, g *graph, part, property string, ids []N, size int, vectors bool,
	take func(N, *resultRow) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	chunks := slices.Collect(slices.Chunk(ids, size))
	answers := make([][]*resultRow, len(chunks))
	for i, chunk := range chunks {
		group.Go(func() error {
			return g.retryAtHigherLevels(func(level pb.ConsistencyLevel) (err error) {
				if answers[i], err = g.rowsAt(ctx, part, anyOf(property, chunk), len(chunk), vectors,
					level); err != nil {
					return err
				}
				return checkRows(answers[i], property, chunk)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, rows := range answers {
		for _, r := range rows {
			if err := take(N(r.int(property)), r); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRows reports whether rows are those of the numbers, each once.
func checkRows[N ~uint32](rows []*resultRow, property string, ids []N) error {
	wanted := make(map[N]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for _, r := range rows {
		n := N(r.int(property))
		if r.err != nil {
			return r.err
		}
		if !wanted[n] {
			return fmt.Errorf("collection %s answers with number %d, which was not requested, or repeated: %w",
				r.collection, n, store.ErrCorrupt)
		}
		delete(wanted, n)
	}
	for n := range wanted {
		return fmt.Errorf("number %d of %q and %d others are missing: %w", n, property, len(wanted)-1, store.ErrCorrupt)
	}
	return nil
}

func (g *graph) readEntities(ctx context.Context, ids []store.EntityID) (map[store.EntityID]entity, error) {
	found, missing := splitCached(g.entities, ids)
	err := forEachRow(ctx, g, entitiesPart, propNumber, missing, lookupBatch, false,
		func(id store.EntityID, r *resultRow) error {
			e, _, err := g.entityRow(r)
			found[id] = e
			return err
		})
	return found, err
}

// entityRow reads a row of an entity, and remembers it.
func (g *graph) entityRow(r *resultRow) (entity, *shape, error) {
	id := store.EntityID(r.number(propNumber, g.entry.Entities))
	numbers := r.exactInts(propShape, 5)
	e := entity{name: r.text(propName), key: r.optionalText(propKey), kind: store.Kind(numbers[0]),
		degree: [2]int32{int32(numbers[2]), int32(numbers[4])}}
	s := &shape{first: [2]int64{numbers[1], numbers[3]}}
	for dir, property := range []string{propOut, propIn} {
		pairs, sum := r.ints(property), 0
		for i := 0; i+1 < len(pairs); i += 2 {
			s.relations[dir] = append(s.relations[dir], store.RelationEdges{Relation: store.RelationID(pairs[i]),
				Edges: int(pairs[i+1])})
			sum += int(pairs[i+1])
		}
		if sum != int(e.degree[dir]) {
			r.corruptf("counts %d edges %q, want %d", sum, property, e.degree[dir])
		}
	}
	if r.err != nil {
		return entity{}, nil, r.err
	}
	g.entities.Add(id, e)
	g.shapes.Add(id, s)
	return e, s, nil
}

func (g *graph) shape(ctx context.Context, id store.EntityID) (*shape, error) {
	if s, ok := g.shapes.Get(id); ok {
		return s, nil
	}
	var found *shape
	err := forEachRow(ctx, g, entitiesPart, propNumber, []store.EntityID{id}, 1, false,
		func(_ store.EntityID, r *resultRow) (err error) {
			_, found, err = g.entityRow(r)
			return err
		})
	return found, err
}

// readFacts returns triples by their numbers.
func (g *graph) readFacts(ctx context.Context, ids []store.TripleID) (map[store.TripleID]fact, error) {
	found, missing := splitCached(g.facts, ids)
	err := forEachRow(ctx, g, factsPart, propTriple, missing, lookupBatch, false,
		func(id store.TripleID, r *resultRow) error {
			_, f, err := g.readFact(r)
			found[id] = f
			return err
		})
	return found, err
}

// must is for methods that return no error and have no context: a read that fails is a Fault.
func (s *snapshot) must(err error) {
	if err != nil {
		panic(&store.Fault{Err: s.wrap("read", err)})
	}
}

func (s *snapshot) entity(id store.EntityID) entity {
	if e, ok := s.graph.entities.Get(id); ok {
		return e
	}
	found, err := s.graph.readEntities(context.Background(), []store.EntityID{id})
	s.must(err)
	return found[id]
}

func (s *snapshot) fact(id store.TripleID) fact {
	if f, ok := s.graph.facts.Get(id); ok {
		return f
	}
	found, err := s.graph.readFacts(context.Background(), []store.TripleID{id})
	s.must(err)
	return found[id]
}

func (s *snapshot) Triple(id store.TripleID) store.Triple { return s.fact(id).Triple }

func (s *snapshot) Validity(id store.TripleID) store.Validity {
	if !s.graph.entry.Dated {
		return store.Validity{}
	}
	return s.fact(id).validity
}

func (s *snapshot) Provenance(id store.TripleID) string {
	if !s.graph.entry.Provenance {
		return ""
	}
	return s.fact(id).provenance
}

func (s *snapshot) EntityKey(id store.EntityID) string {
	e := s.entity(id)
	return store.KeyOrName(e.key, e.kind, func() string { return e.name })
}

func (s *snapshot) EntityName(id store.EntityID) string { return s.entity(id).name }

func (s *snapshot) Kind(id store.EntityID) store.Kind { return s.entity(id).kind }

func (s *snapshot) Degree(id store.EntityID, dir store.Direction) int {
	return int(s.entity(id).degree[dir])
}

// Entities implements store.Names. It reads ahead.
func (s *snapshot) Entities() iter.Seq[store.EntityID] {
	return func(yield func(store.EntityID) bool) {
		n := store.EntityID(s.graph.entry.Entities)
		for from := store.EntityID(0); from < n; from += scoreBatch {
			var ids []store.EntityID
			for id := from; id < min(from+scoreBatch, n); id++ {
				ids = append(ids, id)
			}
			_, err := s.graph.readEntities(context.Background(), ids)
			s.must(err)
			for _, id := range ids {
				if !yield(id) {
					return
				}
			}
		}
	}
}
