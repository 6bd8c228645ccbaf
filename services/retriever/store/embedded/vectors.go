package embedded

import (
	"fmt"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// vectorFiles are the files of triples' vectors, by the columns of a scan.
var vectorFiles = [4]string{vector.Full: vectorsFile, vector.Codes: codesFile, vector.Scales: scalesFile,
	vector.Bits: bitsFile}

// vectors views n vectors; columns without a name are missing. A search
// compares the checksums of what it reads, in each of its goroutines.
func (v *layerOpener) vectors(n, dims int, names [4]string) *vector.Vectors {
	var files [4]*pageFile
	var data [4][]byte
	var helds [4]residency
	for column, name := range names {
		if name == "" {
			continue
		}
		if files[column] = v.file(name); v.err != nil {
			return nil
		}
		data[column] = files[column].Raw()
		helds[column].data = data[column]
	}
	vectors, err := vector.Open(dims, vector.Columns{
		Full: data[vector.Full], Codes: data[vector.Codes], Scales: data[vector.Scales], Bits: data[vector.Bits],
		Touch: func(column vector.Column, from, to int64) error {
			helds[column].touch(from, to)
			return files[column].Touch(from, to)
		},
	})
	if err == nil && vectors.Len() != n {
		err = fmt.Errorf("%s holds %d vectors, want %d: %w", names[vector.Full], vectors.Len(), n, store.ErrCorrupt)
	}
	if v.err == nil {
		v.err = err
	}
	return vectors
}

// vectorWriter writes vectors.
type vectorWriter struct {
	*vector.Writer
	files [4]*output
}

func (b *builder) vectorWriter(dims int) (*vectorWriter, error) {
	w := &vectorWriter{}
	for column, name := range vectorFiles {
		var err error
		if w.files[column], err = b.create(name); err != nil {
			return nil, err
		}
	}
	w.Writer = vector.NewWriter(dims, vector.Files{
		Full: w.files[vector.Full], Codes: w.files[vector.Codes], Scales: w.files[vector.Scales],
		Bits: w.files[vector.Bits],
	})
	return w, nil
}

func (w *vectorWriter) close() error {
	if err := w.Close(); err != nil {
		return err
	}
	for _, f := range w.files {
		if err := f.close(); err != nil {
			return err
		}
	}
	return nil
}

// asBytes returns the memory of values as bytes, without copying.
func asBytes(values []float32) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*4)
}

// isLittleEndian reports whether the machine has the byte order of the files.
func isLittleEndian() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 1
}

// Raw is what a whole snapshot holds beside what store.Snapshot shows, for
// callers that copy it into another store. Snapshots of this package implement it.
type Raw interface {
	// TripleVector returns the vector of a triple.
	TripleVector(store.TripleID) ([]float32, error)
	// VectorSum is the SHA-256 of all of them, in hex digits; empty if there are none.
	VectorSum() string
}

var _ Raw = (*snapshot)(nil)

// VectorSum implements Raw.
func (s *snapshot) VectorSum() string {
	return s.layers[len(s.layers)-1].mapping.manifest.Files[vectorsFile].SHA256
}

// TripleVector implements Raw. The vector is valid until the snapshot is released.
func (s *snapshot) TripleVector(id store.TripleID) ([]float32, error) {
	l := s.layerOf(int(id), firstTriple)
	if l.vectors == nil {
		return nil, s.wrap("copy", store.ErrNoVectors)
	}
	v, err := l.vectors.Row(uint32(int(id) - l.first.FirstTriple))
	return v, s.wrap("copy", err)
}
