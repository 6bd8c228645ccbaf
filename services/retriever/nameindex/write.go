package nameindex

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/vellum"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Writer builds an index from its keys in ascending order of their bytes.
type Writer struct {
	names, holders *counted
	keys           *vellum.Builder
	words          *extsort.Strings
	count          uint64
	last           string
}

// NewWriter writes an index to names and holders. Its words are sorted as
// sorting says.
func NewWriter(names, holders io.Writer, sorting extsort.Options) (*Writer, error) {
	w := &Writer{names: newCounted(names), holders: newCounted(holders), words: extsort.NewStrings(sorting)}
	var err error
	w.keys, err = vellum.New(w.names, nil)
	return w, err
}

// Add takes the next key and the entities that have it, ascending and each
// once. Empty keys and those over LongestKey are left out. The error wraps
// store.ErrInvalid where a key is out of order.
func (w *Writer) Add(key string, entities []uint32) error {
	if w.count > 0 && key <= w.last {
		return fmt.Errorf("write name index: key %q after %q; they must ascend: %w", key, w.last, store.ErrInvalid)
	}
	if key == "" || len(key) > LongestKey || len(entities) == 0 {
		return nil
	}
	if w.count+uint64(len(entities)) > 1<<32 {
		return fmt.Errorf("write name index: more than %d names: %w", uint64(1<<32), store.ErrInvalid)
	}
	first := w.count
	if err := w.keys.Insert([]byte(key), first); err != nil {
		return fmt.Errorf("write name index: key %q: %w", key, err)
	}
	var record [holderSize]byte
	for i, e := range entities {
		binary.LittleEndian.PutUint32(record[:], e)
		record[4] = byte(min(lettersIn(key), mostLetters))
		if i == len(entities)-1 {
			record[4] |= lastHolder
		}
		w.holders.Write(record[:])
	}
	w.count += uint64(len(entities))
	w.last = key
	for word := range strings.SplitSeq(key, " ") {
		if err := w.words.Add([]byte(word), first); err != nil {
			return fmt.Errorf("write name index: %w", err)
		}
	}
	for _, initials := range initialsOf(key) {
		if err := w.words.Add([]byte(initialsMark+initials), first); err != nil {
			return fmt.Errorf("write name index: %w", err)
		}
	}
	return w.err()
}

// err is the first error of either file.
func (w *Writer) err() error {
	for _, file := range []*counted{w.names, w.holders} {
		if file.err != nil {
			return fmt.Errorf("write name index: %w", file.err)
		}
	}
	return nil
}

// Finish writes what is left. It does not close the files.
func (w *Writer) Finish(ctx context.Context) error {
	if err := w.keys.Close(); err != nil {
		return fmt.Errorf("write name index: keys: %w", err)
	}
	words := w.names.written
	if err := w.writeWords(ctx); err != nil {
		return fmt.Errorf("write name index: words: %w", err)
	}
	w.names.number(words)
	w.names.number(magic)
	w.holders.number(w.count)
	w.holders.number(magic)
	w.names.flush()
	w.holders.flush()
	return w.err()
}

// Close removes what sorting left behind, also after an error.
func (w *Writer) Close() error { return w.words.Close() }

// writeWords writes the lists of the words and where each is.
func (w *Writer) writeWords(ctx context.Context) error {
	words, err := vellum.New(w.names, nil)
	if err != nil {
		return err
	}
	var (
		word  []byte
		keys  []uint32
		place uint64
		bytes []byte
	)
	list := func() error {
		if len(keys) == 0 {
			return nil
		}
		if err := words.Insert(word, place); err != nil {
			return err
		}
		bytes = binary.LittleEndian.AppendUint32(bytes[:0], uint32(len(keys)))
		for _, k := range keys {
			bytes = binary.LittleEndian.AppendUint32(bytes, k)
		}
		_, err := w.holders.Write(bytes)
		place += uint64(1 + len(keys))
		return err
	}
	err = w.words.Each(ctx, func(next []byte, key uint64) error {
		if !slices.Equal(next, word) {
			if err := list(); err != nil {
				return err
			}
			word, keys = append(word[:0], next...), keys[:0]
		}
		if len(keys) == 0 || keys[len(keys)-1] != uint32(key) {
			keys = append(keys, uint32(key))
		}
		return nil
	})
	if err == nil {
		err = list()
	}
	if err == nil {
		err = words.Close()
	}
	return err
}

// lettersIn counts the characters of a key without the spaces.
func lettersIn(key string) int {
	return utf8.RuneCountInString(key) - strings.Count(key, " ")
}

// counted is a buffered writer that remembers its first error, which vellum
// does not pass on, and how much was written.
type counted struct {
	to      *bufio.Writer
	written uint64
	err     error
}

func newCounted(to io.Writer) *counted { return &counted{to: bufio.NewWriterSize(to, 1<<16)} }

func (c *counted) Write(p []byte) (int, error) {
	if c.err == nil {
		_, c.err = c.to.Write(p)
	}
	c.written += uint64(len(p))
	return len(p), c.err
}

func (c *counted) number(n uint64) {
	c.Write(binary.LittleEndian.AppendUint64(nil, n))
}

func (c *counted) flush() {
	if c.err == nil {
		c.err = c.to.Flush()
	}
}
