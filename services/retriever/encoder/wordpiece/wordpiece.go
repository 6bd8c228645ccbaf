// Package wordpiece splits text into the pieces that uncased BERT models read
// (Devlin et al. 2019, §3; Wu et al. 2016, §4.1), with the same ids as the
// reference tokenizer.
package wordpiece

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxWord is the longest word in characters that is split; a longer one is
// unknown as a whole.
const maxWord = 100

// Tokenizer turns text into ids. It is safe for concurrent use.
type Tokenizer struct {
	// begins holds the pieces that begin a word, continues those that stand
	// within one, without their "##".
	begins, continues   map[string]int64
	unknown, start, end int64
}

// New reads a vocabulary: one piece a line, the line number from 0 is its id.
func New(vocabulary io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{begins: map[string]int64{}, continues: map[string]int64{}}
	lines := bufio.NewScanner(vocabulary)
	for id := int64(0); lines.Scan(); id++ {
		piece := strings.TrimSuffix(lines.Text(), "\r")
		if rest, ok := strings.CutPrefix(piece, "##"); ok && rest != "" {
			t.continues[rest] = id
		} else {
			t.begins[piece] = id
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	for piece, id := range map[string]*int64{"[UNK]": &t.unknown, "[CLS]": &t.start, "[SEP]": &t.end} {
		var ok bool
		if *id, ok = t.begins[piece]; !ok {
			return nil, fmt.Errorf("read vocabulary: %s is not in it; is this the vocab.txt of a BERT model?", piece)
		}
	}
	return t, nil
}

// Encode returns the ids of text between [CLS] and [SEP], limit of them at
// most; what is longer is cut off. limit is at least 2. Text that names a
// special piece, such as "[SEP]", stays text.
func (t *Tokenizer) Encode(text string, limit int) []int64 {
	ids := make([]int64, 1, min(limit, 2+len(text)/3))
	ids[0] = t.start
	for word := range words(text) {
		ids = t.split(ids, word)
		if len(ids) >= limit-1 {
			ids = ids[:limit-1]
			break
		}
	}
	return append(ids, t.end)
}

// split appends a word's pieces: always the longest that fits.
func (t *Tokenizer) split(ids []int64, word string) []int64 {
	if utf8.RuneCountInString(word) > maxWord {
		return append(ids, t.unknown)
	}
	before := len(ids)
	pieces := t.begins
	for word != "" {
		length := len(word)
		for ; length > 0; length-- {
			if id, ok := pieces[word[:length]]; ok {
				ids = append(ids, id)
				break
			}
		}
		if length == 0 {
			return append(ids[:before], t.unknown)
		}
		word, pieces = word[length:], t.continues
	}
	return ids
}
