package runs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/auth"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
)

// location is a new, empty location. It opens with a limit of runs; runs saved before are there again.
type location func(keep int) (runs.Tenants, error)

// runID returns the id of the nth run: seven hours after the one before, so that some share a day.
func runID(n int) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(time.Date(2026, 11, 1, 7*n, 0, 0, 0, time.UTC)))
	_ = id.SetEntropy(fmt.Appendf(nil, "%010d", n))
	return id.String()
}

// makeRun returns the nth run.
func makeRun(n int) *orchestratorv1.Run {
	return &orchestratorv1.Run{
		Id: runID(n), Question: strings.Repeat("why ", 100), Method: []string{"pg-akv", "ger"}[n%2], Subject: "ci",
		Kg:       &graphv1.KnowledgeGraphRef{Name: []string{"wikidata", "freebase", "own"}[n%3], Snapshot: 1},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: []string{"films", "rivers"}[n%2]}},
		Usage:    &llmv1.Usage{Calls: 3},
		Stages:   []*orchestratorv1.StageReport{{}}, Spans: []*orchestratorv1.Span{{}},
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{Cypher: strings.Repeat("CREATE ", 200)}},
	}
}

// parseTenant parses a tenant's name.
func parseTenant(t testing.TB, name string) auth.Tenant {
	t.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// openTenant returns the store of one tenant, closed when the test ends.
func openTenant(t testing.TB, tenants runs.Tenants, id auth.Tenant) runs.Store {
	t.Helper()
	store, err := tenants.Tenant(id)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// saveRuns saves the runs from one number up to another.
func saveRuns(t testing.TB, store runs.Store, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := store.Save(makeRun(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// listAll pages through all runs.
func listAll(t testing.TB, store runs.Store, size int, filter runs.Filter) (ids []string, pages int) {
	t.Helper()
	for token := ""; ; pages++ {
		page, next, err := store.List(t.Context(), size, token, filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			ids = append(ids, r.GetId())
		}
		if next == "" {
			return ids, pages + 1
		}
		token = next
	}
}

// runIDs returns the ids of runs.
func runIDs(ns ...int) []string {
	var ids []string
	for _, n := range ns {
		ids = append(ids, runID(n))
	}
	return ids
}

// testConformance tests a store. make returns a location for each test.
func testConformance(t *testing.T, make func(t *testing.T) location) {
	for name, test := range map[string]func(*testing.T, func(keep int) runs.Tenants){
		"a run comes back as it was":             comesBack,
		"an unknown run is not found":            unknown,
		"lists":                                  lists,
		"finds words":                            findsWords,
		"the oldest go":                          oldestGo,
		"each tenant has its own":                testTenantsApart,
		"no tenant has none":                     nobody,
		"it may be used by many at once":         parallel,
		"a list ends with the caller's patience": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			place := make(t)
			test(t, func(keep int) runs.Tenants {
				t.Helper()
				tenants, err := place(keep)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { tenants.Close() })
				return tenants
			})
		})
	}
}

func comesBack(t *testing.T, open func(int) runs.Tenants) {
	tenants := open(0)
	for _, id := range []auth.Tenant{auth.DefaultTenant(), parseTenant(t, "acme")} {
		saveRuns(t, openTenant(t, tenants, id), 0, 1)
	}
	if err := tenants.Close(); err != nil {
		t.Fatal(err)
	}
	tenants = open(0)
	for _, id := range []auth.Tenant{auth.DefaultTenant(), parseTenant(t, "acme")} {
		if got, err := openTenant(t, tenants, id).Get(runID(0)); err != nil || !proto.Equal(got, makeRun(0)) {
			t.Errorf("of %s got %v, %v", id, got, err)
		}
	}
}

func unknown(t *testing.T, open func(int) runs.Tenants) {
	store := openTenant(t, open(0), auth.DefaultTenant())
	ids := []string{runID(0), "run-1", "", "\x00", "../../etc/passwd", "@acme", strings.ToLower(runID(1))}
	for range 2 {
		for _, id := range ids {
			if _, err := store.Get(id); !errors.Is(err, runs.ErrNotFound) {
				t.Errorf("run %q: %v", id, err)
			}
		}
		saveRuns(t, store, 1, 2) // where some are, as where none are
	}
	if err := store.Save(&orchestratorv1.Run{}); err == nil {
		t.Error("a run without an id was kept")
	}
}

func lists(t *testing.T, open func(int) runs.Tenants) {
	store := openTenant(t, open(0), auth.DefaultTenant())
	if ids, pages := listAll(t, store, 5, runs.Filter{}); len(ids) != 0 || pages != 1 {
		t.Errorf("where nothing was kept: %q in %d pages", ids, pages)
	}
	saveRuns(t, store, 0, 20)
	for _, c := range []struct {
		name   string
		size   int
		filter runs.Filter
		first  int
		n      int
		pages  int
	}{
		{"newest first, in one page", 50, runs.Filter{}, 19, 20, 1},
		{"in pages", 7, runs.Filter{}, 19, 20, 3},
		{"a last page that is full is followed by none", 5, runs.Filter{}, 19, 20, 4},
		{"of one method", 3, runs.Filter{Method: "pg-akv"}, 18, 10, 4},
		{"of one knowledge graph", 50, runs.Filter{KG: "wikidata"}, 18, 7, 1},
		{"of one that was read beside others", 50, runs.Filter{KG: "rivers"}, 19, 10, 1},
		{"of both", 50, runs.Filter{Method: "ger", KG: "wikidata"}, 15, 3, 1},
		{"of a method that answered nothing", 50, runs.Filter{Method: "rog"}, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, pages := listAll(t, store, c.size, c.filter)
			if len(ids) != c.n || pages != c.pages || c.n > 0 && ids[0] != runID(c.first) {
				t.Errorf("%d runs in %d pages, %q; want %d in %d from %s", len(ids), pages, ids, c.n,
					c.pages, runID(c.first))
			}
			if !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
				t.Errorf("not newest first: %q", ids)
			}
		})
	}
	page, _, err := store.List(t.Context(), 1, "", runs.Filter{})
	if err != nil || page[0].GetGraphs() != nil || page[0].GetStages() != nil || page[0].GetSpans() != nil ||
		page[0].GetUsage().GetCalls() != 3 {
		t.Errorf("a listed run should have its usage and no graphs, stages and spans: %v, %v", page, err)
	}
	const year10889 = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ" // the last ULID
	for token, want := range map[string]int{runID(6): 6, runID(5) + "x": 6, "zzz": 20, "!": 0, year10889: 20} {
		if page, _, err := store.List(t.Context(), 50, token, runs.Filter{}); err != nil || len(page) != want {
			t.Errorf("before %q: %d runs, %v; want %d", token, len(page), err, want)
		}
	}
}

