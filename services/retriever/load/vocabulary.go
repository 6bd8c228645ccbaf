package load

import (
	"bytes"
	"context"
	"encoding/binary"
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
	nodes     *extsort.Strings
	hasLabels bool
	// aliases are keys of four bytes, the number of a node, and the alias.
	aliases   *extsort.Strings
	relations []labelledKey
	// units are the names of units by their keys.
	units map[string]string
	// origins are numbered from the key firstOrigin on; the first is none.
	origins     []origin
	firstOrigin uint32
	// numbers holds for each batch the number of each of its keys.
	numbers []*spool
	keys    int
}

// origin is when a triple holds and where it comes from.
type origin struct {
	store.Validity
	Provenance string
}

// labelledKey is a relation: the number and text of its key and its label.
type labelledKey struct {
	number uint32
	key    string
	label  string
}

// mergedWord is a word of several batches.
type mergedWord struct {
	word
	labelBatch int // the batch that the label is of
	batches    []int
}

// mergeVocabularies numbers the keys of all batches.
func mergeVocabularies(ctx context.Context, s *scratch, memory int, parts []*partial,
	told func(done int)) (*vocabulary, error) {
	v := &vocabulary{
		scratch: s, memory: memory, units: map[string]string{},
		nodes: extsort.NewStrings(s.sortOptions(memory / 4)), aliases: extsort.NewStrings(s.sortOptions(memory / 8)),
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
		p.vocabulary.bufferBytes = buffer
		w, err := p.words()
		if err != nil {
			return err
		}
		defer w.closer.Close()
		sources[i] = w.next
		numbers := v.scratch.spool("numbers", v.memory/16/len(parts))
		numbers.bufferBytes = buffer
		v.numbers = append(v.numbers, numbers)
	}
	merge, err := extsort.NewMerge(sources, func(a, b *word) int { return bytes.Compare(a.key, b.key) })
	if err != nil {
		return err
	}
	done := 0
	if err := runPipelined(ctx, func(m *mergedWord) (bool, error) { return m.next(merge) }, func(m *mergedWord) error {
		if done++; done%progressRows == 0 {
			told(done)
		}
		return v.add(m)
	}); err != nil {
		return err
	}
	for _, n := range v.numbers {
		if err := n.finish(); err != nil {
			return err
		}
	}
	return nil
}

// next gathers what the batches say of the next key.
func (m *mergedWord) next(merge *extsort.Merge[word]) (bool, error) {
	top, at := merge.Top()
	if top == nil {
		return false, nil
	}
	m.key = append(m.key[:0], top.key...)
	m.use, m.hasLabel, m.aliases, m.batches = 0, false, m.aliases[:0], m.batches[:0]
	for top != nil && bytes.Equal(top.key, m.key) {
		m.use |= top.use
		m.batches = append(m.batches, at)
		// Of equal ranks the first counts.
		if top.hasLabel && (!m.hasLabel || top.rank < m.rank || top.rank == m.rank && at < m.labelBatch) {
			m.hasLabel, m.rank, m.labelBatch = true, top.rank, at
			m.label = append(m.label[:0], top.label...)
		}
		m.aliases = append(m.aliases, top.aliases...)
		if err := merge.Advance(); err != nil {
			return false, err
		}
		top, at = merge.Top()
	}
	return true, nil
}

// add numbers a key and passes it on to where it is used.
func (v *vocabulary) add(m *mergedWord) error {
	number := uint32(v.keys)
	if m.use == 0 {
		number = math.MaxUint32 // Only labels name it.
	} else if v.keys++; v.keys == math.MaxUint32 {
		return store.Invalidf("the files name more than 32-bit numbers reach")
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
	case originClass:
		if len(v.origins) == 0 {
			v.firstOrigin = number
		}
		start, rest, _ := bytes.Cut(text, []byte{0})
		end, provenance, _ := bytes.Cut(rest, []byte{0})
		v.origins = append(v.origins, origin{store.Validity{Start: string(start), End: string(end)},
			string(provenance)})
		return nil
	case literalClass:
		return v.emitNode(text, number, m.use)
	case quantityClass:
		amount, unit, _ := bytes.Cut(text, []byte{0})
		name := append(append(bytes.Clone(amount), ' '), v.units[string(unit)]...)
		return v.emitNode(name, number, m.use)
	}
	return v.addNode(m, text, number)
}

// addNode takes the key of a node, a relation or a unit, or of several of these.
func (v *vocabulary) addNode(m *mergedWord, text []byte, number uint32) error {
	label := text
	if m.hasLabel {
		label = m.label
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
		if err := v.addAlias(number, a); err != nil {
			return err
		}
	}
	if bytes.Equal(label, text) {
		return v.emitNode(text, number, m.use)
	}
	v.hasLabels = true
	return v.emitNode(nameEntry(label, text), number, m.use)
}

// nameEntry is how a node is sorted by its name: the name alone if that is its key or the node is a
// literal, else also its key, by which it is told from those of the same name.
func nameEntry(name, key []byte) []byte {
	return append(append(bytes.Clone(name), 0), key...)
}

func (v *vocabulary) emitNode(entry []byte, number uint32, u use) error {
	return v.nodes.Add(entry, uint64(number)<<16|uint64(u))
}

func (v *vocabulary) addAlias(number uint32, name []byte) error {
	return v.aliases.Add(append(binary.BigEndian.AppendUint32(nil, number), name...), 0)
}

// close removes what remains.
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
	sorter := extsort.NewStrings(v.scratch.sortOptions(v.memory / 8))
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
	distinct := distinctNames{nodes: sorter, options: v.scratch.sortOptions(v.memory / 8)}
	defer distinct.close()
	if err := distinct.resolve(ctx, func(uint64, []byte) error { return nil }); err != nil {
		return nil, nil, err
	}
	from, err := distinct.reader()
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
		name, _ := splitEntry(entry)
		if n := len(names); n == 0 || names[n-1] != string(name) {
			names = append(names, string(name))
		}
		places[v.relations[i].number] = uint32(len(names) - 1)
	}
}
