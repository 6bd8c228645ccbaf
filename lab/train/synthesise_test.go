package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/feedback"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// walkers are people whose relations can be listed.
type walkers struct {
	*people
	entities int
}

func (w walkers) SampleEntities(_ context.Context, req *retrieverv1.SampleEntitiesRequest,
	_ ...grpc.CallOption) (*retrieverv1.SampleEntitiesResponse, error) {
	resp := &retrieverv1.SampleEntitiesResponse{Kg: req.GetKg()}
	for i := range min(w.entities, int(req.GetLimit())) {
		resp.Entities = append(resp.Entities, &graphv1.Entity{Name: fmt.Sprintf("p%04d", i)})
	}
	return resp, nil
}

func (w walkers) ListNeighbours(_ context.Context, req *retrieverv1.ListNeighboursRequest,
	_ ...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error) {
	resp := &retrieverv1.ListNeighboursResponse{}
	if strings.Contains(req.GetEntity(), " of ") {
		return resp, nil // what relations lead to has none
	}
	for _, r := range w.relations {
		resp.Relations = append(resp.Relations, &retrieverv1.RelationCount{Relation: r})
	}
	return resp, nil
}

// SearchRelations finds the relation that a query ends in.
func (w walkers) SearchRelations(_ context.Context, req *retrieverv1.SearchRelationsRequest,
	_ ...grpc.CallOption) (*retrieverv1.SearchRelationsResponse, error) {
	resp := &retrieverv1.SearchRelationsResponse{}
	for _, query := range req.GetQueries() {
		hits := &retrieverv1.RelationHits{}
		for _, r := range w.relations {
			if strings.HasSuffix(query, r) {
				hits.Relations = append(hits.Relations, &retrieverv1.ScoredRelation{Relation: r})
			}
		}
		resp.Results = append(resp.Results, hits)
	}
	return resp, nil
}

func TestQuestionsAreMadeOfTheGraph(t *testing.T) {
	make := func(seed int64) *Set {
		s := Synthesiser{Walker: walkers{newPeople(), 500}, KG: &graphv1.KnowledgeGraphRef{Name: "town"}, Count: 200,
			MaxHops: 2, Seed: seed, Parallel: 4}
		set, err := s.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	set := make(1)
	if len(set.Questions) < 190 || !set.Synthetic {
		t.Fatalf("%d questions of %+v", len(set.Questions), set)
	}
	for _, q := range set.Questions {
		relation, _, _ := strings.Cut(q.Answers[0], " of ")
		if len(q.TopicEntities) != 1 || !strings.Contains(q.Question, q.TopicEntities[0]) ||
			!strings.Contains(q.Question, relation) || q.Answers[0] != relation+" of "+q.TopicEntities[0] {
			t.Errorf("%q: answers %q", q.Question, q.Answers)
		}
	}
	if again := make(1); again.Questions[7].Question != set.Questions[7].Question {
		t.Error("the same seed makes other questions")
	}
	if other := make(2); slices.EqualFunc(other.Questions, set.Questions,
		func(a, b dataset.Question) bool { return a.Question == b.Question }) {
		t.Error("another seed makes the same questions")
	}
	var refused *RefusedError
	none := Synthesiser{Walker: walkers{newPeople(), 0}, KG: &graphv1.KnowledgeGraphRef{Name: "town"}, Count: 200,
		MaxHops: 2}
	if _, err := none.Make(t.Context()); !errors.As(err, &refused) {
		t.Errorf("a graph without entities: %v", err)
	}
}

// finder finds a word for each relation, and one that is for another.
type finder struct {
	mu    sync.Mutex
	asked []*generatorv1.GenerateRelationWordsRequest
	err   error
}

func (f *finder) GenerateRelationWords(_ context.Context, req *generatorv1.GenerateRelationWordsRequest,
	_ ...grpc.CallOption) (*generatorv1.GenerateRelationWordsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, req)
	return &generatorv1.GenerateRelationWordsResponse{Words: []string{
		"gizmo of another", "whatchamacallit of " + req.GetExamples()[0].GetRelation()}}, f.err
}

func TestQuestionsAreInWordsOfTheModelToo(t *testing.T) {
	words := &finder{}
	s := Synthesiser{Walker: walkers{newPeople(), 500}, Words: words, MaxRelations: 2,
		KG: &graphv1.KnowledgeGraphRef{Name: "town"}, Count: 200, MaxHops: 1, Seed: 1, Parallel: 4}
	set, err := s.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(words.asked) != 2 {
		t.Errorf("asked for words of %d relations, want 2", len(words.asked))
	}
	for _, req := range words.asked {
		for _, e := range req.GetExamples() {
			if e.GetObject() != e.GetRelation()+" of "+e.GetSubject() ||
				e.GetRelation() != req.GetExamples()[0].GetRelation() {
				t.Errorf("asked by the example %v", e)
			}
		}
	}
	other := 0
	for _, q := range set.Questions {
		if strings.Contains(q.Question, "whatchamacallit") {
			other++
		}
		if strings.Contains(q.Question, "gizmo") {
			t.Errorf("%q has a word of another relation", q.Question)
		}
	}
	if other < len(set.Questions)/4 || other > len(set.Questions)*3/4 {
		t.Errorf("%d of %d questions have other words", other, len(set.Questions))
	}
	s.Words = &finder{err: status.Error(codes.Unavailable, "no model")}
	if _, err := s.Make(t.Context()); err == nil || !strings.Contains(err.Error(), "--relation-words 0") {
		t.Errorf("got %v", err)
	}
}

