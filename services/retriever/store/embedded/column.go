package embedded

import (
	"fmt"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// fixed are the values that columns hold: plain numbers and structs of them,
// written as they lie in memory on a little-endian machine.
type fixed interface {
	uint32 | uint64 | float32 | store.Trigram | store.Triple | store.Edge
}

// asBytes views values as the bytes they lie in.
func asBytes[T fixed](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// fromBytes views bytes as values; mapped files begin at a page, so they are
// aligned.
func fromBytes[T fixed](data []byte) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of %d-byte values: %w", len(data), size, store.ErrCorrupt)
	}
	if len(data) == 0 {
		return nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/size), nil
}

// littleEndian says whether this machine reads the files as they are.
func littleEndian() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 1
}

// texts is a list of strings in one run of bytes: string i lies between
// offsets i and i+1.
type texts struct {
	bytes   []byte
	offsets []uint64
}

func (t texts) len() int { return max(0, len(t.offsets)-1) }

// view returns string i without copying; it must not outlive the mapping.
func (t texts) view(i uint32) string {
	b := t.bytes[t.offsets[i]:t.offsets[i+1]]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// find returns the index of text in a list in byte order.
func (t texts) find(text string) (uint32, bool) {
	low, high := 0, t.len()
	for low < high {
		middle := int(uint(low+high) >> 1)
		if t.view(uint32(middle)) < text {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return uint32(low), low < t.len() && t.view(uint32(low)) == text
}

// lists is one list of values per row: row i lies between offsets i and i+1.
type lists[T fixed] struct {
	values  []T
	offsets []uint32
}

func (l lists[T]) row(i uint32) []T {
	from, to := l.offsets[i], l.offsets[i+1]
	return l.values[from:to:to]
}
