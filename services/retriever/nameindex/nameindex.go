// Package nameindex finds the entities that have a name: letter for letter, or
// nearly so. It is read in place, from bytes that may be a mapped file, and is
// built from a sorted stream.
//
// Keys are names and aliases after store.Fold. An index is two files:
//
//	names    a finite state transducer (Lucene's and vellum's FST) of the keys,
//	         key -> number of its first holder; one of the words in them
//	         and of their initials, word -> place of its list; their lengths
//	holders  5 bytes for each key of each entity, keys ascending: the entity,
//	         then how many letters the key has and whether it is the key's last
//	         holder; the lists of the words: how many keys hold the word, then
//	         their first holders, ascending; the number of holders
//
// All numbers are little-endian.
package nameindex

import (
	"encoding/binary"
	"fmt"

	"github.com/blevesearch/vellum"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// LongestKey is the longest key that is kept, in bytes. What is longer is a
	// text sooner than a name: such entities are only found by their exact name.
	LongestKey = 512
	// magic ends both files; its last byte is the version.
	magic = 0x01_69_6e_6d_74 // "tmni" and 1
	// holderSize is the length of a holder in bytes.
	holderSize = 5
	// lastHolder marks the last holder of a key, mostLetters masks how many
	// letters it has.
	lastHolder  = 0x80
	mostLetters = 0x7f
)

// Index is an open name index. It is safe for concurrent use.
type Index struct {
	keys, words *vellum.FST
	// holders are the holders of all keys, lists the keys of all words.
	holders, lists []byte
}

// Open reads an index from its two files. The index goes on using the bytes,
// which must not change. Only their ends are read now; damage further on comes
// out as an error of Match or Fuzzy, or as a wrong answer: whoever keeps the
// files keeps their checksums. The error wraps store.ErrCorrupt.
func Open(names, holders []byte) (index *Index, err error) {
	defer recovered(&err)
	footer, ok := cutFooter(&names)
	if !ok || footer > uint64(len(names)) {
		return nil, fmt.Errorf("open name index: the file of names is cut off or none: %w", store.ErrCorrupt)
	}
	count, ok := cutFooter(&holders)
	if !ok || count > uint64(len(holders)/holderSize) {
		return nil, fmt.Errorf("open name index: the file of holders is cut off or none: %w", store.ErrCorrupt)
	}
	index = &Index{holders: holders[:count*holderSize], lists: holders[count*holderSize:]}
	if index.keys, err = vellum.Load(names[:footer]); err != nil {
		return nil, fmt.Errorf("open name index: keys: %w (%w)", store.ErrCorrupt, err)
	}
	if index.words, err = vellum.Load(names[footer:]); err != nil {
		return nil, fmt.Errorf("open name index: words: %w (%w)", store.ErrCorrupt, err)
	}
	return index, nil
}

// cutFooter takes the footer off a file: a number and the magic.
func cutFooter(file *[]byte) (number uint64, ok bool) {
	body := len(*file) - 16
	if body < 0 || binary.LittleEndian.Uint64((*file)[body+8:]) != magic {
		return 0, false
	}
	number = binary.LittleEndian.Uint64((*file)[body:])
	*file = (*file)[:body]
	return number, true
}

// Match returns the entities that have the key, ascending; none where there is
// no such key.
func (x *Index) Match(key string) (entities []uint32, err error) {
	if key == "" || len(key) > LongestKey {
		return nil, nil
	}
	defer recovered(&err)
	first, ok, err := x.keys.Get([]byte(key))
	if err != nil {
		return nil, fmt.Errorf("look up a name: %w (%w)", store.ErrCorrupt, err)
	}
	if !ok {
		return nil, nil
	}
	for number := first; ; number++ {
		entity, _, last := x.holder(number)
		entities = append(entities, entity)
		if last {
			return entities, nil
		}
	}
}

// holder reads a holder: the entity, how many letters the key has, and whether
// it is the last of the key.
func (x *Index) holder(number uint64) (entity uint32, letters int, last bool) {
	h := x.holders[number*holderSize : number*holderSize+holderSize]
	return binary.LittleEndian.Uint32(h), int(h[4] & mostLetters), h[4]&lastHolder != 0
}

// recovered turns a panic into an error: damaged bytes may lead anywhere, also
// inside the library.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read name index: %w (%v)", store.ErrCorrupt, p)
	}
}
