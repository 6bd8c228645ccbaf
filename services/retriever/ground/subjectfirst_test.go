package ground

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// world has a hub, Norway, with far more edges than are encoded, a mediator and
// two towns of one name.
var world = storetest.NewGraph(append(fjords(),
	[3]string{"Erik", "born in", "Bergen"},
	[3]string{"Bergen", "country", "Norway"},
	[3]string{"Norway", "capital", "Oslo"},
	[3]string{"Norway", "king", "m.0aaaa1"},
	[3]string{"m.0aaaa1", "office.holder", "Harald"},
	[3]string{"Hamar", "mayor", "Ann"},
	[3]string{"Hamar (Quebec)", "mayor", "Bob"},
	[3]string{"Far away", "is", "elsewhere"},
)...).WithAlias("Hamar (Quebec)", "Hamar")

func fjords() [][3]string {
	var triples [][3]string
	for i := range 3 * MaxEncoded {
		triples = append(triples, [3]string{"Norway", "fjord", fmt.Sprintf("fjord %d", i)})
	}
	return triples
}

// countingEncoder records the encoded texts.
type countingEncoder struct{ texts []string }

func (c *countingEncoder) Encode(_ context.Context, texts []string) ([][]float32, error) {
	c.texts = append(c.texts, texts...)
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = storetest.WordVector(t)
	}
	return vectors, nil
}

func searchSubjectFirst(t *testing.T, enc Encoder, ask SubjectQuery, query string, k int,
	filter store.Filter) []string {
	t.Helper()
	lists, err := NewSubjectFirst(world, enc, ask).SearchTriples(t.Context(), [][]float32{storetest.WordVector(query)},
		k, filter)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, h := range lists[0] {
		lines = append(lines, tripleLine(h.Triple))
	}
	return lines
}

func tripleLine(id store.TripleID) string {
	t := world.Triple(id)
	return world.EntityName(t.Subject) + " | " + world.RelationName(t.Relation) + " | " + world.EntityName(t.Object)
}

func TestCandidates(t *testing.T) {
	tests := []struct {
		name    string
		ask     SubjectQuery
		want    string
		without bool
	}{
		{"an entity named by a text", SubjectQuery{Texts: []string{"Where was Erik born?"}},
			"Erik | born in | Bergen", false},
		{"an entity named by the pseudo-graph", SubjectQuery{Names: []string{"erik"}},
			"Erik | born in | Bergen", false},
		{"an entity with a similar name", SubjectQuery{Names: []string{"Hammar"}}, "Hamar | mayor | Ann", false},
		{"all entities of a name", SubjectQuery{Names: []string{"Hamar"}}, "Hamar (Quebec) | mayor | Bob", false},
		{"facts with the entity as object", SubjectQuery{Names: []string{"Bergen"}}, "Erik | born in | Bergen", false},
		{"facts behind a mediator", SubjectQuery{Names: []string{"Norway"}}, "m.0aaaa1 | office.holder | Harald",
			false},
		{"neighbours if the pseudo-graph is chained", SubjectQuery{Names: []string{"Erik"}, Chained: true},
			"Bergen | country | Norway", false},
		{"no neighbours if it is not chained", SubjectQuery{Names: []string{"Erik"}}, "Bergen | country | Norway",
			true},
		{"no unrelated facts", SubjectQuery{Names: []string{"Erik"}, Chained: true},
			"Far away | is | elsewhere", true},
		{"nothing without a name", SubjectQuery{Texts: []string{"why?"}}, "Erik | born in | Bergen", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := searchSubjectFirst(t, &countingEncoder{}, tt.ask, tt.want, MaxEncoded, store.Filter{})
			if slices.Contains(got, tt.want) == tt.without {
				t.Errorf("%q found: %v", tt.want, !tt.without)
			}
		})
	}
}

