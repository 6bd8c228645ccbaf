package embedded

import (
	"fmt"

	"github.com/triplemesh/triplemesh/services/retriever/scan"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/packed"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded/pages"
)

// The files of a snapshot. All but texts, vectors and the name index are
// columns of packed numbers; texts have a second file with their offsets.
const (
	pagesFile       = "pages.crc32c"     // per page of all other files, in their order
	entitiesFile    = "entities.text"    // names in byte order: the place is the id
	kindsFile       = "entities.kinds"   // their kinds
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

// layer is the files of one directory: a whole snapshot, or what a delta adds
// to its bases.
type layer struct {
	mapping *mapping
	first   base
	own     counts
	graph   graph

	entities, relations texts
	kinds               packed.Column
	// counts are those of all relations so far, what lies below included.
	counts    packed.Column
	dated     packed.Column
	intervals texts
	aliases   texts
	holders   packed.Column
	names     *naming

	// Vectors are nil where there are none.
	vectors, relationVectors *scan.Vectors

	// rows are the entities of the graph's rows, where it is a delta.
	rows                            packed.Column
	removed                         packed.Column
	removedSubjects, removedObjects tally
}

// tally counts by number; numbers that are not there count 0.
type tally struct{ keys, counts packed.Column }

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

// viewer views one file after another and remembers the first error.
type viewer struct {
	mapping *mapping
	err     error
}

func (v *viewer) file(name string) *pages.File {
	file, ok := v.mapping.files[name]
	if !ok && v.err == nil {
		v.err = fmt.Errorf("the manifest does not name %s: %w", name, store.ErrCorrupt)
	}
	return file
}

// column views a file as n numbers up to most.
func (v *viewer) column(name string, n int, most int) packed.Column {
	file := v.file(name)
	if v.err != nil {
		return packed.Column{}
	}
	c, err := packed.Open(file, n, packed.Width(uint64(max(0, most))))
	if err != nil {
		v.err = err
	}
	return c
}

func (v *viewer) texts(name string, n int) texts {
	file := v.file(name)
	if v.err != nil {
		return texts{}
	}
	return texts{bytes: file, offsets: v.column(offsetsOf(name), n+1, file.Len()), n: n}
}

// view checks that the files have the sizes that the counts ask for. What is
// in them is vouched for by their checksums.
func (m *mapping) view() (*layer, error) {
	v := &viewer{mapping: m}
	man, own, first := m.manifest, m.manifest.Own, m.manifest.first()
	entities, relations := first.FirstEntity+own.Entities, first.FirstRelation+own.Relations
	rows := entities
	l := &layer{mapping: m, first: first, own: own}
	if man.Base != nil {
		rows = own.Rows
		l.rows = v.column(rowsFile, rows, entities-1)
		l.removed = v.column(removedFile, own.Removed, first.FirstTriple-1)
		l.removedSubjects = v.tally(removedSubjectsFile, subjectCountsFile, own.RemovedSubjects, entities-1, own.Removed)
		l.removedObjects = v.tally(removedObjectsFile, objectCountsFile, own.RemovedObjects, entities-1, own.Removed)
	}
	l.graph = graph{
		relations:   v.column(tripleRelFile, own.Triples, relations-1),
		objects:     v.column(tripleObjFile, own.Triples, rows-1),
		out:         v.column(outFile, rows+1, own.Triples),
		samples:     v.column(samplesFile, samplesOf(own.Triples), rows-1),
		byObject:    v.column(byObjectFile, own.Triples, own.Triples-1),
		subjects:    v.column(inSubjectsFile, own.Triples, rows-1),
		inRelations: v.column(inRelationsFile, own.Triples, relations-1),
		in:          v.column(inFile, rows+1, own.Triples),
		rows:        rows, triples: own.Triples,
	}
	l.entities, l.relations = v.texts(entitiesFile, own.Entities), v.texts(relationsFile, own.Relations)
	l.kinds = v.column(kindsFile, own.Entities, 1<<kindBits-1)
	l.counts = v.column(countsFile, relations, first.FirstTriple+own.Triples)
	l.dated = v.column(datedFile, own.Dated, own.Triples-1)
	l.intervals = v.texts(intervalsFile, 2*own.Dated)
	l.aliases = v.texts(aliasesFile, own.Aliases)
	l.holders = v.column(aliasHolderFile, own.Aliases, entities-1)
	l.names = &naming{names: v.file(namesFile), holders: v.file(holdersFile)}
	if man.TripleVectors {
		l.vectors = v.vectors(own.Triples, man.Dims, vectorFiles)
	}
	if man.Dims > 0 {
		l.relationVectors = v.vectors(own.Relations, man.Dims, [4]string{scan.Full: relVectorFile})
	}
	return l, v.err
}

func (v *viewer) tally(keys, counts string, n, mostKey, mostCount int) tally {
	return tally{keys: v.column(keys, n, mostKey), counts: v.column(counts, n, mostCount)}
}
