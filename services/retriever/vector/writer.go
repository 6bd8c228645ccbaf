package vector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Files are the destinations of the columns. Without Codes and Scales, or without Bits, those
// columns are not written.
type Files struct {
	Full, Codes, Scales, Bits io.Writer
}

// Writer writes the columns of vectors row by row, with one block of them in memory.
type Writer struct {
	dims, rows                int
	full, codes, scales, bits *bufio.Writer
	rotation                  rotation
	rotated                   []float32
	code                      []byte
	block                     []byte
	raw                       []byte
	err                       error
}

// NewWriter returns a Writer of vectors of dims components, 1 to MaxDims.
func NewWriter(dims int, files Files) *Writer {
	w := &Writer{dims: dims, full: buffered(files.Full), codes: buffered(files.Codes), scales: buffered(files.Scales),
		bits: buffered(files.Bits)}
	switch {
	case dims < 1 || dims > MaxDims:
		w.err = store.Invalidf("write vectors of %d dimensions: want 1 to %d", dims, MaxDims)
	case files.Full == nil || (files.Codes == nil) != (files.Scales == nil) || files.Codes == nil && files.Bits != nil:
		w.err = store.Invalidf("write vectors: want column full, and codes and scales together, and both for bits")
	default:
		w.raw = make([]byte, dims*4)
		w.code = make([]byte, codeStride(dims))
		w.rotation = newRotation(dims)
		w.rotated = make([]float32, dims)
		w.block = make([]byte, blockBytes(dims))
	}
	return w
}

func buffered(w io.Writer) *bufio.Writer {
	if w == nil {
		return bufio.NewWriter(io.Discard)
	}
	return bufio.NewWriterSize(w, 1<<16)
}

// Add writes the next row: a vector of length 1. After an error nothing more can be written.
func (w *Writer) Add(vector []float32) error {
	if w.err == nil {
		w.err = w.add(vector)
	}
	return w.err
}

func (w *Writer) add(vector []float32) error {
	if len(vector) != w.dims {
		return store.Invalidf("write vector of row %d: it has %d dimensions, want %d", w.rows, len(vector), w.dims)
	}
	length := norm(vector)
	if !(math.Abs(length-1) <= 0.01) {
		return store.Invalidf("write vector of row %d: its length is %g, want 1", w.rows, length)
	}
	for i, x := range vector {
		binary.LittleEndian.PutUint32(w.raw[i*4:], math.Float32bits(x))
	}
	scale := quantise(vector, w.code)
	row := w.rows % blockRows
	copy(w.rotated, vector)
	w.rotation.apply(w.rotated)
	encodeBits(w.rotated, row, w.block)
	w.rows++
	return w.recordErrors(
		write(w.full, w.raw),
		write(w.codes, w.code),
		write(w.scales, binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))),
		w.flushBlock(row == blockRows-1),
	)
}

// flushBlock writes the block of bits if it is full, and clears it.
func (w *Writer) flushBlock(full bool) error {
	if !full {
		return nil
	}
	err := write(w.bits, w.block)
	clear(w.block)
	return err
}

// Close writes the rest. It does not close the files.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.err = w.recordErrors(w.flushBlock(w.rows%blockRows != 0), w.full.Flush(), w.codes.Flush(), w.scales.Flush(),
		w.bits.Flush())
	if w.err == nil {
		w.err = errors.New("write vector: the writer is closed")
		return nil
	}
	return w.err
}

func (w *Writer) recordErrors(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write vectors up to row %d: %w", w.rows, err)
	}
	return nil
}

func write(w *bufio.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// norm returns a vector's length; NaN or infinite if a component is.
func norm(vector []float32) float64 {
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// scanFull offers the rows from…to to each query's top k by their scores.
func (s *search) scanFull(from, to uint32, bests []*topK) error {
	size := int64(s.dims) * 4
	if err := s.touch(Full, int64(from)*size, int64(to)*size); err != nil {
		return err
	}
	var out [2 * group]float32
	for row := from; row < to; row += 2 {
		next := min(row+1, to-1)
		for g, queries := range s.plain {
			s.kernels.products(&s.row(row)[0], &s.row(next)[0], &queries[0], s.dims, &out)
			for i := range min(group, len(bests)-g*group) {
				b := bests[g*group+i]
				s.offerScore(row, out[i], b)
				if next > row {
					s.offerScore(next, out[group+i], b)
				}
			}
		}
	}
	return nil
}

func (s *search) offerScore(row uint32, score float32, b *topK) {
	if score >= b.floor && s.pass(row) {
		b.add(candidate{row: row, score: score, lower: score, upper: score})
	}
}

// rescore computes the exact scores of a query's candidates.
func (s *search) rescore(query int, found []candidate) error {
	size := int64(s.dims) * 4
	var out [2 * group]float32
	for i := 0; i < len(found); i += 2 {
		next := min(i+1, len(found)-1)
		for _, c := range found[i : next+1] {
			if err := s.touch(Full, int64(c.row)*size, int64(c.row+1)*size); err != nil {
				return err
			}
		}
		s.kernels.products(&s.row(found[i].row)[0], &s.row(found[next].row)[0], &s.plain[query/group][0], s.dims, &out)
		found[i].score = out[query%group]
		if next > i {
			found[next].score = out[group+query%group]
		}
	}
	return nil
}

// plainGroups arranges queries in groups of four, as the kernel requires.
func plainGroups(queries [][]float32, dims int) [][]float32 {
	var groups [][]float32
	for from := 0; from < len(queries); from += group {
		four := make([]float32, group*dims)
		for i, q := range queries[from:min(from+group, len(queries))] {
			copy(four[i*dims:], q)
		}
		groups = append(groups, four)
	}
	return groups
}
