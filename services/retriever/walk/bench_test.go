package walk

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triplemesh/triplemesh/internal/testkit"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// skipping is a benchmark that is skipped without the shared data.
type skipping struct{ testing.TB }

func (s skipping) Fatalf(format string, args ...any) { s.Skipf(format, args...) }

func shared(tb testing.TB, rel ...string) *os.File {
	tb.Helper()
	f, err := os.Open(testkit.SharedData(skipping{tb}, rel...))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

// flat is a graph in arrays, so that the store takes next to none of Follow's time.
type flat struct {
	unscored
	kinds     []store.Kind
	entities  map[string]store.EntityID
	relations map[string]store.RelationID
	edges     [2][]store.Edge
	rows      [2][]uint32
}

func readFlat(tb testing.TB) *flat {
	unzipped, err := gzip.NewReader(shared(tb, "freebase", "triples.tsv.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	g := &flat{unscored: unscored{err: store.ErrNoVectors}, entities: map[string]store.EntityID{},
		relations: map[string]store.RelationID{}}
	var triples []store.Triple
	for lines := bufio.NewScanner(unzipped); lines.Scan(); {
		parts := strings.Split(lines.Text(), "\t")
		triples = append(triples, store.Triple{Subject: g.entity(parts[0]), Relation: number(g.relations, parts[1]),
			Object: g.entity(parts[2])})
	}
	g.edges[store.Out], g.rows[store.Out] = rows(len(g.kinds), triples,
		func(t store.Triple) (from, to store.EntityID) { return t.Subject, t.Object })
	g.edges[store.In], g.rows[store.In] = rows(len(g.kinds), triples,
		func(t store.Triple) (from, to store.EntityID) { return t.Object, t.Subject })
	return g
}

func number[N ~uint32](known map[string]N, name string) N {
	id, ok := known[name]
	if !ok {
		id = N(len(known))
		known[name] = id
	}
	return id
}

func (g *flat) entity(name string) store.EntityID {
	id := number(g.entities, name)
	if int(id) == len(g.kinds) {
		g.kinds = append(g.kinds, store.ClassifyName(name))
	}
	return id
}

func rows(entities int, triples []store.Triple, ends func(store.Triple) (from,
	to store.EntityID)) ([]store.Edge, []uint32) {
	lists := make([][]store.Edge, entities)
	for i, t := range triples {
		from, to := ends(t)
		lists[from] = append(lists[from], store.Edge{Relation: t.Relation, Entity: to, Triple: store.TripleID(i)})
	}
	all, offsets := make([]store.Edge, 0, len(triples)), make([]uint32, 1, entities+1)
	for _, list := range lists {
		slices.SortFunc(list, func(a, b store.Edge) int {
			if a.Relation != b.Relation {
				return int(a.Relation) - int(b.Relation)
			}
			return int(a.Triple) - int(b.Triple)
		})
		all = append(all, list...)
		offsets = append(offsets, uint32(len(all)))
	}
	return all, offsets
}

func (g *flat) row(e store.EntityID, dir store.Direction) []store.Edge {
	return g.edges[dir][g.rows[dir][e]:g.rows[dir][e+1]]
}

func (g *flat) EntityName(store.EntityID) string               { return "" }
func (g *flat) RelationName(store.RelationID) string           { return "" }
func (g *flat) Kind(e store.EntityID) store.Kind               { return g.kinds[e] }
func (g *flat) Degree(e store.EntityID, d store.Direction) int { return len(g.row(e, d)) }

func (g *flat) Edges(_ context.Context, entities []store.EntityID, dir store.Direction,
	_ []store.RelationID) ([][]store.Edge, error) {
	lists := make([][]store.Edge, len(entities))
	for i, e := range entities {
		lists[i] = g.row(e, dir)
	}
	return lists, nil
}

// recordedPlans are the plans of RoG's planner for each WebQSP question, from its
// topic entities. They do not say which way a relation is gone, so each is
// followed all ways, as RoG's undirected graph does.
func recordedPlans(tb testing.TB, g *flat) [][]Plan {
	topics := map[string][]store.EntityID{}
	lines(tb, "webqsp.jsonl", func(q struct {
		ID     string
		Topics []string `json:"topic_entities"`
	}) {
		for _, name := range q.Topics {
			if id, ok := g.entities[name]; ok {
				topics[q.ID] = append(topics[q.ID], id)
			}
		}
	})
	var questions [][]Plan
	lines(tb, "webqsp_rog_paths.jsonl", func(q struct {
		ID    string
		Paths [][]string
	}) {
		var plans []Plan
		for _, path := range q.Paths {
			for ways := range 1 << len(path) {
				plan := Plan{Topics: topics[q.ID]}
				for hop, name := range path {
					if id, ok := g.relations[name]; ok {
						plan.Steps = append(plan.Steps, Step{Relation: id, Inverse: ways>>hop&1 == 1})
					}
				}
				if len(path) > 0 && len(plan.Steps) == len(path) {
					plans = append(plans, plan)
				}
			}
		}
		questions = append(questions, plans)
	})
	return questions
}

func lines[T any](tb testing.TB, file string, each func(T)) {
	for read := json.NewDecoder(shared(tb, "freebase", file)); read.More(); {
		var line T
		if err := read.Decode(&line); err != nil {
			tb.Fatal(err)
		}
		each(line)
	}
}

// BenchmarkFollow follows the recorded plans of WebQSP; a round is one question.
func BenchmarkFollow(b *testing.B) {
	g := readFlat(b)
	questions := recordedPlans(b, g)
	for _, limit := range []struct {
		name  string
		walks int
	}{{"100 walks a path", 100}, {"all walks", 1 << 20}} {
		b.Run(limit.name, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			found := 0
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				walks, _, err := Follow(b.Context(), g, questions[i%len(questions)], Limit{Walks: limit.walks})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				for _, of := range walks {
					found += len(of)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
			b.ReportMetric(float64(found)/float64(len(took)), "walks/op")
		})
	}
}