func TestAHubIsCutByRelevance(t *testing.T) {
	enc := &countingEncoder{}
	got := searchSubjectFirst(t, enc, SubjectQuery{Names: []string{"Norway"}}, "Norway capital", 1, store.Filter{})
	if want := []string{"Norway | capital | Oslo"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(enc.texts) > MaxEncoded {
		t.Errorf("%d triples encoded, want %d at most", len(enc.texts), MaxEncoded)
	}
	named := "Norway | fjord | fjord 250"
	if got := searchSubjectFirst(t, enc, SubjectQuery{Names: []string{"Norway", "fjord 250"}}, "Norway fjord 250",
		MaxEncoded,
		store.Filter{}); !slices.Contains(got, named) {
		t.Errorf("the edge to the named entity was cut off")
	}
}

func TestFiltersLimitTheCandidates(t *testing.T) {
	enc := &countingEncoder{}
	capital := world.RelationID("capital")
	got := searchSubjectFirst(t, enc, SubjectQuery{Names: []string{"Norway", "Erik"}}, "Norway", MaxEncoded,
		store.Filter{Relations: []store.RelationID{capital}})
	if want := []string{"Norway | capital | Oslo"}; !slices.Equal(got, want) || len(enc.texts) != 1 {
		t.Errorf("found %q with %d triples encoded, want %q and one", got, len(enc.texts), want)
	}
	got = searchSubjectFirst(t, enc, SubjectQuery{Names: []string{"Norway"}}, "Hamar", 10,
		store.Filter{Subjects: []store.EntityID{world.ID("Hamar")}})
	if want := []string{"Hamar | mayor | Ann"}; !slices.Equal(got, want) {
		t.Errorf("found %q about Hamar, want %q", got, want)
	}
}

func TestATripleIsEncodedOnce(t *testing.T) {
	enc := &countingEncoder{}
	snap := NewSubjectFirst(world, enc, SubjectQuery{Names: []string{"Erik"}})
	queries := [][]float32{storetest.WordVector("Erik"), storetest.WordVector("Bergen")}
	lists, err := snap.SearchTriples(t.Context(), queries, 1, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	id := lists[0][0].Triple
	scores, err := snap.ScoreTriples(t.Context(), queries, []store.TripleID{id, id})
	if err != nil {
		t.Fatal(err)
	}
	if scores[0][0] != lists[0][0].Score || scores[1][1] != lists[1][0].Score {
		t.Errorf("scores %v differ from those of the search, %v", scores, lists)
	}
	if len(enc.texts) != 1 {
		t.Errorf("%q encoded, want one text", enc.texts)
	}
}

type brokenEncoder struct{}

var errDown = errors.New("encoder is down")

func (brokenEncoder) Encode(context.Context, []string) ([][]float32, error) { return nil, errDown }

func TestSubjectFirstReturnsEncoderErrors(t *testing.T) {
	snap := NewSubjectFirst(world, brokenEncoder{}, SubjectQuery{Names: []string{"Erik"}})
	for range 2 { // failures are not cached
		if _, err := snap.SearchTriples(t.Context(), [][]float32{storetest.WordVector("x")}, 1,
			store.Filter{}); !errors.Is(err, errDown) {
			t.Errorf("error %v, want %v", err, errDown)
		}
	}
}

func TestPlanFindsChains(t *testing.T) {
	chain := []Fact{{Subject: "Erik", Relation: "born in", Object: "BERGEN"},
		{Subject: "Bergen", Relation: "country", Object: "Norway"}}
	if got := plan("q", chain, Default()); !got.chained {
		t.Errorf("a chain has the plan %+v", got)
	}
	for name, pseudo := range map[string][]Fact{
		"two facts about one subject":       {{Subject: "Erik", Object: "Bergen"}, {Subject: "Erik", Object: "Oslo"}},
		"a subject that is also its object": {{Subject: "Erik", Object: "Erik"}},
		"no pseudo-graph":                   nil,
	} {
		if plan("q", pseudo, Default()).chained {
			t.Errorf("%s is taken for a chain", name)
		}
	}
}

// withoutVectors is a graph whose relations alone have vectors.
type withoutVectors struct{ *storetest.Graph }

func (g withoutVectors) Info() store.Info {
	info := g.Graph.Info()
	info.TripleVectors = false
	return info
}

func (withoutVectors) SearchTriples(context.Context, [][]float32, int, store.Filter) ([][]store.Hit, error) {
	return nil, store.ErrNoVectors
}

func (withoutVectors) ScoreTriples(context.Context, [][]float32, []store.TripleID) ([][]float32, error) {
	return nil, store.ErrNoVectors
}

func TestPathsWithManyWalksAreFollowedWithoutEncodingThem(t *testing.T) {
	triples := fjords()
	for i := range triples {
		triples = append(triples, [3]string{triples[i][2], "county", fmt.Sprintf("county %d", i%10)})
	}
	options := Default()
	options.Ranker = lastRelation{[]string{"fjord", "county"}, true}
	enc := &countingEncoder{}
	r, err := Ground(t.Context(), withoutVectors{storetest.NewGraph(triples...)}, enc, runStep,
		"which county has a fjord of Norway", []Fact{{Subject: "Norway", Relation: "fjord", Object: "Gaupnefjord"}},
		options)
	if err != nil {
		t.Fatal(err)
	}
	if got := subjects(r); !slices.Equal(got, []string{"Norway"}) {
		t.Errorf("subjects %q, want Norway", got)
	}
	if len(r.Paths) == 0 || r.Paths[0].Ends != 10 || len(r.Paths[0].Walks) != maxRankedEnds {
		t.Errorf("the paths are %+v, want one to 10 counties by %d walks first", r.Paths, maxRankedEnds)
	}
	if most := MaxEncoded + 2*subjectFirstMaxRead; len(enc.texts) > most {
		t.Errorf("%d texts encoded, want %d at most", len(enc.texts), most)
	}
}
