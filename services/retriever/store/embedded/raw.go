package embedded

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Raw is what a whole snapshot holds beside what store.Snapshot shows, for
// those who copy it into another store. Snapshots of this package implement it.
type Raw interface {
	// NameIndex returns the two files of the name index; see package nameindex.
	NameIndex() (names, holders []byte, err error)
	// TripleVector returns the vector of a triple.
	TripleVector(store.TripleID) ([]float32, error)
}

var _ Raw = (*snapshot)(nil)

// NameIndex implements Raw. The bytes are valid until the snapshot is released.
func (s *snapshot) NameIndex() (names, holders []byte, err error) {
	if !s.plain() {
		return nil, nil, s.wrap("copy", fmt.Errorf("a delta has several name indexes; compact it first: %w", store.ErrInvalid))
	}
	err = store.Guard(func() error {
		index := s.layers[0].names
		names, holders = index.names.Bytes(0, index.names.Len()), index.holders.Bytes(0, index.holders.Len())
		return nil
	})
	return names, holders, s.wrap("copy", err)
}

// TripleVector implements Raw. The vector is valid until the snapshot is
// released.
func (s *snapshot) TripleVector(id store.TripleID) ([]float32, error) {
	l := s.layerOf(int(id), firstTriple)
	if l.vectors == nil {
		return nil, s.wrap("copy", store.ErrNoVectors)
	}
	v, err := l.vectors.Row(uint32(int(id) - l.first.FirstTriple))
	return v, s.wrap("copy", err)
}
