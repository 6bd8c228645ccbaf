// Package vector finds the nearest vectors exactly: it reads all of them, as fast as memory allows.
//
// A vector is kept three times, each coarser and smaller than the one before: as it is (fp32), as
// eight bits a component, and as one bit a component. A search reads the coarsest column that pays
// whole; only rows whose bound says that they may be among the best are looked up in the next finer
// one. So the scores are those of fp32, and next to no fp32 row is read.
package vector

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// MaxDims is the maximum number of components of a vector.
const MaxDims = 1 << 16

// Column is one of the columns in which vectors are kept.
type Column int

const (
	// Full holds the vectors unchanged: dims fp32 per row.
	Full Column = iota
	// Codes holds a byte per component, 128 plus the component divided by the row's scale; rows are
	// padded to 64 bytes.
	Codes
	// Scales holds one fp32 per row, for Codes.
	Scales
	// Bits holds the signs of the rotated components, in blocks of 64 rows that
	// end in one fp32 a row.
	Bits
)

// String returns the column's name.
func (c Column) String() string { return [...]string{"full", "codes", "scales", "bits"}[c] }

// Columns are the bytes of the columns that a Writer wrote, little-endian. The slices are usually
// mapped files that are read within store.Guard. They must not change and must start at a multiple
// of four bytes.
type Columns struct {
	Full []byte
	// Codes and Scales belong together. Without them every search reads Full.
	Codes, Scales []byte
	// Bits requires Codes.
	Bits []byte
	// Touch, if set, is called before the bytes from…to of a column are read, from any number of
	// goroutines, also for bytes that were read before. Its error ends the search. A search by bits
	// touches Codes, Scales and Full one row at a time.
	Touch func(column Column, from, to int64) error
}

// Vectors are rows of unit vectors, safe for concurrent searches.
type Vectors struct {
	dims, rows int
	columns    Columns
	full       []float32
	scales     []float32
	rotation   rotation
	kernels    kernels
}

// Hit is a row found by a search.
type Hit struct {
	Row uint32
	// Score is the cosine to the query, -1 to 1.
	Score float32
}

// Open opens vectors of dims components. Columns of inconsistent lengths are store.ErrCorrupt.
func Open(dims int, columns Columns) (*Vectors, error) {
	if dims < 1 || dims > MaxDims {
		return nil, store.Invalidf("open vectors of %d dimensions: want 1 to %d", dims, MaxDims)
	}
	if n := len(columns.Full); n%(4*dims) != 0 {
		return nil, fmt.Errorf("open vectors: column full has %d bytes, not a multiple of %d dimensions of 4 bytes: %w",
			n, dims, store.ErrCorrupt)
	}
	v := &Vectors{dims: dims, rows: len(columns.Full) / (4 * dims), columns: columns,
		kernels: availableKernels(dims)[0]}
	if v.rows > math.MaxUint32 {
		return nil, fmt.Errorf("open vectors: %d rows are more than a row number holds: %w", v.rows, store.ErrCorrupt)
	}
	if (columns.Codes == nil) != (columns.Scales == nil) || columns.Codes == nil && columns.Bits != nil {
		return nil, fmt.Errorf("open vectors: columns codes and scales go together, and bits with both: %w",
			store.ErrCorrupt)
	}
	for _, c := range []struct {
		column Column
		bytes  []byte
		want   int
	}{
		{Codes, columns.Codes, v.rows * codeStride(dims)},
		{Scales, columns.Scales, v.rows * 4},
		{Bits, columns.Bits, (v.rows + blockRows - 1) / blockRows * blockBytes(dims)},
	} {
		if c.bytes != nil && len(c.bytes) != c.want {
			return nil, fmt.Errorf("open vectors: column %s has %d bytes, %d rows of %d dimensions have %d: %w",
				c.column, len(c.bytes), v.rows, dims, c.want, store.ErrCorrupt)
		}
	}
	var err error
	if v.full, err = floats(Full, columns.Full); err != nil {
		return nil, err
	}
	if v.scales, err = floats(Scales, columns.Scales); err != nil {
		return nil, err
	}
	if _, err = floats(Bits, columns.Bits); err != nil {
		return nil, err
	}
	if columns.Bits != nil {
		v.rotation = newRotation(dims)
	}
	return v, nil
}

// floats views bytes as fp32.
func floats(column Column, b []byte) ([]float32, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if uintptr(unsafe.Pointer(&b[0]))%4 != 0 {
		return nil, store.Invalidf("open vectors: column %s does not start at a multiple of four bytes", column)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4), nil
}

// Len returns the number of rows.
func (v *Vectors) Len() int { return v.rows }

// Dims returns the number of components of a row.
func (v *Vectors) Dims() int { return v.dims }

// Row returns a row as written. It shares the column's memory and must not be changed.
func (v *Vectors) Row(row uint32) ([]float32, error) {
	if int(row) >= v.rows {
		return nil, store.Invalidf("read row %d of %d vectors", row, v.rows)
	}
	from := int64(row) * int64(v.dims)
	if err := v.touch(Full, from*4, (from+int64(v.dims))*4); err != nil {
		return nil, err
	}
	return v.row(row), nil
}

func (v *Vectors) row(row uint32) []float32 {
	from := int(row) * v.dims
	return v.full[from : from+v.dims : from+v.dims]
}

func (v *Vectors) touch(column Column, from, to int64) error {
	if v.columns.Touch == nil {
		return nil
	}
	if err := v.columns.Touch(column, from, to); err != nil {
		return fmt.Errorf("read column %s, bytes %d to %d: %w", column, from, to, err)
	}
	return nil
}
