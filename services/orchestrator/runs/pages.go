package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a bbolt file: a page begins with its id, flags, the number of its elements and that of the pages that
// continue it; the elements, of 16 bytes each, follow.
const (
	pageHeader, pageElement, bucketHeader, metaSize = 16, 16, 16, 64
	branchPage, leafPage, bucketElement             = 0x01, 0x02, 0x01
	metaMagic, noPage                               = 0xED0CDAED, 1<<64 - 1
)

var errDamaged = errors.New("the file is damaged: move it away, and the next start makes a new one")

// pages are those of a bbolt file.
type pages struct {
	file   io.ReaderAt
	length int64 // of the file, in bytes
	size   int64 // of a page
	used   map[uint64]bool
}

// checkPages returns an error if a page of a bbolt file is used twice or an element reaches beyond its page. Pages have
// no checksums, and bbolt's own check follows a page that leads to itself until memory is full.
func checkPages(file io.ReaderAt, length int64) error {
	p := &pages{file: file, length: length, used: map[uint64]bool{}}
	meta, err := p.readMeta()
	if err != nil {
		return err
	}
	if list := binary.NativeEndian.Uint64(meta[32:]); list != noPage {
		if _, _, _, err := p.read(list, 0); err != nil {
			return err
		}
	}
	return p.walk(binary.NativeEndian.Uint64(meta[16:]))
}

// readMeta returns the newest of the two meta pages, and learns the page size.
func (p *pages) readMeta() (newest []byte, err error) {
	try := func(at int64) bool {
		b, err := p.readAt(at+pageHeader, metaSize)
		if err != nil {
			return false
		}
		sum := fnv.New64a()
		_, _ = sum.Write(b[:56])
		if binary.NativeEndian.Uint32(b) != metaMagic || sum.Sum64() != binary.NativeEndian.Uint64(b[56:]) {
			return false
		}
		p.size = max(1, int64(binary.NativeEndian.Uint32(b[8:])))
		if newest == nil || binary.NativeEndian.Uint64(b[48:]) > binary.NativeEndian.Uint64(newest[48:]) {
			newest = b
		}
		return true
	}
	if try(0) {
		try(p.size)
	}
	for size := int64(1 << 10); newest == nil && size <= 1<<24; size *= 2 {
		try(size)
	}
	if newest == nil {
		return nil, errDamaged
	}
	return newest, nil
}

// read reads a page: its flags, n bytes behind its header for each of its count, and the length of all behind it.
func (p *pages) read(id uint64, n int) (flags uint16, elements []byte, length int, err error) {
	all := uint64(p.length / p.size)
	if id >= all {
		return 0, nil, 0, fmt.Errorf("page %d is beyond the end of the file: %w", id, errDamaged)
	}
	header, err := p.readAt(int64(id)*p.size, pageHeader)
	if err != nil {
		return 0, nil, 0, err
	}
	more := uint64(binary.NativeEndian.Uint32(header[12:]))
	if id+more >= all {
		return 0, nil, 0, fmt.Errorf("overflow of page %d is beyond the end of the file: %w", id, errDamaged)
	}
	for i := id; i <= id+more; i++ {
		if p.used[i] {
			return 0, nil, 0, fmt.Errorf("page %d is referenced twice: %w", i, errDamaged)
		}
		p.used[i] = true
	}
	elements, err = p.readAt(int64(id)*p.size+pageHeader, n*int(binary.NativeEndian.Uint16(header[10:])))
	return binary.NativeEndian.Uint16(header[8:]), elements, int(more+1)*int(p.size) - pageHeader, err
}

func (p *pages) readAt(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := p.file.ReadAt(b, at)
	return b, err
}

// walk walks the tree of a bucket and those of the buckets in it.
func (p *pages) walk(root uint64) error {
	for open := []uint64{root}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		flags, elements, length, err := p.read(id, pageElement)
		if err != nil {
			return err
		}
		if flags != leafPage && (flags != branchPage || len(elements) == 0) {
			return fmt.Errorf("page %d is none of a tree: %w", id, errDamaged) // bbolt would follow what else it holds
		}
		for at := 0; at < len(elements); at += pageElement {
			e := elements[at:]
			value, size, err := findValue(flags, e, len(e), length-at)
			if err != nil {
				return fmt.Errorf("page %d: %w", id, err)
			}
			child := binary.NativeEndian.Uint64(e[8:])
			if flags == leafPage {
				if binary.NativeEndian.Uint32(e)&bucketElement == 0 {
					continue
				}
				bucket, err := p.readAt(int64(id)*p.size+int64(pageHeader+at+value), size)
				if err != nil {
					return err
				}
				if child, err = readBucket(bucket); err != nil {
					return fmt.Errorf("page %d: %w", id, err)
				}
				if child == 0 {
					continue
				}
			}
			open = append(open, child)
		}
	}
	return nil
}

// findValue returns where the value of an element is from its beginning, and its size. The elements from it on have
// some length, and the page.
func findValue(flags uint16, element []byte, elements, page int) (at, size int, err error) {
	field := func(i int) int { return int(binary.NativeEndian.Uint32(element[4*i:])) }
	pos, key := field(1), field(2)
	switch flags {
	case branchPage:
		pos, key = field(0), field(1)
	case leafPage:
		size = field(3)
	default:
		return 0, 0, errDamaged
	}
	if pos < elements || pos+key+size > page {
		return 0, 0, errDamaged
	}
	return pos + key, size, nil
}

// readBucket returns the root of a bucket, 0 for one whose only page is in its parent.
func readBucket(value []byte) (root uint64, err error) {
	if len(value) < bucketHeader {
		return 0, errDamaged
	}
	if root = binary.NativeEndian.Uint64(value); root != 0 {
		return root, nil
	}
	page := value[bucketHeader:]
	if len(page) < pageHeader {
		return 0, errDamaged
	}
	flags, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if page = page[pageHeader:]; flags != leafPage || len(page) < count*pageElement {
		return 0, errDamaged
	}
	for at := 0; at < count*pageElement; at += pageElement {
		if _, _, err := findValue(flags, page[at:], count*pageElement-at, len(page)-at); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
