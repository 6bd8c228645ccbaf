// Package weaviate keeps knowledge graphs in a Weaviate cluster: sharded,
// replicated, and shared by any number of retrievers.
//
// A snapshot is two collections: the vectors of its triples, and its structure, which is all the rest,
// in pieces. Vectors are searched in the cluster; of the structure each retriever maps a copy from its
// own disk. Which snapshots a knowledge graph has, and which is active, stands in the description of a
// third collection without rows, so that raft keeps it. Numbers of entities, relations and triples
// are those of the embedded store, and so are the answers.
package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Tenants returns the store of each tenant, whose name is a part of the names
// of all its collections.
type Tenants struct {
	cluster *cluster
	owner   string

	mutex  sync.Mutex
	stores map[auth.Tenant]*Store
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
	return &Tenants{cluster: c, owner: uuid.NewString(), stores: map[auth.Tenant]*Store{}}, nil
}

// ForTenant implements store.Tenants.
func (t *Tenants) ForTenant(id auth.Tenant) (store.Store, error) {
	if id.IsZero() {
		return nil, store.Invalidf("open the knowledge graphs of no tenant")
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

// Close closes the connection and all open snapshots.
func (t *Tenants) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var errs []error
	for _, s := range t.stores {
		errs = append(errs, s.closeAll())
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
	// loadTimeout is how long a load may be without a heartbeat before another process resumes or removes it.
	loadTimeout time.Duration
	// blockRows is how many vectors a load that is resumed counts at a time.
	blockRows int

	mutex   sync.Mutex
	records map[string]cachedRecord
	locks   map[string]chan struct{}
	open    map[name]*graph
	// draining are snapshots that were dropped, and perhaps still read.
	draining map[*graph]struct{}
}

// name is a snapshot's name.
type name struct {
	kg     string
	number uint64
}

func newStore(c *cluster, id auth.Tenant, owner string) *Store {
	return &Store{
		cluster: c, tenant: id.String(), home: collectionPrefix(c.config.Prefix, id), owner: owner,
		loadTimeout: time.Minute, blockRows: 10_000,
		records: map[string]cachedRecord{}, locks: map[string]chan struct{}{}, open: map[name]*graph{},
		draining: map[*graph]struct{}{},
	}
}

func (s *Store) closeAll() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var errs []error
	for n, g := range s.open {
		errs = append(errs, g.release())
		delete(s.open, n)
	}
	return errors.Join(errs...)
}

// Open implements store.Opener.
func (s *Store) Open(ctx context.Context, kg string, number uint64) (store.Snapshot, error) {
	e, err := s.resolve(ctx, kg, number)
	if err != nil {
		return nil, store.WrapError("open", kg, number, err)
	}
	snap, err := s.openGraph(ctx, e)
	if err != nil {
		return nil, store.WrapError("open", kg, e.Number, err)
	}
	return snap, nil
}

// resolve finds a snapshot; number 0 is the active one.
func (s *Store) resolve(ctx context.Context, kg string, number uint64) (entry, error) {
	r, err := s.current(ctx, kg)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && len(r.Snapshots) == 0:
		return entry{}, fmt.Errorf("%w; list knowledge graphs with `triplemesh kg list`", store.ErrNotFound)
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
	r = s.remember(r)
	if e, ok := r.find(number); ok {
		return e, nil
	}
	return entry{}, store.ErrNotFound
}

// openGraph returns a view of a snapshot, which is one more user.
func (s *Store) openGraph(ctx context.Context, e entry) (*snapshot, error) {
	if e.StructureSHA256 == "" {
		return nil, fmt.Errorf("an earlier version of triplemesh loaded it; load the files again: %w", store.ErrFormat)
	}
	n := name{e.KG, e.Number}
	for {
		s.mutex.Lock()
		g := s.open[n]
		if g == nil {
			g = newGraph(s.cluster, s.home, e)
			s.open[n] = g
		}
		s.mutex.Unlock()
		if !g.use() {
			s.remove(n, g) // released by all meanwhile
			continue
		}
		structure, err := g.open(ctx)
		if err != nil {
			return nil, errors.Join(err, g.release())
		}
		return &snapshot{Snapshot: structure, graph: g}, nil
	}
}

// remove releases an open snapshot: the next Open reads it again.
func (s *Store) remove(n name, g *graph) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.open[n] == g {
		delete(s.open, n)
	}
}

// letGo releases a snapshot that is no longer there. Who reads it goes on until they release it. The caller
// holds the lock.
func (s *Store) letGo(n name, g *graph) {
	delete(s.open, n)
	s.draining[g] = struct{}{}
	g.dropped.Store(true)
	// What cannot be removed takes room, and does no other harm.
	_ = g.release()
}

// WriteDelta implements store.Changer: snapshots are whole here.
func (s *Store) WriteDelta(ctx context.Context, kg string, delta store.Delta) (store.DeltaResult, error) {
	if _, err := s.resolve(ctx, kg, delta.Base); err != nil {
		return store.DeltaResult{}, store.WrapError("change", kg, delta.Base, err)
	}
	return store.DeltaResult{}, store.WrapError("change", kg, 0,
		fmt.Errorf("a Weaviate cluster holds whole snapshots; load the changed graph whole: %w", store.ErrUnsupported))
}

// Compact implements store.Changer: a whole snapshot is returned as it is.
func (s *Store) Compact(ctx context.Context, kg string, number uint64) (store.Info, error) {
	e, err := s.resolve(ctx, kg, number)
	return e.Info, store.WrapError("compact", kg, number, err)
}

// Export implements store.Exporter.
func (s *Store) Export(ctx context.Context, kg string, number uint64, _ io.Writer) error {
	if _, err := s.resolve(ctx, kg, number); err != nil {
		return store.WrapError("export", kg, number, err)
	}
	return store.WrapError("export", kg, number,
		fmt.Errorf("back up a Weaviate cluster by its own means, or keep the files that were loaded: %w",
			store.ErrUnsupported))
}

// Suffixes of the names of a snapshot's collections.
const (
	vectorsPart   = "vectors"
	structurePart = "structure"
)

// separator never occurs in the result of encodeName: two underscores.
const separator = "__"

// longestPart keeps whole names under the 255 bytes that Weaviate allows.
const longestPart = 90

// encodeName writes a name in lower-case letters, digits and underscores, so that
// no two names collide: Weaviate ignores the case of a name. Other bytes become "_" and two
// hex digits; a name that is too long becomes "_h" and a checksum.
func encodeName(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	if b.Len() <= longestPart {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return "_h" + hex.EncodeToString(sum[:20])
}

// collectionPrefix returns the prefix of the names of a tenant's collections.
func collectionPrefix(prefix string, of auth.Tenant) string {
	return prefix + separator + encodeName(of.String()) + separator
}

// recordName returns the collection that holds the record of a knowledge graph, lockName the
// one that exists while a process changes it.
func recordName(home, kg string) string { return home + encodeName(kg) + separator + "record" }
func lockName(home, kg string) string   { return home + encodeName(kg) + separator + "lock" }

// collection returns the name of a snapshot's collection.
func collection(home, kg string, number uint64, part string) string {
	return fmt.Sprintf("%s%s%s%d%s%s", home, encodeName(kg), separator, number, separator, part)
}
