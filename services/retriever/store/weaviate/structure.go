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

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// structure is all of a snapshot but the vectors of triples: names and the name index, triples in both
// orders, relations with their vectors. It is an embedded snapshot, some hundredth of the whole. It
// lies in the cluster in pieces, and each retriever maps a copy from its own disk.
type structure struct {
	store.Snapshot
	// copies is the store of this copy alone.
	copies *embedded.Store
}

const (
	// pieceBytes is how much of the structure a row holds, pieceRows how many rows are read at a time.
	pieceBytes, pieceRows = 1 << 20, 16
	// structuresDir is below Config.Dir.
	structuresDir = "structures"
)

func pieceCount(bytes int64) int { return int((bytes + pieceBytes - 1) / pieceBytes) }

// structureDir is where the copy of the structure lies: an embedded store of its own.
func (g *graph) structureDir() string {
	return filepath.Join(g.cluster.config.Dir, structuresDir, g.entry.StructureSHA256)
}

// openStructure opens the copy of the structure, which is fetched if it is not there or damaged.
func (g *graph) openStructure(ctx context.Context) (*structure, error) {
	copies := embedded.New(g.structureDir())
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
		return nil, errors.Join(err, copies.Close())
	}
	return &structure{Snapshot: snap, copies: copies}, nil
}

// closeStructure ends the use of the copy, and removes it with a snapshot that was dropped. Another
// snapshot of the same content keeps what it has open, and fetches it again when it is opened next.
func (g *graph) closeStructure() error {
	there := g.structure.Swap(nil)
	if there == nil {
		return nil
	}
	there.Release()
	err := there.copies.Close()
	if g.dropped.Load() {
		err = errors.Join(err, os.RemoveAll(g.structureDir()))
	}
	return err
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
