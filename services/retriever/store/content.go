package store

import "context"

// Alias is another name of an entity.
type Alias struct {
	Entity EntityID
	Name   string
}

// Named is an entity as a snapshot is built from it.
type Named struct {
	Name string
	Kind Kind
}

// Dated is a triple and when it holds.
type Dated struct {
	Triple
	Validity Validity
}

// Each hands out values in their order. It may be called more than once, one
// call after another; the first error of emit ends it and is returned.
type Each[T any] func(ctx context.Context, emit func(T) error) error

// All hands out the values of a slice.
func All[T any](values []T) Each[T] {
	return func(ctx context.Context, emit func(T) error) error {
		for i, v := range values {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	}
}

// Content is what a snapshot is built from. Its order gives the numbers: the
// entity handed out as the fourth gets EntityID 3. It is read as a stream, so
// that what does not fit in memory can be stored.
type Content struct {
	// Entities are distinct, in byte order of their names.
	Entities Each[Named]
	// Relations are names, distinct, in byte order.
	Relations []string
	// Triples are distinct, in the order of subject, relation, object and
	// validity.
	Triples Each[Dated]
	// Aliases are further names by which entities are found, in any order.
	Aliases Each[Alias]
	// EntityCount and TripleCount say how many there are.
	EntityCount, TripleCount int

	// Encoder names the model that makes the vectors, Dims their length; both
	// are zero where triples and relations have none.
	Encoder string
	Dims    int
	// TripleVectors are those of the triples, in their order, each of length 1;
	// emit does not keep the slice. It is nil for a snapshot whose triples have
	// none, and is called once.
	TripleVectors Each[[]float32]
	// RelationVectors has one vector per relation, each of length 1; nil where
	// Dims is 0.
	RelationVectors [][]float32
}