func TestFewSynthesisedQuestionsPerRelationAreRefused(t *testing.T) {
	made := set(t, "town", mothers(200))
	made.Synthetic = true
	tested := set(t, "town", mothers(20))
	tested.Name, tested.Test = "real", true
	for _, c := range []struct {
		name      string
		sets      []*Set
		relations int
		refused   bool
	}{
		{"enough of them", []*Set{made}, 3, false},
		{"few of them", []*Set{made}, 100, true},
		{"few of them and real ones", []*Set{made, tested}, 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Result{Sets: c.sets, Trained: 160, Weights: &rank.Weights{Relations: make([]uint64, c.relations)},
				Evaluations: []Evaluation{{KG: "town@1", Questions: 40, Trained: Ranking{First: 1}}}}
			var refused *RefusedError
			if err := r.CheckBetter("town"); errors.As(err, &refused) != c.refused {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHopsAreInWords(t *testing.T) {
	step := func(relation string, inverse bool) []*graphv1.RelationStep {
		return []*graphv1.RelationStep{{Relation: relation, Inverse: inverse}}
	}
	found := map[string][]string{"located at": {"seat"}}
	for _, c := range []struct {
		name string
		hop  []*graphv1.RelationStep
		want []string
	}{
		{"a noun", step("people.person.place_of_birth", false),
			[]string{"the place of birth of X", "X 's place of birth"}},
		{"a noun backwards", step("spouse", true), []string{"those whose spouse is X"}},
		{"what somebody did", step("directed_by", false), []string{"the director of X", "who directed X"}},
		{"what somebody did, backwards", step("directed_by", true), []string{"those that X directed", "directed by X"}},
		{"a verb", step("has_genre", false), []string{"the genre of X"}},
		{"a preposition", step("in_language", false), []string{"the language of X"}},
		{"another word for it", step("located_at", false), []string{"the seat of X", "the located at of X"}},
		{"another word backwards", step("located_at", true), []string{"those whose seat is X"}},
		{"a mediator", append(step("film.actor.film", false), step("film.performance.film", false)...),
			[]string{"the film of X"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := map[string]bool{}
			for seed := range uint64(200) {
				random := rand.New(rand.NewPCG(seed, 0))
				pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
				said[phraseHop("X", c.hop, found, pick)] = true
			}
			for _, want := range c.want {
				if !said[want] {
					t.Errorf("%q is not among %v", want, said)
				}
			}
		})
	}
}

// marksOf are callers' marks on the first answers of questions.
func marksOf(n int, judgement orchestratorv1.Judgement) []*orchestratorv1.Feedback {
	var marks []*orchestratorv1.Feedback
	for i, q := range mothers(n) {
		marks = append(marks, &orchestratorv1.Feedback{Id: q.ID, RunId: fmt.Sprintf("run%03d", i), Question: q.Question,
			Kg: &graphv1.KnowledgeGraphRef{Name: "town"}, Subject: "ana",
			TopicEntities: []*graphv1.Entity{{Name: q.TopicEntities[0]}},
			Mark: &orchestratorv1.Mark{Judgement: judgement,
				Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: q.Answers[0]}}}})
	}
	return marks
}

func TestFeedbackTrainsARanker(t *testing.T) {
	kg := &graphv1.KnowledgeGraphRef{Name: "town"}
	right := orchestratorv1.Judgement_JUDGEMENT_RIGHT
	set, err := NewFeedbackSet(marksOf(100, right), kg, FeedbackRequirements(), 1)
	if err != nil {
		t.Fatal(err)
	}
	result, err := trainer(t, newPeople(), set).Train(t.Context())
	if err != nil || result.Evaluations[0].Trained.First != 1 {
		t.Fatalf("got %+v, %v", result, err)
	}
	several := FeedbackRequirements()
	several.MinCallers = 3
	var alone *feedback.RefusedError
	if _, err := NewFeedbackSet(marksOf(100, right), kg, several, 1); !errors.As(err, &alone) ||
		!strings.Contains(err.Error(), `the caller "ana" alone made the marks, and 3 callers are needed`) {
		t.Errorf("one caller's marks: %v", err)
	}
	poisoned := marksOf(100, right)
	for _, m := range poisoned[:60] {
		m.GetMark().GetAnswer().Answer = "Buy Now Ltd"
	}
	for name, marks := range map[string][]*orchestratorv1.Feedback{
		"too few": marksOf(10, right), "none right": marksOf(100, orchestratorv1.Judgement_JUDGEMENT_WRONG),
		"one answer to most": poisoned,
	} {
		t.Run(name, func(t *testing.T) {
			var refused *feedback.RefusedError
			if _, err := NewFeedbackSet(marks, kg, FeedbackRequirements(), 1); !errors.As(err, &refused) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTrainingBeginsWithThePresentRanker(t *testing.T) {
	first, err := trainer(t, newPeople(), set(t, "town", mothers(100))).Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next := trainer(t, newPeople(), set(t, "town", mothers(100)))
	next.Start, next.Fit.Rate = first.Weights, 0
	second, err := next.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(second.Weights.Networks, first.Weights.Networks) || len(second.Weights.Relations) != 3 {
		t.Errorf("the networks differ without learning, or relations are lost: %v", second.Weights.Relations)
	}
	next.Start.Encoder = "another"
	if _, err := next.Train(t.Context()); err != nil {
		t.Errorf("weights of another encoder: %v", err)
	}
}
