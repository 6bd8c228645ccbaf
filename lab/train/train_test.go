package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/rank"
)

// people is a retriever over people with a mother, a boss and a town each. Its own order is the
// alphabet's, and the questions ask for mothers.
type people struct {
	relations []string
	encoder   string
	values    []string
	// alphabet is the order of the ranking, which may be another.
	ranked []string
}

func newPeople() *people {
	relations := []string{"boss", "mother", "town"}
	return &people{relations: relations, encoder: "letters", values: rank.ValueNames[:], ranked: relations}
}

func path(relation, topic string) *graphv1.RelationPath {
	return &graphv1.RelationPath{Steps: []*graphv1.RelationStep{{Relation: relation}}, TopicEntities: []string{topic}}
}

func (p *people) LinkEntities(_ context.Context, req *retrieverv1.LinkEntitiesRequest,
	_ ...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error) {
	resp := &retrieverv1.LinkEntitiesResponse{}
	for word := range strings.FieldsSeq(req.GetText()) {
		if strings.HasPrefix(word, "p0") {
			resp.Links = append(resp.Links, &graphv1.EntityLink{Entity: word})
		}
	}
	return resp, nil
}

func (p *people) SuggestPaths(_ context.Context, req *retrieverv1.SuggestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	resp := &retrieverv1.SuggestPathsResponse{Kg: &graphv1.KnowledgeGraphRef{Name: req.GetKg().GetName(), Snapshot: 3}}
	topic := req.GetTopicEntities()[0]
	if topic == "nobody" {
		return resp, nil
	}
	if !req.GetIncludeFeatures() {
		for _, r := range p.ranked {
			resp.Paths = append(resp.Paths, path(r, topic))
		}
		return resp, nil
	}
	f := &retrieverv1.PathFeatures{ValueNames: p.values, Encoder: p.encoder, QuestionVector: []float32{0, 1, 0, 0}}
	for i, r := range p.relations {
		vector := make([]float32, 4)
		vector[i] = 1
		f.Relations = append(f.Relations, &retrieverv1.RelationVector{Relation: r, Vector: vector})
		f.Candidates = append(f.Candidates, &retrieverv1.CandidatePath{Values: make([]float32, rank.ValueCount),
			Steps: []uint32{uint32(i)}, ProfileRelations: []uint32{0}, ProfileShares: []float32{1}})
		resp.Paths = append(resp.Paths, path(r, topic))
	}
	resp.Features = f
	return resp, nil
}

func (p *people) FollowPaths(_ context.Context, req *retrieverv1.FollowPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	resp := &retrieverv1.FollowPathsResponse{}
	for _, path := range req.GetPaths() {
		topic := append(path.GetTopicEntities(), req.GetTopicEntities()...)[0]
		resp.Paths = append(resp.Paths, &graphv1.ReasoningPath{Steps: path.GetSteps(),
			Entities: []string{topic, path.GetSteps()[0].GetRelation() + " of " + topic}})
	}
	return resp, nil
}

// mothers are n questions with the answers that the graph has.
func mothers(n int) []dataset.Question {
	var all []dataset.Question
	for i := range n {
		topic := fmt.Sprintf("p%04d", i)
		all = append(all, dataset.Question{ID: fmt.Sprint("q", i), Question: "who is the parent of " + topic,
			TopicEntities: []string{topic}, Answers: []string{"Mother of " + topic}, Kind: dataset.Set})
	}
	return all
}

func trainer(t *testing.T, r Retriever, sets ...*Set) *Trainer {
	t.Helper()
	o := Options{Hold: .2, MaxHops: 2, Seed: 1, Parallel: 4, Threads: 2}
	tr := o.newTrainer(r)
	tr.Fit.Epochs = 30
	tr.Sets = sets
	tr.Now = func() time.Time { return time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC) }
	return tr
}

