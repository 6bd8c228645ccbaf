// Package neo4j reads knowledge graphs where their users keep them: in Neo4j. What it keeps itself
// is a snapshot of the embedded store, with the names, the facts that vectors are of and the
// vectors, and beside it which node each entity is. Edges are read from Neo4j, one statement a hop,
// and a fact that was found by its vector counts only while Neo4j holds it.
//
// Knowledge graphs that the configuration does not name are the embedded store's alone.
package neo4j

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/auth"
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
		return nil, store.WrapError("open", kg, local.Info().Number, err)
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
		return nil, fmt.Errorf("%s is of %d entities, the snapshot has %d: %w", indexFile, x.Entities, info.Entities,
			store.ErrCorrupt)
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
// is false if that is in files.
func (s *Store) Origin(kg string) (read func(context.Context, source.Sink) (uint64, error), ok bool) {
	g := s.graphs[kg]
	if g == nil {
		return nil, false
	}
	return func(ctx context.Context, to source.Sink) (uint64, error) {
		n, err := g.readAll(ctx, to)
		return n, store.WrapError("load", kg, 0, err)
	}, true
}

// Write implements store.Writer. Content is what Origin's reader passed on, or
// its like: Neo4j must hold it. The store looks up which nodes it is about.
func (s *Store) Write(ctx context.Context, kg string, content store.Content) (store.Info, error) {
	g := s.graphs[kg]
	if g == nil {
		return s.local.Write(ctx, kg, content)
	}
	inFiles := content
	if g.Vectors == vectorsInNeo4j {
		inFiles.TripleVectors = nil
	}
	info, err := s.local.Write(ctx, kg, inFiles)
	if err != nil {
		return info, err
	}
	if err := s.finish(ctx, g, info, content); err != nil {
		_, dropped := s.Drop(context.WithoutCancel(ctx), kg, info.Number)
		return store.Info{}, store.WrapError("load", kg, info.Number, errors.Join(err, dropped))
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
	if g.Vectors == vectorsInNeo4j && content.TripleVectors != nil {
		if x.Vectors, err = g.writeVectors(ctx, info, content); err != nil {
			return err
		}
	}
	return writeIndex(s.snapshotDir(info.KG, info.Number), ids, x)
}

// List implements store.Catalogue.
func (s *Store) List(ctx context.Context, kg string) ([]store.ListedSnapshot, error) {
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

// Drop implements store.Catalogue: it removes what triplemesh keeps. The user's graph stays.
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
				return numbers, store.WrapError("drop", kg, n, err)
			}
		}
	}
	return numbers, nil
}

// WriteDelta implements store.Changer.
func (s *Store) WriteDelta(ctx context.Context, kg string, delta store.Delta) (store.DeltaResult, error) {
	if s.graphs[kg] != nil {
		return store.DeltaResult{}, unsupportedError("change", kg)
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
		return unsupportedError("export", kg)
	}
	return s.local.Export(ctx, kg, number, to)
}

// Import implements store.Exporter.
func (s *Store) Import(ctx context.Context, kg string, from io.Reader) (store.Info, error) {
	if s.graphs[kg] != nil {
		return store.Info{}, unsupportedError("import", kg)
	}
	return s.local.Import(ctx, kg, from)
}

// unsupportedError is the error of operations that do not apply to a graph in the user's database.
func unsupportedError(op, kg string) error {
	return store.WrapError(op, kg, 0, fmt.Errorf("the graph lives in Neo4j; change it there, then load it "+
		"again without files: %w", store.ErrUnsupported))
}

// Tenants returns each tenant's graphs: those that the configuration gives
// them, and those that they keep in files.
type Tenants struct {
	dir     string
	files   *embedded.Tenants
	graphs  map[auth.Tenant]map[string]*graph
	servers []*server

	mutex  sync.Mutex
	stores map[auth.Tenant]*Store
}

var _ store.Tenants = (*Tenants)(nil)

