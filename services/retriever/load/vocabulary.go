package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// vocabulary is what the vocabularies of all batches hold, each key once and
// by a number in the order of the keys.
type vocabulary struct {
	scratch *scratch
	memory  int
	// nodes are the ends of facts by their names; see nameEntry. labelled says
	// that some have another name than their key.
	nodes    *extsort.Strings
	labelled bool
	// aliases are keys of four bytes, the number of a node, and the alias.
	aliases   *extsort.Strings
	relations []labelledKey
	// units are the names of units by their keys.
	units map[string]string
	// intervals are numbered from the key firstInterval on; the first is none.
	intervals     []store.Validity
	firstInterval uint32
	// numbers holds for each batch the number of each of its keys.
	numbers []*spool
	keys    int
}

// labelledKey is a relation: the number and text of its key and its label.
type labelledKey struct {
	number uint32
	key    string
	label  string
}

// merged is a word of several batches.
type merged struct {
	word
	from    int // the batch that the label is of
	batches []int
}

// mergeVocabularies numbers the keys of all batches.
func mergeVocabularies(ctx context.Context, s *scratch, memory int, parts []*partial, told func(done int)) (*vocabulary, error) {
	v := &vocabulary{
		scratch: s, memory: memory, units: map[string]string{},
		nodes: extsort.NewStrings(s.sorting(memory / 4)), aliases: extsort.NewStrings(s.sorting(memory / 8)),
	}
	if err := v.merge(ctx, parts, told); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *vocabulary) merge(ctx context.Context, parts []*partial, told func(done int)) error {
	sources := make([]extsort.Source[word], len(parts))
	// The batches are read and their numbers written at once.
	buffer := max(512, min(spoolBuffer, v.memory/8/len(parts)))
	for i, p := range parts {
		p.vocabulary.buffer = buffer
		w, err := p.words()
		if err != nil {
			return err
		}
		defer w.closer.Close()
		sources[i] = w.next
		numbers := v.scratch.spool("numbers", v.memory/16/len(parts))
		numbers.buffer = buffer
		v.numbers = append(v.numbers, numbers)
	}
	merge, err := extsort.NewMerge(sources, func(a, b *word) int { return bytes.Compare(a.key, b.key) })
	if err != nil {
		return err
	}
	done := 0
	if err := ahead(ctx, func(m *merged) (bool, error) { return m.next(merge) }, func(m *merged) error {
		if done++; done%progressRows == 0 {
			told(done)
		}
		return v.take(m)
	}); err != nil {
		return err
	}
	for _, n := range v.numbers {
		if err := n.done(); err != nil {
			return err
		}
	}
	return nil
}

// next gathers what the batches say of the next key.
func (m *merged) next(merge *extsort.Merge[word]) (bool, error) {
	top, at := merge.Top()
	if top == nil {
		return false, nil
	}
	m.key = append(m.key[:0], top.key...)
	m.use, m.named, m.aliases, m.batches = 0, false, m.aliases[:0], m.batches[:0]
	for top != nil && bytes.Equal(top.key, m.key) {
		m.use |= top.use
		m.batches = append(m.batches, at)
		// Of equal ranks the first counts.
		if top.named && (!m.named || top.rank < m.rank || top.rank == m.rank && at < m.from) {
			m.named, m.rank, m.from = true, top.rank, at
			m.name = append(m.name[:0], top.name...)
		}
		m.aliases = append(m.aliases, top.aliases...)
		if err := merge.Advance(); err != nil {
			return false, err
		}
		top, at = merge.Top()
	}
	return true, nil
}

