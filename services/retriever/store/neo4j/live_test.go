//go:build neo4j

package neo4j

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// indexed loads the graph "movies" as a user does: without files.
func (s *Store) indexed(t testing.TB) uint64 {
	t.Helper()
	read, ok := s.Origin("movies")
	if !ok {
		t.Fatal("movies is not read from Neo4j")
	}
	l := load.New(load.Options{KG: "movies", Scratch: t.TempDir()})
	defer l.Close()
	if err := l.ReadFrom(t.Context(), "movies", read); err != nil {
		t.Fatal(err)
	}
	report, err := l.Finish(t.Context(), s, storetest.Encoder())
	if err != nil {
		t.Fatal(err)
	}
	return report.Snapshot.Number
}

// movies is a store of one graph, whose nodes have a label of their own.
func movies(t testing.TB, spoil func(*Graph)) (*Store, *database, string) {
	t.Helper()
	db := newDatabase(t)
	label := db.fresh()
	g := Graph{URI: uri(t), Labels: []string{label}}
	if spoil != nil {
		spoil(&g)
	}
	return newStore(t, t.TempDir(), Config{Graphs: map[string]Graph{"movies": g}}), db, label
}

// lines shows an entity's edges in both directions.
func lines(t *testing.T, s store.Snapshot, name string) []string {
	t.Helper()
	e, ok, err := s.Entity(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("entity %q: %v, %v", name, ok, err)
	}
	shown := []string{}
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := s.Edges(t.Context(), []store.EntityID{e}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, edge := range lists[0] {
			triple := s.Triple(edge.Triple)
			v := s.Validity(edge.Triple)
			shown = append(shown, strings.TrimSpace(fmt.Sprintf("%s | %s | %s %s%s", s.EntityName(triple.Subject),
				s.RelationName(triple.Relation), s.EntityName(triple.Object), v.Start, v.End)))
		}
		counts, err := s.Relations(t.Context(), e, dir)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, c := range counts {
			sum += c.Edges
		}
		if sum != len(lists[0]) {
			t.Errorf("%s has %d edges in direction %d, counted %d", name, len(lists[0]), dir, sum)
		}
	}
	slices.Sort(shown)
	for i := range shown {
		shown[i] = mediators.ReplaceAllString(shown[i], "_:n")
	}
	return shown
}

