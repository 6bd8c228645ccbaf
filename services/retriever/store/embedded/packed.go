package embedded

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxBitWidth is the greatest width: a number and the seven bits that may come
// before it in its first byte are read as one word.
const maxBitWidth = 57

// packedPadding follows the last number, so that it too is read as a whole word.
const packedPadding = 8

// bitWidth is how many bits numbers up to most need.
func bitWidth(most uint64) int { return bits.Len64(most) }

// packedSize is the number of bytes a column of n numbers takes.
func packedSize(n, width int) int64 { return (int64(n)*int64(width)+7)/8 + packedPadding }

// packedWriter writes a column.
type packedWriter struct {
	to     io.Writer
	width  int
	word   uint64
	filled int
	buffer []byte
}

// newPackedWriter returns a writer of numbers of up to width bits, 0 to maxBitWidth.
func newPackedWriter(to io.Writer, width int) *packedWriter {
	return &packedWriter{to: to, width: width, buffer: make([]byte, 0, 1<<15)}
}

// Add writes the next number. One that needs more than the width is an error.
func (w *packedWriter) Add(v uint64) error {
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

func (w *packedWriter) flush() error {
	_, err := w.to.Write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// Close writes what is held back and the packedPadding. It does not close the io.Writer.
func (w *packedWriter) Close() error {
	for ; w.filled > 0; w.filled -= 8 {
		w.buffer = append(w.buffer, byte(w.word))
		w.word >>= 8
	}
	w.buffer = append(w.buffer, make([]byte, packedPadding)...)
	return w.flush()
}

// packedColumn reads numbers by their places. It panics with a store.Fault if the
// file is damaged, as pageFile does.
type packedColumn struct {
	file  *pageFile
	width uint64
	mask  uint64
	n     int
}

// openPacked reads a file as n numbers of width bits.
func openPacked(file *pageFile, n, width int) (packedColumn, error) {
	if width < 0 || width > maxBitWidth || n < 0 || int64(file.Len()) != packedSize(n, width) {
		return packedColumn{}, fmt.Errorf("%s has %d bytes, %d numbers of %d bits take %d: %w",
			file.Name(), file.Len(), n, width, packedSize(n, width), store.ErrCorrupt)
	}
	return packedColumn{file: file, width: uint64(width), mask: 1<<width - 1, n: n}, nil
}

// Len is the number of numbers.
func (c *packedColumn) Len() int { return c.n }

// Get returns the number at a place.
func (c *packedColumn) Get(i int) uint64 {
	bit := uint64(i) * c.width
	return c.file.Word(bit/8) >> (bit % 8) & c.mask
}

// Check verifies the checksums of the pages of the numbers from…to, so that GetChecked may read them.
func (c *packedColumn) Check(from, to int) {
	if from < to {
		c.file.Check(int(uint64(from)*c.width/8), int(uint64(to-1)*c.width/8)+8)
	}
}

// GetChecked is Get for a place that Check has verified.
func (c *packedColumn) GetChecked(i int) uint64 {
	bit := uint64(i) * c.width
	return binary.LittleEndian.Uint64(c.file.Raw()[bit/8:]) >> (bit % 8) & c.mask
}

// linearSearchPages is the number of numbers that lie in so few pages that comparing them all at
// once costs less than at each step of a search.
const linearSearchPages = 64

// Search returns the first place in from…to whose number is at least v; the
// numbers there are ascending. It returns to where all are less.
func (c *packedColumn) Search(from, to int, v uint64) int {
	for to-from > linearSearchPages {
		middle := int(uint(from+to) / 2)
		if c.Get(middle) < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	c.Check(from, to)
	for from < to {
		middle := int(uint(from+to) / 2)
		if c.GetChecked(middle) < v {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// Find returns the place of v in an ascending column.
func (c *packedColumn) Find(v uint64) (int, bool) {
	i := c.Search(0, c.n, v)
	return i, i < c.n && c.Get(i) == v
}
