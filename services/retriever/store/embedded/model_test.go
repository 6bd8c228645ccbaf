package embedded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// model is a knowledge graph as a store should show it.
type model struct {
	snapshots map[uint64]*modelSnapshot
	active    uint64
	previous  []uint64
}

// find is a snapshot, or with 0 the active one; nil if there is none.
func (m *model) find(number uint64) *modelSnapshot {
	if number == 0 {
		number = m.active
	}
	return m.snapshots[number]
}

func (m *model) activate(number uint64) {
	m.previous = slices.DeleteFunc(m.previous, func(n uint64) bool { return n == number })
	if m.active != 0 && m.active != number {
		m.previous = append(m.previous, m.active)
	}
	m.active = number
}

func (m *model) rollback() bool {
	if len(m.previous) == 0 {
		return false
	}
	last := len(m.previous) - 1
	m.active, m.previous = m.previous[last], m.previous[:last]
	return true
}

func (m *model) isBase(number uint64) bool {
	for _, s := range m.snapshots {
		if s.base == number {
			return true
		}
	}
	return false
}

func (m *model) drop(numbers []uint64) {
	for _, n := range numbers {
		delete(m.snapshots, n)
		m.previous = slices.DeleteFunc(m.previous, func(p uint64) bool { return p == n })
		if m.active == n {
			m.active = 0
		}
	}
}

// modelSnapshot is one snapshot.
type modelSnapshot struct {
	base    uint64
	depth   int // of deltas
	facts   map[store.Fact]bool
	aliases map[[2]string]bool // entity, alias
}

func modelOf(facts []store.Fact, aliases [][2]string) *modelSnapshot {
	s := &modelSnapshot{facts: map[store.Fact]bool{}, aliases: map[[2]string]bool{}}
	for _, f := range facts {
		s.facts[f] = true
	}
	for _, a := range aliases {
		s.aliases[a] = true
	}
	return s.normalize()
}

// normalize is s without the aliases of entities that no fact names.
func (s *modelSnapshot) normalize() *modelSnapshot {
	names := s.names()
	maps.DeleteFunc(s.aliases, func(a [2]string, _ bool) bool { return !names[a[0]] })
	return s
}

// compacted shows the same and is based on nothing.
func (s *modelSnapshot) compacted() *modelSnapshot {
	return &modelSnapshot{facts: s.facts, aliases: s.aliases}
}

// change is what a delta makes of s, and whether it differs at all.
func (s *modelSnapshot) change(removed, added []store.Fact, aliases [][2]string) (after *modelSnapshot, changes bool) {
	after = &modelSnapshot{depth: s.depth + 1, facts: maps.Clone(s.facts), aliases: maps.Clone(s.aliases)}
	for _, r := range removed {
		maps.DeleteFunc(after.facts, func(f store.Fact, _ bool) bool {
			sameNames := f.Subject.Name == r.Subject.Name && f.Relation == r.Relation && f.Object.Name == r.Object.Name
			return sameNames && (r.Validity == store.Validity{} || r.Validity == f.Validity)
		})
	}
	mentioned, kinds := s.names(), s.kinds()
	for _, f := range added {
		// The kind is that of the first mention.
		for _, e := range []*store.NamedEntity{&f.Subject, &f.Object} {
			if _, ok := kinds[e.Name]; !ok {
				kinds[e.Name] = e.Kind
			}
			e.Kind = kinds[e.Name]
		}
		after.facts[f] = true
		mentioned[f.Subject.Name], mentioned[f.Object.Name] = true, true
	}
	for _, a := range aliases {
		if mentioned[a[0]] && !slices.Contains(s.matching(store.Fold(a[1])), a[0]) {
			after.aliases[a] = true
			changes = true
		}
	}
	return after.normalize(), changes || !maps.Equal(s.facts, after.facts)
}

// kinds are those of the entities that a fact names.
func (s *modelSnapshot) kinds() map[string]store.Kind {
	kinds := map[string]store.Kind{}
	for f := range s.facts {
		kinds[f.Subject.Name], kinds[f.Object.Name] = f.Subject.Kind, f.Object.Kind
	}
	return kinds
}

// sortedFacts are the facts in an order that does not change.
func (s *modelSnapshot) sortedFacts() []store.Fact {
	return slices.SortedFunc(maps.Keys(s.facts), func(a, b store.Fact) int {
		return strings.Compare(line(store.Out, a), line(store.Out, b))
	})
}

// names are those of the entities that a fact names.
func (s *modelSnapshot) names() map[string]bool {
	names := map[string]bool{}
	for f := range s.facts {
		names[f.Subject.Name], names[f.Object.Name] = true, true
	}
	return names
}