func findsWords(t *testing.T, open func(int) runs.Tenants) {
	store := openTenant(t, open(0), auth.DefaultTenant())
	for n, said := range []struct{ question, text, answer string }{
		{"Who wrote the first program?", "It was {Ada Lovelace}.", "Ada Lovelace"},
		{"Ποιος έγραψε τον Οδυσσεύς;", "", "ΌΜΗΡΟΣ"},
		{"Who employed Ada?", "", ""},
	} {
		run := makeRun(n)
		run.Question, run.Text = said.question, said.text
		run.Answers = []*orchestratorv1.Answer{{Answer: said.answer}}
		if err := store.Save(run); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		filter runs.Filter
		want   []string
	}{
		{"in a question", runs.Filter{Query: "program"}, runIDs(0)},
		{"in a text", runs.Filter{Query: "It was"}, runIDs(0)},
		{"in an answer", runs.Filter{Query: "lovelace"}, runIDs(0)},
		{"whatever their case and order", runs.Filter{Query: "  ADA\twho "}, runIDs(2, 0)},
		{"of which all must be there", runs.Filter{Query: "ada program"}, runIDs(0)},
		{"but not over the end of a text", runs.Filter{Query: "program?It"}, nil},
		{"of other scripts", runs.Filter{Query: "όμηροσ ΟΔΥΣΣΕΎΣ"}, runIDs(1)},
		{"of one method", runs.Filter{Query: "ada", Method: "ger"}, nil},
		{"of which there are none", runs.Filter{Query: " "}, runIDs(2, 1, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if ids, _ := listAll(t, store, 1, c.filter); !slices.Equal(ids, c.want) {
				t.Errorf("got %q, want %q", ids, c.want)
			}
		})
	}
}

