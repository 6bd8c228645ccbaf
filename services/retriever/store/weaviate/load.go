package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// load copies one snapshot into its collections. A row's id is made of what it
// is, so sending it twice changes nothing, and a load goes on by asking how
// many rows of each stretch are there.
type load struct {
	cluster *cluster
	home    string
	entry   entry
	snap    store.Snapshot
	raw     embedded.Raw
	// fingerprint is a checksum of all that is copied.
	fingerprint    string
	names, holders []byte

	mutex sync.Mutex
	held  []string
}

// newLoad reads the snapshot once, for its checksum.
func newLoad(c *cluster, snap store.Snapshot) (*load, error) {
	raw, ok := snap.(embedded.Raw)
	if !ok {
		return nil, fmt.Errorf("a snapshot of another store: %w", store.ErrInvalid)
	}
	l := &load{cluster: c, snap: snap, raw: raw}
	var err error
	if l.names, l.holders, err = raw.NameIndex(); err != nil {
		return nil, err
	}
	index := sha256.New()
	index.Write(l.names)
	index.Write(l.holders)
	l.entry.NameSHA256 = hex.EncodeToString(index.Sum(nil))
	l.entry.NameBytes, l.entry.HolderBytes = int64(len(l.names)), int64(len(l.holders))
	l.entry.NamePieces = (len(l.names) + len(l.holders) + pieceBytes - 1) / pieceBytes
	return l, l.sum()
}

func (l *load) sum() error {
	info, sum := l.snap.Info(), sha256.New()
	fmt.Fprintln(sum, info.Encoder, info.Dims, info.TripleVectors, info.Triples, info.Entities, info.Relations, l.entry.NameSHA256)
	for id := range store.RelationID(info.Relations) {
		if !utf8.ValidString(l.snap.RelationName(id)) {
			return fmt.Errorf("relation %q is not UTF-8, which Weaviate wants: %w", l.snap.RelationName(id), store.ErrInvalid)
		}
		fmt.Fprintf(sum, "%q %v\n", l.snap.RelationName(id), l.snap.RelationVector(id))
	}
	for id := range l.snap.Entities() {
		name := l.snap.EntityName(id)
		if !utf8.ValidString(name) {
			return fmt.Errorf("entity %q is not UTF-8, which Weaviate wants: %w", name, store.ErrInvalid)
		}
		fmt.Fprintf(sum, "%q %d\n", name, l.snap.Kind(id))
	}
	var numbers []byte
	for id := range store.TripleID(info.Triples) {
		t, v := l.snap.Triple(id), l.snap.Validity(id)
		l.entry.Dated = l.entry.Dated || v != (store.Validity{})
		numbers = binary.LittleEndian.AppendUint32(numbers[:0], uint32(t.Subject))
		numbers = binary.LittleEndian.AppendUint32(numbers, uint32(t.Relation))
		numbers = binary.LittleEndian.AppendUint32(numbers, uint32(t.Object))
		if info.TripleVectors {
			vector, err := l.raw.TripleVector(id)
			if err != nil {
				return err
			}
			for _, x := range vector {
				numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(x))
			}
		}
		sum.Write(numbers)
		fmt.Fprintf(sum, "%q %q\n", v.Start, v.End)
	}
	l.fingerprint = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// nodes are those that hold what is loaded.
func (l *load) nodes() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.held
}

// run makes the collections and fills them.
func (l *load) run(ctx context.Context) error {
	var names []string
	var there bool
	for _, def := range l.cluster.config.classesOf(l.home, l.entry) {
		switch err := l.cluster.createClass(ctx, def); {
		case errors.Is(err, errClassThere):
			there = true // of a load that was interrupted
		case err != nil:
			return fmt.Errorf("make collection %v: %w", def["class"], err)
		}
		names = append(names, def["class"].(string))
	}
	if err := l.cluster.everywhere(ctx, names); err != nil {
		return err
	}
	var held []string
	for _, name := range names {
		nodes, err := l.cluster.holders(ctx, name)
		if err != nil {
			return err
		}
		held = append(held, nodes...)
	}
	slices.Sort(held)
	l.mutex.Lock()
	l.held = slices.Compact(held)
	l.mutex.Unlock()
	if err := l.complete(ctx); err != nil {
		return err
	}
	in := newInlet(ctx, l.cluster)
	err := l.send(in, there)
	if err = errors.Join(err, in.wait()); err != nil {
		return err
	}
	l.entry.Bytes = in.bytes()
	return l.compareCounts(ctx)
}

// part is a collection on its way: its rows in the order of the property that
// numbers them.
type part struct {
	name, property string
	rows           int
	row            func(collection string, number int) (*pb.BatchObject, error)
}

func (l *load) parts(places []uint32) []part {
	info := l.entry.Info
	return []part{
		{relationsPart, propNumber, info.Relations, l.relationRow},
		{namesPart, propNumber, l.entry.NamePieces, l.pieceRow},
		{entitiesPart, propNumber, info.Entities, l.entityRow()},
		{factsPart, propTriple, info.Triples, func(collection string, number int) (*pb.BatchObject, error) {
			return l.factRow(collection, store.TripleID(number), places[number])
		}},
	}
}

