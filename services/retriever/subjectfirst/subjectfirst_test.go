package subjectfirst

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/internal/graphtest"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// world has a hub, Norway, with far more edges than are encoded, a mediator and
// two towns of one name.
var world = graphtest.New(append(fjords(),
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
	for i := range 3 * MaxTriples {
		triples = append(triples, [3]string{"Norway", "fjord", fmt.Sprintf("fjord %d", i)})
	}
	return triples
}

// counting counts what is encoded.
type counting struct{ texts []string }

func (c *counting) Encode(_ context.Context, texts []string) ([][]float32, error) {
	c.texts = append(c.texts, texts...)
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = graphtest.Vector(t)
	}
	return vectors, nil
}

func search(t *testing.T, enc Encoder, ask Ask, query string, k int, filter store.Filter) []string {
	t.Helper()
	lists, err := New(world, enc, ask).SearchTriples(t.Context(), [][]float32{graphtest.Vector(query)}, k, filter)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, h := range lists[0] {
		lines = append(lines, line(h.Triple))
	}
	return lines
}

func line(id store.TripleID) string {
	t := world.Triple(id)
	return world.EntityName(t.Subject) + " | " + world.RelationName(t.Relation) + " | " + world.EntityName(t.Object)
}

func TestCandidates(t *testing.T) {
	tests := []struct {
		name    string
		ask     Ask
		want    string
		without bool
	}{
		{"what a text names", Ask{Texts: []string{"Where was Erik born?"}}, "Erik | born in | Bergen", false},
		{"what a pseudo-graph names", Ask{Names: []string{"erik"}}, "Erik | born in | Bergen", false},
		{"what has a name that resembles one", Ask{Names: []string{"Hammar"}}, "Hamar | mayor | Ann", false},
		{"all that have one name", Ask{Names: []string{"Hamar"}}, "Hamar (Quebec) | mayor | Bob", false},
		{"facts in which it is the object", Ask{Names: []string{"Bergen"}}, "Erik | born in | Bergen", false},
		{"what lies behind a mediator", Ask{Names: []string{"Norway"}}, "m.0aaaa1 | office.holder | Harald", false},
		{"neighbours where a pseudo-graph goes on", Ask{Names: []string{"Erik"}, Chained: true}, "Bergen | country | Norway", false},
		{"but no neighbours where it does not", Ask{Names: []string{"Erik"}}, "Bergen | country | Norway", true},
		{"nothing that has nothing to do with it", Ask{Names: []string{"Erik"}, Chained: true}, "Far away | is | elsewhere", true},
		{"nothing where nothing is named", Ask{Texts: []string{"why?"}}, "Erik | born in | Bergen", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := search(t, &counting{}, tt.ask, tt.want, MaxTriples, store.Filter{})
			if slices.Contains(got, tt.want) == tt.without {
				t.Errorf("%q found: %v", tt.want, !tt.without)
			}
		})
	}
}

func TestAHubIsCutByWhatIsAsked(t *testing.T) {
	enc := &counting{}
	got := search(t, enc, Ask{Names: []string{"Norway"}}, "Norway capital", 1, store.Filter{})
	if want := []string{"Norway | capital | Oslo"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if len(enc.texts) > MaxTriples {
		t.Errorf("%d triples encoded, want %d at most", len(enc.texts), MaxTriples)
	}
	named := "Norway | fjord | fjord 500"
	if got := search(t, enc, Ask{Names: []string{"Norway", "fjord 500"}}, "Norway fjord 500", MaxTriples, store.Filter{}); !slices.Contains(got, named) {
		t.Errorf("the end that is named was cut off")
	}
}

func TestFiltersLimitTheCandidates(t *testing.T) {
	enc := &counting{}
	capital := world.RelationID("capital")
	got := search(t, enc, Ask{Names: []string{"Norway", "Erik"}}, "Norway", MaxTriples, store.Filter{Relations: []store.RelationID{capital}})
	if want := []string{"Norway | capital | Oslo"}; !slices.Equal(got, want) || len(enc.texts) != 1 {
		t.Errorf("found %q with %d triples encoded, want %q and that alone", got, len(enc.texts), want)
	}
	got = search(t, enc, Ask{Names: []string{"Norway"}}, "Hamar", 10, store.Filter{Subjects: []store.EntityID{world.ID("Hamar")}})
	if want := []string{"Hamar | mayor | Ann"}; !slices.Equal(got, want) {
		t.Errorf("found %q about Hamar, want %q", got, want)
	}
}

func TestATripleIsEncodedOnce(t *testing.T) {
	enc := &counting{}
	snap := New(world, enc, Ask{Names: []string{"Erik"}})
	queries := [][]float32{graphtest.Vector("Erik"), graphtest.Vector("Bergen")}
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

type broken struct{}

var errDown = errors.New("encoder is down")

func (broken) Encode(context.Context, []string) ([][]float32, error) { return nil, errDown }

func TestTheEncodersErrorIsPassedOn(t *testing.T) {
	snap := New(world, broken{}, Ask{Names: []string{"Erik"}})
	for range 2 { // what failed once is tried again
		if _, err := snap.SearchTriples(t.Context(), [][]float32{graphtest.Vector("x")}, 1, store.Filter{}); !errors.Is(err, errDown) {
			t.Errorf("error %v, want %v", err, errDown)
		}
	}
}

func TestAskOf(t *testing.T) {
	chain := []ground.Fact{{Subject: "Erik", Relation: "born in", Object: "BERGEN"}, {Subject: "Bergen", Relation: "country", Object: "Norway"}}
	if ask := AskOf("q", chain); !ask.Chained || len(ask.Names) != 4 || !slices.Equal(ask.Texts, []string{"q"}) {
		t.Errorf("a chain asks %+v", ask)
	}
	for name, pseudo := range map[string][]ground.Fact{
		"two facts about one subject":       {{Subject: "Erik", Object: "Bergen"}, {Subject: "Erik", Object: "Oslo"}},
		"a subject that is also its object": {{Subject: "Erik", Object: "Erik"}},
		"no pseudo-graph":                   nil,
	} {
		if AskOf("q", pseudo).Chained {
			t.Errorf("%s is taken for a chain", name)
		}
	}
}
