package load

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
)

// partial is a batch that is finished: its vocabulary in order, and its facts
// by the places of their keys in that order.
type partial struct {
	vocabulary, facts *spool
	keys, rows        int
	// keepFiles reports whether its files stay until the load is over, for it to continue with.
	keepFiles bool
}

// remove removes one of its files, now that it was read.
func (p *partial) remove(s *spool) error {
	if p.keepFiles {
		return nil
	}
	return s.remove()
}

// finish puts a batch in order and writes it, to files of these names or to
// memory if name is empty.
func (b *batch) finish(s *scratch, name string, limit int) (*partial, error) {
	order := b.sortedIDs()
	place := make([]uint32, len(order))
	for i, id := range order {
		place[id] = uint32(i)
	}
	for i, f := range b.facts {
		b.facts[i] = record{place[f[0]], place[f[1]], place[f[2]], place[f[3]]}
	}
	b.sortNamings(place)
	made := &partial{vocabulary: s.spool("vocabulary", limit), facts: s.spool("facts", limit), keys: len(order),
		rows: len(b.facts)}
	if err := b.write(made, name, order); err != nil {
		// The first error counts.
		_, _ = made.vocabulary.remove(), made.facts.remove()
		return nil, err
	}
	return made, nil
}

func (b *batch) write(p *partial, name string, order []uint32) error {
	if name != "" {
		if err := p.vocabulary.toFile(name + ".vocabulary"); err != nil {
			return err
		}
		if err := p.facts.toFile(name + ".facts"); err != nil {
			return err
		}
	}
	if _, err := p.facts.Write(bytesOf(b.facts)); err != nil {
		return err
	}
	if err := p.facts.finish(); err != nil {
		return err
	}
	if err := b.writeVocabulary(p.vocabulary, order); err != nil {
		return err
	}
	return p.vocabulary.finish()
}

// bytesOf shows numbers as the bytes they are. Scratch files do not leave the
// machine, so their order of bytes is its own.
func bytesOf[T record | [2]uint32 | uint32](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}

// What follows a key in a vocabulary: a label, and aliases.
const (
	withLabel   = 1
	withAliases = 2
)

func (b *batch) writeVocabulary(to io.Writer, order []uint32) error {
	var last, line []byte
	labels, also := b.labels, b.aliases
	for _, id := range order {
		key := b.key(id)
		var label *nameRef
		if len(labels) > 0 && labels[0].key == id {
			label, labels = &labels[0], labels[1:]
		}
		aliases := 0
		for aliases < len(also) && also[aliases].key == id {
			aliases++
		}
		shared := extsort.CommonPrefix(last, key)
		line = appendUvarints(line, uint64(shared), uint64(len(key)-shared))
		line = append(line, key[shared:]...)
		with := uint64(0)
		if label != nil {
			with |= withLabel
		}
		if aliases > 0 {
			with |= withAliases
		}
		line = appendUvarints(line, uint64(b.uses[id])<<2|with)
		if label != nil {
			line = appendText(appendUvarints(line, uint64(label.rank)), b.name(*label))
		}
		if aliases > 0 {
			line = appendUvarints(line, uint64(aliases))
			for _, a := range also[:aliases] {
				line = appendText(line, b.name(a))
			}
			also = also[aliases:]
		}
		last = key
		if len(line) < 16<<10 {
			continue
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
		line = line[:0]
	}
	_, err := to.Write(line)
	return err
}

func appendUvarints(to []byte, values ...uint64) []byte {
	for _, v := range values {
		to = binary.AppendUvarint(to, v)
	}
	return to
}

func appendText(to, text []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// word is a key of a vocabulary and what is known about it.
type word struct {
	key      []byte
	use      use
	hasLabel bool
	rank     uint64
	label    []byte
	aliases  [][]byte
}

// words reads a vocabulary.
type words struct {
	in        *bufio.Reader
	closer    io.Closer
	remaining int
	path      string
}

func (p *partial) words() (*words, error) {
	in, closer, err := p.vocabulary.reader()
	if err != nil {
		return nil, err
	}
	return &words{in: in, closer: closer, remaining: p.keys, path: p.vocabulary.path}, nil
}

// next reads a word over the one before; ok is false after the last one.
func (w *words) next(to *word) (prefix uint64, ok bool, err error) {
	if w.remaining == 0 {
		return 0, false, nil
	}
	w.remaining--
	if err := w.readWord(to); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it is cut off")
		}
		return 0, false, fmt.Errorf("read scratch file %s: %w", w.path, err)
	}
	return extsort.Prefix(to.key), true, nil
}

var errDamaged = errors.New("it is damaged")

func (w *words) readWord(to *word) (err error) {
	shared, err := binary.ReadUvarint(w.in)
	if err != nil {
		return err
	}
	if shared > uint64(len(to.key)) {
		return errDamaged
	}
	if to.key, err = w.readText(to.key[:shared]); err != nil {
		return err
	}
	with, err := binary.ReadUvarint(w.in)
	if err != nil {
		return err
	}
	to.use, to.hasLabel, to.aliases = use(with>>2), with&withLabel != 0, to.aliases[:0]
	if to.hasLabel {
		if to.rank, err = binary.ReadUvarint(w.in); err != nil {
			return err
		}
		if to.label, err = w.readText(to.label[:0]); err != nil {
			return err
		}
	}
	if with&withAliases == 0 {
		return nil
	}
	n, err := binary.ReadUvarint(w.in)
	if err != nil {
		return err
	}
	for range n {
		alias, err := w.readText(nil)
		if err != nil {
			return err
		}
		to.aliases = append(to.aliases, alias)
	}
	return nil
}

// readText reads a length and as many bytes, after what is in to.
func (w *words) readText(to []byte) ([]byte, error) {
	n, err := binary.ReadUvarint(w.in)
	if err != nil {
		return to, err
	}
	if n > 1<<32 {
		return to, errDamaged
	}
	from := len(to)
	if uint64(cap(to)-from) < n {
		to = bytes.Clone(to)
		// A length that is wrong finds the end of the file before the memory's.
		for uint64(len(to)-from) < n {
			step := min(n-uint64(len(to)-from), 1<<20)
			at := len(to)
			to = append(to, make([]byte, step)...)
			if _, err := io.ReadFull(w.in, to[at:]); err != nil {
				return to, err
			}
		}
		return to, nil
	}
	to = to[:from+int(n)]
	_, err = io.ReadFull(w.in, to[from:])
	return to, err
}