// take numbers a key and hands it on to where it is used.
func (v *vocabulary) take(m *merged) error {
	number := uint32(v.keys)
	if m.use == 0 {
		number = math.MaxUint32 // Only labels name it.
	} else if v.keys++; v.keys == math.MaxUint32 {
		return fmt.Errorf("the files name more than 32 bits number: %w", store.ErrInvalid)
	}
	for _, at := range m.batches {
		var b [4]byte
		binary.NativeEndian.PutUint32(b[:], number)
		if _, err := v.numbers[at].Write(b[:]); err != nil {
			return err
		}
	}
	text := m.key[1:]
	switch m.key[0] {
	case validityClass:
		if len(v.intervals) == 0 {
			v.firstInterval = number
		}
		start, end, _ := bytes.Cut(text, []byte{0})
		v.intervals = append(v.intervals, store.Validity{Start: string(start), End: string(end)})
		return nil
	case literalClass:
		return v.node(text, number, m.use)
	case quantityClass:
		amount, unit, _ := bytes.Cut(text, []byte{0})
		name := append(append(bytes.Clone(amount), ' '), v.units[string(unit)]...)
		return v.node(name, number, m.use)
	}
	return v.takeNode(m, text, number)
}

// takeNode takes the key of a node, a relation or a unit, or of several of
// these.
func (v *vocabulary) takeNode(m *merged, text []byte, number uint32) error {
	label := text
	if m.named {
		label = m.name
	}
	if m.use&asUnit != 0 {
		v.units[string(text)] = string(label)
	}
	if m.use&asRelation != 0 {
		v.relations = append(v.relations, labelledKey{number, string(text), string(label)})
	}
	if m.use&asNode == 0 {
		return nil
	}
	for _, a := range m.aliases {
		if bytes.Equal(a, label) {
			continue
		}
		if err := v.alias(number, a); err != nil {
			return err
		}
	}
	if bytes.Equal(label, text) {
		return v.node(text, number, m.use)
	}
	v.labelled = true
	return v.node(nameEntry(label, text), number, m.use)
}

// nameEntry is how a node is sorted by its name: the name alone where that is
// its key or the node is a literal, else also its key, by which it is told
// from those of the same name.
func nameEntry(name, key []byte) []byte {
	return append(append(bytes.Clone(name), 0), key...)
}

func (v *vocabulary) node(entry []byte, number uint32, u use) error {
	return v.nodes.Add(entry, uint64(number)<<16|uint64(u))
}

func (v *vocabulary) alias(number uint32, name []byte) error {
	return v.aliases.Add(append(binary.BigEndian.AppendUint32(nil, number), name...), 0)
}

// close removes what is left.
func (v *vocabulary) close() {
	// What fails here is only left until the directory is removed.
	_, _ = v.nodes.Close(), v.aliases.Close()
	for _, n := range v.numbers {
		_ = n.remove()
	}
}

// nameRelations puts relations in the order of their names. It returns the
// names and, for each key's number, the relation's.
func (v *vocabulary) nameRelations(ctx context.Context) ([]string, map[uint32]uint32, error) {
	sorter := extsort.NewStrings(v.scratch.sorting(v.memory / 8))
	defer sorter.Close()
	for i, r := range v.relations {
		entry := []byte(r.label)
		if r.label != r.key {
			entry = nameEntry(entry, []byte(r.key))
		}
		if err := sorter.Add(entry, uint64(i)); err != nil {
			return nil, nil, err
		}
	}
	open, closing, err := distinct(ctx, sorter, v.scratch.sorting(v.memory/8), func(uint64, []byte) error { return nil })
	defer closing()
	if err != nil {
		return nil, nil, err
	}
	from, err := open()
	if err != nil {
		return nil, nil, err
	}
	var names []string
	places := make(map[uint32]uint32, len(v.relations))
	for {
		entry, i, err := from.Next()
		if err == io.EOF {
			return slices.Clip(names), places, nil
		}
		if err != nil {
			return nil, nil, err
		}
		name, _ := split(entry)
		if n := len(names); n == 0 || names[n-1] != string(name) {
			names = append(names, string(name))
		}
		places[v.relations[i].number] = uint32(len(names) - 1)
	}
}
