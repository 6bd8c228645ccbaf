package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Strings sorts keys of any length, each with a number. The order is that of the keys' bytes, then
// of the numbers. First all are added, then they are read, any number of times.
type Strings struct {
	runs    runs
	text    []byte
	pending []keyRef
	sorted  bool
}

// keyRef is a key in Strings.text and its number.
type keyRef struct {
	// prefix is the beginning of the key's order, after what all keys share.
	prefix    uint64
	value     uint64
	from, len uint32
}

const entrySize = 24

// NewStrings returns a sorter that holds nothing.
func NewStrings(options Options) *Strings {
	return &Strings{runs: runs{Options: options.withDefaults()}}
}

// Add takes a key and its number. It is not safe for concurrent use and keeps no hold of key.
func (s *Strings) Add(key []byte, value uint64) error {
	if uint64(len(key)) >= math.MaxUint32 {
		return fmt.Errorf("sort: a key of %d bytes is too long", len(key))
	}
	// Growing a slice holds the old and the new one for a moment.
	used := len(s.text) + len(key) + entrySize*(len(s.pending)+1)
	if len(s.pending) > 0 && (used > s.runs.Memory/2 || len(s.text)+len(key) > math.MaxUint32) {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.pending = append(s.pending, keyRef{value: value, from: uint32(len(s.text)), len: uint32(len(key))})
	s.text = append(s.text, key...)
	s.sorted = false
	return nil
}

func (s *Strings) key(e *keyRef) []byte { return s.text[e.from:][:e.len] }

// sort puts what is held in order.
func (s *Strings) sort() {
	if len(s.pending) == 0 {
		return
	}
	first := s.key(&s.pending[0])
	shared := len(first)
	for i := range s.pending {
		shared = CommonPrefix(first[:shared], s.key(&s.pending[i]))
	}
	for i := range s.pending {
		s.pending[i].prefix = Prefix(s.key(&s.pending[i])[shared:])
	}
	slices.SortFunc(s.pending, func(a, b keyRef) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := bytes.Compare(s.key(&a)[shared:], s.key(&b)[shared:]); c != 0 {
			return c
		}
		return cmp.Compare(a.value, b.value)
	})
}

func (s *Strings) spill() error {
	s.sort()
	err := s.runs.addRun(func(w *runWriter) error {
		for i := range s.pending {
			if err := w.writeString(s.key(&s.pending[i]), s.pending[i].value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.text, s.pending = s.text[:0], s.pending[:0]
	return nil
}

// Len is the number of keys added.
func (s *Strings) Len() int64 {
	n := int64(len(s.pending))
	for _, r := range s.runs.files {
		n += r.records
	}
	return n
}

// Each returns all keys in order, equal ones as often as they were added.
// emit must not keep the key.
func (s *Strings) Each(ctx context.Context, emit func(key []byte, value uint64) error) error {
	r, err := s.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key, value, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := emit(key, value); err != nil {
			return err
		}
	}
}

// Reader reads all keys in order. Nothing may be added while it is open.
func (s *Strings) Reader() (*StringReader, error) {
	if !s.sorted {
		if len(s.runs.files) > 0 {
			if len(s.pending) > 0 {
				if err := s.spill(); err != nil {
					return nil, err
				}
			}
			s.text, s.pending = nil, nil
		}
		s.sort()
		s.sorted = true
	}
	if len(s.runs.files) == 0 {
		return &StringReader{sorter: s, pending: s.pending}, nil
	}
	err := s.runs.mergeDown(func(from []run, to *runWriter) error {
		r, err := mergeStrings(s.runs.Options, from)
		if err != nil {
			return err
		}
		defer r.Close()
		for {
			key, value, err := r.Next()
			if err == io.EOF {
				return nil
			}
			if err == nil {
				err = to.writeString(key, value)
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return mergeStrings(s.runs.Options, s.runs.files)
}

// Close forgets all keys and removes the runs. Open readers fail.
func (s *Strings) Close() error {
	s.text, s.pending = nil, nil
	return s.runs.close()
}

// StringReader reads sorted keys.
type StringReader struct {
	sorter  *Strings
	pending []keyRef
	merge   *Merge[stringEntry]
	open    []*stringRun
	// started reports whether the least key was returned.
	started bool
}

type stringEntry struct {
	key   []byte
	value uint64
}

func compareEntries(a, b *stringEntry) int {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.value, b.value)
}

// Next returns the next key, valid until the next call, and its number. It
// returns io.EOF after the last one.
func (r *StringReader) Next() ([]byte, uint64, error) {
	if r.merge == nil {
		if len(r.pending) == 0 {
			return nil, 0, io.EOF
		}
		e := &r.pending[0]
		r.pending = r.pending[1:]
		return r.sorter.key(e), e.value, nil
	}
	if r.started {
		if err := r.merge.Advance(); err != nil {
			return nil, 0, err
		}
	}
	r.started = true
	top, _ := r.merge.Top()
	if top == nil {
		r.started = false
		_ = r.Close() // It was only read.
		return nil, 0, io.EOF
	}
	return top.key, top.value, nil
}

// Close closes the runs that the reader has open.
func (r *StringReader) Close() error {
	for _, one := range r.open {
		// It was only read.
		_ = one.file.Close()
	}
	r.open, r.pending = nil, nil
	return nil
}

// stringRun is a run of keys being read.
type stringRun struct{ runReader }

func mergeStrings(o Options, from []run) (*StringReader, error) {
	r := &StringReader{}
	sources := make([]Source[stringEntry], len(from))
	for i, one := range from {
		opened, err := o.openRun(one)
		if err != nil {
			r.Close()
			return nil, err
		}
		opened.in = bufio.NewReaderSize(opened.file, o.buffer())
		reading := &stringRun{opened}
		r.open = append(r.open, reading)
		sources[i] = reading.next
	}
	var err error
	if r.merge, err = NewMerge(sources, compareEntries); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// writeString writes a key as what it shares with the one before and the rest.
func (w *runWriter) writeString(key []byte, value uint64) error {
	shared := CommonPrefix(w.last, key)
	w.scratch = binary.AppendUvarint(w.scratch[:0], uint64(shared))
	w.scratch = binary.AppendUvarint(w.scratch, uint64(len(key)-shared))
	w.scratch = binary.AppendUvarint(w.scratch, value)
	w.scratch = append(w.scratch, key[shared:]...)
	w.last = append(w.last[:shared], key[shared:]...)
	w.longest = max(w.longest, len(key))
	w.records++
	_, err := w.out.Write(w.scratch)
	return err
}

func (r *stringRun) next(head *stringEntry) (uint64, bool, error) {
	if r.remaining == 0 {
		return 0, false, nil
	}
	var numbers [3]uint64
	for i := range numbers {
		var err error
		if numbers[i], err = binary.ReadUvarint(r.in); err != nil {
			return 0, false, r.wrapError(err)
		}
	}
	shared, rest := numbers[0], numbers[1]
	if shared > uint64(len(head.key)) || rest > uint64(r.longest) {
		return 0, false, r.wrapError(errors.New("it is damaged"))
	}
	n := int(shared + rest)
	head.key = slices.Grow(head.key[:shared], int(rest))[:n]
	if _, err := io.ReadFull(r.in, head.key[shared:]); err != nil {
		return 0, false, r.wrapError(err)
	}
	head.value = numbers[2]
	r.remaining--
	return Prefix(head.key), true, nil
}
