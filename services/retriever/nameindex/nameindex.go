// Package nameindex finds the entities that have a name, exactly or approximately. It is read in
// place, from bytes that may be a mapped file, and is built from a sorted stream.
//
// Keys are names and aliases after store.Fold. An index is two files:
//
//	names    a finite state transducer (Lucene's and vellum's FST) of the keys,
//	         key -> number of its first holder; one of the words in them
//	         and of their initials, word -> position of its list; their lengths
//	holders  5 bytes for each key of each entity, keys ascending: the entity,
//	         then the number of letters of the key and whether it is the key's last
//	         holder; the lists of the words: how many keys hold the word, then
//	         their first holders, ascending; the number of holders
//
// All numbers are little-endian.
package nameindex

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/vellum"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// MaxKeyLength is the maximum length of a key in bytes. Longer ones are texts rather than
	// names: such entities are only found by their exact name.
	MaxKeyLength = 512
	// magic ends both files; its last byte is the version.
	magic = 0x01_69_6e_6d_74 // "tmni" and 1
	// holderSize is the length of a holder in bytes.
	holderSize = 5
	// lastHolder marks the last holder of a key, maxLetters masks its number of letters.
	lastHolder = 0x80
	maxLetters = 0x7f
)

// Index is an open name index. It is safe for concurrent use.
type Index struct {
	keys, words *vellum.FST
	// holders are the holders of all keys, lists the keys of all words.
	holders, lists []byte
}

// Open reads an index from its two files. The index keeps using the bytes, which must not change.
// Open reads only their ends; damage elsewhere becomes an error of Match or Fuzzy, or a wrong
// answer, so the caller must verify the files' checksums. The error wraps store.ErrCorrupt.
func Open(names, holders []byte) (index *Index, err error) {
	defer recoverCorrupt(&err)
	footer, ok := cutFooter(&names)
	if !ok || footer > uint64(len(names)) {
		return nil, fmt.Errorf("open name index: names: truncated or not an index: %w", store.ErrCorrupt)
	}
	count, ok := cutFooter(&holders)
	if !ok || count > uint64(len(holders)/holderSize) {
		return nil, fmt.Errorf("open name index: holders: truncated or not an index: %w", store.ErrCorrupt)
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

// cutFooter removes the footer of a file: a number and the magic.
func cutFooter(file *[]byte) (number uint64, ok bool) {
	body := len(*file) - 16
	if body < 0 || binary.LittleEndian.Uint64((*file)[body+8:]) != magic {
		return 0, false
	}
	number = binary.LittleEndian.Uint64((*file)[body:])
	*file = (*file)[:body]
	return number, true
}

// Match returns the entities that have the key, ascending.
func (x *Index) Match(key string) (entities []uint32, err error) {
	if key == "" || len(key) > MaxKeyLength {
		return nil, nil
	}
	defer recoverCorrupt(&err)
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

// holder reads a holder: the entity, the number of letters of the key, and whether it is the key's
// last.
func (x *Index) holder(number uint64) (entity uint32, letters int, last bool) {
	h := x.holders[number*holderSize : number*holderSize+holderSize]
	return binary.LittleEndian.Uint32(h), int(h[4] & maxLetters), h[4]&lastHolder != 0
}

// recoverCorrupt turns a panic into an error, since damaged bytes may lead anywhere, also inside
// the library.
func recoverCorrupt(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("read name index: %w (%v)", store.ErrCorrupt, p)
	}
}

const (
	// minInitials and maxInitials bound the number of initials.
	minInitials, maxInitials = 2, 8
	// initialsSimilarity is the similarity of a name to its initials.
	initialsSimilarity = 0.5
	// maxSmallWord is the length of the longest word whose initial may be omitted, as of "of" and
	// "the".
	maxSmallWord = 3
	// initialsMark precedes initials among the words; no word begins with it.
	initialsMark = " "
)

// keyInitials returns the initials of a key of several words and, if they differ, those without the
// small words: "uoc" and "uc" of "university of california". Those too short or too long are
// omitted.
func keyInitials(key string) []string {
	var all, large strings.Builder
	for word := range strings.FieldsSeq(key) {
		initial, _ := utf8.DecodeRuneInString(word)
		all.WriteRune(initial)
		if utf8.RuneCountInString(word) > maxSmallWord {
			large.WriteRune(initial)
		}
	}
	var found []string
	if areInitials(all.String()) {
		found = append(found, all.String())
	}
	if areInitials(large.String()) && large.String() != all.String() {
		found = append(found, large.String())
	}
	return found
}

func areInitials(text string) bool {
	n := utf8.RuneCountInString(text)
	return minInitials <= n && n <= maxInitials && !strings.Contains(text, " ")
}
