package scan

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Files are where a Writer puts the columns. Without Codes and Scales, or
// without Bits, those columns are not written.
type Files struct {
	Full, Codes, Scales, Bits io.Writer
}

// Writer writes the columns of vectors, row by row, holding one block of them
// in memory.
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

// NewWriter writes vectors of dims components, 1 to MaxDims.
func NewWriter(dims int, files Files) *Writer {
	w := &Writer{dims: dims, full: buffered(files.Full), codes: buffered(files.Codes), scales: buffered(files.Scales), bits: buffered(files.Bits)}
	switch {
	case dims < 1 || dims > MaxDims:
		w.err = fmt.Errorf("write vectors of %d dimensions: want 1 to %d: %w", dims, MaxDims, store.ErrInvalid)
	case files.Full == nil || (files.Codes == nil) != (files.Scales == nil) || files.Codes == nil && files.Bits != nil:
		w.err = fmt.Errorf("write vectors: want column full, and codes and scales together, and both for bits: %w", store.ErrInvalid)
	default:
		w.raw = make([]byte, dims*4)
		w.code = make([]byte, stride(dims))
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

// Add writes the next row: a vector of length 1. After an error nothing more
// can be written.
func (w *Writer) Add(vector []float32) error {
	if w.err == nil {
		w.err = w.add(vector)
	}
	return w.err
}

func (w *Writer) add(vector []float32) error {
	if len(vector) != w.dims {
		return fmt.Errorf("write vector of row %d: it has %d dimensions, want %d: %w", w.rows, len(vector), w.dims, store.ErrInvalid)
	}
	length := norm(vector)
	if !(math.Abs(length-1) <= 0.01) {
		return fmt.Errorf("write vector of row %d: its length is %g, want 1: %w", w.rows, length, store.ErrInvalid)
	}
	for i, x := range vector {
		binary.LittleEndian.PutUint32(w.raw[i*4:], math.Float32bits(x))
	}
	scale := encode(vector, w.code)
	row := w.rows % blockRows
	copy(w.rotated, vector)
	w.rotation.apply(w.rotated)
	encodeBits(w.rotated, row, w.block)
	w.rows++
	return w.written(
		write(w.full, w.raw),
		write(w.codes, w.code),
		write(w.scales, binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))),
		w.flushBlock(row == blockRows-1),
	)
}

// flushBlock writes the block of bits where it is full, and empties it.
func (w *Writer) flushBlock(full bool) error {
	if !full {
		return nil
	}
	err := write(w.bits, w.block)
	clear(w.block)
	return err
}

// Close writes what is left. It does not close the files.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.err = w.written(w.flushBlock(w.rows%blockRows != 0), w.full.Flush(), w.codes.Flush(), w.scales.Flush(), w.bits.Flush())
	if w.err == nil {
		w.err = errors.New("write vector: the writer is closed")
		return nil
	}
	return w.err
}

func (w *Writer) written(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write vectors up to row %d: %w", w.rows, err)
	}
	return nil
}

func write(w *bufio.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// norm returns a vector's length; NaN or infinite where a component is.
func norm(vector []float32) float64 {
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
