package embedded

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// heldBytes is about how much of a column may stay mapped in memory of what
	// searches looked up row by row. The file's pages stay in the system's cache
	// beyond that, and are mapped again when they are needed.
	heldBytes = 384 << 20
	// faultBytes is what the system maps at a time around what is read.
	faultBytes = 64 << 10
)

// held counts what reading a mapped column has brought into memory, and lets go
// of it from time to time: a search by one bit looks up rows all over columns
// that are larger than memory should hold.
type held struct {
	data  []byte
	bytes atomic.Int64
}

// read is told of what is about to be read.
func (h *held) read(from, to int64) {
	if len(h.data) <= heldBytes || h.bytes.Add(to-from+faultBytes) <= heldBytes {
		return
	}
	h.bytes.Store(0)
	// Who reads meanwhile has the page mapped again. What cannot be let go stays.
	_ = unix.Madvise(h.data, unix.MADV_DONTNEED)
}
