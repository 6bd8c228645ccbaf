package pages

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// File is a mapped file. It is safe for concurrent use. Its methods panic with
// a store.Fault where a page differs from its checksum or is not there; readers
// stand within store.Guard.
type File struct {
	name string
	data []byte
	sums []byte
	// seen has a bit for each page that was compared.
	seen []atomic.Uint64
	// wrap says of whose file an error tells; nil leaves it.
	wrap func(error) error
}

// Of has wrap say of whose file errors tell.
func (f *File) Of(wrap func(error) error) { f.wrap = wrap }

// New returns a file of the given bytes; sums are those that Summer made of
// them.
func New(name string, data, sums []byte) (*File, error) {
	pages := Count(int64(len(data)))
	if int64(len(sums)) != pages*SumBytes {
		return nil, fmt.Errorf("%s has %d pages and %d bytes of checksums: %w", name, pages, len(sums), store.ErrCorrupt)
	}
	return &File{name: name, data: data, sums: sums, seen: make([]atomic.Uint64, (pages+63)/64)}, nil
}

// Name is the file's, for messages.
func (f *File) Name() string { return f.name }

// Len is the file's size.
func (f *File) Len() int { return len(f.data) }

// Word returns eight bytes from a place as a little-endian number.
func (f *File) Word(at uint64) uint64 {
	if first, last := at/Size, (at+7)/Size; !f.compared(first) || first != last && !f.compared(last) {
		f.Need(int(at), int(at)+8)
	}
	return binary.LittleEndian.Uint64(f.data[at:])
}

func (f *File) compared(page uint64) bool {
	return f.seen[page/64].Load()&(1<<(page%64)) != 0
}

// Bytes returns a range of bytes, compared. It shares the mapping.
func (f *File) Bytes(from, to int) []byte {
	f.Need(from, to)
	return f.data[from:to:to]
}

// Raw returns all bytes without comparing any: the caller calls Need or Touch
// for what it reads.
func (f *File) Raw() []byte { return f.data }

// Need compares the pages of a range that were not yet.
func (f *File) Need(from, to int) {
	if from < 0 || to < from || to > len(f.data) {
		f.fault("bytes %d to %d of %d are asked for", from, to, len(f.data))
	}
	if from == to {
		return
	}
	for page := uint64(from) / Size; page <= uint64(to-1)/Size; page++ {
		// Whole words of compared pages are passed over at once.
		if page%64 == 0 && f.seen[page/64].Load() == ^uint64(0) {
			page += 63
			continue
		}
		if !f.compared(page) {
			f.compare(page)
		}
	}
}

func (f *File) compare(page uint64) {
	start := page * Size
	got := crc32.Checksum(f.data[start:min(start+Size, uint64(len(f.data)))], castagnoli)
	if want := binary.LittleEndian.Uint32(f.sums[page*SumBytes:]); got != want {
		f.fault("checksum of page %d: got %08x, want %08x", page, got, want)
	}
	f.seen[page/64].Or(1 << (page % 64))
}

func (f *File) fault(format string, args ...any) {
	err := fmt.Errorf("%s: %s; load the files again: %w", f.name, fmt.Sprintf(format, args...), store.ErrCorrupt)
	if f.wrap != nil {
		err = f.wrap(err)
	}
	panic(&store.Fault{Err: err})
}

// Touch is Need as an error, for readers outside of store.Guard.
func (f *File) Touch(from, to int64) error {
	return store.Guard(func() error {
		f.Need(int(from), int(to))
		return nil
	})
}
