package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// snapshotCopy copies one snapshot into its collections. A row's id is its number, so sending it twice
// changes nothing, and a load continues by asking how many rows of each block are there.
type snapshotCopy struct {
	cluster *cluster
	home    string
	entry   entry
	snap    store.Snapshot
	raw     embedded.Raw
	// structure is the file to cut into pieces.
	structure *os.File
	// fingerprint is a checksum of all that is copied.
	fingerprint string
	// blockRows is that of the store.
	blockRows int

	mutex     sync.Mutex
	nodeNames []string
}

// newSnapshotCopy writes the structure of a snapshot into a directory.
func newSnapshotCopy(ctx context.Context, c *cluster, local *embedded.Store, built store.Info,
	dir string) (l *snapshotCopy, err error) {
	snap, err := local.Open(ctx, built.KG, built.Number)
	if err != nil {
		return nil, err
	}
	raw, ok := snap.(embedded.Raw)
	if !ok {
		snap.Release()
		return nil, store.Invalidf("a snapshot of another store")
	}
	l = &snapshotCopy{cluster: c, snap: snap, raw: raw}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	l.entry.Info, l.entry.Dated = snap.Info(), isDated(snap)
	if l.structure, err = os.Create(filepath.Join(dir, structureFile)); err != nil {
		return nil, fmt.Errorf("write the structure: %w", err)
	}
	sum := sha256.New()
	if err := local.ExportStructure(ctx, built.KG, built.Number, io.MultiWriter(l.structure, sum)); err != nil {
		return nil, err
	}
	if l.entry.StructureBytes, err = l.structure.Seek(0, io.SeekCurrent); err != nil {
		return nil, fmt.Errorf("write the structure: %w", err)
	}
	l.entry.StructureSHA256 = hex.EncodeToString(sum.Sum(nil))
	l.fingerprint = l.entry.StructureSHA256 + " " + raw.VectorSum()
	return l, nil
}

// structureFile is in the scratch directory of a load.
const structureFile = "structure.tar"

// isDated reports whether some triple has a validity.
func isDated(snap store.Snapshot) bool {
	for id := range store.TripleID(snap.Info().Triples) {
		if snap.Validity(id) != (store.Validity{}) {
			return true
		}
	}
	return false
}

// close ends the use of the snapshot and of the file.
func (l *snapshotCopy) close() error {
	l.snap.Release()
	if l.structure == nil {
		return nil
	}
	return l.structure.Close()
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
	in := newBatchSender(ctx, l.cluster)
	err := l.send(in, there)
	if err = errors.Join(err, in.wait()); err != nil {
		return err
	}
	l.entry.Bytes = in.bytes()
	return l.compareCounts(ctx)
}

// part is a collection on its way.
type part struct {
	name string
	rows int
	row  func(collection string, number uint32) (*pb.BatchObject, error)
}

func (l *snapshotCopy) parts() []part {
	all := []part{{structurePart, pieceCount(l.entry.StructureBytes), l.pieceRow}}
	if l.entry.TripleVectors {
		all = append(all, part{vectorsPart, l.entry.Triples, l.vectorRow})
	}
	return all
}

// send sends all rows; of vectors that were there, those that are missing.
func (l *snapshotCopy) send(in *batchSender, there bool) error {
	for _, p := range l.parts() {
		name := collection(l.home, l.entry.KG, l.entry.Number, p.name)
		for from := 0; from < p.rows; from += l.blockRows {
			to := min(from+l.blockRows, p.rows)
			if there && p.name == vectorsPart {
				block := anyOf(propBlock, []uint32{uint32(from / l.blockRows)})
				if n, err := l.cluster.count(in.ctx, name, block); err != nil {
					return err
				} else if n == to-from {
					continue
				}
			}
			for number := from; number < to; number++ {
				object, err := p.row(name, uint32(number))
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

func (l *snapshotCopy) pieceRow(collection string, number uint32) (*pb.BatchObject, error) {
	from := int64(number) * pieceBytes
	piece := make([]byte, min(pieceBytes, l.entry.StructureBytes-from))
	if _, err := l.structure.ReadAt(piece, from); err != nil {
		return nil, fmt.Errorf("read the structure: %w", err)
	}
	return newRow(collection, number).text(propData, base64.StdEncoding.EncodeToString(piece)).object, nil
}

func (l *snapshotCopy) vectorRow(collection string, number uint32) (*pb.BatchObject, error) {
	id := store.TripleID(number)
	t := l.snap.Triple(id)
	v, err := l.raw.TripleVector(id)
	if err != nil {
		return nil, err
	}
	row := newRow(collection, number).int(propBlock, int64(int(number)/l.blockRows)).
		int(propSubject, int64(t.Subject)).int(propRelation, int64(t.Relation)).vector(v)
	if l.entry.Dated {
		from, to := validityDays(l.snap.Validity(id))
		row.int(propFrom, from).int(propTo, to)
	}
	return row.object, nil
}

func (l *snapshotCopy) compareCounts(ctx context.Context) error {
	for _, p := range l.parts() {
		name := collection(l.home, l.entry.KG, l.entry.Number, p.name)
		n, err := l.cluster.count(ctx, name, nil)
		if err != nil {
			return err
		}
		if n != p.rows {
			return fmt.Errorf("collection %s holds %d rows after the load, want %d; load again: %w", name, n,
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
