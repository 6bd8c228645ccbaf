package embedded

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// TestAnyHistoryReadsAsItsModel does at random all that can be done to a
// knowledge graph, and after each step compares all that is shown with a model
// of maps. RAPID_CHECKS says how many histories, RAPID_STEPS how long they are.
func TestAnyHistoryReadsAsItsModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in(t, func(dir string) {
			h := &chronicle{t: t, dir: dir, model: model{snapshots: map[uint64]*shown{}}}
			h.Reopen(r)
			defer h.end(r)
			r.Repeat(rapid.StateMachineActions(h))
		})
	})
}

// chronicle is a store and what it should show.
type chronicle struct {
	t     *testing.T
	dir   string
	store *Store
	model model
	held  []reader
}

// reader is a snapshot that somebody goes on reading.
type reader struct {
	store.Snapshot
	want *shown
}

const chronicled = "world"

func (h *chronicle) Load(r *rapid.T) {
	facts, aliases := drawFacts(r, 1), drawAliases(r)
	info, err := h.store.Write(r.Context(), chronicled, storetest.Content(h.t, facts, aliases...))
	h.made(r, info, err, whole(facts, aliases))
}

func (h *chronicle) Change(r *rapid.T) {
	base := h.some(r)
	var known []store.Fact
	if on := h.model.at(base); on != nil {
		known = on.sorted()
	}
	removed := drawFacts(r, 0, known...)
	added, aliases := drawFacts(r, 0, append(known, removed...)...), drawAliases(r)
	for i := range removed {
		if rapid.Bool().Draw(r, "of any validity") {
			removed[i].Validity = store.Validity{}
		}
	}
	var nicknames []store.Nickname
	for _, a := range aliases {
		nicknames = append(nicknames, store.Nickname{Entity: a[0], Name: a[1]})
	}
	delta := storetest.Delta(removed, added, nicknames...)
	delta.Base = base
	changed, err := h.store.WriteDelta(r.Context(), chronicled, delta)
	on := h.model.at(base)
	if on == nil {
		h.refused(r, err, store.ErrNotFound, store.ErrNoActive)
		return
	}
	want, changes := on.change(removed, added, aliases)
	switch {
	case on.depth == maxDepth:
		h.refused(r, err, store.ErrDeep)
	case !changes || len(want.facts) == 0:
		h.refused(r, err, store.ErrInvalid)
	default:
		want.base = cmp.Or(base, h.model.active)
		h.made(r, changed.Info, err, want)
	}
}

func (h *chronicle) Compact(r *rapid.T) {
	number := h.some(r)
	info, err := h.store.Compact(r.Context(), chronicled, number)
	switch of := h.model.at(number); {
	case of == nil:
		h.refused(r, err, store.ErrNotFound, store.ErrNoActive)
	case of.base == 0 && err == nil && info.Number == cmp.Or(number, h.model.active):
	default:
		h.made(r, info, err, of.compacted())
	}
}

func (h *chronicle) Move(r *rapid.T) {
	number := h.some(r)
	var file bytes.Buffer
	err := h.store.Export(r.Context(), chronicled, number, &file)
	of := h.model.at(number)
	if of == nil {
		h.refused(r, err, store.ErrNotFound, store.ErrNoActive)
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	info, err := h.store.Import(r.Context(), "", &file)
	h.made(r, info, err, of.compacted())
}

func (h *chronicle) Activate(r *rapid.T) {
	number := h.some(r)
	_, err := h.store.Activate(r.Context(), chronicled, number)
	switch {
	case number == 0:
		h.refused(r, err, store.ErrInvalid)
	case h.model.at(number) == nil:
		h.refused(r, err, store.ErrNotFound)
	case err != nil:
		r.Fatal(err)
	default:
		h.model.activate(number)
	}
}

func (h *chronicle) Rollback(r *rapid.T) {
	_, err := h.store.Rollback(r.Context(), chronicled)
	if !h.model.rollback() {
		h.refused(r, err, store.ErrNoPrevious, store.ErrNotFound)
	} else if err != nil {
		r.Fatal(err)
	}
}

func (h *chronicle) Drop(r *rapid.T) {
	number := h.some(r)
	if number == 0 && rapid.IntRange(0, 3).Draw(r, "keep all but once in four") > 0 {
		return
	}
	dropped, err := h.store.Drop(r.Context(), chronicled, number)
	switch {
	case len(h.model.snapshots) == 0 || number != 0 && h.model.at(number) == nil:
		h.refused(r, err, store.ErrNotFound)
	case number != 0 && number == h.model.active:
		h.refused(r, err, store.ErrActive)
	case number != 0 && h.model.isBase(number):
		h.refused(r, err, store.ErrBase)
	case err != nil:
		r.Fatal(err)
	default:
		h.model.drop(dropped)
	}
}

// Hold goes on reading a snapshot, whatever happens to it meanwhile.
func (h *chronicle) Hold(r *rapid.T) {
	number := h.some(r)
	want := h.model.at(number)
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
			r.Fatalf("listed is %+v; active should be %d, of these: %v", l, h.model.active, slices.Sorted(maps.Keys(h.model.snapshots)))
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
	want := h.model.at(0)
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

// some draws a snapshot's number, at times 0 or one that is not there.
func (h *chronicle) some(r *rapid.T) uint64 {
	numbers := slices.Sorted(maps.Keys(h.model.snapshots))
	return rapid.SampledFrom(append(numbers, 0, 0, 99)).Draw(r, "snapshot")
}

// made notes a snapshot that should have been made.
func (h *chronicle) made(r *rapid.T, info store.Info, err error, want *shown) {
	if err != nil {
		r.Fatal(err)
	}
	if info.Number == 0 || h.model.snapshots[info.Number] != nil || info.Base != want.base {
		r.Fatalf("made is %+v, on %d, beside %v", info, want.base, slices.Sorted(maps.Keys(h.model.snapshots)))
	}
	h.model.snapshots[info.Number] = want
}

func (h *chronicle) refused(r *rapid.T, err error, reasons ...error) {
	if !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
		r.Fatalf("error is %v, want one of %v", err, reasons)
	}
}
