// Package neo4j reads knowledge graphs where their users keep them: in Neo4j.
// What it keeps itself is a snapshot of the embedded store, with the names, the
// facts that vectors are of and the vectors, and beside it which node each
// entity is. Edges are read from Neo4j, one statement a hop, and a fact that was
// found by its vector counts only while Neo4j holds it.
//
// Knowledge graphs that the configuration does not name are the embedded
// store's alone.
package neo4j

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// Store is one tenant's knowledge graphs.
type Store struct {
	dir    string
	local  *embedded.Store
	graphs map[string]*graph

	mutex   sync.Mutex
	indexes map[name]*index
}

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

var _ store.Store = (*Store)(nil)

// Open implements store.Opener. Neo4j is not asked before something is read.
func (s *Store) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	local, err := s.local.Open(ctx, kg, number)
	g := s.graphs[kg]
	if err != nil || g == nil {
		return local, err
	}
	snap, err := s.view(ctx, g, local)
	if err != nil {
		local.Release()
		return nil, wrap("open", kg, local.Info().Number, err)
	}
	return snap, nil
}

// view is what a snapshot's files and Neo4j show together.
func (s *Store) view(ctx context.Context, g *graph, local store.Snapshot) (*snapshot, error) {
	info := local.Info()
	x, err := s.index(info)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{local: local, index: x, graph: g, ctx: ctx, info: info, live: newLive(), vectors: local}
	if x.Vectors != "" {
		snap.info.TripleVectors = true
		snap.vectors = &vectors{snapshot: snap}
	}
	return snap, nil
}

// index opens a snapshot's index, once. A snapshot that was dropped may have
// left its number to another.
func (s *Store) index(info store.Info) (*index, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	at := name{info.KG, info.Number}
	if x, ok := s.indexes[at]; ok && x.created.Equal(info.Created) {
		return x, nil
	}
	x, err := openIndex(s.snapshotDir(info.KG, info.Number))
	if err != nil {
		return nil, err
	}
	if x.Entities != info.Entities {
		return nil, fmt.Errorf("%s is of %d entities, the snapshot has %d: %w", indexFile, x.Entities, info.Entities, store.ErrCorrupt)
	}
	x.created = info.Created
	s.indexes[at] = x
	return x, nil
}

// snapshotDir is where the embedded store keeps a snapshot.
func (s *Store) snapshotDir(kg string, number uint64) string {
	return filepath.Join(s.dir, kg, strconv.FormatUint(number, 10))
}

// Origin is how a graph is read from where its user keeps it, to be indexed; ok
// is false where that is in files.
func (s *Store) Origin(kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool) {
	g := s.graphs[kg]
	if g == nil {
		return nil, false
	}
	return func(ctx context.Context, to source.Sink) (uint64, error) {
		n, err := g.readAll(ctx, to)
		return n, wrap("load", kg, 0, err)
	}, true
}

// Write implements store.Writer. Content is what Origin's reader handed on, or
// its like: Neo4j must hold it. The store looks up which nodes it is about.
func (s *Store) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	g := s.graphs[kg]
	if g == nil {
		return s.local.Write(ctx, kg, content)
	}
	inFiles := content
	if g.Vectors == inNeo4j {
		inFiles.TripleVectors = nil
	}
	info, err := s.local.Write(ctx, kg, inFiles)
	if err != nil {
		return info, err
	}
	if err := s.finish(ctx, g, info, content); err != nil {
		_, dropped := s.Drop(context.WithoutCancel(ctx), kg, info.Number)
		return store.Info{}, wrap("load", kg, info.Number, errors.Join(err, dropped))
	}
	info.TripleVectors = content.TripleVectors != nil
	return info, nil
}

func (s *Store) finish(ctx context.Context, g *graph, info store.Info, content store.Content) error {
	local, err := s.local.Open(ctx, info.KG, info.Number)
	if err != nil {
		return err
	}
	defer local.Release()
	ids, x, err := g.align(ctx, local)
	if err != nil {
		return err
	}
	if g.Vectors == inNeo4j && content.TripleVectors != nil {
		if x.Vectors, err = g.writeVectors(ctx, info, content); err != nil {
			return err
		}
	}
	return writeIndex(s.snapshotDir(info.KG, info.Number), ids, x)
}

// List implements store.Catalogue.
func (s *Store) List(ctx context.Context, kg string) ([]store.Listed, error) {
	listed, err := s.local.List(ctx, kg)
	for i := range listed {
		l := &listed[i]
		if s.graphs[l.KG] != nil && l.Dims > 0 && !l.TripleVectors {
			x, err := s.index(l.Info)
			l.TripleVectors = err == nil && x.Vectors != ""
		}
	}
	return listed, err
}

// Activate implements store.Catalogue.
func (s *Store) Activate(ctx context.Context, kg string, number uint64) (store.Info, error) {
	return s.local.Activate(ctx, kg, number)
}

// Rollback implements store.Catalogue: to the index before, of the same graph.
func (s *Store) Rollback(ctx context.Context, kg string) (store.Info, error) {
	return s.local.Rollback(ctx, kg)
}

// Drop implements store.Catalogue: it removes what triplemesh keeps. The user's
// graph stays.
func (s *Store) Drop(ctx context.Context, kg string, number uint64) ([]uint64, error) {
	labels := s.vectorLabels(ctx, kg, number)
	numbers, err := s.local.Drop(ctx, kg, number)
	s.mutex.Lock()
	for _, n := range numbers {
		delete(s.indexes, name{kg, n})
	}
	s.mutex.Unlock()
	if err != nil {
		return numbers, err
	}
	for _, n := range numbers {
		if label := labels[n]; label != "" {
			if err := s.graphs[kg].dropVectors(ctx, label); err != nil {
				return numbers, wrap("drop", kg, n, err)
			}
		}
	}
	return numbers, nil
}

// WriteDelta implements store.Changer.
func (s *Store) WriteDelta(ctx context.Context, kg string, delta store.Delta) (store.Changed, error) {
	if s.graphs[kg] != nil {
		return store.Changed{}, notHere("change", kg)
	}
	return s.local.WriteDelta(ctx, kg, delta)
}

// Compact implements store.Changer: an index is whole.
func (s *Store) Compact(ctx context.Context, kg string, number uint64) (store.Info, error) {
	return s.local.Compact(ctx, kg, number)
}

// Export implements store.Exporter.
func (s *Store) Export(ctx context.Context, kg string, number uint64, to io.Writer) error {
	if s.graphs[kg] != nil {
		return notHere("export", kg)
	}
	return s.local.Export(ctx, kg, number, to)
}

// Import implements store.Exporter.
func (s *Store) Import(ctx context.Context, kg string, from io.Reader) (store.Info, error) {
	if s.graphs[kg] != nil {
		return store.Info{}, notHere("import", kg)
	}
	return s.local.Import(ctx, kg, from)
}

// notHere refuses what makes no sense of a graph that somebody else keeps.
func notHere(op, kg string) error {
	return wrap(op, kg, 0, fmt.Errorf("it is kept in Neo4j; change it there and load it again without files: %w", store.ErrUnsupported))
}
