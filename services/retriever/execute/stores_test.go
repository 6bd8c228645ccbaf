package execute_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestPlansGiveTheSameRowsOverADeltaAsOverAWholeSnapshot(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	random := rand.New(rand.NewPCG(20, 0))
	facts := randomFacts(random, 120)
	whole := storetest.Open(t, s, "whole", writeFacts(t, s, "whole", facts))
	// The base lacks half of the facts and has others, which the delta removes.
	extra := slices.DeleteFunc(randomFacts(random, 40), func(f store.Fact) bool { return slices.Contains(facts, f) })
	d := storetest.Delta(extra, facts[60:])
	d.Base = writeFacts(t, s, "changed", slices.Concat(facts[:60], extra))
	changed, err := s.WriteDelta(t.Context(), "changed", d)
	if err != nil {
		t.Fatal(err)
	}
	delta := storetest.Open(t, s, "changed", changed.Number)
	answered := 0
	for range 300 {
		p := randomPlan(random)
		want, got := runPlan(t, whole, p), runPlan(t, delta, p)
		if got != want {
			t.Errorf("%v\nover the delta        %s\nover a whole snapshot %s", p, got, want)
		}
		if want != "[]   0" {
			answered++
		}
	}
	if answered < 100 {
		t.Errorf("only %d of 300 plans have a result", answered)
	}
}

func newStore(t *testing.T) *embedded.Store {
	t.Helper()
	s := embedded.New(t.TempDir())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// writeFacts writes a snapshot and returns its number.
func writeFacts(t *testing.T, s *embedded.Store, kg string, facts []store.Fact) uint64 {
	t.Helper()
	info, err := s.Write(t.Context(), kg, storetest.Content(t, facts))
	if err != nil {
		t.Fatal(err)
	}
	return info.Number
}

// randomFacts are distinct facts between a few entities and numbers.
func randomFacts(random *rand.Rand, n int) []store.Fact {
	var facts []store.Fact
	for range n {
		f := store.Fact{Subject: store.NamedEntity{Name: fmt.Sprintf("e%d", random.IntN(15))},
			Relation: fmt.Sprintf("r%d", random.IntN(3)),
			Object:   store.NamedEntity{Name: fmt.Sprintf("e%d", random.IntN(15))}}
		if random.IntN(3) == 0 {
			f.Relation = "size"
			f.Object = store.NamedEntity{Name: fmt.Sprint(random.IntN(50)), Kind: store.Number}
		}
		if !slices.Contains(facts, f) {
			facts = append(facts, f)
		}
	}
	return facts
}

// randomPlan is a path with a condition, an exclusion or a ranking, listed, counted or summed.
func randomPlan(random *rand.Rand) *graphv1.QueryPlan {
	relation := func() string { return []string{"", "^"}[random.IntN(2)] + fmt.Sprintf("r%d", random.IntN(3)) }
	clauses := []*graphv1.QueryClause{match(v("x"), relation(), e(fmt.Sprintf("e%d", random.IntN(15))))}
	if random.IntN(2) == 0 {
		clauses[0] = match(v("x"), relation(), v("y"))
	}
	sized := match(v("x"), "size", v("size"))
	switch random.IntN(5) {
	case 0:
		clauses = append(clauses, exclude(v("x"), relation(), e(fmt.Sprintf("e%d", random.IntN(15)))))
	case 1:
		return plan(sum, "size", append(clauses, sized)...)
	case 2:
		clauses = append(clauses, sized, condition("size", greater, fmt.Sprint(random.IntN(50))))
	case 3:
		clauses = append(clauses, sized, rank(&graphv1.QueryRank{Variable: "size", Descending: random.IntN(2) == 0}))
	}
	return plan([]graphv1.QueryFunction{list, count, exists}[random.IntN(3)], "x", clauses...)
}

// runPlan returns what a plan computes with the names of the store, whatever its ids and order are.
func runPlan(t *testing.T, snap store.Snapshot, p *graphv1.QueryPlan) string {
	t.Helper()
	got, err := execute.Run(t.Context(), snap, p, 1000, execute.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	for _, r := range got.Rows {
		row := ""
		for _, id := range r.Cells {
			row += snap.EntityName(id) + " "
		}
		var triples []string
		for _, id := range r.Triples {
			f := snap.Triple(id)
			triples = append(triples, snap.EntityName(f.Subject)+" "+snap.RelationName(f.Relation)+" "+
				snap.EntityName(f.Object))
		}
		slices.Sort(triples)
		if len(triples) == 0 {
			t.Errorf("%v: a row rests on nothing", p)
		}
		rows = append(rows, fmt.Sprint(row, triples))
	}
	slices.Sort(rows)
	return fmt.Sprint(rows, " ", got.Value, got.Unit, " ", got.Total)
}
