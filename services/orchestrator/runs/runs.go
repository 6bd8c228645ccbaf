// Package runs keeps answered questions, each tenant's apart from all others':
// in one file, or in a directory that several orchestrators share.
package runs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/tenant"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// ErrNotFound says that a tenant has no run of an id, whether or not another
// has.
var ErrNotFound = errors.New("run not found")

// Tenants hands out each tenant's runs. There is no way to a run but by naming
// whose it is.
type Tenants interface {
	// Of is the runs of one tenant. Of no tenant, the zero ID, it is
	// tenant.ErrNone.
	Of(tenant.ID) (Store, error)
	// Close lets files go. No Store is used after it.
	Close() error
}

// Store holds one tenant's runs by id, a ULID, so that ids sort by time. At
// most as many are kept as it was opened for, and the oldest go first. Safe for
// concurrent use.
type Store interface {
	// Put keeps runs under their ids. They are on disk when Put returns; where
	// it fails, some of them may be.
	Put(...*orchestratorv1.Run) error
	// Get reads a run. The error is ErrNotFound where there is none.
	Get(id string) (*orchestratorv1.Run, error)
	// List returns up to size runs older than before (an id; empty begins with
	// the newest), newest first, without graphs, stages and spans. next is where
	// the following page begins; empty on the last. It ends early where ctx does.
	List(ctx context.Context, size int, before string, filter Filter) (page []*orchestratorv1.Run, next string, err error)
}

// Filter narrows a list; empty fields take all.
type Filter struct {
	Method, KG string
	// Query takes runs whose question, text or answers hold all its words, which
	// spaces part, whatever their case.
	Query string
}

// takes tells whether a run is one of those asked for. A run is over a
// knowledge graph that it read, maybe beside others.
func (f Filter) takes(run *orchestratorv1.Run) bool {
	if f.Method != "" && run.GetMethod() != f.Method {
		return false
	}
	if !f.isOver(run) {
		return false
	}
	words := strings.Fields(fold(f.Query))
	if len(words) == 0 {
		return true
	}
	text := fold(said(run))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

func (f Filter) isOver(run *orchestratorv1.Run) bool {
	return f.KG == "" || run.GetKg().GetName() == f.KG || slices.ContainsFunc(run.GetOtherKgs(), func(kg *graphv1.KnowledgeGraphRef) bool {
		return kg.GetName() == f.KG
	})
}

// said is what of a run is searched: a line for each text.
func said(run *orchestratorv1.Run) string {
	texts := []string{run.GetQuestion(), run.GetText()}
	for _, a := range run.GetAnswers() {
		texts = append(texts, a.GetAnswer())
	}
	return strings.Join(texts, "\n")
}

// fold makes texts comparable that differ in case alone. Some letters have two
// small forms and one capital.
func fold(text string) string { return strings.ToLower(strings.ToUpper(text)) }

// gathering is a page as it fills.
type gathering struct {
	size   int
	filter Filter
	page   []*orchestratorv1.Run
	next   string
}

// add takes the next older run in, an outline. It returns false once the page
// is full.
func (g *gathering) add(run *orchestratorv1.Run) bool {
	if !g.filter.takes(run) {
		return true
	}
	if len(g.page) == g.size {
		g.next = g.page[g.size-1].GetId()
		return false
	}
	g.page = append(g.page, run)
	return true
}
