package walk

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/triplemesh/triplemesh/services/retriever/rank"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// fakeRanker prefers paths whose last relation has a name.
type fakeRanker struct {
	prefers string
	knows   bool
	err     error
	got     *rank.Question
}

func (r *fakeRanker) Covers(q *rank.Question) bool {
	r.got = q
	return r.knows
}

func (r *fakeRanker) Probabilities(q *rank.Question) ([]float32, error) {
	p := make([]float32, len(q.Paths))
	for i, path := range q.Paths {
		if q.Relations[path.Steps[len(path.Steps)-1]].Name == r.prefers {
			p[i] = 0.9
		}
	}
	return p, r.err
}

func TestARankerThatKnowsTheGraphDecidesTheOrder(t *testing.T) {
	polk, _, _ := presidents.Entity(context.Background(), "Polk")
	for _, c := range []struct {
		name   string
		ranker *fakeRanker
		only   bool
		ranked bool
		paths  bool
	}{
		{"it ranks", &fakeRanker{prefers: "people.person.gender", knows: true}, false, true, true},
		{"one that does not know it leaves the order to the words", &fakeRanker{prefers: "people.person.gender"},
			false, false, true},
		{"one that does not know it returns none if only ranked paths are wanted", &fakeRanker{}, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{}, SuggestRequest{
				Question: "where is the birthplace of polk", Topics: []store.EntityID{polk}, MaxHops: 1, Limit: 5,
				Ranker: c.ranker, RankedOnly: c.only})
			if err != nil {
				t.Fatal(err)
			}
			if (len(paths) > 0) != c.paths {
				t.Fatalf("%d paths", len(paths))
			}
			if !c.paths {
				return
			}
			first := describeSteps(presidents, paths[0].Steps)
			if c.ranked != (paths[0].Probability != nil) || c.ranked != (first == "person gender") {
				t.Errorf("the first path is %q with the probability %v", first, paths[0].Probability)
			}
			if c.ranked && (*paths[0].Probability < 0.999 || math.Abs(float64(paths[0].Score)-0.9) > 1e-3) {
				t.Errorf("of a path with 0.9 where none has the rest, the probability is %g, the score %g",
					*paths[0].Probability, paths[0].Score)
			}
		})
	}
}

func TestAPassiveStepIsFollowedAsTheQuestionSays(t *testing.T) {
	g := storetest.NewGraph([3]string{"Anna Lind", "influenced by", "Per Holm"},
		[3]string{"Ada Stam", "influenced by", "Anna Lind"})
	ranker := &fakeRanker{prefers: "influenced by", knows: true}
	for question, inverse := range map[string]bool{"who influenced Anna Lind": false,
		"who was influenced by Anna Lind": true, "whom did Anna Lind influence": true} {
		paths, err := Suggest(t.Context(), g, &storetest.WordEncoder{}, SuggestRequest{Question: question,
			Topics: []store.EntityID{g.ID("Anna Lind")}, MaxHops: 1, Limit: 5, Ranker: ranker, RankedOnly: true})
		if err != nil || len(paths) == 0 || paths[0].Steps[0].Inverse != inverse || *paths[0].Probability < 0.999 {
			t.Errorf("%q: %+v, %v", question, paths, err)
		}
	}
}

func TestPathsFromALikelierTopicComeFirst(t *testing.T) {
	polk, _, _ := presidents.Entity(t.Context(), "Polk")
	abe, _, _ := presidents.Entity(t.Context(), "Abe")
	paths, err := Suggest(t.Context(), presidents, &storetest.WordEncoder{}, SuggestRequest{
		Question: "what birthplace", Topics: []store.EntityID{polk, abe}, TopicScores: []float32{0.2, 0.8}, MaxHops: 1,
		Limit: 5, Ranker: &fakeRanker{prefers: "people.person.birthplace", knows: true}})
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d paths, %v", len(paths), err)
	}
	if first := paths[0]; first.Topics[0] != abe || *first.Probability < 0.79 || *first.Probability > 0.81 {
		t.Errorf("the first path starts from %s with the probability %g",
			presidents.EntityName(first.Topics[0]), *first.Probability)
	}
}

