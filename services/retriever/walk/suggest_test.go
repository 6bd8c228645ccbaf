package walk

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

var presidents = storetest.NewGraph(
	[3]string{"Polk", "government.politician.positions_held", "m.0aaaa1"},
	[3]string{"Polk", "government.politician.positions_held", "m.0aaaa2"},
	[3]string{"m.0aaaa1", "government.position.job_title", "Governor"},
	[3]string{"m.0aaaa2", "government.position.job_title", "Speaker"},
	[3]string{"Polk", "people.person.birthplace", "Pineville"},
	[3]string{"Polk", "people.person.birth_town", "Pineville"},
	[3]string{"Polk", "people.person.gender", "Male"},
	[3]string{"Pineville", "location.location.birth_state", "Carolina"},
	[3]string{"Abe", "people.person.gender", "Male"},
	[3]string{"Abe", "people.person.birthplace", "Hodgenville"},
	[3]string{"Knox", "people.person.birth_town", "Pineville"},
	[3]string{"Knox", "people.person.gender", "Male"},
)

func suggestPaths(t *testing.T, g *storetest.Graph, req SuggestRequest) []string {
	t.Helper()
	paths, err := Suggest(context.Background(), g, &storetest.WordEncoder{}, req)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for i, p := range paths {
		said = append(said, describeSteps(g, p.Steps))
		if i > 0 && p.Score > paths[i-1].Score {
			t.Errorf("path %d scores %v, better than the one before it", i, p.Score)
		}
		if p.Ends < 1 || len(p.Topics) != 1 {
			t.Errorf("path %q has %d ends and %d topics", said[i], p.Ends, len(p.Topics))
		}
	}
	return said
}

