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

// Fuzzy returns at most limit entities with a key similar to the text, by falling similarity, then
// ascending, each once. Their similarity, at least least, is the greatest of three:
//
//   - spelling: 1 minus the number of characters to insert, delete, replace or
//     swap with a neighbour, over those of the longer of both. At most one such
//     edit is searched for in a text of 4 to 7 characters, two in a longer one
//     with the same first character, none in a shorter one.
//   - words: twice the letters of the words both have, over the letters of
//     both, in any order ("Dice"). A word that no key has is replaced by
//     similar ones, which count less by their spelling.
//   - initials: 0.5 if the text is the initials of two to eight words, with
//     or without those of words of up to three letters.
//
// A key of more than 127 letters counts as one of 127.
func (x *Index) Fuzzy(ctx context.Context, text string, least float32, limit int) (matches []Match, err error) {
	if text == "" || len(text) > MaxKeyLength || limit <= 0 {
		return nil, nil
	}
	defer recoverCorrupt(&err)
	alike, err := x.similarKeys(ctx, x.keys, text)
	if err != nil {
		return nil, err
	}
	byWords, err := x.keysSharingWords(ctx, text, least)
	if err != nil {
		return nil, err
	}
	abbreviated, err := x.keysWithInitials(text)
	if err != nil {
		return nil, err
	}
	alike = mergeKeys(mergeKeys(alike, byWords, maxLikeness), abbreviated, maxLikeness)
	return x.findHolders(alike, least, limit), nil
}

// findHolders returns the entities that have the keys, which it reorders: of thousands of keys that share a
// word with the text, only the likest are looked up.
func (x *Index) findHolders(keys []scoredKey, least float32, limit int) []Match {
	keys = slices.DeleteFunc(keys, func(k scoredKey) bool { return k.likeness < least })
	slices.SortFunc(keys, func(a, b scoredKey) int { return cmp.Compare(b.likeness, a.likeness) })
	var matches []Match
	seen := map[uint32]bool{}
	for _, k := range keys {
		if n := len(matches); n >= limit && k.likeness < matches[n-1].Similarity {
			break
		}
		for number, last := k.key, false; !last; number++ {
			var entity uint32
			if entity, _, last = x.holder(number); !seen[entity] {
				seen[entity] = true
				matches = append(matches, Match{Entity: entity, Similarity: k.likeness})
			}
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Entity, b.Entity))
	})
	return matches[:min(limit, len(matches))]
}

// scoredKey is a key or a word with its similarity to a text. Lists of them are ordered by key.
type scoredKey struct {
	// key is the number of a key's first holder, or the position of a word's list.
	key      uint64
	likeness float32
}

