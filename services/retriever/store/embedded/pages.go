package embedded

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// pageFile is a mapped file. It is safe for concurrent use. Its methods panic with a store.Fault if
// a page differs from its checksum or is not there; readers must be called within store.Guard.
type pageFile struct {
	name string
	data []byte
	sums []byte
	// checked has a bit for each page that was compared.
	checked []atomic.Uint64
	// errorContext adds the snapshot to errors; nil adds nothing.
	errorContext func(error) error
}

// SetErrorContext sets a function that adds the snapshot to errors.
func (f *pageFile) SetErrorContext(wrap func(error) error) { f.errorContext = wrap }

// newPageFile returns a file of the given bytes; sums are those that pageSummer made of them.
func newPageFile(name string, data, sums []byte) (*pageFile, error) {
	pages := pageCount(int64(len(data)))
	if int64(len(sums)) != pages*pageSumSize {
		return nil, fmt.Errorf("%s has %d pages and %d bytes of checksums: %w", name, pages, len(sums),
			store.ErrCorrupt)
	}
	return &pageFile{name: name, data: data, sums: sums, checked: make([]atomic.Uint64, (pages+63)/64)}, nil
}

// Name is the file's, for messages.
func (f *pageFile) Name() string { return f.name }

// Len is the file's size.
func (f *pageFile) Len() int { return len(f.data) }

// Word returns eight bytes from a place as a little-endian number.
func (f *pageFile) Word(at uint64) uint64 {
	if first, last := at/pageSize, (at+7)/pageSize; !f.isChecked(first) || first != last && !f.isChecked(last) {
		f.Check(int(at), int(at)+8)
	}
	return binary.LittleEndian.Uint64(f.data[at:])
}

func (f *pageFile) isChecked(page uint64) bool {
	return f.checked[page/64].Load()&(1<<(page%64)) != 0
}

// Bytes returns a range of bytes, compared. It shares the mapping.
func (f *pageFile) Bytes(from, to int) []byte {
	f.Check(from, to)
	return f.data[from:to:to]
}

// Raw returns all bytes without comparing any: the caller calls Check or Touch for what it reads.
func (f *pageFile) Raw() []byte { return f.data }

// Check verifies the checksums of the pages of a range that were not yet.
func (f *pageFile) Check(from, to int) {
	if from < 0 || to < from || to > len(f.data) {
		f.fault("bytes %d to %d of %d are asked for", from, to, len(f.data))
	}
	if from == to {
		return
	}
	for page := uint64(from) / pageSize; page <= uint64(to-1)/pageSize; page++ {
		// Whole words of compared pages are skipped at once.
		if page%64 == 0 && f.checked[page/64].Load() == ^uint64(0) {
			page += 63
			continue
		}
		if !f.isChecked(page) {
			f.check(page)
		}
	}
}

func (f *pageFile) check(page uint64) {
	start := page * pageSize
	got := crc32.Checksum(f.data[start:min(start+pageSize, uint64(len(f.data)))], castagnoli)
	if want := binary.LittleEndian.Uint32(f.sums[page*pageSumSize:]); got != want {
		f.fault("checksum of page %d: got %08x, want %08x", page, got, want)
	}
	f.checked[page/64].Or(1 << (page % 64))
}

func (f *pageFile) fault(format string, args ...any) {
	err := fmt.Errorf("%s: %s; load the files again: %w", f.name, fmt.Sprintf(format, args...), store.ErrCorrupt)
	if f.errorContext != nil {
		err = f.errorContext(err)
	}
	panic(&store.Fault{Err: err})
}

// Touch is Check with an error, for readers outside of store.Guard.
func (f *pageFile) Touch(from, to int64) error {
	return store.Guard(func() error {
		f.Check(int(from), int(to))
		return nil
	})
}

// pageSize is the number of bytes a checksum covers: a page of memory, the least that
// reading touches.
const pageSize = 4096

// pageSumSize is the size of a checksum.
const pageSumSize = 4

// castagnoli is CRC32C, which processors compute at the speed of memory.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pageCount is the number of pages a file has.
func pageCount(bytes int64) int64 { return (bytes + pageSize - 1) / pageSize }

// pageSummer computes the checksums of what is written to it.
type pageSummer struct {
	sums   []byte
	sum    uint32
	filled int
}

// Write implements io.Writer; it never fails.
func (s *pageSummer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), pageSize-s.filled)]
		s.sum = crc32.Update(s.sum, castagnoli, part)
		s.filled += len(part)
		p = p[len(part):]
		if s.filled == pageSize {
			s.next()
		}
	}
	return n, nil
}

func (s *pageSummer) next() {
	s.sums = binary.LittleEndian.AppendUint32(s.sums, s.sum)
	s.sum, s.filled = 0, 0
}

// Sums returns the checksums of all pages, pageSumSize each, little-endian.
// Nothing may be written after it.
func (s *pageSummer) Sums() []byte {
	if s.filled > 0 {
		s.next()
	}
	return s.sums
}
