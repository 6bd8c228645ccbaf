package store

import (
	"context"
	"io"
)

// Fact is a triple by names.
type Fact struct {
	Subject  Named
	Relation string
	Object   Named
	Validity Validity
}

// Nickname is a further name of an entity that is itself named.
type Nickname struct {
	Entity, Name string
}

// Delta is what a snapshot adds to another one and takes from it. It is held in
// memory: a change that is nearly as large as its base is better loaded whole.
type Delta struct {
	// Base is the snapshot to change; 0 takes the active one.
	Base uint64
	// Removed are facts to take away; what is not there is passed over. One
	// without validity takes away all that have its names, whatever theirs is.
	// Kinds do not matter.
	Removed []Fact
	// Added are facts to hold, also where Removed names them; what is there
	// already is passed over. An entity that is there keeps its kind.
	Added []Fact
	// Aliases count where a fact names their entity.
	Aliases []Nickname

	// Encoder must be that of the base.
	Encoder string
	// TripleVectors hands out the vectors of the added facts that the base does
	// not hold, in their order, each of length 1; emit does not keep the slice.
	// It is called where the triples of the base have vectors.
	TripleVectors func(ctx context.Context, facts []Fact, emit func([]float32) error) error
	// RelationVectors returns those of relations that the base does not have. It
	// is called where the base's have vectors.
	RelationVectors func(ctx context.Context, relations []string) ([][]float32, error)
}

// Changed is a snapshot and how it differs from its base.
type Changed struct {
	Info
	// Added and Removed count triples.
	Added, Removed int
}

// Changer builds snapshots from others.
type Changer interface {
	// WriteDelta builds a snapshot that holds only what differs from its base,
	// which it needs from then on. The active one stays as it is. The error is
	// ErrDeep where the base lies on too many others, ErrInvalid where nothing
	// changes or nothing is left.
	WriteDelta(ctx context.Context, kg string, delta Delta) (Changed, error)
	// Compact builds a whole snapshot of what a delta shows, with its vectors;
	// a whole one is returned as it is. Number 0 takes the active one, which
	// stays as it is.
	Compact(ctx context.Context, kg string, number uint64) (Info, error)
}

// Exporter moves snapshots between stores.
type Exporter interface {
	// Export writes a snapshot as one file, whole also where it is a delta;
	// number 0 takes the active one.
	Export(ctx context.Context, kg string, number uint64, to io.Writer) error
	// Import builds the snapshot that Export wrote, under the next number, and
	// leaves the active one as it is; an empty kg takes the name it had. The
	// error is ErrCorrupt where the file is cut off or damaged, ErrFormat where a
	// newer program wrote it, ErrInvalid where it is none. After an error
	// nothing remains.
	Import(ctx context.Context, kg string, from io.Reader) (Info, error)
}
