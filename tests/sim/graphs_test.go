package sim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// kg is the knowledge graph of every simulation. It has two snapshots, which share no object.
const kg = "people"

// encoder works without a model or library.
var encoder = storetest.HashEncoder(64)

// person is the subject of questions. Each is an employee and the director of a film; employers and
// universities are by snapshot, from 1.
type person struct {
	name, film      string
	employer, study [2]string
}

var people = []person{
	{"Ada Brandt", "Northern Lights", [2]string{"Oslo Observatory", "Harbour Museum"}, [2]string{"Uppsala University",
		"Zagreb Academy"}},
	{"Bruno Castell", "The Salt Road", [2]string{"Vinci Foundry", "Maple Brewery"},
		[2]string{"Kyoto Institute", "Leiden College"}},
	{"Clara Dufresne", "Quiet Engines", [2]string{"Geneva Hospital", "Tundra Railways"}, [2]string{"Bologna Faculty",
		"Warwick Polytechnic"}},
	{"Dmitri Ekholm", "Glass Orchard", [2]string{"Jura Shipyard", "Falcon Press"}, [2]string{"Heidelberg School",
		"Cusco Conservatory"}},
}

func (p person) employers() [2]string { return p.employer }
func (p person) studies() [2]string   { return p.study }

// prober is the person in the questions that measure recovery, and in no others.
var prober = people[len(people)-1]

// facts returns the triples of a snapshot, as TSV.
func facts(snapshot int) string {
	var text strings.Builder
	for _, p := range people {
		fmt.Fprintf(&text, "%s\temployer\t%s\n%s\teducated at\t%s\n%s\tdirector\t%s\n",
			p.name, p.employer[snapshot-1], p.name, p.study[snapshot-1], p.film, p.name)
	}
	return text.String()
}

// build loads both snapshots into a directory.
func build(dir string) (*embedded.Tenants, error) {
	graphs := embedded.NewTenants(filepath.Join(dir, "kg"))
	to, err := graphs.ForTenant(auth.DefaultTenant())
	if err != nil {
		return nil, err
	}
	for snapshot := 1; snapshot <= 2; snapshot++ {
		file := filepath.Join(dir, fmt.Sprint(snapshot, ".tsv"))
		if err := os.WriteFile(file, []byte(facts(snapshot)), 0o600); err != nil {
			return nil, err
		}
		if _, err := load.Files(context.Background(), to, encoder, []string{file},
			load.Options{KG: kg, Scratch: filepath.Join(dir, "scratch")}); err != nil {
			return nil, err
		}
	}
	return graphs, nil
}

// catalogue is shared by the retrievers of one simulation: the snapshots of all simulations, and
// which of them is active in this one. It writes nothing, so switching needs no disk.
type catalogue struct {
	store.Store
	listed []store.ListedSnapshot
	mu     sync.Mutex
	active uint64
}

// ForTenant implements store.Tenants.
func (c *catalogue) ForTenant(id auth.Tenant) (store.Store, error) {
	if !id.IsDefault() {
		return nil, store.ErrInvalid
	}
	return c, nil
}

func (c *catalogue) number() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

// Open implements store.Opener.
func (c *catalogue) Open(ctx context.Context, name string, number uint64) (store.Snapshot, error) {
	if number == 0 {
		number = c.number()
	}
	return c.Store.Open(ctx, name, number)
}

// List implements store.Catalogue.
func (c *catalogue) List(context.Context, string) ([]store.ListedSnapshot, error) {
	listed, active := slices.Clone(c.listed), c.number()
	for i := range listed {
		listed[i].Active = listed[i].Number == active
	}
	return listed, nil
}

// Activate implements store.Catalogue.
func (c *catalogue) Activate(ctx context.Context, name string, number uint64) (store.Info, error) {
	snap, err := c.Store.Open(ctx, name, number)
	if err != nil {
		return store.Info{}, err
	}
	defer snap.Release()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = number
	return snap.Info(), nil
}
