package neo4j

import (
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// statement is what a name would have to become to be run.
const statement = "'}) DETACH DELETE n //"

// TestUserNamesNeverEnterStatements reads a graph by names that a model or
// a caller wrote, and a graph whose own names are statements. What Neo4j is
// asked must be, word for word, what it is asked for harmless names.
func TestUserNamesNeverEnterStatements(t *testing.T) {
	asked := func(suffix string) []string {
		s := newInMemory(t)
		facts := storetest.World()
		for i := range facts {
			facts[i].Subject.Name += suffix
			facts[i].Object.Name += suffix
			facts[i].Relation += suffix
		}
		storetest.Build(t, s, "world", facts)
		snap := storetest.Open(t, s, "world", 0)
		ctx, queries := t.Context(), [][]float32{make([]float32, storetest.Dims)}
		queries[0][0] = 1
		var entities []store.EntityID
		for _, f := range facts {
			for _, name := range []string{f.Subject.Name, f.Object.Name, "nobody" + suffix} {
				e, ok, err := snap.Entity(ctx, name)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					entities = append(entities, e)
				}
			}
			if _, _, err := snap.Relation(ctx, f.Relation+" no more"+suffix); err != nil {
				t.Fatal(err)
			}
			relation, ok, err := snap.Relation(ctx, f.Relation)
			if err != nil || !ok {
				t.Fatalf("%s: %v, %v", f.Relation, ok, err)
			}
			for _, dir := range []store.Direction{store.Out, store.In} {
				if _, err := snap.Edges(ctx, entities[:1], dir, []store.RelationID{relation}); err != nil {
					t.Fatal(err)
				}
				if _, err := snap.Sample(ctx, entities[0], dir, relation, 2); err != nil {
					t.Fatal(err)
				}
				if _, err := snap.Relations(ctx, entities[0], dir); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := snap.Fuzzy(ctx, "nobody"+suffix, .5, 3); err != nil {
			t.Fatal(err)
		}
		if _, err := snap.SearchTriples(ctx, queries, 5, store.Filter{}); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, text := range s.graphs["world"].asked {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		slices.Sort(all)
		return all
	}
	// With a backtick no type can be quoted, so that all go as parameters.
	harmless, hostile := asked(" `"), asked(" `"+statement)
	if len(harmless) < 4 {
		t.Fatalf("only %d statements were asked", len(harmless))
	}
	if !slices.Equal(harmless, hostile) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(hostile, "\n"), strings.Join(harmless, "\n"))
	}
	for _, text := range hostile {
		for _, word := range []string{"DETACH", "DELETE", "CREATE", "MERGE ", " SET ", "LOAD CSV", "nobody",
			storetest.World()[0].Subject.Name} {
			if strings.Contains(text, word) {
				t.Errorf("%q stands in a statement: %s", word, text)
			}
		}
	}
}
