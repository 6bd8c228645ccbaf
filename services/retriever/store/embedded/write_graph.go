package embedded

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/extsort"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// writeGraph writes the triples in both orders.
func (b *builder) writeGraph(ctx context.Context) (err error) {
	edges := extsort.NewRecords[[4]uint32](b.sortOptions("edges"))
	defer func() { err = errors.Join(err, edges.Close()) }()
	if err := b.writeTriples(ctx, edges); err != nil {
		return err
	}
	if err := b.writeObjects(ctx, edges); err != nil {
		return err
	}
	width := bitWidth(uint64(b.firstTriple + b.own.Triples))
	return writeColumn(b.folder, countsFile, width, b.relationCounts)
}

// tripleWriter writes triples in the order of their subjects.
type tripleWriter struct {
	*builder
	relations, objects *columnWriter
	out                *offsetWriter
	samples            *columnWriter
	dated              []uint32
	intervals          *textWriter
	provenance         optionalTexts
	edges              *extsort.Records[[4]uint32]
	n                  int
	last               store.DatedTriple
}

func (b *builder) writeTriples(ctx context.Context, edges *extsort.Records[[4]uint32]) error {
	n := b.own.Triples
	row := bitWidth(uint64(max(0, b.rows-1)))
	w := &tripleWriter{builder: b, edges: edges, provenance: optionalTexts{folder: b.folder, name: provenanceFile}}
	var errs [5]error
	w.relations, errs[0] = b.column(tripleRelFile, bitWidth(uint64(max(0, len(b.relationCounts)-1))))
	w.objects, errs[1] = b.column(tripleObjFile, row)
	w.samples, errs[2] = b.column(samplesFile, row)
	w.out, errs[3] = b.offsets(outFile, b.rows, n)
	w.intervals, errs[4] = b.texts(intervalsFile)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if err := b.content.Triples(ctx, w.add); err != nil {
		return err
	}
	if err := checkCount("triples", w.n, n); err != nil {
		return err
	}
	b.own.Dated, b.own.Provenance = len(w.dated), w.provenance.filled
	return errors.Join(w.provenance.close(),
		w.relations.close(), w.objects.close(), w.samples.close(), w.out.close(n), w.intervals.close(),
		writeColumn(b.folder, datedFile, bitWidth(uint64(max(0, n-1))), w.dated),
	)
}

func (w *tripleWriter) add(t store.DatedTriple) error {
	switch {
	case w.n == w.own.Triples:
		return checkCount("triples", w.n+1, w.n)
	case int(t.Subject) >= w.rows || int(t.Object) >= w.rows || int(t.Relation) >= len(w.relationCounts):
		return store.Invalidf("triple %d names an entity or relation that does not exist", w.n)
	case w.n > 0 && compareDated(w.last, t) >= 0:
		return store.Invalidf("triple %d is out of order or there twice", w.n)
	}
	if w.n%sampleStep == 0 {
		if err := w.samples.Add(uint64(t.Subject)); err != nil {
			return err
		}
	}
	if t.Validity != (store.Validity{}) {
		w.dated = append(w.dated, uint32(w.n))
		if err := errors.Join(w.intervals.add(t.Validity.Start), w.intervals.add(t.Validity.End)); err != nil {
			return err
		}
	}
	if err := w.provenance.add(t.Provenance); err != nil {
		return err
	}
	if err := w.out.begin(int(t.Subject), w.n); err != nil {
		return err
	}
	if err := w.relations.Add(uint64(t.Relation)); err != nil {
		return err
	}
	if err := w.objects.Add(uint64(t.Object)); err != nil {
		return err
	}
	if err := w.edges.Add([4]uint32{uint32(t.Object), uint32(t.Relation), uint32(w.n), uint32(t.Subject)}); err != nil {
		return err
	}
	w.relationCounts[t.Relation]++
	w.n, w.last = w.n+1, t
	return nil
}

// compareDated orders triples as a snapshot does.
func compareDated(a, b store.DatedTriple) int {
	if order := compareTriples(a.Triple, b.Triple); order != 0 {
		return order
	}
	if order := strings.Compare(a.Validity.Start, b.Validity.Start); order != 0 {
		return order
	}
	return strings.Compare(a.Validity.End, b.Validity.End)
}

func compareTriples(a, b store.Triple) int {
	switch {
	case a.Subject != b.Subject:
		return cmp.Compare(a.Subject, b.Subject)
	case a.Relation != b.Relation:
		return cmp.Compare(a.Relation, b.Relation)
	}
	return cmp.Compare(a.Object, b.Object)
}

// writeObjects writes the order by object.
func (b *builder) writeObjects(ctx context.Context, edges *extsort.Records[[4]uint32]) error {
	n := b.own.Triples
	var errs [4]error
	var places, subjects, relations *columnWriter
	var in *offsetWriter
	places, errs[0] = b.column(byObjectFile, bitWidth(uint64(max(0, n-1))))
	subjects, errs[1] = b.column(inSubjectsFile, bitWidth(uint64(max(0, b.rows-1))))
	relations, errs[2] = b.column(inRelationsFile, bitWidth(uint64(max(0, len(b.relationCounts)-1))))
	in, errs[3] = b.offsets(inFile, b.rows, n)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	place := 0
	if err := edges.Each(ctx, func(e [4]uint32) error {
		if err := in.begin(int(e[0]), place); err != nil {
			return err
		}
		place++
		for _, v := range []struct {
			to    *columnWriter
			value uint32
		}{{relations, e[1]}, {places, e[2]}, {subjects, e[3]}} {
			if err := v.to.Add(uint64(v.value)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return errors.Join(places.close(), subjects.close(), relations.close(), in.close(n))
}

// offsetWriter writes where the edges of each row begin.
type offsetWriter struct {
	*columnWriter
	rows, next int
}

func (b *builder) offsets(name string, rows, edges int) (*offsetWriter, error) {
	c, err := b.column(name, bitWidth(uint64(edges)))
	return &offsetWriter{columnWriter: c, rows: rows}, err
}

// begin records that the edge at a place belongs to a row; rows ascend.
func (w *offsetWriter) begin(row, place int) error {
	for ; w.next <= row; w.next++ {
		if err := w.Add(uint64(place)); err != nil {
			return err
		}
	}
	return nil
}

func (w *offsetWriter) close(edges int) error {
	if err := w.begin(w.rows, edges); err != nil {
		return err
	}
	return w.columnWriter.close()
}
