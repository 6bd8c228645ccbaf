package encoder

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordLength is the maximum length of a word in characters; a longer one is unknown.
const maxWordLength = 100

// Tokenizer splits text into the WordPiece ids that uncased BERT models read (Devlin et al. 2019,
// §3; Wu et al. 2016, §4.1), with the same ids as the reference tokenizer. It is safe for
// concurrent use.
type Tokenizer struct {
	// wordStarts holds the pieces that begin a word, continuations those within a word, without
	// their "##".
	wordStarts, continuations map[string]int64
	unknown, start, end       int64
}

// NewTokenizer reads a vocabulary: one piece per line, whose number, from 0, is its id.
func NewTokenizer(vocabulary io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{wordStarts: map[string]int64{}, continuations: map[string]int64{}}
	lines := bufio.NewScanner(vocabulary)
	for id := int64(0); lines.Scan(); id++ {
		piece := strings.TrimSuffix(lines.Text(), "\r")
		if rest, ok := strings.CutPrefix(piece, "##"); ok && rest != "" {
			t.continuations[rest] = id
		} else {
			t.wordStarts[piece] = id
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read vocabulary: %w", err)
	}
	for piece, id := range map[string]*int64{"[UNK]": &t.unknown, "[CLS]": &t.start, "[SEP]": &t.end} {
		var ok bool
		if *id, ok = t.wordStarts[piece]; !ok {
			return nil, fmt.Errorf("read vocabulary: %s is not in it; is this the vocab.txt of a BERT model?", piece)
		}
	}
	return t, nil
}

// Encode returns the ids of text between [CLS] and [SEP], truncated to limit, which is at least 2.
// Text that names a special piece, such as "[SEP]", is text.
func (t *Tokenizer) Encode(text string, limit int) []int64 {
	ids := make([]int64, 1, min(limit, 2+len(text)/3))
	ids[0] = t.start
	for word := range splitWords(text) {
		ids = t.split(ids, word)
		if len(ids) >= limit-1 {
			ids = ids[:limit-1]
			break
		}
	}
	return append(ids, t.end)
}

// split appends a word's pieces, always the longest that fits.
func (t *Tokenizer) split(ids []int64, word string) []int64 {
	if utf8.RuneCountInString(word) > maxWordLength {
		return append(ids, t.unknown)
	}
	before := len(ids)
	pieces := t.wordStarts
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
		word, pieces = word[length:], t.continuations
	}
	return ids
}

// splitWords yields the words of a text in lower case and without accents. Every punctuation mark
// and every Chinese character is a word.
func splitWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var word []byte
		flush := func() bool {
			if len(word) == 0 {
				return true
			}
			w := string(word)
			word = word[:0]
			return yield(w)
		}
		alone := func(r rune) bool {
			return flush() && yield(string(unicode.ToLower(r)))
		}
		for _, r := range decompose(text) {
			more := true
			switch {
			case r == 0, r == utf8.RuneError, unicode.Is(unicode.Mn, r):
			case r == '\t', r == '\n', r == '\r':
				more = flush()
			case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			case unicode.IsSpace(r):
				more = flush()
			case isCJK(r), isPunctuation(r):
				more = alone(r)
			default:
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
			if !more {
				return
			}
		}
		flush()
	}
}

// decompose splits accents from letters; plain ASCII needs none of it.
func decompose(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return norm.NFD.String(text)
		}
	}
	return text
}

// isPunctuation counts all ASCII symbols as punctuation, as BERT does.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r)
}

// isCJK tells the CJK ideographs that BERT sets apart.
func isCJK(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0x3400 && r <= 0x4DBF ||
		r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F ||
		r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x2F800 && r <= 0x2FA1F
}
