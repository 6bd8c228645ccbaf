package embedded

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// The files of a snapshot. All but texts, vectors and the name index are
// columns of packed numbers; texts have a second file with their offsets.
const (
	pagesFile       = "pages.crc32c"     // per page of all other files, in their order
	entitiesFile    = "entities.text"    // names in byte order: the place is the id
	kindsFile       = "entities.kinds"   // their kinds
	keysFile        = "entities.keys"    // their keys, empty where the name is the key; only if some have one
	byKeyFile       = "keys.entities"    // the entities that have one, by key
	relationsFile   = "relations.text"   // names in byte order: the place is the id
	countsFile      = "relations.counts" // triples of each relation
	tripleRelFile   = "triples.relations"
	tripleObjFile   = "triples.objects"
	outFile         = "subjects.offsets" // first triple of each subject
	samplesFile     = "subjects.samples" // subjects of some triples
	byObjectFile    = "objects.triples"  // triples by object and relation
	inSubjectsFile  = "objects.subjects" // their subjects, in that order
	inRelationsFile = "objects.relations"
	inFile          = "objects.offsets"  // first place of each object there
	datedFile       = "validity.triples" // triples with a validity, ascending
	intervalsFile   = "validity.text"    // start and end of each
	provenanceFile  = "provenance.text"  // where each triple comes from; only if that was kept
	aliasesFile     = "aliases.text"     // further names, as they came
	aliasHolderFile = "aliases.entities" // whose they are
	namesFile       = "names.fst"        // folded names and aliases
	holdersFile     = "names.holders"    // whose they are
	vectorsFile     = "vectors.f32"      // per triple
	codesFile       = "vectors.i8"       // the same in eight bits a component
	scalesFile      = "vectors.scales"   // for these
	bitsFile        = "vectors.bits"     // the same in one bit a component
	relVectorFile   = "relations.f32"    // per relation

	// Only deltas have these.
	rowsFile            = "rows.entities"    // entities that its triples name, ascending
	removedFile         = "removed.triples"  // triples of its bases, ascending
	removedSubjectsFile = "removed.subjects" // their subjects, ascending
	subjectCountsFile   = "removed.subjects.counts"
	removedObjectsFile  = "removed.objects" // their objects, ascending
	objectCountsFile    = "removed.objects.counts"
)

// kindBits hold a store.Kind.
const kindBits = 3

// layer is the files of one directory: a whole snapshot, or what a delta adds to its bases.
type layer struct {
	mapping *mapping
	first   base
	own     ownCounts
	graph   graph

	entities, relations texts
	kinds               packedColumn
	// keys and byKey are empty if no entity has a key of its own.
	keys  texts
	byKey packedColumn
	// counts are those of all relations so far, what lies below included.
	counts    packedColumn
	dated     packedColumn
	intervals texts
	// provenance is empty if it was not kept.
	provenance texts
	aliases    texts
	holders    packedColumn
	names      *lazyNameIndex

	// Vectors are nil if there are none.
	vectors, relationVectors *vector.Vectors

	// rows are the entities of the graph's rows, if it is a delta.
	rows                            packedColumn
	removed                         packedColumn
	removedSubjects, removedObjects tally
}

// tally counts by number; numbers that are not there count 0.
type tally struct{ keys, counts packedColumn }

func (t *tally) get(key int) int {
	if t.keys.Len() == 0 {
		return 0
	}
	i, ok := t.keys.Find(uint64(key))
	if !ok {
		return 0
	}
	return int(t.counts.Get(i))
}

// layerOpener views one file after another and remembers the first error.
type layerOpener struct {
	mapping *mapping
	err     error
}

func (v *layerOpener) file(name string) *pageFile {
	file, ok := v.mapping.files[name]
	if !ok && v.err == nil {
		v.err = fmt.Errorf("the manifest does not name %s: %w", name, store.ErrCorrupt)
	}
	return file
}

// column views a file as n numbers up to most.
func (v *layerOpener) column(name string, n int, most int) packedColumn {
	file := v.file(name)
	if v.err != nil {
		return packedColumn{}
	}
	c, err := openPacked(file, n, bitWidth(uint64(max(0, most))))
	if err != nil {
		v.err = err
	}
	return c
}

func (v *layerOpener) texts(name string, n int) texts {
	file := v.file(name)
	if v.err != nil {
		return texts{}
	}
	return texts{bytes: file, offsets: v.column(offsetsFile(name), n+1, file.Len()), n: n}
}

// openLayer checks that the files have the sizes that the counts ask for. What is
// in them is vouched for by their checksums.
func (m *mapping) openLayer() (*layer, error) {
	v := &layerOpener{mapping: m}
	man, own, first := m.manifest, m.manifest.Own, m.manifest.first()
	entities, relations := first.FirstEntity+own.Entities, first.FirstRelation+own.Relations
	rows := entities
	l := &layer{mapping: m, first: first, own: own}
	if man.Base != nil {
		rows = own.Rows
		l.rows = v.column(rowsFile, rows, entities-1)
		l.removed = v.column(removedFile, own.Removed, first.FirstTriple-1)
		l.removedSubjects = v.tally(removedSubjectsFile, subjectCountsFile, own.RemovedSubjects,
			entities-1, own.Removed)
		l.removedObjects = v.tally(removedObjectsFile, objectCountsFile, own.RemovedObjects, entities-1, own.Removed)
	}
	l.graph = graph{
		relations:   v.column(tripleRelFile, own.Triples, relations-1),
		objects:     v.column(tripleObjFile, own.Triples, rows-1),
		out:         v.column(outFile, rows+1, own.Triples),
		samples:     v.column(samplesFile, sampleCount(own.Triples), rows-1),
		byObject:    v.column(byObjectFile, own.Triples, own.Triples-1),
		subjects:    v.column(inSubjectsFile, own.Triples, rows-1),
		inRelations: v.column(inRelationsFile, own.Triples, relations-1),
		in:          v.column(inFile, rows+1, own.Triples),
		rows:        rows, triples: own.Triples,
	}
	l.entities, l.relations = v.texts(entitiesFile, own.Entities), v.texts(relationsFile, own.Relations)
	l.kinds = v.column(kindsFile, own.Entities, 1<<kindBits-1)
	if own.Keys > 0 {
		l.keys = v.texts(keysFile, own.Entities)
		l.byKey = v.column(byKeyFile, own.Keys, own.Entities-1)
	}
	l.counts = v.column(countsFile, relations, first.FirstTriple+own.Triples)
	l.dated = v.column(datedFile, own.Dated, own.Triples-1)
	l.intervals = v.texts(intervalsFile, 2*own.Dated)
	if own.Provenance > 0 {
		l.provenance = v.texts(provenanceFile, own.Triples)
	}
	l.aliases = v.texts(aliasesFile, own.Aliases)
	l.holders = v.column(aliasHolderFile, own.Aliases, entities-1)
	l.names = &lazyNameIndex{names: v.file(namesFile), holders: v.file(holdersFile)}
	if man.TripleVectors {
		l.vectors = v.vectors(own.Triples, man.Dims, vectorFiles)
	}
	if man.Dims > 0 {
		l.relationVectors = v.vectors(own.Relations, man.Dims, [4]string{vector.Full: relVectorFile})
	}
	return l, v.err
}

func (v *layerOpener) tally(keys, counts string, n, mostKey, mostCount int) tally {
	return tally{keys: v.column(keys, n, mostKey), counts: v.column(counts, n, mostCount)}
}
