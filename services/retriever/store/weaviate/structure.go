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
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// structure is all of a snapshot but the vectors of triples: names and the name index, triples in both
// orders, relations with their vectors. It is an embedded snapshot, some hundredth of the whole. It
// lies in the cluster in pieces, and each retriever maps a copy from its own disk.
type structure struct {
	store.Snapshot
	// copies is the store of this copy alone, and dir the directory it lies in.
	copies *embedded.Store
	dir    *structureDir
}

// structureDirs are the directories of copies that are in use, by their paths. Snapshots of the same
// content share one, whichever tenant they belong to.
type structureDirs struct {
	mutex sync.Mutex
	inUse map[string]*structureDir
}

type structureDir struct {
	path string
	// opening is held while the copy is opened or fetched, so that one fetch does not replace another's.
	opening sync.Mutex
	// users is guarded by the mutex of structureDirs.
	users int
}

// use returns a directory, for one more user.
func (d *structureDirs) use(path string) *structureDir {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	dir := d.inUse[path]
	if dir == nil {
		dir = &structureDir{path: path}
		d.inUse[path] = dir
	}
	dir.users++
	return dir
}

// release ends a use. With remove, the last user removes the directory: others have snapshots that
// are still there.
func (d *structureDirs) release(dir *structureDir, remove bool) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if dir.users--; dir.users > 0 {
		return nil
	}
	delete(d.inUse, dir.path)
	if !remove {
		return nil
	}
	return os.RemoveAll(dir.path)
}

const (
	// pieceBytes is how much of the structure a row holds, pieceRows how many rows are read at a time.
	pieceBytes, pieceRows = 1 << 20, 16
	// structuresDir is below Config.Dir.
	structuresDir = "structures"
)

func pieceCount(bytes int64) int { return int((bytes + pieceBytes - 1) / pieceBytes) }

// openStructure opens the copy of the structure, which is fetched if it is not there or damaged.
func (g *graph) openStructure(ctx context.Context) (*structure, error) {
	dir := g.cluster.structures.use(filepath.Join(g.cluster.config.Dir, structuresDir, g.entry.StructureSHA256))
	dir.opening.Lock()
	defer dir.opening.Unlock()
	copies := embedded.New(dir.path)
	snap, err := copies.Open(ctx, g.entry.KG, 0)
	if err == nil && g.refetch {
		snap.Release()
	}
	if err != nil || g.refetch {
		if err = g.fetchStructure(ctx, copies); err == nil {
			snap, err = copies.Open(ctx, g.entry.KG, 0)
		}
	}
	if err != nil {
		return nil, errors.Join(err, copies.Close(), g.cluster.structures.release(dir, false))
	}
	return &structure{Snapshot: snap, copies: copies, dir: dir}, nil
}

// closeStructure ends the use of the copy, and removes it with a snapshot that was dropped, unless
// another snapshot of the same content is open.
func (g *graph) closeStructure() error {
	there := g.structure.Swap(nil)
	if there == nil {
		return nil
	}
	there.Release()
	return errors.Join(there.copies.Close(), g.cluster.structures.release(there.dir, g.dropped.Load()))
}

// fetchStructure puts the structure together from its pieces. The embedded store compares the
// checksums of all files in it, and removes what does not come whole.
func (g *graph) fetchStructure(ctx context.Context, copies *embedded.Store) error {
	r, w := io.Pipe()
	sum := sha256.New()
	go func() { w.CloseWithError(g.fetchPieces(ctx, io.MultiWriter(w, sum))) }()
	info, err := copies.Import(ctx, g.entry.KG, r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // what pads the last file
	}
	// Without a reader the fetching ends.
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("fetch the structure in collection %s: %w", g.collection(structurePart), err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != g.entry.StructureSHA256 {
		err = fmt.Errorf("checksum of the structure in collection %s: got %.12s…, want %.12s…; load the files "+
			"again: %w", g.collection(structurePart), got, g.entry.StructureSHA256, store.ErrCorrupt)
		_, dropErr := copies.Drop(ctx, g.entry.KG, info.Number)
		return errors.Join(err, dropErr)
	}
	if _, err := copies.Activate(ctx, g.entry.KG, info.Number); err != nil {
		return err
	}
	return dropInactive(ctx, copies, g.entry.KG)
}

// dropInactive drops the copies that one that was fetched again replaces.
func dropInactive(ctx context.Context, copies *embedded.Store, kg string) error {
	listed, err := copies.List(ctx, kg)
	if err != nil {
		return err
	}
	for _, l := range listed {
		if l.Active {
			continue
		}
		if _, err := copies.Drop(ctx, kg, l.Number); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (g *graph) fetchPieces(ctx context.Context, w io.Writer) error {
	n := uint32(pieceCount(g.entry.StructureBytes))
	for from := uint32(0); from < n; from += pieceRows {
		pieces := make([]string, min(pieceRows, n-from))
		numbers := numberRange(from, from+uint32(len(pieces)))
		err := g.readRows(ctx, structurePart, []string{propData}, numbers, func(r row) error {
			pieces[r.number-from] = r.property(propData).GetBlobValue()
			return nil
		})
		if err != nil {
			return err
		}
		for i, piece := range pieces {
			data, err := base64.StdEncoding.DecodeString(piece)
			if err != nil {
				return fmt.Errorf("read piece %d (%w): %w", from+uint32(i), err, store.ErrCorrupt)
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
	}
	return nil
}
