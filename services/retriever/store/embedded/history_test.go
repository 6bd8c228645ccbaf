package embedded

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// TestAnyHistoryReadsAsItsModel does at random all that can be done to a
// knowledge graph, and after each step compares all that is shown with a model
// of maps. RAPID_CHECKS says how many histories, RAPID_STEPS how long they are.
func TestAnyHistoryReadsAsItsModel(t *testing.T) {
	histories := 0
	rapid.Check(t, func(r *rapid.T) {
		histories++
		inTempDir(t, func(dir string) {
			h := &chronicle{t: t, dir: dir, model: model{snapshots: map[uint64]*modelSnapshot{}}}
			h.Reopen(r)
			defer h.end(r)
			r.Repeat(rapid.StateMachineActions(h))
		})
	})
	testkit.Measured(t, "%d histories, all snapshots compared after each step: 0 differ", histories)
}

// chronicle is a store and what it should show.
type chronicle struct {
	t     *testing.T
	dir   string
	store *Store
	model model
	held  []reader
}

// reader is a snapshot that another process continues reading.
type reader struct {
	store.Snapshot
	want *modelSnapshot
}

const chronicled = "world"

func (h *chronicle) Load(r *rapid.T) {
	facts, aliases := drawFacts(r, 1), drawAliases(r)
	info, err := h.store.Write(r.Context(), chronicled, storetest.Content(h.t, facts, aliases...))
	h.expectWritten(r, info, err, modelOf(facts, aliases))
}

func (h *chronicle) Change(r *rapid.T) {
	base := h.pickNumber(r)
	var known []store.Fact
	if on := h.model.find(base); on != nil {
		known = on.sortedFacts()
	}
	removed := drawFacts(r, 0, known...)
	added, aliases := drawFacts(r, 0, append(known, removed...)...), drawAliases(r)
	for i := range removed {
		if rapid.Bool().Draw(r, "of any validity") {
			removed[i].Validity = store.Validity{}
		}
	}
	var nicknames []store.NamedAlias
	for _, a := range aliases {
		nicknames = append(nicknames, store.NamedAlias{Entity: a[0], Name: a[1]})
	}
	delta := storetest.Delta(removed, added, nicknames...)
	delta.Base = base
	changed, err := h.store.WriteDelta(r.Context(), chronicled, delta)
	on := h.model.find(base)
	if on == nil {
		h.expectError(r, err, store.ErrNotFound, store.ErrNoActive)
		return
	}
	want, changes := on.change(removed, added, aliases)
	switch {
	case on.depth == maxDepth:
		h.expectError(r, err, store.ErrTooManyDeltas)
	case !changes || len(want.facts) == 0:
		h.expectError(r, err, store.ErrInvalid)
	default:
		want.base = cmp.Or(base, h.model.active)
		h.expectWritten(r, changed.Info, err, want)
	}
}

func (h *chronicle) Compact(r *rapid.T) {
	number := h.pickNumber(r)
	info, err := h.store.Compact(r.Context(), chronicled, number)
	switch of := h.model.find(number); {
	case of == nil:
		h.expectError(r, err, store.ErrNotFound, store.ErrNoActive)
	case of.base == 0 && err == nil && info.Number == cmp.Or(number, h.model.active):
	default:
		h.expectWritten(r, info, err, of.compacted())
	}
}

