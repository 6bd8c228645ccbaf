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

// blockNames is how many names share a block: what is read to find one.
const blockNames = 32

// nameTable holds names in ascending order and their kinds, each but the first
// of a block as what it adds to the one before.
type nameTable struct {
	text *spool
	// blocks are where blocks begin.
	blocks []int64
	count  int
	last   []byte
	line   []byte
}

func (t *nameTable) add(name []byte, kind store.Kind) error {
	shared := 0
	if t.count%blockNames == 0 {
		t.blocks = append(t.blocks, t.text.size)
	} else {
		shared = extsort.CommonPrefix(t.last, name)
	}
	t.line = appendUvarints(t.line[:0], uint64(shared), uint64(len(name)-shared))
	t.line = append(append(t.line, byte(kind)), name[shared:]...)
	t.last = append(t.last[:shared], name[shared:]...)
	t.count++
	_, err := t.text.Write(t.line)
	return err
}

var errNames = errors.New("the names in scratch files are damaged")

// each hands out all names in order.
func (t *nameTable) each(ctx context.Context, emit func(store.Named) error) error {
	in, closer, err := t.text.reader()
	if err != nil {
		return err
	}
	defer closer.Close()
	var name []byte
	for i := range t.count {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		shared, err := binary.ReadUvarint(in)
		if err != nil {
			return t.failed(err)
		}
		more, err := binary.ReadUvarint(in)
		if err != nil {
			return t.failed(err)
		}
		kind, err := in.ReadByte()
		if err != nil {
			return t.failed(err)
		}
		if shared > uint64(len(name)) || more > uint64(t.text.size) {
			return errNames
		}
		name = append(name[:shared], make([]byte, more)...)
		if _, err := io.ReadFull(in, name[shared:]); err != nil {
			return t.failed(err)
		}
		if err := emit(store.Named{Name: string(name), Kind: store.Kind(kind)}); err != nil {
			return err
		}
	}
	return nil
}

func (t *nameTable) failed(err error) error {
	return full(fmt.Errorf("read names from scratch file %s: %w", t.text.path, err))
}

// lookup finds names by their numbers. It is used by one goroutine; several may
// share a table.
type lookup struct {
	table *nameTable
	block []byte
	at    int
	names [blockNames]store.Named
	known int
}

// name returns the name and kind of an entity.
func (l *lookup) name(id store.EntityID) (store.Named, error) {
	block := int(id) / blockNames
	if l.known == 0 || l.at != block {
		if err := l.read(block); err != nil {
			return store.Named{}, err
		}
	}
	if int(id)%blockNames >= l.known {
		return store.Named{}, errNames
	}
	return l.names[int(id)%blockNames], nil
}

func (l *lookup) read(block int) error {
	l.known = 0
	if block >= len(l.table.blocks) {
		return errNames
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
		if a <= 0 || b <= 0 || n == blockNames || shared > uint64(len(name)) || more > uint64(len(rest)) || len(rest) < a+b+1+int(more) {
			return errNames
		}
		kind := store.Kind(rest[a+b])
		rest = rest[a+b+1:]
		name = name[:shared] + string(rest[:more])
		rest = rest[more:]
		l.names[n] = store.Named{Name: name, Kind: kind}
		l.known = n + 1
	}
	l.at = block
	return nil
}
