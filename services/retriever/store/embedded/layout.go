package embedded

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// The files of a snapshot. Texts and lists have a second file with the
// offsets, named after them.
const (
	entitiesFile  = "entities.text"  // names in byte order: the place is the id
	relationsFile = "relations.text" // likewise
	triplesFile   = "triples"        // in the order of subject, relation, object
	outFile       = "edges.out"      // per subject, by relation and triple
	inFile        = "edges.in"       // per object, by relation and triple
	countsFile    = "relations.counts"
	validFile     = "validity.triples" // triples with a validity, ascending
	intervalsFile = "validity.text"    // start and end of each
	keysFile      = "keys.text"        // folded names and aliases in byte order
	holdersFile   = "keys.entities"    // per key, the entities it names
	gramsFile     = "trigrams"         // of the keys, ascending
	gramKeysFile  = "trigrams.keys"    // per trigram, the keys that hold it
	gramSizesFile = "keys.trigrams"    // per key, how many trigrams it has
	vectorsFile   = "vectors.f32"      // per triple
	relVectorFile = "relations.f32"    // per relation
)

// layout is a snapshot's files as typed views.
type layout struct {
	entities, relations texts
	triples             []store.Triple
	out, in             lists[store.Edge]
	counts              []uint32
	valid               []uint32
	intervals           texts
	keys                texts
	holders             lists[uint32]
	grams               []store.Trigram
	gramKeys            lists[uint32]
	gramSizes           []uint32
	vectors             []float32
	relationVectors     []float32
}

// viewer views one file after another and remembers the first error.
type viewer struct {
	files map[string][]byte
	err   error
}

func column[T fixed](v *viewer, name string, want int) []T {
	if v.err != nil {
		return nil
	}
	data, ok := v.files[name]
	if !ok {
		v.err = fmt.Errorf("the manifest does not name %s: %w", name, store.ErrCorrupt)
		return nil
	}
	values, err := fromBytes[T](data)
	if err == nil && want >= 0 && len(values) != want {
		err = fmt.Errorf("%d values, want %d: %w", len(values), want, store.ErrCorrupt)
	}
	if err != nil {
		v.err = fmt.Errorf("%s: %w", name, err)
	}
	return values
}

func textColumn(v *viewer, name string, want int) texts {
	t := texts{offsets: column[uint64](v, name+".offsets", want)}
	if v.err != nil {
		return t
	}
	t.bytes = v.files[name]
	if end := t.offsets[len(t.offsets)-1]; end != uint64(len(t.bytes)) {
		v.err = fmt.Errorf("%s: %d bytes, its offsets end at %d: %w", name, len(t.bytes), end, store.ErrCorrupt)
	}
	return t
}

func listColumn[T fixed](v *viewer, name string, rows, values int) lists[T] {
	return lists[T]{
		values:  column[T](v, name, values),
		offsets: column[uint32](v, name+".offsets", rows+1),
	}
}

// view checks that the files have the sizes that the counts ask for. What is
// in them is vouched for by their checksums.
func (m *mapping) view() (layout, error) {
	v := &viewer{files: m.files}
	man := m.manifest
	n := len(column[uint32](v, validFile, -1))
	keys := len(column[uint32](v, gramSizesFile, -1))
	grams := len(column[store.Trigram](v, gramsFile, -1))
	l := layout{
		entities:        textColumn(v, entitiesFile, man.Entities+1),
		relations:       textColumn(v, relationsFile, man.Relations+1),
		triples:         column[store.Triple](v, triplesFile, man.Triples),
		out:             listColumn[store.Edge](v, outFile, man.Entities, man.Triples),
		in:              listColumn[store.Edge](v, inFile, man.Entities, man.Triples),
		counts:          column[uint32](v, countsFile, man.Relations),
		valid:           column[uint32](v, validFile, n),
		intervals:       textColumn(v, intervalsFile, 2*n+1),
		keys:            textColumn(v, keysFile, keys+1),
		holders:         listColumn[uint32](v, holdersFile, keys, -1),
		grams:           column[store.Trigram](v, gramsFile, grams),
		gramKeys:        listColumn[uint32](v, gramKeysFile, grams, -1),
		gramSizes:       column[uint32](v, gramSizesFile, keys),
		vectors:         column[float32](v, vectorsFile, man.Triples*man.Dims),
		relationVectors: column[float32](v, relVectorFile, man.Relations*man.Dims),
	}
	return l, v.err
}
