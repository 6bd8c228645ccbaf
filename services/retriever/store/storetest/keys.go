package storetest

import (
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// testKeys looks entities up by key and name.
func testKeys(t *testing.T, st store.Store) {
	facts := append(World(), store.Fact{Subject: namedEntity("Paris"), Relation: "area",
		Object: store.NamedEntity{Name: "105.4", Kind: store.Number}})
	s := Open(t, st, "world", Build(t, st, "world", facts))
	for nameOrKey, want := range map[string]string{
		"Paris":                      "http://world.example/Q90",
		"http://world.example/Q90":   "http://world.example/Q90",
		"http://world.example/Q3361": "http://world.example/Q3361",
		"PARIS":                      "http://world.example/Q3361",
		"東京":                         "Q1490",
		"Q1490":                      "Q1490",
		"Lyon":                       "Lyon",
		"105.4":                      "",
	} {
		id, ok, err := store.FindEntity(t.Context(), s, nameOrKey)
		if err != nil || !ok || s.EntityKey(id) != want {
			t.Errorf("%q leads to %d with the key %q, %v, %v, want the key %q", nameOrKey, id, s.EntityKey(id), ok, err,
				want)
		}
	}
	for _, key := range []string{"", "Lyon", "Q9", "http://world.example/Q", "http://world.example/Q90 ", "\xff"} {
		if id, ok, err := s.EntityByKey(t.Context(), key); ok || err != nil {
			t.Errorf("the key %q leads to %d, %v, %v", key, id, ok, err)
		}
	}
	for _, where := range provenances(t, s, "Paris") {
		if where.relation == "head of government" != (where.provenance != "") {
			t.Errorf("the provenance of %+v", where)
		}
	}
}

type provenance struct{ relation, object, provenance string }

func provenances(t *testing.T, s store.Snapshot, subject string) (all []provenance) {
	t.Helper()
	id, ok, err := s.Entity(t.Context(), subject)
	if err != nil || !ok {
		t.Fatalf("%q: %v, %v", subject, ok, err)
	}
	lists, err := s.Edges(t.Context(), []store.EntityID{id}, store.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range lists[0] {
		all = append(all, provenance{s.RelationName(e.Relation), s.EntityName(e.Entity), s.Provenance(e.Triple)})
	}
	return all
}

// testKeysOfDeltas changes entities by their keys.
func testKeysOfDeltas(t *testing.T, st store.Store) {
	Build(t, st, "world", World())
	keyed := func(name, key string) store.NamedEntity { return store.NamedEntity{Name: name, Key: key} }
	added := []store.Fact{
		// The name of the key alone, as in a file without labels.
		{Subject: keyed("Q90", keys["Paris"]), Relation: "twinned with", Object: namedEntity("Rome"),
			Provenance: "twins.csv:2"},
		// Another entity of a name that the base has.
		{Subject: keyed("Paris", "http://world.example/Q830149"), Relation: "located in", Object: namedEntity("Texas")},
		// One whose name with its local name is taken as well.
		{Subject: keyed("Paris", "http://other.example/Q830149"), Relation: "located in",
			Object: namedEntity("Ontario")},
		// One that the base knows by its name alone.
		{Subject: keyed("Lyon", "Q456"), Relation: "located in", Object: namedEntity("Europe")},
	}
	removed := []store.Fact{{Subject: keyed("any", keys["Paris"]), Relation: "capital of",
		Object: namedEntity("France")}}
	s := change(t, st, "world", Delta(removed, added, store.NamedAlias{Entity: "any", Key: keys["Paris"],
		Name: "Lutetia"}))
	for nameOrKey, want := range map[string]string{
		"http://world.example/Q90":     "Paris",
		"http://world.example/Q830149": "Paris (Q830149)",
		"Lyon":                         "Lyon",
		"Q220":                         "Rome",
	} {
		id, ok, err := store.FindEntity(t.Context(), s, nameOrKey)
		if err != nil || !ok || s.EntityName(id) != want {
			t.Errorf("%q leads to %q, %v, %v, want %q", nameOrKey, s.EntityName(id), ok, err, want)
		}
	}
	other, ok, err := s.EntityByKey(t.Context(), "http://other.example/Q830149")
	if err != nil || !ok || s.EntityName(other) == "Paris" || s.EntityName(other) == "Paris (Q830149)" {
		t.Errorf("namesakes with equal local names: %q, %v, %v", s.EntityName(other), ok, err)
	}
	twinned := false
	for _, p := range provenances(t, s, "Paris") {
		if p.relation == "capital of" {
			t.Error("a fact removed by its key is there")
		}
		twinned = twinned || p == provenance{"twinned with", "Rome", "twins.csv:2"}
	}
	if !twinned {
		t.Errorf("the facts of Paris are %+v", provenances(t, s, "Paris"))
	}
	if found, err := s.Match(t.Context(), "lutetia"); err != nil || len(found) != 1 ||
		s.EntityName(found[0]) != "Paris" {
		t.Errorf("the alias of a key leads to %v, %v", found, err)
	}
	number := s.Info().Number
	compacted, err := st.Compact(t.Context(), "world", number)
	if err != nil {
		t.Fatal(err)
	}
	before, err := Dump(t.Context(), Open(t, st, "world", number))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := Dump(t.Context(), Open(t, st, "world", compacted.Number)); err != nil || after != before {
		t.Errorf("compacted: %v\n%s\nwant\n%s", err, after, before)
	}
}