func set(t *testing.T, kg string, questions []dataset.Question) *Set {
	t.Helper()
	s, err := NewSet(kg+".jsonl", &graphv1.KnowledgeGraphRef{Name: kg}, questions, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARankerLearnsWhichRelationAnswers(t *testing.T) {
	result, err := trainer(t, newPeople(), set(t, "town", mothers(200))).Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Evaluations) != 1 || result.Trained+result.Held != 200 {
		t.Fatalf("got %+v", result)
	}
	e := result.Evaluations[0]
	if e.KG != "town@3" || e.Topics != "gold" || e.Rough.First != 0 || e.Current.First != 0 || e.Current.Three != 1 ||
		e.Trained.First != 1 || e.Trained.F1 != 1 || e.Reachable.First != 1 || e.Ranked != 1 {
		t.Errorf("evaluated to %+v", e)
	}
	p := result.Weights.Provenance
	if p.First != 1 || p.FirstBefore != 0 || p.Date != "2026-01-02" || !slices.Equal(p.Graphs, []string{"town@3"}) ||
		p.Trained != result.Trained || p.Held != result.Held {
		t.Errorf("the weights say %+v", p)
	}
	if err := result.CheckBetter("town"); err != nil {
		t.Errorf("a better ranker was refused: %v", err)
	}
	var out strings.Builder
	if err := result.Print(&out); err != nil || !strings.Contains(out.String(), "100.0 / 100.0 / 100.0") {
		t.Errorf("printed %s, %v", out.String(), err)
	}
}

func TestAWorseRankerIsRefused(t *testing.T) {
	people := newPeople()
	people.ranked = []string{"mother", "boss", "town"}
	wrong := mothers(200)
	for i := range wrong {
		if !IsHeld(wrong[i].ID, .2) {
			wrong[i].Answers = []string{"boss of " + wrong[i].TopicEntities[0]}
		}
	}
	tr := trainer(t, people, set(t, "town", wrong))
	tr.Fit.Epochs = 300 // the question's vector is that of the right relation
	result, err := tr.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var refused *RefusedError
	if err := result.CheckBetter("town"); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "worse") {
		t.Errorf("got %v", err)
	}
	if err := result.CheckBetter("elsewhere"); !errors.As(err, &refused) {
		t.Errorf("a graph without held questions: %v", err)
	}
}

