package store

import (
	"context"
	"regexp"

	"github.com/triplemesh/triplemesh/internal/kgtext"
)

// Alias is another name of an entity.
type Alias struct {
	Entity EntityID
	Name   string
}

// NamedEntity is an entity as a snapshot is built from it.
type NamedEntity struct {
	Name string
	Kind Kind
	// Key is its IRI or key in the source; empty for literals, and if it is the name.
	Key string
}

// DatedTriple is a triple, when it holds and where it comes from.
type DatedTriple struct {
	Triple
	Validity Validity
	// Provenance is empty if the graph is loaded without. It does not tell triples apart.
	Provenance string
}

// Stream returns values in their order. It may be called more than once, one
// call after another; the first error of emit ends it and is returned.
type Stream[T any] func(ctx context.Context, emit func(T) error) error

// SliceStream returns the values of a slice.
func SliceStream[T any](values []T) Stream[T] {
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
// entity returned as the fourth gets EntityID 3. It is read as a stream, so
// that what does not fit in memory can be stored.
type Content struct {
	// Entities are distinct, in byte order of their names.
	Entities Stream[NamedEntity]
	// Relations are names, distinct, in byte order.
	Relations []string
	// Triples are distinct, in the order of subject, relation, object and validity.
	Triples Stream[DatedTriple]
	// Aliases are further names by which entities are found, in any order.
	Aliases Stream[Alias]
	// EntityCount and TripleCount say how many there are.
	EntityCount, TripleCount int

	// Encoder names the model that makes the vectors, Dims their length; both
	// are zero if triples and relations have none.
	Encoder string
	Dims    int
	// TripleVectors are those of the triples, in their order, each of length 1; emit does not keep
	// the slice. It is nil for a snapshot whose triples have none, and is called once.
	TripleVectors Stream[[]float32]
	// RelationVectors has one vector per relation, each of length 1; nil if Dims is 0.
	RelationVectors [][]float32
}

// Writer builds snapshots.
type Writer interface {
	// Write builds a snapshot under the next number and leaves the active one
	// as it is. After an error nothing of it remains.
	Write(ctx context.Context, kg string, content Content) (Info, error)
}

// ListedSnapshot is a snapshot in a list.
type ListedSnapshot struct {
	Info
	// Active reports whether questions read this snapshot.
	Active bool
	// Shared reports whether it belongs to another tenant that shares it with all.
	Shared bool
}

// Catalogue lists and switches snapshots.
type Catalogue interface {
	// List names the snapshots by knowledge graph, newest first; an empty kg
	// lists all. If a named one does not exist the error is ErrNotFound. A damaged
	// snapshot may be listed by its name alone.
	List(ctx context.Context, kg string) ([]ListedSnapshot, error)
	// Activate makes a snapshot the one that questions read.
	Activate(ctx context.Context, kg string, number uint64) (Info, error)
	// Rollback activates the snapshot that was active before; ErrNoPrevious if there is none.
	Rollback(ctx context.Context, kg string) (Info, error)
	// Drop removes one snapshot that is not active, or with number 0 the knowledge graph whole, and
	// returns the numbers removed. The base of another snapshot stays: ErrBase. Snapshots that are
	// open stay readable until they are released.
	Drop(ctx context.Context, kg string, number uint64) ([]uint64, error)
	// Verify reads a snapshot whole, with all that it is based on, and compares
	// every checksum; number 0 means the active one. It returns the bytes read.
	Verify(ctx context.Context, kg string, number uint64) (Info, int64, error)
}

// Store is the interface of a backend.
type Store interface {
	Opener
	Writer
	Changer
	Exporter
	Catalogue
}

// namePattern is the pattern of valid names. A valid name cannot address another directory or
// collection; backends begin the names of their own files with another character.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// CheckName returns ErrInvalid if the name is not a valid knowledge graph name.
func CheckName(kg string) error {
	if !namePattern.MatchString(kg) {
		return Invalidf("a name is a lower-case letter and up to 62 of a-z, 0-9, _ and -")
	}
	return nil
}

// ClassifyName classifies an entity by its name alone, if the source did not say: Freebase machine
// ids such as "m.04j60kc" and "g.11b6jbqm_w" are mediators, all else is an entity.
func ClassifyName(name string) Kind {
	if kgtext.IsMachineID(name) {
		return Mediator
	}
	return Entity
}
