// Package weaviate keeps knowledge graphs in a Weaviate cluster: sharded,
// replicated, and shared by any number of retrievers.
//
// A snapshot is four collections: its facts with their vectors, its entities,
// its relations and its name index. Which snapshots a knowledge graph has, and
// which is active, stands in the description of a fifth without rows, so that
// raft keeps it. Numbers of entities, relations and triples are those of the
// embedded store, and so are the answers.
package weaviate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Tenants hands out the store of each tenant, whose name is a part of the names
// of all its collections.
type Tenants struct {
	cluster *cluster
	owner   string

	mutex  sync.Mutex
	stores map[tenant.ID]*Store
}

var (
	_ store.Tenants = (*Tenants)(nil)
	_ store.Store   = (*Store)(nil)
)

// New returns the stores of a cluster, which is first asked when something is
// read. The options are added to those of the connection, such as for tracing.
func New(cfg Config, options ...grpc.DialOption) (*Tenants, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	c, err := dial(cfg, options...)
	if err != nil {
		return nil, err
	}
	return &Tenants{cluster: c, owner: uuid.NewString(), stores: map[tenant.ID]*Store{}}, nil
}

// Of implements store.Tenants.
func (t *Tenants) Of(id tenant.ID) (store.Store, error) {
	if id.IsZero() {
		return nil, fmt.Errorf("open the knowledge graphs of no tenant: %w", store.ErrInvalid)
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	s := t.stores[id]
	if s == nil {
		s = newStore(t.cluster, id, t.owner)
		t.stores[id] = s
	}
	return s, nil
}

// Close lets go of the cluster and of all snapshots that are open.
func (t *Tenants) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var errs []error
	for _, s := range t.stores {
		errs = append(errs, s.forget())
	}
	clear(t.stores)
	return errors.Join(append(errs, t.cluster.close())...)
}

// Store is the knowledge graphs of one tenant.
type Store struct {
	cluster *cluster
	tenant  string
	home    string
	// owner names this process.
	owner string
	// abandoned is how long a load that nobody works on is left alone.
	abandoned time.Duration

	mutex   sync.Mutex
	records map[string]known
	locks   map[string]chan struct{}
	graphs  map[name]*graph
	// closing are snapshots that were dropped, and perhaps still read.
	closing map[*graph]struct{}
}

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

func newStore(c *cluster, id tenant.ID, owner string) *Store {
	return &Store{
		cluster: c, tenant: id.String(), home: home(c.config.Prefix, id), owner: owner, abandoned: time.Minute,
		records: map[string]known{}, locks: map[string]chan struct{}{}, graphs: map[name]*graph{}, closing: map[*graph]struct{}{},
	}
}

func (s *Store) forget() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var errs []error
	for n, g := range s.graphs {
		errs = append(errs, g.release())
		delete(s.graphs, n)
	}
	return errors.Join(errs...)
}

// Open implements store.Opener.
func (s *Store) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	e, err := s.resolve(ctx, kg, number)
	if err != nil {
		return nil, wrap("open", kg, number, err)
	}
	g, err := s.graph(ctx, e)
	if err != nil {
		return nil, wrap("open", kg, e.Number, err)
	}
	return &snapshot{graph: g}, nil
}

// resolve finds a snapshot; number 0 is the active one.
func (s *Store) resolve(ctx context.Context, kg string, number uint64) (entry, error) {
	r, err := s.current(ctx, kg)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && len(r.Snapshots) == 0:
		return entry{}, fmt.Errorf("%w; `triplemesh kg list` names what there is", store.ErrNotFound)
	case err != nil:
		return entry{}, err
	case number == 0 && r.Active == 0:
		return entry{}, store.ErrNoActive
	case number == 0:
		number = r.Active
	}
	if e, ok := r.find(number); ok {
		return e, nil
	}
	// One that another process has just made may be newer than what was read.
	if r, _, err = s.readRecord(ctx, kg, true); err != nil {
		return entry{}, err
	}
	r = s.saw(r)
	if e, ok := r.find(number); ok {
		return e, nil
	}
	return entry{}, store.ErrNotFound
}

// graph returns an open snapshot with one more user.
func (s *Store) graph(ctx context.Context, e entry) (*graph, error) {
	n := name{e.KG, e.Number}
	for {
		s.mutex.Lock()
		g := s.graphs[n]
		if g == nil {
			g = newGraph(s.cluster, s.home, e)
			s.graphs[n] = g
		}
		s.mutex.Unlock()
		if !g.use() {
			s.remove(n, g) // released by all meanwhile
			continue
		}
		if err := g.load(ctx); err != nil {
			return nil, errors.Join(err, g.release())
		}
		return g, nil
	}
}

// remove lets go of an open snapshot: the next Open reads it anew.
func (s *Store) remove(n name, g *graph) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.graphs[n] == g {
		delete(s.graphs, n)
	}
}

// closeGraphs lets go of snapshots that are no longer there. Those in use stay open
// until they are released.
func (s *Store) closeGraphs(kg string, numbers []uint64) (err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for n, g := range s.graphs {
		if n.kg == kg && slices.Contains(numbers, n.number) {
			delete(s.graphs, n)
			s.closing[g] = struct{}{}
			g.dropped.Store(true)
			err = errors.Join(err, g.release())
		}
	}
	return err
}

// wrap says what was being done to which snapshot; it keeps an error that
// already does.
func wrap(op, kg string, number uint64, err error) error {
	var known *store.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &store.Error{Op: op, KG: kg, Number: number, Err: err}
}