func TestSetsThatTeachNothingAreRefused(t *testing.T) {
	russian := mothers(100)
	for i := range russian {
		russian[i].Question = "кто мать человека " + russian[i].TopicEntities[0]
	}
	german := mothers(100)
	for i := range german {
		german[i].Question = "wer ist die mutter von " + german[i].TopicEntities[0]
	}
	unknown := mothers(100)
	for i := range unknown {
		unknown[i].Answers = []string{"somebody else"}
	}
	far := mothers(100)
	for i := range far {
		far[i].TopicEntities = []string{"nobody"}
		far[i].Question = fmt.Sprint("who is number ", i)
	}
	for _, c := range []struct {
		name      string
		questions []dataset.Question
		says      string
	}{
		{"too few questions", mothers(30), "and 30 are needed"},
		{"answers that the graph does not have", unknown, "0 questions to train on have a path"},
		{"topic entities without paths", far, "0 questions"},
		{"another script", russian, "the questions are in a language written in Cyrillic, and the labels of town"},
		{"another language", german, "the questions are in German"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := trainer(t, newPeople(), set(t, "town", c.questions)).Train(t.Context())
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	open := []dataset.Question{{ID: "1", Question: "why", Answers: []string{"because"}, Kind: dataset.Open},
		{ID: "2", Question: "who", Unanswerable: true}}
	var refused *RefusedError
	if _, err := NewSet("open", nil, open, 0, 1); !errors.As(err, &refused) {
		t.Errorf("free texts: %v", err)
	}
}

func TestQuestionsAreInOnePartOnly(t *testing.T) {
	questions := mothers(200)
	for i, q := range questions[:100] {
		again := q
		again.ID, again.Question = fmt.Sprint("again", i), strings.ToUpper(q.Question)+"?"
		questions = append(questions, again)
	}
	s := set(t, "town", questions)
	tr := trainer(t, newPeople(), s)
	if err := tr.dropLeaked(s); err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, q := range s.Questions {
		if IsHeld(q.ID, tr.Hold) {
			held[strings.ToLower(strings.Trim(q.Question, "?"))] = true
		}
	}
	for _, q := range s.Questions {
		if !IsHeld(q.ID, tr.Hold) && held[strings.ToLower(strings.Trim(q.Question, "?"))] {
			t.Errorf("%q is trained on and held back", q.Question)
		}
	}
	if s.Leaked == 0 {
		t.Error("no question was left out")
	}
}

func TestTrainingOpensNoQuestionThatFiguresArePublishedOn(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, `{"id": "q%d", "question": "who is %d?", "answers": ["a"]}`+"\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	parse := func(name string) (*graphv1.KnowledgeGraphRef, error) {
		return &graphv1.KnowledgeGraphRef{Name: name}, nil
	}
	for part, want := range map[string][2]dataset.Part{"": {dataset.Tune, dataset.Validate},
		"tune": {dataset.Tune, dataset.Validate}, "validate": {dataset.Validate, dataset.Validate}} {
		c := Command{Options: Options{Hold: .2, MaxHops: 3, Parallel: 1, Threads: 1}, KG: []string{"g"}, MinCallers: 1,
			Count: 1, Tuning: dataset.Tuning{Part: part}, Questions: []string{file}, Test: []string{file}}
		if err := c.Prepare(parse); err != nil {
			t.Fatal(err)
		}
		for i, s := range c.sets {
			for _, q := range s.Questions {
				if got := dataset.PartOf(q.ID); got != want[i] {
					t.Errorf("part %q, set %d: %s is in %s", part, i, q.ID, got)
				}
			}
		}
	}
	c := Command{Options: Options{Hold: .2, MaxHops: 3, Parallel: 1, Threads: 1}, KG: []string{"g"}, MinCallers: 1,
		Count: 1, Tuning: dataset.Tuning{Part: "report"}, Questions: []string{file}}
	if err := c.Prepare(parse); err == nil || !strings.Contains(err.Error(), "--part report") {
		t.Errorf("the part report: error %v", err)
	}
}

func TestAboutTheShareIsHeldBack(t *testing.T) {
	held := 0
	for i := range 10000 {
		if IsHeld(fmt.Sprint(i), .2) {
			held++
		}
	}
	if held < 1800 || held > 2200 {
		t.Errorf("%d of 10000 are held back, want 2000", held)
	}
}

func TestGraphsAreLeftOutInTurn(t *testing.T) {
	tr := trainer(t, newPeople(), set(t, "town", mothers(100)), set(t, "city", mothers(100)))
	tr.LeaveGraphOut = true
	result, err := tr.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var graphs []string
	for _, e := range result.LeftOut {
		graphs = append(graphs, e.KG)
	}
	if !slices.Equal(graphs, []string{"town@3", "city@3"}) || result.LeftOut[0].Trained.First != 1 {
		t.Errorf("got %+v", result.LeftOut)
	}
	alone := trainer(t, newPeople(), set(t, "town", mothers(100)))
	alone.LeaveGraphOut = true
	if _, err := alone.Train(t.Context()); err == nil || !strings.Contains(err.Error(), "two knowledge graphs") {
		t.Errorf("one graph: %v", err)
	}
}

func TestLinkedAndGoldTopicEntitiesAreTwoSamples(t *testing.T) {
	q := mothers(1)[0]
	q.TopicEntities = []string{"other"}
	for _, c := range []struct {
		name     string
		topics   []string
		goldOnly bool
		linked   []bool
	}{
		{"topic entities that the mesh does not link", []string{"other"}, false, []bool{false, true}},
		{"topic entities that it links", []string{"p0000"}, false, []bool{false}},
		{"no topic entities", nil, false, []bool{true}},
		{"gold alone", []string{"other"}, true, []bool{false}},
		{"gold alone without any", nil, true, []bool{true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q.TopicEntities = c.topics
			g := &Gatherer{Retriever: newPeople(), KG: &graphv1.KnowledgeGraphRef{Name: "town"}, MaxHops: 2,
				GoldOnly: c.goldOnly}
			samples, err := g.Gather(t.Context(), "set", []dataset.Question{q}, func(string) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			var linked []bool
			for _, s := range samples {
				linked = append(linked, s.Linked)
				if want := s.Linked || c.topics[0] == "p0000"; (s.F1[1] == 1) != want || len(s.Current) != 3 {
					t.Errorf("linked %v: F1 %v, current %v", s.Linked, s.F1, s.Current)
				}
			}
			if !slices.Equal(linked, c.linked) {
				t.Errorf("samples are linked: %v, want %v", linked, c.linked)
			}
		})
	}
}

func TestFeaturesOfAnotherVersionAreRefused(t *testing.T) {
	other := newPeople()
	other.values = append([]string{"new"}, rank.ValueNames[1:]...)
	if _, err := trainer(t, other, set(t, "town", mothers(100))).Train(t.Context()); !errors.Is(err, ErrValues) {
		t.Errorf("got %v", err)
	}
}

func TestF1ComparesNamesAsTheScoresDo(t *testing.T) {
	for _, c := range []struct {
		name    string
		q       dataset.Question
		ends    []string
		percent int
	}{
		{"all", dataset.Question{Answers: []string{"A b", "C"}}, []string{"the a B", "c", "C"}, 100},
		{"half", dataset.Question{Answers: []string{"A b", "C"}}, []string{"c"}, 67},
		{"nothing", dataset.Question{Answers: []string{"A"}}, []string{"b"}, 0},
		{"no ends", dataset.Question{Answers: []string{"A"}}, nil, 0},
		{"an alias", dataset.Question{Answers: []string{"A"}, Aliases: [][]string{{"X"}}}, []string{"x"}, 100},
		{"a date", dataset.Question{Answers: []string{"15 October 1956"}}, []string{"1956-10-15"}, 100},
		{"alternatives", dataset.Question{Answers: []string{"A", "C"}, Kind: dataset.Alternatives}, []string{"c"}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := int(100*newGold(c.q).f1(c.ends) + .5); got != c.percent {
				t.Errorf("got %d %%, want %d", got, c.percent)
			}
		})
	}
}
