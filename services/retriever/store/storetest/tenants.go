package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// RunTenants runs the part of the suite that is about several tenants. open
// returns an empty store of its own for each test.
func RunTenants(t *testing.T, open func(t *testing.T) store.Tenants) {
	for _, part := range []struct {
		name string
		test func(*testing.T, store.Tenants)
	}{
		{"no tenant has no store", testNoTenant},
		{"what one tenant has is not there for another", testApart},
		{"the same names do not meet", testSameNames},
		{"tenants write at the same time", testTenantsAtOnce},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
}

// The tenants of the suite. The default one's data may lie elsewhere than
// others'; names of tenants look alike and like those of knowledge graphs.
var tenants = []string{"default", "acme", "acme-2", "world"}

// ForTenant is the store of a tenant named so.
func ForTenant(t *testing.T, all store.Tenants, name string) store.Store {
	t.Helper()
	id, err := auth.ParseTenant(name)
	if err != nil {
		t.Fatal(err)
	}
	st, err := all.ForTenant(id)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func testNoTenant(t *testing.T, all store.Tenants) {
	if st, err := all.ForTenant(auth.Tenant{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("the store of no tenant is %v, %v", st, err)
	}
}

// attempts are the operations on an existing knowledge graph.
func attempts(t *testing.T, st store.Store, kg string, number uint64) map[string]error {
	t.Helper()
	ctx := t.Context()
	errs := map[string]error{}
	snap, err := st.Open(ctx, kg, number)
	if err == nil {
		snap.Release()
	}
	errs["open"] = err
	_, errs["verify"] = first(st.Verify(ctx, kg, number))
	_, errs["compact"] = st.Compact(ctx, kg, number)
	errs["export"] = st.Export(ctx, kg, number, io.Discard)
	delta := Delta(nil, []store.Fact{fact("Rome", "located in", "Italy")})
	delta.Base = number
	_, errs["write a delta of"] = st.WriteDelta(ctx, kg, delta)
	if number > 0 {
		_, errs["activate"] = st.Activate(ctx, kg, number)
	}
	_, errs["drop"] = st.Drop(ctx, kg, number)
	return errs
}

func first[A, B any](a A, _ B, err error) (A, error) { return a, err }

// state is all that a tenant sees.
func state(t *testing.T, st store.Store, kg string) string {
	t.Helper()
	active, numbers := activeAndAll(t, st, kg)
	var b strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&b, "%s@%d, active %v\n%s", kg, n, n == active, dump(t, Open(t, st, kg, n)))
	}
	return b.String()
}

// third is a delta, or a whole snapshot if the store has none.
func third(t *testing.T, st store.Store, kg string) uint64 {
	t.Helper()
	changed, err := st.WriteDelta(t.Context(), kg, Delta(World()[:1], []store.Fact{fact("Lima", "located in", "Peru")}))
	if errors.Is(err, store.ErrUnsupported) {
		changed.Info, err = st.Write(t.Context(), kg, Content(t, World()[1:]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return changed.Number
}

// testApart tries what one tenant has by every other tenant, by its name and by
// its numbers, and compares the answer with that for a name that does not
// exist: it must not reveal that the knowledge graph exists.
func testApart(t *testing.T, all store.Tenants) {
	for _, owner := range tenants {
		own, kg := ForTenant(t, all, owner), "kg-of-"+owner
		base := Build(t, own, kg, World())
		Build(t, own, kg, World()[:5])
		delta := third(t, own, kg)
		before := state(t, own, kg)
		for _, other := range tenants {
			if other == owner {
				continue
			}
			st := ForTenant(t, all, other)
			for _, number := range []uint64{0, base, delta} {
				nobodys := attempts(t, st, "nobodys", number)
				for what, err := range attempts(t, st, kg, number) {
					if !errors.Is(err, store.ErrNotFound) {
						t.Errorf("%s %s@%d of %s as %s: %v", what, kg, number, owner, other, err)
						continue
					}
					if want := strings.ReplaceAll(fmt.Sprint(nobodys[what]), "nobodys", kg); err.Error() != want {
						t.Errorf("%s %s@%d of %s as %s says %q, for an unknown name %q", what, kg, number, owner,
							other, err, want)
					}
				}
			}
			if _, err := st.Rollback(t.Context(), kg); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("roll back %s of %s as %s: %v", kg, owner, other, err)
			}
			if listed, err := st.List(t.Context(), kg); !errors.Is(err, store.ErrNotFound) || len(listed) > 0 {
				t.Errorf("list %s of %s as %s: %v, %v", kg, owner, other, listed, err)
			}
		}
		if after := state(t, own, kg); after != before {
			t.Errorf("%s has\n%s, had\n%s", owner, after, before)
		}
	}
	for _, owner := range tenants {
		listed, err := ForTenant(t, all, owner).List(t.Context(), "")
		if err != nil || len(listed) != 3 {
			t.Errorf("%s has %d snapshots, %v; want 3", owner, len(listed), err)
		}
		for _, l := range listed {
			if l.KG != "kg-of-"+owner {
				t.Errorf("the list of %s names %s", owner, l.KG)
			}
		}
	}
}

// testSameNames lets tenants write, import, switch and drop under one name. A
// second snapshot of one has a number that the others do not have.
func testSameNames(t *testing.T, all store.Tenants) {
	one, two := ForTenant(t, all, "acme"), ForTenant(t, all, "default")
	Build(t, one, "world", World()[:4])
	Build(t, one, "world", World()[:8])
	was := state(t, one, "world")
	unchanged := func(when string) {
		t.Helper()
		if now := state(t, one, "world"); now != was {
			t.Fatalf("%s the one tenant sees\n%s, saw\n%s", when, now, was)
		}
	}

	number := Build(t, two, "world", World()[8:])
	unchanged("after a write of the other")
	if active, numbers := activeAndAll(t, two, "world"); number != 1 || active != 1 || len(numbers) != 1 {
		t.Errorf("the other's first snapshot is %d, its snapshots are %v, %d is active", number, numbers, active)
	}
	sameAs(t, two, "the other's", Open(t, two, "world", 0), World()[8:])
	for what, err := range attempts(t, two, "world", 2) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s by a number that only the first tenant has: %v", what, err)
		}
	}
	if _, err := two.Rollback(t.Context(), "world"); !errors.Is(err, store.ErrNoPrevious) {
		t.Errorf("roll back to what only the first tenant has: %v", err)
	}

	var file bytes.Buffer
	var imported store.Info
	err := two.Export(t.Context(), "world", 0, &file)
	if errors.Is(err, store.ErrUnsupported) {
		imported, err = two.Write(t.Context(), "world", Content(t, World()[8:]))
	} else if err == nil {
		imported, err = two.Import(t.Context(), "", &file)
	}
	if err != nil || imported.Number != 2 {
		t.Fatalf("import over the first tenant's name: %+v, %v", imported, err)
	}
	if _, err := two.Activate(t.Context(), "world", 2); err != nil {
		t.Fatal(err)
	}
	unchanged("after an import of the other")
	third(t, two, "world")
	if _, err := two.Rollback(t.Context(), "world"); err != nil {
		t.Fatal(err)
	}
	unchanged("after a delta and a rollback of the other")

	open := Open(t, one, "world", 1)
	if _, err := two.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	unchanged("after the other dropped its own")
	sameAs(t, one, "the one's, open all the time,", open, World()[:4])
	if _, err := two.Open(t.Context(), "world", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after its own was dropped the other opens: %v", err)
	}
}

// testTenantsAtOnce builds, reads and drops under one name by all tenants at
// the same time.
func testTenantsAtOnce(t *testing.T, all store.Tenants) {
	var done sync.WaitGroup
	for i, name := range tenants {
		st := ForTenant(t, all, name)
		facts := World()[i : i+5]
		content := Content(t, facts)
		done.Go(func() {
			for range 3 {
				info, err := st.Write(t.Context(), "world", content)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if _, err := st.Activate(t.Context(), "world", info.Number); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				snap, err := st.Open(t.Context(), "world", 0)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				for _, f := range facts {
					if _, ok, err := snap.Entity(t.Context(), f.Object.Name); err != nil || !ok {
						t.Errorf("%s does not find %q: %v", name, f.Object.Name, err)
					}
				}
				if got := snap.Info().Triples; got != len(facts) {
					t.Errorf("%s reads %d triples, wrote %d", name, got, len(facts))
				}
				snap.Release()
			}
			if _, err := st.Drop(t.Context(), "world", 0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	done.Wait()
}
