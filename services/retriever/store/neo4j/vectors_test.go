//go:build neo4j

package neo4j

import (
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// places are facts of words that overlap.
func places(n int) []store.Fact {
	words := []string{"river", "lake", "mountain", "city", "bridge", "tower", "queen", "king", "village",
		"bay", "harbour"}
	word := func(i int) string { return words[i%len(words)] }
	facts := make([]store.Fact, n)
	for i := range facts {
		facts[i] = store.Fact{
			Subject:  store.NamedEntity{Name: fmt.Sprintf("%s %s %d", word(i), word(i/11), i)},
			Relation: "near " + word(i*7/3), Object: store.NamedEntity{Name: word(i*5) + " " + word(i/3)},
		}
	}
	return facts
}

func TestVectorsInNeo4j(t *testing.T) {
	exact := newPlanted(t, nil)
	approximate := newPlanted(t, func(g *Graph) { g.Vectors = vectorsInNeo4j })
	content := storetest.Content(t, places(2000))
	numbers := map[*Store]uint64{}
	for _, st := range []planted{exact, approximate} {
		info, err := st.Write(t.Context(), "many", content)
		if err != nil {
			t.Fatal(err)
		}
		if !info.TripleVectors || info.Dims != storetest.Dims {
			t.Errorf("written: %+v", info)
		}
		if _, err := st.Activate(t.Context(), "many", info.Number); err != nil {
			t.Fatal(err)
		}
		numbers[st.Store] = info.Number
	}
	a, b := storetest.Open(t, exact, "many", 0), storetest.Open(t, approximate, "many", 0)
	if listed, err := approximate.List(t.Context(), "many"); err != nil || !listed[0].TripleVectors {
		t.Errorf("the list is %+v, %v", listed, err)
	}
	queries, err := storetest.Encoder().Encode(t.Context(), []string{"king of the lake", "tower 7",
		"a bridge near the bay", "QUEEN", "village near city"})
	if err != nil {
		t.Fatal(err)
	}
	for name, filter := range map[string]store.Filter{
		"all":            {},
		"some subjects":  {Subjects: []store.EntityID{a.Triple(3).Subject, a.Triple(700).Subject, 1 << 20}},
		"some relations": {Relations: []store.RelationID{0, 3}},
		"no subject":     {Subjects: []store.EntityID{}},
	} {
		want, err := a.SearchTriples(t.Context(), queries, 10, filter)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.SearchTriples(t.Context(), queries, 10, filter)
		if err != nil {
			t.Fatal(err)
		}
		found, all := 0, 0
		for q := range want {
			// Of equal scores either may come.
			for _, h := range want[q] {
				all++
				if slices.ContainsFunc(got[q], func(o store.Hit) bool {
					return o.Score > h.Score-1e-4 &&
						o.Score < h.Score+1e-4
				}) {
					found++
				}
			}
			if len(got[q]) != len(want[q]) {
				t.Errorf("%s: %d hits, want %d", name, len(got[q]), len(want[q]))
			}
		}
		if float64(found) < 0.95*float64(all) {
			t.Errorf("%s: %d of %d scores are found", name, found, all)
		}
	}
	ids := []store.TripleID{5, 0, 1999, 5}
	want, err := a.ScoreTriples(t.Context(), queries, ids)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.ScoreTriples(t.Context(), queries, ids)
	if err != nil {
		t.Fatal(err)
	}
	for q := range want {
		for i := range ids {
			if d := want[q][i] - got[q][i]; d > 1e-4 || d < -1e-4 {
				t.Errorf("query %d, triple %d: %v, want %v", q, ids[i], got[q][i], want[q][i])
			}
		}
	}
	x, err := approximate.index(b.Info())
	if err != nil {
		t.Fatal(err)
	}
	left := func() any {
		return approximate.db.write("MATCH (v:$($label)) RETURN count(v)", map[string]any{"label": x.Vectors})[0][0]
	}
	if left() != int64(b.Info().Triples) {
		t.Errorf("%v vectors are there", left())
	}
	if _, err := approximate.Drop(t.Context(), "many", 0); err != nil {
		t.Fatal(err)
	}
	if left() != int64(0) {
		t.Errorf("%v vectors are left", left())
	}
	if rows := approximate.db.write("SHOW INDEXES YIELD labelsOrTypes WHERE $label IN labelsOrTypes RETURN 1",
		map[string]any{"label": x.Vectors}); len(rows) > 0 {
		t.Errorf("%d indexes are left", len(rows))
	}
}