func (h *chronicle) Move(r *rapid.T) {
	number := h.pickNumber(r)
	var file bytes.Buffer
	err := h.store.Export(r.Context(), chronicled, number, &file)
	of := h.model.find(number)
	if of == nil {
		h.expectError(r, err, store.ErrNotFound, store.ErrNoActive)
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	info, err := h.store.Import(r.Context(), "", &file)
	h.expectWritten(r, info, err, of.compacted())
}

func (h *chronicle) Activate(r *rapid.T) {
	number := h.pickNumber(r)
	_, err := h.store.Activate(r.Context(), chronicled, number)
	switch {
	case number == 0:
		h.expectError(r, err, store.ErrInvalid)
	case h.model.find(number) == nil:
		h.expectError(r, err, store.ErrNotFound)
	case err != nil:
		r.Fatal(err)
	default:
		h.model.activate(number)
	}
}

func (h *chronicle) Rollback(r *rapid.T) {
	_, err := h.store.Rollback(r.Context(), chronicled)
	if !h.model.rollback() {
		h.expectError(r, err, store.ErrNoPrevious, store.ErrNotFound)
	} else if err != nil {
		r.Fatal(err)
	}
}

func (h *chronicle) Drop(r *rapid.T) {
	number := h.pickNumber(r)
	if number == 0 && rapid.IntRange(0, 3).Draw(r, "keep all but once in four") > 0 {
		return
	}
	dropped, err := h.store.Drop(r.Context(), chronicled, number)
	switch {
	case len(h.model.snapshots) == 0 || number != 0 && h.model.find(number) == nil:
		h.expectError(r, err, store.ErrNotFound)
	case number != 0 && number == h.model.active:
		h.expectError(r, err, store.ErrActive)
	case number != 0 && h.model.isBase(number):
		h.expectError(r, err, store.ErrBase)
	case err != nil:
		r.Fatal(err)
	default:
		h.model.drop(dropped)
	}
}

// Hold continues reading a snapshot, whatever happens to it meanwhile.
func (h *chronicle) Hold(r *rapid.T) {
	number := h.pickNumber(r)
	want := h.model.find(number)
	if want == nil {
		return
	}
	snapshot, err := h.store.Open(r.Context(), chronicled, number)
	if err != nil {
		r.Fatal(err)
	}
	h.held = append(h.held, reader{snapshot, want})
	if len(h.held) > 3 {
		h.held[0].Release()
		h.held = h.held[1:]
	}
}

func (h *chronicle) Reopen(r *rapid.T) {
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			r.Fatal(err)
		}
	}
	h.store = New(h.dir)
	h.store.disk = unsynced{}
}

// Check compares all that there is with the model.
func (h *chronicle) Check(r *rapid.T) {
	listed, err := h.store.List(r.Context(), chronicled)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		r.Fatal(err)
	}
	if len(listed) != len(h.model.snapshots) {
		r.Fatalf("%d snapshots are listed, %d were made", len(listed), len(h.model.snapshots))
	}
	for _, l := range listed {
		want := h.model.snapshots[l.Number]
		if want == nil || l.Base != want.base || l.Active != (l.Number == h.model.active) {
			r.Fatalf("listed is %+v; active should be %d, of these: %v", l, h.model.active,
				slices.Sorted(maps.Keys(h.model.snapshots)))
		}
		if _, _, err := h.store.Verify(r.Context(), chronicled, l.Number); err != nil {
			r.Fatal(err)
		}
		snapshot, err := h.store.Open(r.Context(), chronicled, l.Number)
		if err != nil {
			r.Fatal(err)
		}
		want.compare(r, snapshot)
		snapshot.Release()
	}
	for _, s := range h.held {
		s.want.compare(r, s)
	}
}

// end reads what is active once more, all of it, and as it would be if it were
// loaded whole.
func (h *chronicle) end(r *rapid.T) {
	for _, s := range h.held {
		s.Release()
	}
	defer func() { _ = h.store.Close() }()
	want := h.model.find(0)
	if want == nil || r.Failed() {
		return
	}
	info, err := h.store.Write(r.Context(), "whole", want.content(h.t))
	if err != nil {
		r.Fatal(err)
	}
	var dumps []string
	for kg, number := range map[string]uint64{chronicled: 0, "whole": info.Number} {
		snapshot, err := h.store.Open(r.Context(), kg, number)
		if err != nil {
			r.Fatal(err)
		}
		dump, err := storetest.Dump(r.Context(), snapshot)
		if err != nil {
			r.Fatal(err)
		}
		snapshot.Release()
		dumps = append(dumps, dump)
	}
	if dumps[0] != dumps[1] {
		r.Fatalf("what became of it by and by and what is loaded whole show\n%s\nand\n%s", dumps[0], dumps[1])
	}
}

// pickNumber draws a snapshot's number, at times 0 or one that is not there.
func (h *chronicle) pickNumber(r *rapid.T) uint64 {
	numbers := slices.Sorted(maps.Keys(h.model.snapshots))
	return rapid.SampledFrom(append(numbers, 0, 0, 99)).Draw(r, "snapshot")
}

// expectWritten notes a snapshot that should have been made.
func (h *chronicle) expectWritten(r *rapid.T, info store.Info, err error, want *modelSnapshot) {
	if err != nil {
		r.Fatal(err)
	}
	if info.Number == 0 || h.model.snapshots[info.Number] != nil || info.Base != want.base {
		r.Fatalf("made is %+v, on %d, beside %v", info, want.base, slices.Sorted(maps.Keys(h.model.snapshots)))
	}
	h.model.snapshots[info.Number] = want
}

func (h *chronicle) expectError(r *rapid.T, err error, reasons ...error) {
	if !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
		r.Fatalf("error is %v, want one of %v", err, reasons)
	}
}
