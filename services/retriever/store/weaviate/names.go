package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"golang.org/x/sys/unix"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/services/retriever/nameindex"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// The name index of a snapshot is that of the embedded store, letter for
// letter: a question is looked up in it some fifty times, and a misspelling
// finds what it finds there. It is a small part of a snapshot. It lies in the
// cluster in pieces, and each retriever maps a copy from its own disk.

const (
	// pieceBytes is how much of the name index a row holds, pieceRows how many
	// rows are read at a time.
	pieceBytes, pieceRows = 1 << 20, 16
	// namesDir is below Config.Dir.
	namesDir = "names"
)

// Entity implements store.Names: the id of a row is made of its name. The name
// index rules out most unknown names without a read.
func (s *snapshot) Entity(ctx context.Context, name string) (store.EntityID, bool, error) {
	key := store.Fold(name)
	indexed := key != "" && len(key) <= nameindex.MaxKeyLength
	alike, err := s.graph.names.Match(key)
	if err != nil || !utf8.ValidString(name) || indexed && len(alike) == 0 {
		return 0, false, s.wrap("read", err)
	}
	id, ok, err := s.graph.findEntity(ctx, byID(entityID(name)), func(e entity) bool { return e.name == name })
	return id, ok, s.wrap("read", err)
}

func (s *snapshot) EntityByKey(ctx context.Context, key string) (store.EntityID, bool, error) {
	if !s.graph.entry.Keyed || key == "" || !utf8.ValidString(key) {
		return 0, false, nil
	}
	id, ok, err := s.graph.findEntity(ctx, byText(propKey, key), func(e entity) bool { return e.key == key })
	return id, ok, s.wrap("read", err)
}

// findEntity finds the entity that a filter matches. That it is not there is believed when all
// replicas say so.
func (g *graph) findEntity(ctx context.Context, filter *pb.Filters,
	isWanted func(entity) bool) (id store.EntityID, ok bool, err error) {
	for level := levels[g.cluster.config.Consistency]; ; level = pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL {
		rows, err := g.rowsAt(ctx, entitiesPart, filter, 1, false, level)
		if err != nil {
			return 0, false, err
		}
		if len(rows) > 0 {
			id = store.EntityID(rows[0].number(propNumber, g.entry.Entities))
			e, _, err := g.entityRow(rows[0])
			if err == nil && !isWanted(e) {
				rows[0].corruptf("is not the entity that was looked up")
				err = rows[0].err
			}
			return id, err == nil, err
		}
		if g.cluster.config.Replicas == 1 || level == pb.ConsistencyLevel_CONSISTENCY_LEVEL_ALL {
			return 0, false, nil
		}
	}
}

func (s *snapshot) Match(ctx context.Context, key string) ([]store.EntityID, error) {
	found, err := s.graph.names.Match(key)
	if err != nil {
		return nil, s.wrap("read", err)
	}
	ids := make([]store.EntityID, len(found))
	for i, e := range found {
		ids[i] = store.EntityID(e)
	}
	return ids, s.wrap("read", s.graph.prefetch(ctx, ids))
}

func (s *snapshot) Fuzzy(ctx context.Context, key string, minSimilarity float32, limit int) ([]store.NameMatch, error) {
	found, err := s.graph.names.Fuzzy(ctx, key, minSimilarity, limit)
	if err != nil {
		return nil, s.wrap("read", err)
	}
	matches, ids := make([]store.NameMatch, len(found)), make([]store.EntityID, len(found))
	for i, m := range found {
		ids[i] = store.EntityID(m.Entity)
		matches[i] = store.NameMatch{Entity: ids[i], Similarity: m.Similarity}
	}
	return matches, s.wrap("read", s.graph.prefetch(ctx, ids))
}

// prefetch reads what is asked next of entities that were found by name: their names, kinds,
// degrees and relations. Of very many the caller looks at the first alone.
func (g *graph) prefetch(ctx context.Context, ids []store.EntityID) error {
	for _, id := range ids {
		if int(id) >= g.entry.Entities {
			return fmt.Errorf("the name index names entity %d of %d: %w", id, g.entry.Entities, store.ErrCorrupt)
		}
	}
	var missing []store.EntityID
	for _, id := range ids[:min(len(ids), lookupBatch)] {
		if !g.shapes.Contains(id) || !g.entities.Contains(id) {
			missing = append(missing, id)
		}
	}
	return forEachRow(ctx, g, entitiesPart, propNumber, missing, lookupBatch, false,
		func(_ store.EntityID, r *resultRow) error {
			_, _, err := g.entityRow(r)
			return err
		})
}

func (g *graph) namesPath() string {
	return filepath.Join(g.cluster.config.Dir, namesDir, g.entry.NameSHA256)
}

// openNames maps the name index, and fetches it first if there is no local copy.
func (g *graph) openNames(ctx context.Context) error {
	e := g.entry
	path := g.namesPath()
	if g.bypassCaches || !hasChecksum(path, e) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("keep the name index: %w", err)
		}
		if _, err := config.ReplaceFileFunc(path, 0o600,
			func(w io.Writer) error { return g.fetchNames(ctx, w) }); err != nil {
			return err
		}
		if !hasChecksum(path, e) {
			return fmt.Errorf("the name index of collection %s differs from its checksum: %w", g.collection(namesPart),
				errors.Join(store.ErrCorrupt, os.Remove(path)))
		}
	}
	data, unmap, err := mapNameIndex(path, e.NameBytes+e.HolderBytes)
	if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
		return g.openNames(ctx) // another snapshot of the same names was just dropped
	}
	if err != nil {
		return err
	}
	index, err := nameindex.Open(data[:e.NameBytes], data[e.NameBytes:])
	if err != nil {
		return errors.Join(err, unmap())
	}
	g.names, g.unmap = index, unmap
	return nil
}

func hasChecksum(path string, e entry) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == e.NameSHA256
}

func (g *graph) fetchNames(ctx context.Context, w io.Writer) error {
	for from := 0; from < g.entry.NamePieces; from += pieceRows {
		to := min(from+pieceRows, g.entry.NamePieces)
		pieces := make([]string, to-from)
		err := g.retryAtHigherLevels(func(level pb.ConsistencyLevel) error {
			rows, err := g.rowsAt(ctx, namesPart, between(propNumber, int64(from), int64(to)), pieceRows, false, level)
			if err != nil {
				return err
			}
			for _, r := range rows {
				at := int(r.number(propNumber, to)) - from
				data, ok := r.fields[propData].GetKind().(*pb.Value_BlobValue)
				if r.err != nil || at < 0 || !ok {
					r.corruptf("lacks the piece %q", propData)
					return r.err
				}
				pieces[at] = data.BlobValue
			}
			if len(rows) != len(pieces) {
				return fmt.Errorf("collection %s has %d pieces from %d on, want %d: %w", g.collection(namesPart),
					len(rows), from, len(pieces), store.ErrCorrupt)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, piece := range pieces {
			data, err := base64.StdEncoding.DecodeString(piece)
			if err != nil {
				return fmt.Errorf("a piece of the name index (%w): %w", err, store.ErrCorrupt)
			}
			if _, err := w.Write(data); err != nil {
				return fmt.Errorf("keep the name index: %w", err)
			}
		}
	}
	return nil
}

func mapNameIndex(path string, size int64) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open the name index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() != size || size == 0 {
		return nil, nil, fmt.Errorf("the name index %s is not of %d bytes: %w", path, size,
			errors.Join(store.ErrCorrupt, err))
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map the name index: %w", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
