// Package packed holds columns of numbers in as many bits each as the largest
// one needs, and reads any of them with one load from memory.
package packed

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// MaxWidth is the greatest width: a number and the seven bits that may come
// before it in its first byte are read as one word.
const MaxWidth = 57

// padding follows the last number, so that it too is read as a whole word.
const padding = 8

// Width is how many bits numbers up to most need.
func Width(most uint64) int { return bits.Len64(most) }

// Size is how many bytes a column of n numbers takes.
func Size(n, width int) int64 { return (int64(n)*int64(width)+7)/8 + padding }

// Writer writes a column.
type Writer struct {
	to     io.Writer
	width  int
	word   uint64
	filled int
	buffer []byte
}

// NewWriter returns a writer of numbers of up to width bits, 0 to MaxWidth.
func NewWriter(to io.Writer, width int) *Writer {
	return &Writer{to: to, width: width, buffer: make([]byte, 0, 1<<15)}
}

// Add writes the next number. One that needs more than the width is an error.
func (w *Writer) Add(v uint64) error {
	if v>>w.width != 0 {
		return fmt.Errorf("%d needs more than %d bits", v, w.width)
	}
	w.word |= v << w.filled
	w.filled += w.width
	if w.filled < 64 {
		return nil
	}
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, w.word)
	w.filled -= 64
	// What did not fit into the word; a shift by the whole width leaves 0.
	w.word = v >> (w.width - w.filled)
	if len(w.buffer) == cap(w.buffer) {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	_, err := w.to.Write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// Close writes what is held back and the padding. It does not close the
// io.Writer.
func (w *Writer) Close() error {
	for ; w.filled > 0; w.filled -= 8 {
		w.buffer = append(w.buffer, byte(w.word))
		w.word >>= 8
	}
	w.buffer = append(w.buffer, make([]byte, padding)...)
	return w.flush()
}

// Column reads numbers by their places. It panics with a store.Fault where the
// file is damaged, as pages.File does.
type Column struct {
	file  *pages.File
	width uint64
	mask  uint64
	n     int
}

// Open reads a file as n numbers of width bits.
func Open(file *pages.File, n, width int) (Column, error) {
	if width < 0 || width > MaxWidth || n < 0 || int64(file.Len()) != Size(n, width) {
		return Column{}, fmt.Errorf("%s has %d bytes, %d numbers of %d bits take %d: %w",
			file.Name(), file.Len(), n, width, Size(n, width), store.ErrCorrupt)
	}
	return Column{file: file, width: uint64(width), mask: 1<<width - 1, n: n}, nil
}

// Len is how many numbers there are.
func (c *Column) Len() int { return c.n }

// Get returns the number at a place.
func (c *Column) Get(i int) uint64 {
	bit := uint64(i) * c.width
	return c.file.Word(bit/8) >> (bit % 8) & c.mask
}

// Need compares the pages of the numbers from…to, so that At may read them.
func (c *Column) Need(from, to int) {
	if from < to {
		c.file.Need(int(uint64(from)*c.width/8), int(uint64(to-1)*c.width/8)+8)
	}
}

// At is Get for a place that Need has named.
func (c *Column) At(i int) uint64 {
	bit := uint64(i) * c.width
	return binary.LittleEndian.Uint64(c.file.Raw()[bit/8:]) >> (bit % 8) & c.mask
}

// near is how many numbers lie in so few pages that comparing them all at
// once costs less than at each step of a search.
const near = 64

// Search returns the first place in from…to whose number is at least v; the
// numbers there are ascending. It returns to where all are less.
func (c *Column) Search(from, to int, v uint64) int {
	for to-from > near {
		middle := int(uint(from+to) / 2)
		if c.Get(middle) < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	c.Need(from, to)
	for from < to {
		middle := int(uint(from+to) / 2)
		if c.At(middle) < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// Find returns the place of v in an ascending column.
func (c *Column) Find(v uint64) (int, bool) {
	i := c.Search(0, c.n, v)
	return i, i < c.n && c.Get(i) == v
}
