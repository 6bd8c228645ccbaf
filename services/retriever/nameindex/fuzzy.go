package nameindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/vellum"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Match is an entity with a key that resembles a text.
type Match struct {
	Entity uint32
	// Similarity is 0 to 1.
	Similarity float32
}

// Fuzzy returns the entities with a key that resembles the text, most alike
// first, then ascending, each once, at most limit. Their similarity, at least
// least, is the greatest of three:
//
//   - spelling: 1 minus the number of characters to insert, delete, replace or
//     swap with a neighbour, over those of the longer of both. At most one such
//     edit is looked for in a text of 4 to 7 characters, two in a longer one
//     whose first character is right, none in a shorter one.
//   - words: twice the letters of the words both have, over the letters of
//     both, in any order ("Dice"). A word that no key has stands for those
//     spelt nearly so, which count for less by their spelling.
//   - initials: 0.5 where the text is the initials of two to eight words, with
//     or without those of words of up to three letters.
//
// A key of more than 127 letters counts as one of 127.
func (x *Index) Fuzzy(ctx context.Context, text string, least float32, limit int) (matches []Match, err error) {
	if text == "" || len(text) > LongestKey || limit <= 0 {
		return nil, nil
	}
	defer recovered(&err)
	alike, err := x.spelt(ctx, x.keys, text)
	if err != nil {
		return nil, err
	}
	byWords, err := x.sharing(ctx, text, least)
	if err != nil {
		return nil, err
	}
	abbreviated, err := x.abbreviated(text)
	if err != nil {
		return nil, err
	}
	alike = union(union(alike, byWords, greater), abbreviated, greater)
	return x.holding(alike, least, limit), nil
}

// holding finds who holds the keys.
func (x *Index) holding(keys []alike, least float32, limit int) []Match {
	var matches []Match
	for _, k := range keys {
		if k.likeness < least {
			continue
		}
		for number := k.key; ; number++ {
			entity, _, last := x.holder(number)
			matches = append(matches, Match{Entity: entity, Similarity: k.likeness})
			if last {
				break
			}
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Entity, b.Entity), cmp.Compare(b.Similarity, a.Similarity))
	})
	matches = slices.CompactFunc(matches, func(a, b Match) bool { return a.Entity == b.Entity })
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return matches[:min(limit, len(matches))]
}

// alike is a key, or a word, and how much it resembles a text. Lists of them
// are in the order of the keys.
type alike struct {
	// key is the number of a key's first holder, or the place of a word's list.
	key      uint64
	likeness float32
}