// NewTenants opens a directory and names the graphs beside it. No server is asked yet.
func NewTenants(dir string, c Config, log *slog.Logger, meter metric.Meter) (*Tenants, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Tenants{dir: dir, files: embedded.NewTenants(dir), graphs: map[auth.Tenant]map[string]*graph{},
		stores: map[auth.Tenant]*Store{}}
	for kg, g := range c.Graphs {
		g = g.withDefaults()
		id, err := auth.ParseTenant(g.Tenant)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		made, s, err := newGraph(kg, g, log, meter)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("graphs.%s: %w", kg, err), t.Close())
		}
		t.servers = append(t.servers, s)
		if t.graphs[id] == nil {
			t.graphs[id] = map[string]*graph{}
		}
		t.graphs[id][kg] = made
	}
	return t, nil
}

// ForTenant implements store.Tenants.
func (t *Tenants) ForTenant(id auth.Tenant) (store.Store, error) {
	files, err := t.files.ForTenant(id)
	if err != nil {
		return nil, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if s := t.stores[id]; s != nil {
		return s, nil
	}
	dir := t.dir
	if !id.IsDefault() {
		dir = filepath.Join(dir, "@"+id.String())
	}
	s := &Store{dir: dir, local: files.(*embedded.Store), graphs: t.graphs[id], indexes: map[name]*index{}}
	t.stores[id] = s
	return s, nil
}

// Close ends the connections and releases the files.
func (t *Tenants) Close() error {
	errs := []error{t.files.Close()}
	for _, s := range t.servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// indexTimeout bounds a statement that reads a page of the graph, which takes longer
// than one of a question.
const indexTimeout = 5 * time.Minute

// checkNames says early that nothing has a name.
func (g *graph) checkNames(ctx context.Context) error {
	rows, err := g.reader.query(ctx, g.nameCheck(), g.fixed)
	if err != nil || len(rows) == 0 {
		return err
	}
	some, _ := rows[0][0].(bool)
	one, _ := rows[0][1].(bool)
	if some && one {
		return nil
	}
	what := fmt.Sprintf("no node has the property %q; check name_property", g.NameProperty)
	if !some {
		what = fmt.Sprintf("there is no node with one of the labels %q; check labels and database", g.Labels)
	}
	return &Fault{code: codes.FailedPrecondition, text: "Neo4j " + redactURL(g.URI) + ": " + what}
}

// verifySample is the number of triples Verify looks up in Neo4j.
const verifySample = 200

// Verify implements store.Catalogue: it compares the checksums of the files, and looks up a sample
// of their triples in Neo4j. If most are gone it is not the index of this graph any more.
func (s *Store) Verify(ctx context.Context, kg string, number uint64) (store.Info, int64, error) {
	info, bytes, err := s.local.Verify(ctx, kg, number)
	g := s.graphs[kg]
	if err != nil || g == nil {
		return info, bytes, err
	}
	opened, err := s.Open(ctx, kg, info.Number)
	if err != nil {
		return info, bytes, err
	}
	defer opened.Release()
	snap := opened.(*snapshot)
	n, err := snap.verify(ctx)
	bytes += n
	if err == nil {
		err = snap.verifySample(ctx)
	}
	return snap.Info(), bytes, store.WrapError("verify", kg, info.Number, err)
}

func (s *snapshot) verifySample(ctx context.Context) error {
	var ids []store.TripleID
	n := min(verifySample, s.info.Triples)
	for i := range n {
		ids = append(ids, store.TripleID(i*s.info.Triples/n))
	}
	there, err := s.confirm(ctx, ids)
	if err != nil {
		return err
	}
	gone := 0
	for _, id := range ids {
		if !there[id] {
			gone++
		}
	}
	if 2*gone > n {
		return &Fault{code: codes.FailedPrecondition, text: fmt.Sprintf(
			"of %d triples that were looked up, Neo4j %s no longer holds %d; load the graph again", n,
			redactURL(s.graph.URI), gone)}
	}
	return nil
}
