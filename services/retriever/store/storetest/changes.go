package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// dump reads all of a snapshot.
func dump(t *testing.T, s store.Snapshot) string {
	t.Helper()
	text, err := Dump(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sameAs compares what a snapshot shows with what it shows when the same
// content is loaded whole.
func sameAs(t *testing.T, st store.Store, what string, s store.Snapshot, facts []store.Fact, aliases ...[2]string) {
	t.Helper()
	info, err := st.Write(t.Context(), "whole", Content(t, facts, aliases...))
	if err != nil {
		t.Fatal(err)
	}
	got, want := dump(t, s), dump(t, Open(t, st, "whole", info.Number))
	if got != want {
		t.Errorf("%s shows\n%s\nthe same loaded whole shows\n%s", what, got, want)
	}
}

func change(t *testing.T, st store.Store, kg string, d store.Delta) store.Snapshot {
	t.Helper()
	changed, err := st.WriteDelta(t.Context(), kg, d)
	if err != nil {
		t.Fatal(err)
	}
	if changed.Base == 0 || changed.Number <= changed.Base {
		t.Errorf("a delta is %+v", changed.Info)
	}
	return Open(t, st, kg, changed.Number)
}

// testDeltas adds and removes and looks at all that is shown.
func testDeltas(t *testing.T, st store.Store) {
	facts := World()
	Build(t, st, "world", facts, [2]string{"東京", "Tokyo"}, [2]string{"Lyon", "Lugdunum"})
	added := []store.Fact{
		fact("Paris", "located in", "France"), // there already
		fact("Paris", "twinned with", "Rome"),
		fact("Rome", "located in", "Italy"),
		fact("Abidjan", "located in", "Africa"),
		fact("Paris", "located in", "Africa"),
		{Subject: namedEntity("Rome"), Relation: "founded", Object: store.NamedEntity{Name: "-0753", Kind: store.Date}},
	}
	removed := []store.Fact{
		fact("Lyon", "located in", "France"),                // Lyon is gone with it
		fact("PARIS", "film by", "Cédric Klapisch"),         // and this relation
		fact("Paris", "head of government", "Anne Hidalgo"), // of any validity
		fact("Paris", "located in", "Nowhere"),              // never was there
		{Subject: namedEntity("Paris"), Relation: "head of government", Object: namedEntity("Bertrand Delanoë"),
			Validity: store.Validity{Start: "1900"}}, // another one
		fact("Ouroboros", "eats", "Ouroboros"),
		fact("東京", "located in", "Japan"),
	}
	added = append(added, fact("Ouroboros", "eats", "Ouroboros")) // stays all the same
	s := change(t, st, "world", Delta(removed, added, store.NamedAlias{Entity: "Rome", Name: "Eternal City"},
		store.NamedAlias{Entity: "Paris", Name: "Lutetia"}, store.NamedAlias{Entity: "Nobody", Name: "x"}))
	want := slices.Concat(facts[:3], facts[4:7], facts[8:9], facts[11:], added[1:6])
	if got := s.Info().Triples; got != len(want) {
		t.Errorf("%d triples, want %d", got, len(want))
	}
	aliases := [][2]string{{"Rome", "Eternal City"}, {"Paris", "Lutetia"}}
	sameAs(t, st, "the delta", s, want, aliases...)
	for key, want := range map[string]int{"tokyo": 0, "lugdunum": 0, "lyon": 0, "eternal city": 1,
		"lutetia": 1, "x": 0} {
		if found, err := s.Match(t.Context(), key); err != nil || len(found) != want {
			t.Errorf("%q matches %v, %v, want %d", key, found, err, want)
		}
	}
	if _, ok, err := s.Relation(t.Context(), "film by"); ok || err != nil {
		t.Errorf("a relation without triples is there: %v, %v", ok, err)
	}
	compacted, err := st.Compact(t.Context(), "world", s.Info().Number)
	if err != nil {
		t.Fatal(err)
	}
	if compacted.Base != 0 || compacted.Number <= s.Info().Number {
		t.Errorf("compacted: %+v", compacted)
	}
	sameAs(t, st, "the compacted delta", Open(t, st, "world", compacted.Number), want, aliases...)
	if again, err := st.Compact(t.Context(), "world", compacted.Number); err != nil ||
		again.Number != compacted.Number {
		t.Errorf("a whole snapshot is compacted to %+v, %v", again, err)
	}
}

func testRefusedDeltas(t *testing.T, st store.Store) {
	if _, err := st.WriteDelta(t.Context(), "world", Delta(nil, World())); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a delta of nothing: %v", err)
	}
	number := Build(t, st, "world", World())
	before, err := st.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	spoilt := func(spoil func(*store.Delta)) store.Delta {
		d := Delta(nil, []store.Fact{fact("Rome", "founded by", "Romulus")})
		spoil(&d)
		return d
	}
	for name, d := range map[string]store.Delta{
		"nothing":             Delta(nil, nil),
		"only what is there":  Delta(nil, World()),
		"only what is not":    Delta([]store.Fact{fact("Paris", "located in", "Japan")}, nil),
		"the removal of all":  Delta(World(), nil),
		"another encoder":     spoilt(func(d *store.Delta) { d.Encoder = "other" }),
		"no vectors":          spoilt(func(d *store.Delta) { d.TripleVectors = nil }),
		"no relation vectors": spoilt(func(d *store.Delta) { d.RelationVectors = nil }),
		"too few vectors": spoilt(func(d *store.Delta) {
			none := Delta(nil, nil)
			d.TripleVectors = func(ctx context.Context, _ []store.Fact, emit func([]float32) error) error {
				return none.TripleVectors(ctx, nil, emit)
			}
		}),
		"a relation of length": spoilt(func(d *store.Delta) {
			d.RelationVectors = func(context.Context, []string) ([][]float32, error) {
				return [][]float32{make([]float32, Dims)}, nil
			}
		}),
	} {
		if _, err := st.WriteDelta(t.Context(), "world", d); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a delta of %s: %v", name, err)
		}
	}
	if after, err := st.List(t.Context(), ""); err != nil || len(after) != len(before) {
		t.Errorf("after failures only, the list holds %v, error %v", after, err)
	}
	s := change(t, st, "world", spoilt(func(*store.Delta) {}))
	if _, err := st.Activate(t.Context(), "world", s.Info().Number); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Drop(t.Context(), "world", number); !errors.Is(err, store.ErrBase) || !strings.Contains(err.Error(),
		fmt.Sprintf("world@%d", s.Info().Number)) {
		t.Errorf("drop what a delta is based on: %v", err)
	}
	whole, err := st.Compact(t.Context(), "world", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Activate(t.Context(), "world", whole.Number); err != nil {
		t.Fatal(err)
	}
	for _, n := range []uint64{s.Info().Number, number} {
		if _, err := st.Drop(t.Context(), "world", n); err != nil {
			t.Errorf("drop %d once all is compacted: %v", n, err)
		}
	}
}

// testChains lays deltas on one another until there are too many.
func testChains(t *testing.T, st store.Store) {
	r := rand.New(rand.NewPCG(11, 12))
	pool := many(400)
	seen := map[store.Fact]bool{}
	pool = slices.DeleteFunc(pool, func(f store.Fact) bool { again := seen[f]; seen[f] = true; return again })
	held := slices.Clone(pool[:100])
	Build(t, st, "many", held)
	for depth := 1; ; depth++ {
		if depth > 50 {
			t.Fatal("50 deltas lie on one another")
		}
		var removed, added []store.Fact
		for _, f := range pool {
			there := slices.Contains(held, f)
			switch r.IntN(8) {
			case 0:
				if there {
					removed = append(removed, f)
				}
			case 1:
				added = append(added, f)
			}
		}
		changed, err := st.WriteDelta(t.Context(), "many", Delta(removed, added))
		if errors.Is(err, store.ErrTooManyDeltas) && depth > 3 {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		held = slices.DeleteFunc(held, func(f store.Fact) bool {
			return slices.Contains(removed, f) &&
				!slices.Contains(added, f)
		})
		for _, f := range added {
			if !slices.Contains(held, f) {
				held = append(held, f)
			}
		}
		if _, err := st.Activate(t.Context(), "many", changed.Number); err != nil {
			t.Fatal(err)
		}
		s := Open(t, st, "many", 0)
		sameAs(t, st, fmt.Sprintf("delta %d", depth), s, held)
		testOverlaySearch(t, st, s, held)
	}
	info, err := st.Compact(t.Context(), "many", 0)
	if err != nil {
		t.Fatal(err)
	}
	sameAs(t, st, "the compacted chain", Open(t, st, "many", info.Number), held)
	if _, _, err := st.Verify(t.Context(), "many", 0); err != nil {
		t.Error(err)
	}
}

// testOverlaySearch compares the scores of the best with those of the same
// content loaded whole.
func testOverlaySearch(t *testing.T, st store.Store, s store.Snapshot, facts []store.Fact) {
	t.Helper()
	info, err := st.Write(t.Context(), "whole", Content(t, facts))
	if err != nil {
		t.Fatal(err)
	}
	whole := Open(t, st, "whole", info.Number)
	queries := encode(t, "king of the lake", "tower 7")
	for _, k := range []int{1, 7, 1000} {
		got, err := s.SearchTriples(t.Context(), queries, k, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.SearchTriples(t.Context(), queries, k, store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for q := range queries {
			if len(got[q]) != len(want[q]) {
				t.Fatalf("%d hits, want %d", len(got[q]), len(want[q]))
			}
			for i, h := range got[q] {
				if diff := h.Score - want[q][i].Score; diff > tolerance || diff < -tolerance {
					t.Errorf("hit %d has score %v, want %v", i, h.Score, want[q][i].Score)
				}
			}
		}
	}
}

func testDifferences(t *testing.T, st store.Store) {
	facts := World()
	first := Build(t, st, "world", facts)
	added := []store.Fact{fact("Rome", "located in", "Italy"), fact("Abidjan", "located in", "Africa"),
		fact("Paris", "capital of", "Fashion")}
	removed := []store.Fact{facts[3], facts[10]}
	s := change(t, st, "world", Delta(removed, added))
	differences := func(from, to store.Snapshot) []string {
		var found []string
		if err := store.Diff(t.Context(), from, to, func(d store.Difference) error {
			sign := "-"
			if d.Added {
				sign = "+"
			}
			found = append(found, fmt.Sprintf("%s %s %s %s %s", sign, d.Subject.Name, d.Relation, d.Object.Name,
				d.Validity.Start))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	base := Open(t, st, "world", first)
	want := []string{
		"+ Abidjan located in Africa ", "- Lyon located in France ", "+ Paris capital of Fashion ",
		"- Paris head of government Anne Hidalgo 2014-04-05", "+ Rome located in Italy ",
	}
	if got := differences(base, s); !slices.Equal(got, want) {
		t.Errorf("differences are %q, want %q", got, want)
	}
	for i := range want {
		want[i] = strings.NewReplacer("+", "-", "-", "+").Replace(want[i][:1]) + want[i][1:]
	}
	if got := differences(s, base); !slices.Equal(got, want) {
		t.Errorf("differences the other way are %q, want %q", got, want)
	}
	if got := differences(s, s); len(got) > 0 {
		t.Errorf("a snapshot differs from itself: %q", got)
	}
	stop := errors.New("stop")
	if err := store.Diff(t.Context(), base, s, func(store.Difference) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the receiver comes back as %v", err)
	}
}