// stretch is how many rows are counted at a time when a load goes on.
const stretch = 10_000

// send sends all rows; of collections that were there, those that are missing.
func (l *load) send(in *inlet, there bool) error {
	places, err := l.places(in.ctx)
	if err != nil {
		return err
	}
	for _, p := range l.parts(places) {
		collection := collection(l.home, l.entry.KG, l.entry.Number, p.name)
		for from := 0; from < p.rows; from += stretch {
			to := min(from+stretch, p.rows)
			if there {
				n, err := l.cluster.count(in.ctx, collection, between(p.property, int64(from), int64(to)))
				if err != nil {
					return err
				}
				if n == to-from && p.name != entitiesPart {
					continue
				}
			}
			for number := from; number < to; number++ {
				object, err := p.row(collection, number)
				if err != nil {
					return err
				}
				if err := in.add(object); err != nil {
					return err
				}
			}
		}
		if err := in.flush(); err != nil {
			return err
		}
	}
	return nil
}

// places are those of all triples in the order of object, relation and triple.
func (l *load) places(ctx context.Context) ([]uint32, error) {
	places, next := make([]uint32, l.entry.Triples), uint32(0)
	for id := range l.snap.Entities() {
		lists, err := l.snap.Edges(ctx, []store.EntityID{id}, store.In, nil)
		if err != nil {
			return nil, err
		}
		for _, e := range lists[0] {
			places[e.Triple] = next
			next++
		}
	}
	return places, nil
}

func (l *load) relationRow(collection string, number int) (*pb.BatchObject, error) {
	id := store.RelationID(number)
	return build(collection, numbered("relation ", uint32(number))).
		int(propNumber, int64(number)).text(propName, l.snap.RelationName(id)).int(propCount, int64(l.snap.RelationTriples(id))).
		vector(l.snap.RelationVector(id)).object, nil
}

func (l *load) pieceRow(collection string, number int) (*pb.BatchObject, error) {
	from, length := number*pieceBytes, len(l.names)+len(l.holders)
	piece := make([]byte, 0, pieceBytes)
	for _, file := range []struct {
		data []byte
		at   int
	}{{l.names, 0}, {l.holders, len(l.names)}} {
		first, last := max(from-file.at, 0), min(min(from+pieceBytes, length)-file.at, len(file.data))
		if first < last {
			piece = append(piece, file.data[first:last]...)
		}
	}
	return build(collection, numbered("piece ", uint32(number))).
		int(propNumber, int64(number)).text(propData, base64.StdEncoding.EncodeToString(piece)).object, nil
}

// entityRow counts on where the edges of each entity begin, so rows are made
// in order.
func (l *load) entityRow() func(string, int) (*pb.BatchObject, error) {
	var first [2]int64
	return func(collection string, number int) (*pb.BatchObject, error) {
		id := store.EntityID(number)
		name := l.snap.EntityName(id)
		row := build(collection, entityID(name)).int(propNumber, int64(number)).text(propName, name)
		shape := []int64{int64(l.snap.Kind(id))}
		for dir, property := range []string{store.Out: propOut, store.In: propIn} {
			counts, err := l.snap.Relations(context.Background(), id, store.Direction(dir))
			if err != nil {
				return nil, err
			}
			var pairs []int64
			begin := first[dir]
			for _, c := range counts {
				pairs = append(pairs, int64(c.Relation), int64(c.Edges))
				first[dir] += int64(c.Edges)
			}
			shape = append(shape, begin, first[dir]-begin)
			row.ints(property, pairs)
		}
		return row.ints(propShape, shape).object, nil
	}
}

func (l *load) factRow(collection string, id store.TripleID, place uint32) (*pb.BatchObject, error) {
	t, v := l.snap.Triple(id), l.snap.Validity(id)
	var ends []int64
	for _, e := range []store.EntityID{t.Subject, t.Object} {
		ends = append(ends, int64(l.snap.Kind(e)), int64(l.snap.Degree(e, store.Out)), int64(l.snap.Degree(e, store.In)))
	}
	row := build(collection, numbered("fact ", uint32(id))).
		int(propTriple, int64(id)).int(propPlace, int64(place)).
		int(propSubject, int64(t.Subject)).int(propRelation, int64(t.Relation)).int(propObject, int64(t.Object)).
		ints(propEnds, ends).texts(propNames, l.snap.EntityName(t.Subject), l.snap.EntityName(t.Object))
	if l.entry.Dated {
		from, to := daysOf(v)
		row.int(propFrom, from).int(propTo, to).texts(propValidity, v.Start, v.End)
	}
	if l.entry.TripleVectors {
		vector, err := l.raw.TripleVector(id)
		if err != nil {
			return nil, err
		}
		row.vector(vector)
	}
	return row.object, nil
}

// compareCounts counts what is there.
func (l *load) compareCounts(ctx context.Context) error {
	for _, p := range l.parts(nil) {
		collection := collection(l.home, l.entry.KG, l.entry.Number, p.name)
		n, err := l.cluster.count(ctx, collection, nil)
		if err != nil {
			return err
		}
		if n != p.rows {
			return fmt.Errorf("collection %s holds %d rows after the load, want %d; load again: %w", collection, n, p.rows, store.ErrCorrupt)
		}
	}
	return nil
}
