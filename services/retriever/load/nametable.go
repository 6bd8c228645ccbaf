package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// blockNames is the number of names that share a block: what is read to find one.
const blockNames = 32

// nameTable holds names in ascending order with their kinds and keys, each name but the
// first of a block as what it adds to the one before.
type nameTable struct {
	text *spool
	// blocks are where blocks begin.
	blocks []int64
	count  int
	last   []byte
	line   []byte
}

func (t *nameTable) add(name, key []byte, kind store.Kind) error {
	shared := 0
	if t.count%blockNames == 0 {
		t.blocks = append(t.blocks, t.text.size)
	} else {
		shared = extsort.CommonPrefix(t.last, name)
	}
	t.line = appendUvarints(t.line[:0], uint64(shared), uint64(len(name)-shared))
	t.line = append(append(t.line, byte(kind)), name[shared:]...)
	t.line = appendText(t.line, key)
	t.last = append(t.last[:shared], name[shared:]...)
	t.count++
	_, err := t.text.Write(t.line)
	return err
}

var errCorruptNames = errors.New("the names in scratch files are damaged")

// forEach returns all names in order.
func (t *nameTable) forEach(ctx context.Context, emit func(store.NamedEntity) error) error {
	in, closer, err := t.text.reader()
	if err != nil {
		return err
	}
	defer closer.Close()
	var name, key []byte
	for i := range t.count {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		shared, err := binary.ReadUvarint(in)
		if err != nil {
			return t.wrapError(err)
		}
		more, err := binary.ReadUvarint(in)
		if err != nil {
			return t.wrapError(err)
		}
		kind, err := in.ReadByte()
		if err != nil {
			return t.wrapError(err)
		}
		if shared > uint64(len(name)) || more > uint64(t.text.size) {
			return errCorruptNames
		}
		name = append(name[:shared], make([]byte, more)...)
		if _, err := io.ReadFull(in, name[shared:]); err != nil {
			return t.wrapError(err)
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			return t.wrapError(err)
		}
		if size > uint64(t.text.size) {
			return errCorruptNames
		}
		key = append(key[:0], make([]byte, size)...)
		if _, err := io.ReadFull(in, key); err != nil {
			return t.wrapError(err)
		}
		if err := emit(store.NamedEntity{Name: string(name), Kind: store.Kind(kind), Key: string(key)}); err != nil {
			return err
		}
	}
	return nil
}

func (t *nameTable) wrapError(err error) error {
	return markDiskFull(fmt.Errorf("read names from scratch file %s: %w", t.text.path, err))
}

// lookup finds names by their numbers. It is used by one goroutine; several may share a table.
type lookup struct {
	table   *nameTable
	block   []byte
	current int
	names   [blockNames]store.NamedEntity
	loaded  int
}

func (l *lookup) name(id store.EntityID) (store.NamedEntity, error) {
	block := int(id) / blockNames
	if l.loaded == 0 || l.current != block {
		if err := l.load(block); err != nil {
			return store.NamedEntity{}, err
		}
	}
	if int(id)%blockNames >= l.loaded {
		return store.NamedEntity{}, errCorruptNames
	}
	return l.names[int(id)%blockNames], nil
}

func (l *lookup) load(block int) error {
	l.loaded = 0
	if block >= len(l.table.blocks) {
		return errCorruptNames
	}
	from, to := l.table.blocks[block], l.table.text.size
	if block+1 < len(l.table.blocks) {
		to = l.table.blocks[block+1]
	}
	if int64(cap(l.block)) < to-from {
		l.block = make([]byte, to-from)
	}
	rest := l.block[:to-from]
	if _, err := l.table.text.ReadAt(rest, from); err != nil {
		return err
	}
	name := ""
	for n := 0; len(rest) > 0; n++ {
		shared, a := binary.Uvarint(rest)
		more, b := binary.Uvarint(rest[max(a, 0):])
		if a <= 0 || b <= 0 || n == blockNames || shared > uint64(len(name)) || more > uint64(len(rest)) ||
			len(rest) < a+b+1+int(more) {
			return errCorruptNames
		}
		kind := store.Kind(rest[a+b])
		rest = rest[a+b+1:]
		name = name[:shared] + string(rest[:more])
		rest = rest[more:]
		size, c := binary.Uvarint(rest)
		if c <= 0 || size > uint64(len(rest)-c) {
			return errCorruptNames
		}
		l.names[n] = store.NamedEntity{Name: name, Kind: kind, Key: string(rest[c : c+int(size)])}
		rest = rest[c+int(size):]
		l.loaded = n + 1
	}
	l.current = block
	return nil
}
