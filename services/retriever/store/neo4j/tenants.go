package neo4j

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/internal/tenant"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
)

// Tenants hands out each tenant's graphs: those that the configuration gives
// them, and those that they keep in files.
type Tenants struct {
	dir     string
	files   *embedded.Tenants
	graphs  map[tenant.ID]map[string]*graph
	servers []*server

	mutex  sync.Mutex
	stores map[tenant.ID]*Store
}

var _ store.Tenants = (*Tenants)(nil)

// NewTenants opens a directory and names the graphs beside it. No server is
// asked yet.
func NewTenants(dir string, c Config, log *slog.Logger, meter metric.Meter) (*Tenants, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Tenants{dir: dir, files: embedded.NewTenants(dir), graphs: map[tenant.ID]map[string]*graph{}, stores: map[tenant.ID]*Store{}}
	for kg, g := range c.Graphs {
		g = g.withDefaults()
		id, err := tenant.Parse(g.Tenant)
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

// Of implements store.Tenants.
func (t *Tenants) Of(id tenant.ID) (store.Store, error) {
	files, err := t.files.Of(id)
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

// Close ends the connections and lets go of the files.
func (t *Tenants) Close() error {
	errs := []error{t.files.Close()}
	for _, s := range t.servers {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