func oldestGo(t *testing.T, open func(int) runs.Tenants) {
	tenants := open(3)
	store, acme := openTenant(t, tenants, auth.DefaultTenant()), openTenant(t, tenants, parseTenant(t, "acme"))
	saveRuns(t, acme, 0, 2)
	saveRuns(t, store, 0, 10)
	saveRuns(t, store, 0, 10) // the same ids again: the oldest come back and go again
	if ids, _ := listAll(t, store, 50, runs.Filter{}); !slices.Equal(ids, runIDs(9, 8, 7)) {
		t.Errorf("kept %q", ids)
	}
	if ids, _ := listAll(t, acme, 50, runs.Filter{}); !slices.Equal(ids, runIDs(1, 0)) {
		t.Errorf("one tenant's runs cost another's: %q", ids)
	}
	saveRuns(t, store, 9, 10)
	if ids, _ := listAll(t, store, 50, runs.Filter{}); len(ids) != 3 {
		t.Errorf("a run written over cost another: %q", ids)
	}
	if err := tenants.Close(); err != nil {
		t.Fatal(err)
	}
	fewer := open(2)
	store = openTenant(t, fewer, auth.DefaultTenant())
	saveRuns(t, store, 11, 12)
	if ids, _ := listAll(t, store, 50, runs.Filter{}); !slices.Equal(ids, runIDs(11, 9)) {
		t.Errorf("after opening for fewer: %q", ids)
	}
}

func testTenantsApart(t *testing.T, open func(int) runs.Tenants) {
	tenants := open(0)
	all := []auth.Tenant{auth.DefaultTenant()}
	for _, name := range []string{"acme", "ac", "runs", "meta"} {
		all = append(all, parseTenant(t, name))
	}
	for i, id := range all {
		saveRuns(t, openTenant(t, tenants, id), 4*i, 4*i+3)
	}
	for i, id := range all {
		store := openTenant(t, tenants, id)
		ids, pages := listAll(t, store, 2, runs.Filter{})
		if !slices.Equal(ids, runIDs(4*i+2, 4*i+1, 4*i)) || pages != 2 {
			t.Errorf("%s has %q in %d pages", id, ids, pages)
		}
		for n := range 4 * len(all) {
			_, err := store.Get(runID(n))
			if own := n >= 4*i && n < 4*i+3; own != (err == nil) || err != nil && !errors.Is(err, runs.ErrNotFound) {
				t.Errorf("%s reads run %d: %v", id, n, err)
			}
		}
		// Another's page token is a time and no more.
		page, next, err := store.List(t.Context(), 50, runID(4*len(all)), runs.Filter{})
		if err != nil || len(page) != 3 || next != "" {
			t.Errorf("%s from another's run on: %v, %q, %v", id, page, next, err)
		}
	}
	// The same id twice: a run of each tenant's own.
	mine := makeRun(0)
	mine.Question = "mine"
	if err := openTenant(t, tenants, all[1]).Save(mine); err != nil {
		t.Fatal(err)
	}
	if got, err := openTenant(t, tenants, all[0]).Get(runID(0)); err != nil || got.GetQuestion() == "mine" {
		t.Errorf("one tenant wrote over another's run: %v, %v", got, err)
	}
}

func nobody(t *testing.T, open func(int) runs.Tenants) {
	if store, err := open(0).Tenant(auth.Tenant{}); !errors.Is(err, auth.ErrNoTenant) || store != nil {
		t.Errorf("got %v, %v", store, err)
	}
}

// makeRun with -race.
func parallel(t *testing.T, open func(int) runs.Tenants) {
	tenants := open(5)
	var group sync.WaitGroup
	for i := range 16 {
		store := openTenant(t, tenants, []auth.Tenant{auth.DefaultTenant(), parseTenant(t, "acme")}[i%2])
		group.Go(func() {
			if err := store.Save(makeRun(i)); err != nil {
				t.Error(err)
			}
			if _, _, err := store.List(t.Context(), 3, "", runs.Filter{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, id := range []auth.Tenant{auth.DefaultTenant(), parseTenant(t, "acme")} {
		if ids, _ := listAll(t, openTenant(t, tenants, id), 50, runs.Filter{}); len(ids) != 5 {
			t.Errorf("kept %q of %s", ids, id)
		}
	}
}

func cancelled(t *testing.T, open func(int) runs.Tenants) {
	store := openTenant(t, open(0), auth.DefaultTenant())
	saveRuns(t, store, 0, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if page, _, err := store.List(ctx, 2, "", runs.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", page, err)
	}
}