var mediators = regexp.MustCompile(`_:n\d+`)

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hits are the triples nearest to a text.
func hits(t *testing.T, s store.Snapshot, text string, k int) []string {
	t.Helper()
	vectors, err := storetest.Encoder().Encode(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.SearchTriples(t.Context(), vectors, k, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, h := range found[0] {
		triple := s.Triple(h.Triple)
		shown = append(shown, s.EntityName(triple.Subject)+" | "+s.RelationName(triple.Relation)+" | "+
			s.EntityName(triple.Object))
	}
	return shown
}

const cast = `CREATE (ann:$($label) {name: 'Ann'}), (bob:$($label) {name: 'Bob'}), ` +
	`(film:$($label) {name: 'Harbour'}), (other:$($label) {name: 'Meadow'}),
(role:$($label) {note: 'no name'}), ` +
	`(ann)-[:ACTED_IN {start: 1997, end: 1998}]->(film), (bob)-[:ACTED_IN]->(film), (bob)-[:DIRECTED]->(film),
(ann)-[:DIRECTED]->(other), (ann)-[:PLAYED]->(role), (role)-[:IN_FILM]->(film)`

func TestAGraphThatChanges(t *testing.T) {
	st, db, label := movies(t, nil)
	in := map[string]any{"label": label}
	db.write(cast, in)
	st.indexed(t)
	open := func() store.Snapshot { return storetest.Open(t, st, "movies", 0) }
	s := open()
	equal(t, "as indexed", lines(t, s, "Harbour"), "Ann | acted in | Harbour 19971998", "Bob | acted in | Harbour",
		"Bob | directed | Harbour", "_:n | in film | Harbour")
	if got := hits(t, s, kgtext.VerbaliseTriple("Bob", "directed", "Harbour"), 1); !slices.Equal(got,
		[]string{"Bob | directed | Harbour"}) {
		t.Errorf("hits are %q", got)
	}

	db.write(`MATCH (b:$($label) {name: 'Bob'})-[r:DIRECTED]->() DELETE r`, in)
	s = open()
	equal(t, "after a relationship was deleted", lines(t, s, "Bob"), "Bob | acted in | Harbour")
	if got := hits(t, s, kgtext.VerbaliseTriple("Bob", "directed", "Harbour"), 5); slices.Contains(got,
		"Bob | directed | Harbour") || len(got) != 5 {
		t.Errorf("what was deleted is found, or fewer than are there: %q", got)
	}

	db.write(
		`MATCH (f:$($label) {name: 'Harbour'}) CREATE (f)<-[:ACTED_IN]-(:$($label) {name: 'Cleo'}), `+
			`(f)<-[:ACTED_IN {start: 2001}]-(:$($label) {name: 'Ann'}), (f)<-[:LIT]-(:$($label) {name: 'Dee'})`, in)
	s = open()
	after := lines2(t, s, "Harbour")
	if !slices.Contains(after, "Cleo | acted in | Harbour") || !slices.ContainsFunc(after,
		func(l string) bool { return strings.HasPrefix(l, "Ann (") && strings.HasSuffix(l, "Harbour 2001") }) {
		t.Errorf("new nodes are not found by walking: %q", after)
	}
	if slices.ContainsFunc(after, func(l string) bool { return strings.Contains(l, "Dee") }) {
		t.Errorf("a relationship of a type that was not indexed is shown: %q", after)
	}
	// By its name a new node is found once it was met.
	cleo, ok, err := s.Entity(t.Context(), "Cleo")
	if err != nil || !ok || int(cleo) < s.Info().Entities {
		t.Fatalf("Cleo is %d, %v, %v", cleo, ok, err)
	}
	lists, err := s.Edges(t.Context(), []store.EntityID{cleo}, store.Out, nil)
	if err != nil || len(lists[0]) != 1 {
		t.Fatalf("edges of Cleo: %v, %v", lists, err)
	}
	query, _ := storetest.Encoder().Encode(t.Context(), []string{"Cleo"})
	if scores, err := s.ScoreTriples(t.Context(), query, []store.TripleID{0, lists[0][0].Triple, 1}); err != nil ||
		len(scores[0]) != 3 || scores[0][1] != 0 {
		t.Errorf("the score of what has no vector: %v, %v", scores, err)
	}
	if sampled, err := s.Sample(t.Context(), cleo, store.Out, lists[0][0].Relation, 3); err != nil ||
		!slices.Equal(sampled, lists[0]) {
		t.Errorf("a sample of a new node's edges: %v, %v", sampled, err)
	}

	db.write(`MATCH (b:$($label) {name: 'Bob'}) SET b.name = 'Robert'`, in)
	s = open()
	if e, ok, err := s.Entity(t.Context(), "Bob"); err != nil || !ok {
		t.Errorf("Bob was indexed: %v, %v", ok, err)
	} else if lists, err := s.Edges(t.Context(), []store.EntityID{e}, store.Out, nil); err != nil || len(lists[0]) > 0 {
		t.Errorf("a node that was renamed still has edges by its old name: %v, %v", lists, err)
	}
	if after := lines2(t, s, "Harbour"); !slices.Contains(after, "Robert | acted in | Harbour") {
		t.Errorf("a node that was renamed is not there by its new name: %q", after)
	}

	second := st.indexed(t)
	s = open()
	if s.Info().Number != second || s.Info().Entities != 8 {
		t.Errorf("indexed again: %+v", s.Info())
	}
	equal(t, "indexed again", lines(t, s, "Robert"), "Robert | acted in | Harbour")
	if _, _, err := st.Verify(t.Context(), "movies", 0); err != nil {
		t.Error(err)
	}
	if info, err := st.Rollback(t.Context(), "movies"); err != nil || info.Number == second {
		t.Errorf("roll back: %+v, %v", info, err)
	}

	db.write(`MATCH (n:$($label)) DETACH DELETE n`, in)
	if _, _, err := st.Verify(t.Context(), "movies", second); err == nil || !strings.Contains(err.Error(),
		"load the graph again") {
		t.Errorf("verify a graph that is gone: %v", err)
	}
	if got := hits(t, open(), "Ann", 3); len(got) > 0 {
		t.Errorf("of a graph that is gone are found %q", got)
	}
}

// lines2 shows edges that lead to an entity, with numbers as they are.
func lines2(t *testing.T, s store.Snapshot, name string) []string {
	t.Helper()
	e, ok, err := s.Entity(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("entity %q: %v, %v", name, ok, err)
	}
	lists, err := s.Edges(t.Context(), []store.EntityID{e}, store.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{}
	for _, edge := range lists[0] {
		triple := s.Triple(edge.Triple)
		v := s.Validity(edge.Triple)
		shown = append(shown, strings.TrimSpace(fmt.Sprintf("%s | %s | %s %s%s", s.EntityName(triple.Subject),
			s.RelationName(triple.Relation), s.EntityName(triple.Object), v.Start, v.End)))
	}
	return shown
}

// names mean something to Cypher.
var hostile = []string{
	"`", "``", "a`b", "`]-() DETACH DELETE n //", "\\u0060]->() RETURN 1 //", "'", "\"", "}) RETURN 1 //",
	"} RETURN 1 //", "$ids", "{name: 'x'}", "a\\", "\\", "--", "/* x */",
	"ÄÖ ß", "关系", "😀", "r|s", ":x", "n.name = 'x' OR true", "; MATCH (n) DETACH DELETE n", "%s %[1]s", "§",
}

func TestNamesRoundTripAsData(t *testing.T) {
	db := newDatabase(t)
	marker := db.fresh()
	labels := []string{marker}
	for i, h := range hostile {
		label := marker + h
		labels = append(labels, label)
		db.write("CREATE (a:$($labels) {name: $a, more: $a})-[:$($type) {start: '1999'}]->(b:$($labels) {name: $b})",
			map[string]any{"labels": []string{marker, label}, "a": h + " a", "b": fmt.Sprintf("%s b%d", h, i),
				"type": h})
	}
	before := db.write("MATCH (n) RETURN count(n)", nil)[0][0]
	st := newStore(t, t.TempDir(), Config{Graphs: map[string]Graph{"movies": {
		URI: uri(t), Labels: labels, Types: hostile, NameProperties: map[string]string{labels[4]: "name"},
		IncludeProperties: true,
	}}})
	st.indexed(t)
	s := storetest.Open(t, st, "movies", 0)
	for i, h := range hostile {
		clean := strings.Join(strings.Fields(h+" a"), " ")
		e, ok, err := s.Entity(t.Context(), clean)
		if err != nil || !ok {
			t.Errorf("%q is not there: %v", h, err)
			continue
		}
		r, ok, err := s.Relation(t.Context(), strings.ReplaceAll(h, "_", " "))
		if err != nil || !ok {
			if r, ok, err = s.Relation(t.Context(), strings.ToLower(h)); err != nil || !ok {
				t.Errorf("the type %q is not there: %v", h, err)
				continue
			}
		}
		for _, relations := range [][]store.RelationID{{r}, nil} {
			lists, err := s.Edges(t.Context(), []store.EntityID{e}, store.Out, relations)
			if err != nil {
				t.Errorf("%q: %v", h, err)
				continue
			}
			at := slices.IndexFunc(lists[0], func(edge store.Edge) bool { return edge.Relation == r })
			if want := fmt.Sprintf("%s b%d", h, i); at < 0 || s.EntityName(lists[0][at].Entity) != want ||
				s.Validity(lists[0][at].Triple).Start != "1999" {
				t.Errorf("%q leads to %v", h, lists[0])
			}
		}
		if sampled, err := s.Sample(t.Context(), e, store.Out, r, 1); err != nil || len(sampled) != 1 {
			t.Errorf("a sample of %q: %v, %v", h, sampled, err)
		}
		if got := hits(t, s, kgtext.VerbaliseTriple(clean, s.RelationName(r), fmt.Sprintf("%s b%d", h, i)),
			3); len(got) != 3 {
			t.Errorf("hits of %q: %q", h, got)
		}
		if _, ok, err := s.Entity(t.Context(), h+"' OR true //"); ok || err != nil {
			t.Errorf("a name that is not there: %v, %v", ok, err)
		}
	}
	if after := db.write("MATCH (n) RETURN count(n)", nil)[0][0]; after != before {
		t.Errorf("%v nodes became %v", before, after)
	}
}

func TestProperties(t *testing.T) {
	st, db, label := movies(t, func(g *Graph) { g.IncludeProperties = true })
	in := map[string]any{"label": label}
	db.write(
		`CREATE (a:$($label):Person {name: 'Ann', born: date('1961-08-04'), scores: [1, 2]}), `+
			`(f:$($label):Film {name: 'Harbour', year: 1997}), (a)-[:ACTED_IN]->(f)`, in)
	st.indexed(t)
	s := storetest.Open(t, st, "movies", 0)
	equal(t, "a node", lines(t, s, "Ann"), "Ann | acted in | Harbour", "Ann | born | 1961-08-04", "Ann | scores | 1",
		"Ann | scores | 2", "Ann | type | Person", "Ann | type | "+label)
	equal(t, "a literal", lines(t, s, "1997"), "Harbour | year | 1997")
	equal(t, "a label", lines(t, s, "Film"), "Harbour | type | Film")
	if e, _, _ := s.Entity(t.Context(), "1961-08-04"); s.Kind(e) != store.Date {
		t.Errorf("a date is of kind %d", s.Kind(e))
	}
	db.write(`MATCH (f:$($label):Film) SET f.year = 1998 REMOVE f:Film`, in)
	s = storetest.Open(t, st, "movies", 0)
	equal(t, "a literal that is no more", edgeLines(t, s, "1997"))
	equal(t, "a label that is no more", edgeLines(t, s, "Film"))
	if got := hits(t, s, "Harbour year 1997", 10); slices.Contains(got, "Harbour | year | 1997") || len(got) != 7 {
		t.Errorf("found are %q", got)
	}
	if after, err := s.Edges(t.Context(), []store.EntityID{mustEntity(t, s, "Harbour")}, store.Out, nil); err != nil ||
		!slices.ContainsFunc(after[0], func(e store.Edge) bool {
			return s.EntityName(e.Entity) == "1998" &&
				s.Kind(e.Entity) == store.Number
		}) {
		t.Errorf("a new value is not shown: %v, %v", after, err)
	}
}

func mustEntity(t *testing.T, s store.Snapshot, name string) store.EntityID {
	t.Helper()
	e, ok, err := s.Entity(t.Context(), name)
	if err != nil || !ok {
		t.Fatalf("entity %q: %v, %v", name, ok, err)
	}
	return e
}

func edgeLines(t *testing.T, s store.Snapshot, name string) []string {
	t.Helper()
	lists, err := s.Edges(t.Context(), []store.EntityID{mustEntity(t, s, name)}, store.In, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{}
	for _, e := range lists[0] {
		shown = append(shown, s.EntityName(e.Entity))
	}
	return shown
}

func TestNamesOfLabelsAndHomonyms(t *testing.T) {
	st, db, label := movies(t, func(g *Graph) { g.NameProperties = map[string]string{"TriplemeshFilm": "title"} })
	in := map[string]any{"label": label}
	db.write(
		`CREATE (a:$($label) {name: 'Ann'}), (f:$($label):TriplemeshFilm {title: 'Harbour', name: 'no'}), `+
			`(g:$($label):TriplemeshFilm {title: 'Harbour'}), (a)-[:ACTED_IN]->(f), (a)-[:DIRECTED]->(g)`, in)
	st.indexed(t)
	s := storetest.Open(t, st, "movies", 0)
	both, err := s.Match(t.Context(), "harbour")
	if err != nil || len(both) != 2 {
		t.Fatalf("two films of one name: %v, %v", both, err)
	}
	got := lines(t, s, "Ann")
	if len(got) != 2 || !strings.HasPrefix(got[0], "Ann | acted in | Harbour (") ||
		!strings.HasPrefix(got[1], "Ann | directed | Harbour (") || got[0][17:] == got[1][17:] {
		t.Errorf("edges are %q", got)
	}
}

func TestNewNodesByNameWithAnIndex(t *testing.T) {
	st, db, label := movies(t, nil)
	in := map[string]any{"label": label}
	db.write(cast, in)
	db.write("CREATE INDEX "+label+"_name FOR (n:"+label+") ON (n.name)", nil)
	t.Cleanup(func() { db.write("DROP INDEX "+label+"_name IF EXISTS", nil) })
	db.write("CALL db.awaitIndexes(60)", nil)
	st.indexed(t)
	db.write(`MATCH (f:$($label) {name: 'Harbour'}) CREATE (f)<-[:ACTED_IN]-(:$($label) {name: 'Cleo'})`, in)
	s := storetest.Open(t, st, "movies", 0)
	cleo, ok, err := s.Entity(t.Context(), "Cleo")
	if err != nil || !ok || s.EntityName(cleo) != "Cleo" {
		t.Fatalf("a new node by its name: %d, %v, %v", cleo, ok, err)
	}
	if s.Degree(cleo, store.Out) != 1 || s.Degree(cleo, store.In) != 0 {
		t.Errorf("degrees %d and %d", s.Degree(cleo, store.Out), s.Degree(cleo, store.In))
	}
	if _, ok, err := s.Entity(t.Context(), "Nobody"); ok || err != nil {
		t.Errorf("an unknown name is found: %v, %v", ok, err)
	}
}

func TestDegreesWithLabels(t *testing.T) {
	st, db, label := movies(t, func(g *Graph) { g.Types = []string{"ACTED_IN"} })
	db.write(cast, map[string]any{"label": label})
	db.write(`MATCH (a:$($label) {name: 'Ann'}) CREATE (a)-[:ACTED_IN]->(:TriplemeshElsewhere {name: 'x'})`,
		map[string]any{"label": label})
	t.Cleanup(func() { db.write(`MATCH (n:TriplemeshElsewhere) DETACH DELETE n`, nil) })
	st.indexed(t)
	s := storetest.Open(t, st, "movies", 0)
	equal(t, "one type among some labels", lines(t, s, "Ann"), "Ann | acted in | Harbour 19971998")
}

func TestASnapshotOutlivesItsRequestWithAContextOnly(t *testing.T) {
	st, db, label := movies(t, nil)
	db.write(cast, map[string]any{"label": label})
	st.indexed(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := st.Open(ctx, "movies", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	db.write(`MATCH (f:$($label) {name: 'Harbour'}) CREATE (f)<-[:ACTED_IN]-(:$($label) {name: 'Cleo'})`,
		map[string]any{"label": label})
	lines2(t, s, "Harbour")
	met := mustEntity(t, s, "Cleo")
	cancel()
	err = store.Guard(func() error { s.Degree(met, store.Out); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a degree with a cancelled context: %v", err)
	}
}
