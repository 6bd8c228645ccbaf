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
	names, holders *countingWriter
	keys           *vellum.Builder
	words          *extsort.Strings
	count          uint64
	last           string
}

// NewWriter writes an index to names and holders. sorting configures the sorting of its words.
func NewWriter(names, holders io.Writer, sorting extsort.Options) (*Writer, error) {
	w := &Writer{names: newCountingWriter(names), holders: newCountingWriter(holders),
		words: extsort.NewStrings(sorting)}
	var err error
	w.keys, err = vellum.New(w.names, nil)
	return w, err
}

// Add adds the next key and the entities that have it, ascending and distinct. Empty keys and those
// over MaxKeyLength are skipped. The error wraps store.ErrInvalid if a key is out of order.
func (w *Writer) Add(key string, entities []uint32) error {
	if w.count > 0 && key <= w.last {
		return store.Invalidf("write name index: key %q after %q; they must ascend", key, w.last)
	}
	if key == "" || len(key) > MaxKeyLength || len(entities) == 0 {
		return nil
	}
	if w.count+uint64(len(entities)) > 1<<32 {
		return store.Invalidf("write name index: more than %d names", uint64(1<<32))
	}
	first := w.count
	if err := w.keys.Insert([]byte(key), first); err != nil {
		return fmt.Errorf("write name index: key %q: %w", key, err)
	}
	var record [holderSize]byte
	for i, e := range entities {
		binary.LittleEndian.PutUint32(record[:], e)
		// Spaces are not counted.
		record[4] = byte(min(utf8.RuneCountInString(key)-strings.Count(key, " "), maxLetters))
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
	for _, initials := range keyInitials(key) {
		if err := w.words.Add([]byte(initialsMark+initials), first); err != nil {
			return fmt.Errorf("write name index: %w", err)
		}
	}
	return w.err()
}

// err returns the first error of either file.
func (w *Writer) err() error {
	for _, file := range []*countingWriter{w.names, w.holders} {
		if file.err != nil {
			return fmt.Errorf("write name index: %w", file.err)
		}
	}
	return nil
}

// Finish writes the rest. It does not close the files.
func (w *Writer) Finish(ctx context.Context) error {
	if err := w.keys.Close(); err != nil {
		return fmt.Errorf("write name index: keys: %w", err)
	}
	words := w.names.written
	if err := w.writeWords(ctx); err != nil {
		return fmt.Errorf("write name index: words: %w", err)
	}
	w.names.writeNumber(words)
	w.names.writeNumber(magic)
	w.holders.writeNumber(w.count)
	w.holders.writeNumber(magic)
	w.names.flush()
	w.holders.flush()
	return w.err()
}

// Close removes the temporary files of sorting, also after an error.
func (w *Writer) Close() error { return w.words.Close() }

// writeWords writes the lists of the words and their positions.
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

// countingWriter is a buffered writer that keeps its first error, which vellum does not return, and
// the number of bytes written.
type countingWriter struct {
	to      *bufio.Writer
	written uint64
	err     error
}

func newCountingWriter(to io.Writer) *countingWriter {
	return &countingWriter{to: bufio.NewWriterSize(to, 1<<16)}
}

func (c *countingWriter) Write(p []byte) (int, error) {
	if c.err == nil {
		_, c.err = c.to.Write(p)
	}
	c.written += uint64(len(p))
	return len(p), c.err
}

func (c *countingWriter) writeNumber(n uint64) {
	c.Write(binary.LittleEndian.AppendUint64(nil, n))
}

func (c *countingWriter) flush() {
	if c.err == nil {
		c.err = c.to.Flush()
	}
}
