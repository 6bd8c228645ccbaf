// Package pages reads mapped files whose every page has a checksum, compared
// when the page is first read: so a large file opens at once, and no byte of a
// damaged page is served.
package pages

import (
	"encoding/binary"
	"hash/crc32"
)

// Size is how many bytes a checksum covers: a page of memory, the least that
// reading touches.
const Size = 4096

// SumBytes is the size of a checksum.
const SumBytes = 4

// castagnoli is CRC32C, which processors compute at the speed of memory.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Count is how many pages a file has.
func Count(bytes int64) int64 { return (bytes + Size - 1) / Size }

// Summer computes the checksums of what is written to it.
type Summer struct {
	sums   []byte
	sum    uint32
	filled int
}

// Write implements io.Writer; it never fails.
func (s *Summer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), Size-s.filled)]
		s.sum = crc32.Update(s.sum, castagnoli, part)
		s.filled += len(part)
		p = p[len(part):]
		if s.filled == Size {
			s.next()
		}
	}
	return n, nil
}

func (s *Summer) next() {
	s.sums = binary.LittleEndian.AppendUint32(s.sums, s.sum)
	s.sum, s.filled = 0, 0
}

// Sums returns the checksums of all pages, SumBytes each, little-endian.
// Nothing may be written after it.
func (s *Summer) Sums() []byte {
	if s.filled > 0 {
		s.next()
	}
	return s.sums
}