// matching are the entities that are called key, in order.
func (s *modelSnapshot) matching(key string) []string {
	names := s.names()
	found := map[string]bool{}
	for name := range names {
		if store.Fold(name) == key {
			found[name] = true
		}
	}
	for a := range s.aliases {
		if names[a[0]] && store.Fold(a[1]) == key {
			found[a[0]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (s *modelSnapshot) content(t *testing.T) store.Content {
	return storetest.Content(t, s.sortedFacts(), slices.Collect(maps.Keys(s.aliases))...)
}

// compare reads a snapshot by its names, and looks whether it shows s.
func (s *modelSnapshot) compare(r *rapid.T, snapshot store.Snapshot) {
	var read, want []string
	err := store.Guard(func() error {
		for e := range snapshot.Entities() {
			name := snapshot.EntityName(e)
			for _, dir := range []store.Direction{store.Out, store.In} {
				lists, err := snapshot.Edges(r.Context(), []store.EntityID{e}, dir, nil)
				if err != nil {
					return err
				}
				for _, edge := range lists[0] {
					t := snapshot.Triple(edge.Triple)
					if ends := [2]store.EntityID{t.Subject, t.Object}; ends[dir] != e || ends[1-dir] != edge.Entity ||
						t.Relation != edge.Relation {
						return fmt.Errorf("edge %+v of %s is triple %+v", edge, name, t)
					}
					read = append(read, line(dir, store.Fact{
						Subject: store.NamedEntity{Name: snapshot.EntityName(t.Subject),
							Kind: snapshot.Kind(t.Subject)},
						Relation: snapshot.RelationName(t.Relation),
						Object:   store.NamedEntity{Name: snapshot.EntityName(t.Object), Kind: snapshot.Kind(t.Object)},
						Validity: snapshot.Validity(edge.Triple),
					}))
				}
			}
		}
		for _, key := range keys {
			found, err := snapshot.Match(r.Context(), key)
			if err != nil {
				return err
			}
			var names []string
			for _, e := range found {
				names = append(names, snapshot.EntityName(e))
			}
			slices.Sort(names)
			read = append(read, key+" is "+strings.Join(names, ", "))
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	for f := range s.facts {
		want = append(want, line(store.Out, f), line(store.In, f))
	}
	for _, key := range keys {
		want = append(want, key+" is "+strings.Join(s.matching(key), ", "))
	}
	slices.Sort(read)
	slices.Sort(want)
	if !slices.Equal(read, want) {
		r.Fatalf("%s@%d shows\n%s\nwant\n%s", snapshot.Info().KG, snapshot.Info().Number, strings.Join(read, "\n"),
			strings.Join(want, "\n"))
	}
	if info := snapshot.Info(); info.Triples != len(s.facts) || info.Entities != len(s.names()) {
		r.Fatalf("info is %+v, want %d triples of %d entities", info, len(s.facts), len(s.names()))
	}
}

func line(dir store.Direction, f store.Fact) string { return fmt.Sprintln(dir, f) }

// Few names, so that they meet again; some are spelt alike, one is long.
var (
	names     = []string{"Paris", "PARIS", "São Paulo", "東京", strings.Repeat("x", 300)}
	values    = []string{"1984", "-0753-04-21", "82350 square kilometre"}
	relations = []string{"located in", "Located in", "mayor"}
	alsoKnown = []string{"Tokyo", "paris", "City of Light", "x"}
	keys      = []string{"paris", "sao paulo", "tokyo", "city of light", "x", "1984"}
)

// drawFacts draws facts, some of them known ones. All names are of the kind
// that they look like, or all are entities.
func drawFacts(r *rapid.T, least int, known ...store.Fact) []store.Fact {
	plain := rapid.Bool().Draw(r, "all are entities")
	named := func(name string) store.NamedEntity {
		if plain {
			return store.NamedEntity{Name: name}
		}
		return store.NamedEntity{Name: name, Kind: store.ClassifyName(name)}
	}
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) store.Fact {
		if len(known) > 0 && rapid.Bool().Draw(r, "known") {
			return rapid.SampledFrom(known).Draw(r, "fact")
		}
		f := store.Fact{
			Subject:  named(rapid.SampledFrom(names).Draw(r, "subject")),
			Relation: rapid.SampledFrom(relations).Draw(r, "relation"),
			Object:   named(rapid.SampledFrom(slices.Concat(names, values)).Draw(r, "object")),
		}
		if rapid.IntRange(0, 2).Draw(r, "timeless twice of three") == 0 {
			f.Validity.Start = rapid.SampledFrom([]string{"1998", "2001-03-25"}).Draw(r, "start")
			f.Validity.End = rapid.SampledFrom([]string{"", "2014"}).Draw(r, "end")
		}
		return f
	}), least, 8).Draw(r, "facts")
}

func drawAliases(r *rapid.T) [][2]string {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [2]string {
		return [2]string{rapid.SampledFrom(names).Draw(r, "entity"), rapid.SampledFrom(alsoKnown).Draw(r, "alias")}
	}), 0, 3).Draw(r, "aliases")
}
