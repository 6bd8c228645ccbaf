// Package runs stores answered questions, separated by tenant: in one file, or in a directory that
// several orchestrators share.
package runs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ErrNotFound is the error of an id that the tenant has no run of, whether or not another tenant has.
var ErrNotFound = errors.New("run not found")

// Tenants opens the store of each tenant. Every access to a run names its tenant.
type Tenants interface {
	// Tenant returns the store of one tenant, or auth.ErrNoTenant for the zero value.
	Tenant(auth.Tenant) (Store, error)
	// Close releases files. Stores must not be used after it.
	Close() error
}

// Store holds one tenant's runs by id, a ULID, so that ids sort by time. The oldest runs beyond the
// limit are removed. Safe for concurrent use.
type Store interface {
	// Save writes runs. They are on disk when Save returns; if it fails, some of them may be.
	Save(...*orchestratorv1.Run) error
	// Get reads a run, or returns ErrNotFound.
	Get(id string) (*orchestratorv1.Run, error)
	// List returns up to size runs older than before (an id; empty starts with the newest), newest
	// first, without graphs, stages and spans. next is the cursor of the next page; empty on the
	// last. It stops when ctx ends.
	List(ctx context.Context, size int, before string, filter Filter) (page []*orchestratorv1.Run,
		next string, err error)
}

// Filter narrows a list; empty fields match all.
type Filter struct {
	Method, KG string
	// Subject selects runs of one caller of the tenant; nil selects those of all.
	Subject *string
	// Query selects runs whose question, text or answers contain all its words, ignoring case.
	Query string
}

// matches reports whether a run passes the filter. KG matches any knowledge graph that the run
// read.
func (f Filter) matches(run *orchestratorv1.Run) bool {
	if f.Method != "" && run.GetMethod() != f.Method {
		return false
	}
	if f.Subject != nil && run.GetSubject() != *f.Subject {
		return false
	}
	if !f.matchesKG(run) {
		return false
	}
	words := strings.Fields(fold(f.Query))
	if len(words) == 0 {
		return true
	}
	text := fold(searchText(run))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

func (f Filter) matchesKG(run *orchestratorv1.Run) bool {
	return f.KG == "" || run.GetKg().GetName() == f.KG || slices.ContainsFunc(run.GetOtherKgs(),
		func(kg *graphv1.KnowledgeGraphRef) bool {
			return kg.GetName() == f.KG
		})
}

// searchText returns the searchable text of a run, one line for each text.
func searchText(run *orchestratorv1.Run) string {
	texts := []string{run.GetQuestion(), run.GetText()}
	for _, a := range run.GetAnswers() {
		texts = append(texts, a.GetAnswer())
	}
	return strings.Join(texts, "\n")
}

// fold makes texts comparable without case. Some letters have two lower-case forms and one
// upper-case.
func fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// pageBuilder collects a page.
type pageBuilder struct {
	size   int
	filter Filter
	page   []*orchestratorv1.Run
	next   string
}

// add appends the next older outline. It returns false when the page is full.
func (g *pageBuilder) add(run *orchestratorv1.Run) bool {
	if !g.filter.matches(run) {
		return true
	}
	if len(g.page) == g.size {
		g.next = g.page[g.size-1].GetId()
		return false
	}
	g.page = append(g.page, run)
	return true
}

// details are the fields that a list omits: graphs, stages and spans, nearly all bytes of a run.
var details = func() (numbers []protowire.Number) {
	fields := (&orchestratorv1.Run{}).ProtoReflect().Descriptor()
	for _, name := range []string{"stages", "spans"} {
		numbers = append(numbers, fields.Fields().ByTextName(name).Number())
	}
	graphs := fields.Oneofs().ByName("graphs").Fields()
	for i := range graphs.Len() {
		numbers = append(numbers, graphs.Get(i).Number())
	}
	return numbers
}()

func decodeFull(data []byte) (*orchestratorv1.Run, error) {
	run := &orchestratorv1.Run{}
	return run, proto.Unmarshal(data, run)
}

// decodeOutline decodes a run and skips its details: a filtered list reads every run.
func decodeOutline(data []byte) (*orchestratorv1.Run, error) {
	run := &orchestratorv1.Run{}
	merge := proto.UnmarshalOptions{Merge: true}
	begin := 0 // of what is read but not yet in run
	for at := 0; at < len(data); {
		number, _, n := protowire.ConsumeField(data[at:])
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if slices.Contains(details, number) {
			if err := merge.Unmarshal(data[begin:at], run); err != nil {
				return nil, err
			}
			begin = at + n
		}
		at += n
	}
	return run, merge.Unmarshal(data[begin:], run)
}

// guard turns bbolt's reaction to a damaged file, a panic or a fault beyond the memory map, into an
// error.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v)", errDamaged, r)
		}
	}()
	return do()
}

// update and view are bbolt's, guarded. A transaction runs on the caller's goroutine, so its panic
// can be recovered. A panic during a write may leave bbolt's lock held: later writes fail at once
// instead of blocking on it.
func (d *DB) update(do func(*bbolt.Tx) error) error {
	if err := d.broken.Load(); err != nil {
		return *err
	}
	ended := false
	err := guard(func() error {
		err := d.bolt.Update(do)
		ended = true
		return err
	})
	if !ended {
		d.broken.Store(&err)
	}
	return err
}

func (d *DB) view(do func(*bbolt.Tx) error) error {
	return guard(func() error { return d.bolt.View(do) })
}