func TestSuggest(t *testing.T) {
	tests := []struct {
		name string
		req  SuggestRequest
		want []string
	}{
		{
			"a path through a mediator is found, the mediator itself is no end",
			SuggestRequest{Question: "which job title positions held by polk", MaxHops: 2, Limit: 1},
			[]string{"politician positions held position job title"},
		},
		{
			"the model's words help to rank",
			SuggestRequest{Question: "who", Proposed: []string{"gender"}, MaxHops: 1, Limit: 1},
			[]string{"person gender"},
		},
		{
			"of two paths with the same ends the better stays",
			SuggestRequest{Question: "birthplace", MaxHops: 1, Limit: 9},
			[]string{"person birthplace", "person gender"},
		},
		{
			"max hops of one stays close",
			SuggestRequest{Question: "birth state", MaxHops: 1, Limit: 1},
			[]string{"person birth town"},
		},
		{
			"a path that is too broad is passed over for one that fits",
			SuggestRequest{Question: "which job title positions held gender", MaxHops: 2, Limit: 1, MaxEnds: 1},
			[]string{"person gender"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Topics = ids(presidents, "Polk")
			if got := suggestPaths(t, presidents, tt.req); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSuggestedPathsHaveTheirEnds(t *testing.T) {
	req := SuggestRequest{Question: "birth", Topics: ids(presidents, "Polk", "Abe"), MaxHops: 3, Limit: 50}
	paths, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{}, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 6 {
		t.Fatalf("only %d paths", len(paths))
	}
	var plans []Plan
	for _, p := range paths {
		plans = append(plans, p.Plan)
	}
	walks, _, err := Follow(context.Background(), presidents, plans, Limit{Walks: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		ends := map[store.EntityID]bool{}
		for _, w := range walks[i] {
			if end := w.Entities[len(w.Entities)-1]; end != p.Topics[0] {
				ends[end] = true
			}
		}
		if len(ends) != p.Ends {
			t.Errorf("%s: %d ends reported, %d found", describeSteps(presidents, p.Steps), p.Ends, len(ends))
		}
	}
}

func TestAPathMayReverseARelationToOtherEntities(t *testing.T) {
	req := SuggestRequest{Question: "films of the director", Topics: ids(films, "Harbour"), MaxHops: 3, Limit: 99}
	paths, err := Suggest(context.Background(), films, &storetest.WordEncoder{}, req)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	for _, p := range paths {
		ends[describeSteps(films, p.Steps)] = p.Ends
	}
	if n := ends["director inverse director"]; n != 1 {
		t.Errorf("the director's other films are %d, want Tides alone", n)
	}
	if n, ok := ends["director born in inverse born in"]; ok {
		t.Errorf("a town where nobody else was born leads back to %d", n)
	}
}

func TestSharedEndsGetABonus(t *testing.T) {
	one, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{},
		SuggestRequest{Question: "x", Topics: ids(presidents, "Polk"), MaxHops: 1, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	two, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{},
		SuggestRequest{Question: "x", Topics: ids(presidents, "Polk", "Abe"), MaxHops: 1, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	gender := func(paths []Suggestion) float32 {
		for _, p := range paths {
			if describeSteps(presidents, p.Steps) == "person gender" && p.Topics[0] == presidents.ID("Polk") {
				return p.Score
			}
		}
		t.Fatal("no path by gender")
		return 0
	}
	if diff := gender(two) - gender(one); diff < sharedBonus-1e-6 || diff > sharedBonus+1e-6 {
		t.Errorf("shared end adds %v, want %v", diff, sharedBonus)
	}
}

func TestDateBonus(t *testing.T) {
	g := storetest.NewGraph([3]string{"Harbour", "issued", "1984-05"}, [3]string{"Harbour", "shown", "Oslo"})
	tests := []struct {
		name, question string
		ends           []string
		want           float32
	}{
		{"a date where one is asked for", "In which year?", []string{"1984-05"}, timeBonus},
		{"a date where none is asked for", "Where?", []string{"1984-05"}, -timeBonus},
		{"a place, whatever is asked", "When?", []string{"Oslo"}, 0},
		{"a date beside a place", "When?", []string{"1984-05", "Oslo"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := aimed(t, g, tt.question).dateBonus(g, &prospect{ends: ids(g, tt.ends...)}); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSuggestReturnsErrors(t *testing.T) {
	down := errors.New("encoder is down")
	req := SuggestRequest{Question: "x", Topics: ids(presidents, "Polk"), MaxHops: 1, Limit: 1}
	if _, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{Err: down}, req); !errors.Is(err,
		down) {
		t.Errorf("error %v, want %v", err, down)
	}
	if _, err := Suggest(context.Background(), brokenGraph{presidents}, &storetest.WordEncoder{}, req); !errors.Is(err,
		errDown) {
		t.Errorf("error %v, want %v", err, errDown)
	}
}

func TestMultiFactOnlyReturnsPathsOnlyIfTheyLead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question string
		want           []string
	}{
		{"a question for two facts", "birth state of birthplace", []string{"person birthplace location birth state"}},
		{"a question for one fact", "birthplace", nil},
		{"a question for what a mediator joins", "which job title positions held by polk", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := SuggestRequest{Question: c.question, Topics: ids(presidents, "Polk"), MaxHops: 3, Limit: 1,
				MultiFactOnly: true}
			if got := suggestPaths(t, presidents, req); !slices.Equal(got, c.want) {
				t.Errorf("suggested %q, want %q", got, c.want)
			}
		})
	}
}

func TestOfPathsWithTheSameWordsTheLikelierTopicEntityIsFirst(t *testing.T) {
	polk, abe := presidents.ID("Polk"), presidents.ID("Abe")
	for _, c := range []struct {
		name, question string
		topics         []store.EntityID
		want           store.EntityID
	}{
		{"the one that was linked first", "what gender", []store.EntityID{polk, abe}, polk},
		{"the other one if it was linked first", "what gender", []store.EntityID{abe, polk}, abe},
		{"the one that the question names", "what gender is abe", []store.EntityID{polk, abe}, abe},
		{"the other one if the question names it", "what gender is polk", []store.EntityID{abe, polk}, polk},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, err := Suggest(t.Context(), presidents, &storetest.WordEncoder{},
				SuggestRequest{Question: c.question, Topics: c.topics, MaxHops: 1, Limit: 2})
			if err != nil || len(paths) == 0 {
				t.Fatalf("%d paths, %v", len(paths), err)
			}
			if got := paths[0].Topics[0]; got != c.want {
				t.Errorf("the first path starts at %s", presidents.EntityName(got))
			}
		})
	}
}

func TestAPathWhoseLastStepIsInverseYieldsToOneALittleWorse(t *testing.T) {
	inverse := &prospect{steps: []Step{{Inverse: true}}, score: 0.6}
	turning := &prospect{steps: []Step{{Inverse: true}, {}}, score: 0.5}
	addPriors(&aim{}, []store.EntityID{0}, []*prospect{inverse, turning})
	if inverse.score >= turning.score {
		t.Errorf("inverse has %v, one that turns forward %v", inverse.score, turning.score)
	}
	if turning.score != 0.5 {
		t.Errorf("the best score has become %v", turning.score)
	}
}
