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
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// snapshotCopy copies one snapshot into its collections. A row's id is made of what it
// is, so sending it twice changes nothing, and a load continues by asking how
// many rows of each stretch are there.
type snapshotCopy struct {
	cluster *cluster
	home    string
	entry   entry
	snap    store.Snapshot
	raw     embedded.Raw
	// fingerprint is a checksum of all that is copied.
	fingerprint    string
	names, holders []byte

	mutex     sync.Mutex
	nodeNames []string
}

// newLoad reads the snapshot once, for its checksum.
func newLoad(c *cluster, snap store.Snapshot) (*snapshotCopy, error) {
	raw, ok := snap.(embedded.Raw)
	if !ok {
		return nil, store.Invalidf("a snapshot of another store")
	}
	l := &snapshotCopy{cluster: c, snap: snap, raw: raw}
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

func (l *snapshotCopy) sum() error {
	info, sum := l.snap.Info(), sha256.New()
	fmt.Fprintln(sum, info.Encoder, info.Dims, info.TripleVectors, info.Triples, info.Entities, info.Relations,
		l.entry.NameSHA256)
	for id := range store.RelationID(info.Relations) {
		if !utf8.ValidString(l.snap.RelationName(id)) {
			return store.Invalidf("relation %q is not UTF-8, which Weaviate requires", l.snap.RelationName(id))
		}
		fmt.Fprintf(sum, "%q %v\n", l.snap.RelationName(id), l.snap.RelationVector(id))
	}
	for id := range l.snap.Entities() {
		name := l.snap.EntityName(id)
		if !utf8.ValidString(name) {
			return store.Invalidf("entity %q is not UTF-8, which Weaviate requires", name)
		}
		key := l.ownKey(id)
		if !utf8.ValidString(key) {
			return store.Invalidf("the key %q of entity %q is not UTF-8, which Weaviate requires", key, name)
		}
		l.entry.Keyed = l.entry.Keyed || key != ""
		fmt.Fprintf(sum, "%q %q %d\n", name, key, l.snap.Kind(id))
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
		provenance := l.snap.Provenance(id)
		l.entry.Provenance = l.entry.Provenance || provenance != ""
		fmt.Fprintf(sum, "%q %q %q\n", v.Start, v.End, provenance)
	}
	l.fingerprint = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// ownKey returns an entity's key; empty if its name is its key.
func (l *snapshotCopy) ownKey(id store.EntityID) string {
	key := l.snap.EntityKey(id)
	if key == l.snap.EntityName(id) {
		return ""
	}
	return key
}

// nodes are those that hold what is loaded.
func (l *snapshotCopy) nodes() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.nodeNames
}

// run makes the collections and fills them.
func (l *snapshotCopy) run(ctx context.Context) error {
	var names []string
	var there bool
	for _, def := range l.cluster.config.snapshotClasses(l.home, l.entry) {
		switch err := l.cluster.createClass(ctx, def); {
		case errors.Is(err, errClassThere):
			there = true // of a load that was interrupted
		case err != nil:
			return fmt.Errorf("make collection %v: %w", def["class"], err)
		}
		names = append(names, def["class"].(string))
	}
	if err := l.cluster.waitForClasses(ctx, names); err != nil {
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
	l.nodeNames = slices.Compact(held)
	l.mutex.Unlock()
	if err := l.checkNodes(ctx); err != nil {
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

// part is a collection on its way: its rows in the order of the property that numbers them.
type part struct {
	name, property string
	rows           int
	row            func(collection string, number int) (*pb.BatchObject, error)
}

func (l *snapshotCopy) parts(places []uint32) []part {
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

// stretch is the number of rows counted at a time when a load continues.
const stretch = 10_000

// send sends all rows; of collections that were there, those that are missing.
func (l *snapshotCopy) send(in *batchSender, there bool) error {
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
func (l *snapshotCopy) places(ctx context.Context) ([]uint32, error) {
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

func (l *snapshotCopy) relationRow(collection string, number int) (*pb.BatchObject, error) {
	id := store.RelationID(number)
	return newRow(collection, numberedID("relation ", uint32(number))).
		int(propNumber, int64(number)).text(propName, l.snap.RelationName(id)).int(propCount,
		int64(l.snap.RelationTriples(id))).
		vector(l.snap.RelationVector(id)).object, nil
}

func (l *snapshotCopy) pieceRow(collection string, number int) (*pb.BatchObject, error) {
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
	return newRow(collection, numberedID("piece ", uint32(number))).
		int(propNumber, int64(number)).text(propData, base64.StdEncoding.EncodeToString(piece)).object, nil
}

// entityRow counts on where the edges of each entity begin, so rows are made in order.
func (l *snapshotCopy) entityRow() func(string, int) (*pb.BatchObject, error) {
	var first [2]int64
	return func(collection string, number int) (*pb.BatchObject, error) {
		id := store.EntityID(number)
		name := l.snap.EntityName(id)
		row := newRow(collection, entityID(name)).int(propNumber, int64(number)).text(propName, name)
		if key := l.ownKey(id); key != "" {
			row.text(propKey, key)
		}
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

func (l *snapshotCopy) factRow(collection string, id store.TripleID, place uint32) (*pb.BatchObject, error) {
	t, v := l.snap.Triple(id), l.snap.Validity(id)
	var ends []int64
	for _, e := range []store.EntityID{t.Subject, t.Object} {
		ends = append(ends, int64(l.snap.Kind(e)), int64(l.snap.Degree(e, store.Out)),
			int64(l.snap.Degree(e, store.In)))
	}
	row := newRow(collection, numberedID("fact ", uint32(id))).
		int(propTriple, int64(id)).int(propPlace, int64(place)).
		int(propSubject, int64(t.Subject)).int(propRelation, int64(t.Relation)).int(propObject, int64(t.Object)).
		ints(propEnds, ends)
	names := []string{l.snap.EntityName(t.Subject), l.snap.EntityName(t.Object)}
	if l.entry.Keyed {
		names = append(names, l.ownKey(t.Subject), l.ownKey(t.Object))
	}
	row.texts(propNames, names...)
	if provenance := l.snap.Provenance(id); provenance != "" {
		row.text(propProvenance, provenance)
	}
	if l.entry.Dated {
		from, to := validityDays(v)
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

func (l *snapshotCopy) compareCounts(ctx context.Context) error {
	for _, p := range l.parts(nil) {
		collection := collection(l.home, l.entry.KG, l.entry.Number, p.name)
		n, err := l.cluster.count(ctx, collection, nil)
		if err != nil {
			return err
		}
		if n != p.rows {
			return fmt.Errorf("collection %s holds %d rows after the load, want %d; load again: %w", collection, n,
				p.rows, store.ErrCorrupt)
		}
	}
	return nil
}

// lockFile is held locked in a scratch directory for as long as it is in use.
const lockFile = ".lock"

// scratchDir makes a directory below another, and removes those there that a killed process left.
func scratchDir(below string) (dir string, remove func() error, err error) {
	dir, lock, err := createScratchDir(below)
	if err != nil {
		return "", nil, fmt.Errorf("make room for a load: %w", err)
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// createScratchDir runs exclusively: a directory that is made and not locked
// yet would be taken for one that was left.
func createScratchDir(below string) (dir string, lock *os.File, err error) {
	if err = os.MkdirAll(below, 0o700); err != nil {
		return "", nil, err
	}
	turn, err := os.Open(below)
	if err != nil {
		return "", nil, err
	}
	defer turn.Close()
	if err = unix.Flock(int(turn.Fd()), unix.LOCK_EX); err != nil {
		return "", nil, err
	}
	if err = removeOrphans(below); err != nil {
		return "", nil, fmt.Errorf("remove what a load left: %w", err)
	}
	if dir, err = os.MkdirTemp(below, "load-"); err != nil {
		return "", nil, err
	}
	lock, err = os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return "", nil, errors.Join(err, lock.Close(), os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// removeOrphans removes the scratch directories that no process uses.
func removeOrphans(below string) error {
	entries, err := os.ReadDir(below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		left := filepath.Join(below, e.Name())
		lock, err := lockIfOrphaned(left)
		if err != nil {
			continue // another process uses it
		}
		if err := errors.Join(os.RemoveAll(left), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// lockIfOrphaned locks a scratch directory that no process uses.
func lockIfOrphaned(dir string) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
