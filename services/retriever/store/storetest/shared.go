package storetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// RunShared runs the part of the suite that is about knowledge graphs that one
// tenant shares with all. open returns an empty store for each test.
func RunShared(t *testing.T, open func(t *testing.T) store.Tenants) {
	by, err := auth.ParseTenant("library")
	if err != nil {
		t.Fatal(err)
	}
	shared := func(t *testing.T) store.Tenants { return store.WithSharedGraphs(open(t), by) }
	t.Run("tenants who share nothing", func(t *testing.T) { RunTenants(t, shared) })
	t.Run("what is shared is read by all", func(t *testing.T) { testSharedIsRead(t, shared(t)) })
	t.Run("what is shared is changed by nobody else", func(t *testing.T) { testSharedIsNotChanged(t, shared(t)) })
	t.Run("own names win", func(t *testing.T) { testOwnNamesWin(t, shared(t)) })
}

func testSharedIsRead(t *testing.T, all store.Tenants) {
	library := ForTenant(t, all, "library")
	first := Build(t, library, "world", World()[:4])
	second := Build(t, library, "world", World())
	Build(t, library, "atlas", World()[:2])
	for _, name := range tenants {
		st := ForTenant(t, all, name)
		if _, err := st.Open(t.Context(), "world", second+1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s opens a snapshot that does not exist: %v", name, err)
		}
		for kg, want := range map[string]int{"": 3, "world": 2, "atlas": 1} {
			listed, err := st.List(t.Context(), kg)
			if err != nil || len(listed) != want {
				t.Errorf("%s lists %q: %v, %v; want %d snapshots", name, kg, listed, err, want)
			}
			for _, l := range listed {
				if !l.Shared || l.Active != (l.KG == "atlas" || l.Number == second) {
					t.Errorf("%s lists %+v", name, l)
				}
			}
		}
		sameAs(t, st, name, Open(t, st, "world", 0), World())
		sameAs(t, st, name, Open(t, st, "world", first), World()[:4])
		if info, _, err := st.Verify(t.Context(), "world", 0); err != nil || info.Number != second {
			t.Errorf("%s verifies %+v, %v", name, info, err)
		}
		var theirs, own bytes.Buffer
		if err := errors.Join(st.Export(t.Context(), "world", first, &theirs), library.Export(t.Context(), "world",
			first, &own)); err != nil {
			t.Errorf("%s exports: %v", name, err)
		}
		if imported, err := st.Import(t.Context(), "copy", &theirs); err != nil {
			t.Errorf("%s imports what it exported: %v", name, err)
		} else {
			sameAs(t, st, name+", of its copy,", Open(t, st, "copy", imported.Number), World()[:4])
		}
	}
	if listed, err := library.List(t.Context(), ""); err != nil || len(listed) != 3 || listed[0].Shared {
		t.Errorf("the sharing tenant lists %+v, %v", listed, err)
	}
}

func testSharedIsNotChanged(t *testing.T, all store.Tenants) {
	library := ForTenant(t, all, "library")
	first := Build(t, library, "world", World()[:4])
	Build(t, library, "world", World())
	change(t, library, "world", Delta(World()[:1], nil))
	before := state(t, library, "world")
	for _, name := range tenants {
		st, ctx := ForTenant(t, all, name), t.Context()
		delta := Delta(nil, []store.Fact{fact("Rome", "located in", "Italy")})
		_, activated := st.Activate(ctx, "world", first)
		_, rolledBack := st.Rollback(ctx, "world")
		_, droppedOne := st.Drop(ctx, "world", first)
		_, droppedAll := st.Drop(ctx, "world", 0)
		_, compacted := st.Compact(ctx, "world", 0)
		_, changed := st.WriteDelta(ctx, "world", delta)
		for what, err := range map[string]error{
			"activate": activated, "roll back": rolledBack, "drop one": droppedOne, "drop all": droppedAll,
			"compact": compacted, "change": changed,
		} {
			if !errors.Is(err, store.ErrShared) {
				t.Errorf("%s as %s: %v", what, name, err)
			}
		}
		for what, err := range attempts(t, st, "nowhere", 0) {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s an unknown knowledge graph as %s: %v", what, name, err)
			}
		}
	}
	if after := state(t, library, "world"); after != before {
		t.Errorf("it is\n%s, was\n%s", after, before)
	}
}

func testOwnNamesWin(t *testing.T, all store.Tenants) {
	library, acme := ForTenant(t, all, "library"), ForTenant(t, all, "acme")
	Build(t, library, "world", World()[:4])
	number := Build(t, library, "world", World())
	before := state(t, library, "world")
	own := Build(t, acme, "world", World()[8:])
	if own == number {
		t.Fatalf("the own snapshot has the number %d of a shared one", own)
	}
	for what, err := range attempts(t, acme, "world", number) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s a number that only the shared one has: %v", what, err)
		}
	}
	for _, kg := range []string{"", "world"} {
		if listed, err := acme.List(t.Context(), kg); err != nil || len(listed) != 1 || listed[0].Shared ||
			listed[0].Number != own {
			t.Errorf("list %q: %+v, %v; want the own one alone", kg, listed, err)
		}
	}
	sameAs(t, acme, "the own one", Open(t, acme, "world", 0), World()[8:])
	other := ForTenant(t, all, "default")
	sameAs(t, other, "another tenant", Open(t, other, "world", 0), World())
	if _, err := acme.Drop(t.Context(), "world", 0); err != nil {
		t.Fatal(err)
	}
	sameAs(t, acme, "after the own one was dropped", Open(t, acme, "world", 0), World())
	if after := state(t, library, "world"); after != before {
		t.Errorf("the shared one is\n%s, was\n%s", after, before)
	}
}