// spelt finds the keys or words that are spelt nearly like a text.
func (x *Index) spelt(ctx context.Context, in *vellum.FST, text string) ([]alike, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []alike
	length := utf8.RuneCountInString(text)
	most, start, end := 0, []byte(nil), []byte(nil)
	switch {
	case length >= 8:
		most = 2
		_, size := utf8.DecodeRuneInString(text)
		start, end = []byte(text[:size]), after(text[:size])
	case length >= 4:
		most = 1
	}
	if most == 0 {
		value, ok, err := in.Get([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("look up a name: %w (%w)", store.ErrCorrupt, err)
		}
		if ok {
			found = append(found, alike{value, 1})
		}
		return found, nil
	}
	automaton := newEdits(text, most)
	iterator, err := in.Search(automaton, start, end)
	for ; err == nil; err = iterator.Next() {
		key, value := iterator.Current()
		if key[0] == initialsMark[0] {
			continue
		}
		longer := max(length, utf8.RuneCount(key))
		found = append(found, alike{value, 1 - float32(automaton.distance(len(key)))/float32(longer)})
	}
	if !errors.Is(err, vellum.ErrIteratorDone) {
		return nil, fmt.Errorf("look up a name: %w (%w)", store.ErrCorrupt, err)
	}
	slices.SortFunc(found, func(a, b alike) int { return cmp.Compare(a.key, b.key) })
	return found, nil
}

// after is the least text after all those that begin with a prefix.
func after(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// mostListed is how many keys a list may have to be walked through; of a word
// that more keys hold only the keys that other words found are looked up,
// unless all words of the text are such.
const mostListed = 1 << 12

// sharing finds the keys that share words with a text, and their Dice.
func (x *Index) sharing(ctx context.Context, text string, least float32) ([]alike, error) {
	words := strings.Fields(text)
	slices.Sort(words)
	words = slices.Compact(words)
	var lists []wordList
	total := 0
	for _, word := range words {
		list, err := x.keysOf(ctx, word)
		if err != nil {
			return nil, err
		}
		total += list.letters
		lists = append(lists, list)
	}
	slices.SortStableFunc(lists, func(a, b wordList) int { return cmp.Compare(a.length(), b.length()) })
	var found []alike
	left := total
	for i, list := range lists {
		// A key that none of the words so far is in can share what is left.
		reachable := 2*float32(left)/float32(total+left) >= least
		open := reachable && (list.length() <= mostListed || i == 0 || len(found) == 0)
		found = list.addTo(found, open)
		left -= list.letters
	}
	for i, f := range found {
		_, letters, _ := x.holder(f.key)
		found[i].likeness = min(1, 2*f.likeness/float32(total+letters))
	}
	return found, nil
}

// wordList holds the keys in which a word of the text stands, or one spelt
// nearly so.
type wordList struct {
	// letters is the word's length.
	letters int
	// keys are the first holders, 4 bytes each, of keys with this very word;
	// near those of keys with other spellings, each with the letters it counts
	// for.
	keys []byte
	near []alike
}

func (l wordList) length() int { return len(l.keys)/4 + len(l.near) }

func (l wordList) at(i int) uint64 { return uint64(binary.LittleEndian.Uint32(l.keys[4*i:])) }

// keysOf finds the keys of a word.
func (x *Index) keysOf(ctx context.Context, word string) (wordList, error) {
	list := wordList{letters: utf8.RuneCountInString(word)}
	place, ok, err := x.words.Get([]byte(word))
	if err != nil {
		return list, fmt.Errorf("look up a word: %w (%w)", store.ErrCorrupt, err)
	}
	if ok {
		list.keys = x.list(place)
		return list, nil
	}
	spelt, err := x.spelt(ctx, x.words, word)
	for _, s := range spelt {
		other := wordList{letters: list.letters, keys: x.list(s.key)}
		near := other.addTo(nil, true)
		for i := range near {
			near[i].likeness = s.likeness * float32(list.letters)
		}
		list.near = union(list.near, near, greater)
	}
	return list, err
}

// list returns the list at a place.
func (x *Index) list(place uint64) []byte {
	length := uint64(binary.LittleEndian.Uint32(x.lists[4*place:]))
	return x.lists[4*place+4 : 4*(place+1+length)]
}

// addTo adds the letters of the word to the keys found so far, both in the
// order of the keys; keys that were not found yet are added if open.
func (l wordList) addTo(found []alike, open bool) []alike {
	sum := func(a, b float32) float32 { return a + b }
	if l.keys == nil {
		if open {
			return union(found, l.near, sum)
		}
		for i, n := 0, 0; i < len(found) && n < len(l.near); {
			switch order := cmp.Compare(found[i].key, l.near[n].key); {
			case order < 0:
				i++
			case order > 0:
				n++
			default:
				found[i].likeness += l.near[n].likeness
				i, n = i+1, n+1
			}
		}
		return found
	}
	if !open {
		for i := range found {
			if l.has(found[i].key) {
				found[i].likeness += float32(l.letters)
			}
		}
		return found
	}
	keys := make([]alike, l.length())
	for i := range keys {
		keys[i] = alike{l.at(i), float32(l.letters)}
	}
	return union(found, keys, sum)
}

// abbreviated finds the keys whose initials a text is.
func (x *Index) abbreviated(text string) ([]alike, error) {
	if !areInitials(text) {
		return nil, nil
	}
	place, ok, err := x.words.Get([]byte(initialsMark + text))
	if err != nil {
		return nil, fmt.Errorf("look up initials: %w (%w)", store.ErrCorrupt, err)
	}
	if !ok {
		return nil, nil
	}
	list := wordList{keys: x.list(place)}
	keys := list.addTo(nil, true)
	for i := range keys {
		keys[i].likeness = byInitials
	}
	return keys, nil
}

// has tells whether a key is in the list.
func (l wordList) has(key uint64) bool {
	from, to := 0, len(l.keys)/4
	for from < to {
		if middle := (from + to) / 2; l.at(middle) < key {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from < len(l.keys)/4 && l.at(from) == key
}

func greater(a, b float32) float32 { return max(a, b) }

// union merges two lists; what both have is joined.
func union(a, b []alike, join func(a, b float32) float32) []alike {
	if len(a) == 0 {
		return b
	}
	merged := make([]alike, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := cmp.Compare(a[0].key, b[0].key); {
		case order < 0:
			merged, a = append(merged, a[0]), a[1:]
		case order > 0:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, alike{a[0].key, join(a[0].likeness, b[0].likeness)})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