// similarKeys returns the keys or words with a similar spelling.
func (x *Index) similarKeys(ctx context.Context, in *vellum.FST, text string) ([]scoredKey, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []scoredKey
	length := utf8.RuneCountInString(text)
	most, start, end := 0, []byte(nil), []byte(nil)
	switch {
	case length >= 8:
		most = 2
		_, size := utf8.DecodeRuneInString(text)
		start, end = []byte(text[:size]), prefixEnd(text[:size])
	case length >= 4:
		most = 1
	}
	if most == 0 {
		value, ok, err := in.Get([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("look up a name: %w (%w)", store.ErrCorrupt, err)
		}
		if ok {
			found = append(found, scoredKey{value, 1})
		}
		return found, nil
	}
	automaton := newLevenshtein(text, most)
	iterator, err := in.Search(automaton, start, end)
	for ; err == nil; err = iterator.Next() {
		key, value := iterator.Current()
		if key[0] == initialsMark[0] {
			continue
		}
		longer := max(length, utf8.RuneCount(key))
		found = append(found, scoredKey{value, 1 - float32(automaton.distance(len(key)))/float32(longer)})
	}
	if !errors.Is(err, vellum.ErrIteratorDone) {
		return nil, fmt.Errorf("look up a name: %w (%w)", store.ErrCorrupt, err)
	}
	slices.SortFunc(found, func(a, b scoredKey) int { return cmp.Compare(a.key, b.key) })
	return found, nil
}

// prefixEnd returns the smallest text after all those with a prefix.
func prefixEnd(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// maxWalkedList is the maximum length of a list that is walked. For a word in more keys, only the
// keys found by other words are looked up, unless all words of the text are such.
const maxWalkedList = 1 << 12

// keysSharingWords returns the keys that share words with a text, with their Dice coefficient.
func (x *Index) keysSharingWords(ctx context.Context, text string, least float32) ([]scoredKey, error) {
	words := strings.Fields(text)
	slices.Sort(words)
	words = slices.Compact(words)
	var lists []wordList
	total := 0
	for _, word := range words {
		list, err := x.wordKeys(ctx, word)
		if err != nil {
			return nil, err
		}
		total += list.letters
		lists = append(lists, list)
	}
	slices.SortStableFunc(lists, func(a, b wordList) int { return cmp.Compare(a.length(), b.length()) })
	var found []scoredKey
	left := total
	for i, list := range lists {
		// A key without any of the words so far can still share the remaining ones.
		reachable := 2*float32(left)/float32(total+left) >= least
		open := reachable && (list.length() <= maxWalkedList || i == 0 || len(found) == 0)
		found = list.mergeInto(found, open)
		left -= list.letters
	}
	for i, f := range found {
		_, letters, _ := x.holder(f.key)
		found[i].likeness = min(1, 2*f.likeness/float32(total+letters))
	}
	return found, nil
}

// wordList holds the keys that contain a word of the text, or a word with a similar spelling.
type wordList struct {
	// letters is the word's length.
	letters int
	// keys are the first holders, 4 bytes each, of keys with the word itself; similar are those of
	// keys with other spellings, each with the letters it counts for.
	keys    []byte
	similar []scoredKey
}

func (l wordList) length() int { return len(l.keys)/4 + len(l.similar) }

func (l wordList) key(i int) uint64 { return uint64(binary.LittleEndian.Uint32(l.keys[4*i:])) }

func (x *Index) wordKeys(ctx context.Context, word string) (wordList, error) {
	list := wordList{letters: utf8.RuneCountInString(word)}
	place, ok, err := x.words.Get([]byte(word))
	if err != nil {
		return list, fmt.Errorf("look up a word: %w (%w)", store.ErrCorrupt, err)
	}
	if ok {
		list.keys = x.list(place)
		return list, nil
	}
	spelt, err := x.similarKeys(ctx, x.words, word)
	for _, s := range spelt {
		other := wordList{letters: list.letters, keys: x.list(s.key)}
		near := other.mergeInto(nil, true)
		for i := range near {
			near[i].likeness = s.likeness * float32(list.letters)
		}
		list.similar = mergeKeys(list.similar, near, maxLikeness)
	}
	return list, err
}

func (x *Index) list(place uint64) []byte {
	length := uint64(binary.LittleEndian.Uint32(x.lists[4*place:]))
	return x.lists[4*place+4 : 4*(place+1+length)]
}

// mergeInto adds the letters of the word to the keys found so far, both ordered by key; new keys
// are added only if open.
func (l wordList) mergeInto(found []scoredKey, open bool) []scoredKey {
	sum := func(a, b float32) float32 { return a + b }
	if l.keys == nil {
		if open {
			return mergeKeys(found, l.similar, sum)
		}
		for i, n := 0, 0; i < len(found) && n < len(l.similar); {
			switch order := cmp.Compare(found[i].key, l.similar[n].key); {
			case order < 0:
				i++
			case order > 0:
				n++
			default:
				found[i].likeness += l.similar[n].likeness
				i, n = i+1, n+1
			}
		}
		return found
	}
	if !open {
		for i := range found {
			if l.contains(found[i].key) {
				found[i].likeness += float32(l.letters)
			}
		}
		return found
	}
	keys := make([]scoredKey, l.length())
	for i := range keys {
		keys[i] = scoredKey{l.key(i), float32(l.letters)}
	}
	return mergeKeys(found, keys, sum)
}

// keysWithInitials returns the keys whose initials are the text.
func (x *Index) keysWithInitials(text string) ([]scoredKey, error) {
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
	keys := list.mergeInto(nil, true)
	for i := range keys {
		keys[i].likeness = initialsSimilarity
	}
	return keys, nil
}

func (l wordList) contains(key uint64) bool {
	from, to := 0, len(l.keys)/4
	for from < to {
		if middle := (from + to) / 2; l.key(middle) < key {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from < len(l.keys)/4 && l.key(from) == key
}

func maxLikeness(a, b float32) float32 { return max(a, b) }

// mergeKeys merges two lists; join combines the scores of common keys.
func mergeKeys(a, b []scoredKey, join func(a, b float32) float32) []scoredKey {
	if len(a) == 0 {
		return b
	}
	merged := make([]scoredKey, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := cmp.Compare(a[0].key, b[0].key); {
		case order < 0:
			merged, a = append(merged, a[0]), a[1:]
		case order > 0:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, scoredKey{a[0].key, join(a[0].likeness, b[0].likeness)})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// maxEdits is the largest distance searched for.
const maxEdits = 2

// levenshtein is a Levenshtein automaton: it accepts the keys within a number of insertions,
// deletions, replacements and swaps of neighbouring characters of a text. It is computed during the
// walk of the transducer: a state is the depth of the walk and holds the band of the dynamic
// programme's row around the diagonal. So nothing is allocated per state, where vellum's own
// automata take a megabyte for a name of two words. It requires a depth-first walk, like that of
// vellum.FSTIterator.
type levenshtein struct {
	text        []rune
	maxDistance int
	// rows has a row per byte of the path, row 0 for the empty path.
	rows []row
}

// row is the state after some bytes of a key.
type row struct {
	// chars counts the complete characters so far, char is the last of them.
	chars int
	char  rune
	// previous is the row before that character.
	previous int
	// partial holds the bytes of an incomplete character, size their number.
	partial [utf8.UTFMax]byte
	size    int
	// band[k] is the distance between the characters so far and the first chars-maxDistance+k of
	// the text.
	band [2*maxEdits + 1]uint8
}

// beyondMax exceeds every distance searched for.
const beyondMax = maxEdits + 1

func newLevenshtein(text string, most int) *levenshtein {
	e := &levenshtein{text: []rune(text), maxDistance: most}
	e.rows = make([]row, 1, len(text)+8)
	for k := range e.rows[0].band {
		e.rows[0].band[k] = beyondMax
		if at := k - most; at >= 0 && at <= most && at <= len(e.text) {
			e.rows[0].band[k] = uint8(at)
		}
	}
	return e
}

var _ vellum.Automaton = (*levenshtein)(nil)

// deadState accepts nothing.
const deadState = -1

func (e *levenshtein) Start() int { return 0 }

func (e *levenshtein) CanMatch(state int) bool { return state != deadState }

func (e *levenshtein) WillAlwaysMatch(int) bool { return false }

func (e *levenshtein) IsMatch(state int) bool {
	return state != deadState && e.rows[state].size == 0 && e.distance(state) <= e.maxDistance
}

// distance returns the distance of a complete key to the text.
func (e *levenshtein) distance(state int) int {
	r := &e.rows[state]
	k := len(e.text) - r.chars + e.maxDistance
	if k < 0 || k > 2*e.maxDistance {
		return beyondMax
	}
	return int(r.band[k])
}

func (e *levenshtein) Accept(state int, b byte) int {
	if state == deadState {
		return deadState
	}
	next := state + 1
	if next == len(e.rows) {
		e.rows = append(e.rows, row{})
	}
	from, to := &e.rows[state], &e.rows[next]
	*to = *from
	if from.size == 0 {
		to.previous = state
	}
	to.partial[from.size] = b
	to.size = from.size + 1
	if to.size < utf8.UTFMax && !utf8.FullRune(to.partial[:to.size]) {
		return next
	}
	char, _ := utf8.DecodeRune(to.partial[:to.size])
	to.size = 0
	if !e.step(to, char) {
		return deadState
	}
	return next
}

// step computes a row from the one before its character and reports whether any distance in it is
// within the maximum.
func (e *levenshtein) step(to *row, char rune) bool {
	above := &e.rows[to.previous]
	to.chars, to.char = above.chars+1, char
	near := false
	for k := range 2*e.maxDistance + 1 {
		// at is the number of characters of the text that this distance compares.
		at := to.chars - e.maxDistance + k
		best := uint8(beyondMax)
		if at < 0 || at > len(e.text) {
			to.band[k] = best
			continue
		}
		if k+1 <= 2*e.maxDistance {
			best = min(best, above.band[k+1]+1)
		}
		if k > 0 {
			best = min(best, to.band[k-1]+1)
		}
		if at > 0 {
			same := uint8(1)
			if e.text[at-1] == char {
				same = 0
			}
			best = min(best, above.band[k]+same)
			if at > 1 && above.chars > 0 && e.text[at-2] == char && e.text[at-1] == above.char {
				best = min(best, e.rows[above.previous].band[k]+1)
			}
		}
		to.band[k] = min(best, beyondMax)
		near = near || int(best) <= e.maxDistance
	}
	return near
}