func TestOnlyStepsAreReadForARankerThatDoesNotKnowTheGraph(t *testing.T) {
	polk, _, _ := presidents.Entity(context.Background(), "Polk")
	for _, knows := range []bool{true, false} {
		ranker := &fakeRanker{knows: knows}
		if _, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{}, SuggestRequest{
			Question: "where was polk born", Topics: []store.EntityID{polk}, MaxHops: 1, Limit: 5, Ranker: ranker,
		}); err != nil {
			t.Fatal(err)
		}
		for i, p := range ranker.got.Paths {
			if described := p.Values != (rank.Values{}) && p.Profile != nil; len(p.Steps) != 1 || described != knows {
				t.Errorf("known %v: path %d has the steps %v, values %v", knows, i, p.Steps, p.Values)
			}
		}
	}
}

func TestRankedHopsReachFurtherOnlyWithARanker(t *testing.T) {
	polk, _, _ := presidents.Entity(context.Background(), "Polk")
	for _, knows := range []bool{true, false} {
		paths, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{}, SuggestRequest{
			Question: "in which state was polk born", Topics: []store.EntityID{polk}, MaxHops: 1,
			RankedHops: 2, Limit: 50,
			Ranker: &fakeRanker{knows: knows}})
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, p := range paths {
			longest = max(longest, len(p.Steps))
		}
		if want := map[bool]int{true: 2, false: 1}[knows]; longest != want {
			t.Errorf("known %v: the longest path has %d steps, want %d", knows, longest, want)
		}
	}
}

func TestAFailedRankerIsReported(t *testing.T) {
	polk, _, _ := presidents.Entity(context.Background(), "Polk")
	broken := errors.New("broken")
	_, err := Suggest(context.Background(), presidents, &storetest.WordEncoder{}, SuggestRequest{
		Question: "who", Topics: []store.EntityID{polk}, MaxHops: 1, Limit: 1,
		Ranker: &fakeRanker{knows: true, err: broken}})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestCandidatesDescribeWhatARankerReads(t *testing.T) {
	ctx := context.Background()
	polk, _, _ := presidents.Entity(ctx, "Polk")
	knox, _, _ := presidents.Entity(ctx, "Knox")
	c, err := ListCandidates(ctx, presidents, &storetest.WordEncoder{}, SuggestRequest{
		Question: "what gender has Polk", Topics: []store.EntityID{polk, knox}, MaxHops: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Paths) != len(c.Question.Paths) || len(c.Paths) == 0 {
		t.Fatalf("%d paths, %d described", len(c.Paths), len(c.Question.Paths))
	}
	value := func(p *rank.Path, name string) float32 { return p.Values[slices.Index(rank.ValueNames[:], name)] }
	best := float32(math.Inf(-1))
	for i := range c.Question.Paths {
		p := &c.Question.Paths[i]
		best = max(best, value(p, "words_behind"))
		if got, want := value(p, "steps"), float32(len(c.Paths[i].Steps)); got != want {
			t.Errorf("path %d has %g steps, want %g", i, got, want)
		}
		if want := indicator(c.Paths[i].Topics[0] == polk); value(p, "topic_named") != want {
			t.Errorf("path %d: the question names its topic entity: %g, want %g", i, value(p, "topic_named"), want)
		}
		if len(p.Profile) == 0 || p.Profile[0].Share <= 0 || p.Profile[0].Share > 1 {
			t.Errorf("path %d has the profile %v", i, p.Profile)
		}
		for _, v := range p.Values {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("path %d has the values %v", i, p.Values)
			}
		}
	}
	if best != 0 {
		t.Errorf("the best path is %g behind the best", best)
	}
}
