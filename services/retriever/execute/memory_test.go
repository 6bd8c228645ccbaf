package execute_test

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/embedded"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// queryMemory bounds what one query may need at once; what it allocates in all is more.
const queryMemory = 256 << 20

func TestPlansThatJoinEverythingStayWithinTheirMemory(t *testing.T) {
	facts := readExample(t)
	snap := openExample(t, facts)
	counts := map[string]int{}
	for _, f := range facts {
		counts[f.Relation]++
	}
	widest := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	a, b := widest[0], widest[1]
	for name, p := range map[string]*graphv1.QueryPlan{
		"everything with everything": plan(list, "x", match(v("x"), a, v("y")), match(v("z"), b, v("u")),
			match(v("w"), a, v("t"))),
		"all pairs of one value": plan(count, "z", match(v("x"), a, v("y")), match(v("z"), a, v("y")),
			match(v("z"), a, v("u")), match(v("w"), a, v("u"))),
		"the most of all pairs": plan(list, "x", match(v("x"), a, v("y")), match(v("z"), b, v("u")),
			rank(&graphv1.QueryRank{Variable: "z", Count: true, GroupBy: "x", Descending: true})),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := execute.Run(t.Context(), snap, p, 100, execute.Limits{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > queryMemory {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
		if got.Value != "" || len(got.Rows) > 0 || len(got.Limits) == 0 || got.Reason == "" {
			t.Errorf("%s: %q, %d rows, limits %q, reason %q", name, got.Value, len(got.Rows), got.Limits, got.Reason)
		}
	}
}

func readExample(t *testing.T) (facts []store.Fact) {
	t.Helper()
	testkit.Facts(t, func(_ int, cells []string) bool {
		facts = append(facts, store.Fact{Subject: store.NamedEntity{Name: cells[0]}, Relation: cells[1],
			Object: store.NamedEntity{Name: cells[2], Kind: store.ClassifyName(cells[2])}})
		return false
	})
	return facts
}

func openExample(t *testing.T, facts []store.Fact) store.Snapshot {
	t.Helper()
	s := embedded.New(t.TempDir())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	info, err := s.Write(t.Context(), "wikidata", storetest.Content(t, facts))
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Open(t, s, "wikidata", info.Number)
}
