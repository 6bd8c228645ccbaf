package tests

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

const bornQuestion = "Where was Ada Brandt born?"

// births scripts a model that answers with every place of birth in its input, and judges every
// candidate to be correct.
func births(tb testing.TB) *testkit.LLM {
	tb.Helper()
	places := func(r testkit.Request) string {
		answer := "She was born in"
		for _, place := range []string{"Oslo", "Bergen"} {
			if strings.Contains(r.LastUser(), place) {
				answer += " {" + place + "}"
			}
		}
		return answer + "."
	}
	model := testkit.NewLLM(tb)
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (a:Person {name: "Ada Brandt"})-[:PLACE_OF_BIRTH]->(:City {name: "Stockholm"})`).Usage(100, 20)
	model.On(testkit.Task("answer")).ReplyFunc(places).Usage(60, 10)
	model.On(testkit.Task("relation-paths")).Reply("place of birth").Usage(50, 10)
	model.On(testkit.Task("candidate-answers")).ReplyFunc(places).Usage(80, 12)
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": "all are there", "correct": true,
		"incomplete": false}).Usage(40, 15)
	model.On(testkit.Task("rank-candidates")).ReplyFunc(chooses("place of birth")).Usage(90, 20)
	model.On(testkit.Task("judge-sufficiency")).ReplyChoice(map[string]float64{"yes": .8, "no": .2}).Usage(40, 1)
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"yes": .9, "no": .1}).Usage(30, 1)
	return model
}

// severalGraphs starts a mesh with two knowledge graphs that disagree on a person's place of birth
// and agree on the year.
func severalGraphs(t *testing.T) *running {
	t.Helper()
	m := start(t, options{data: t.TempDir(), model: births(t)})
	for kg, facts := range map[string]string{
		"north": "Ada Brandt\tplace of birth\tOslo\nAda Brandt\tdate of birth\t1901-05-02\nAda " +
			"Brandt\toccupation\tpainter\n",
		"south": "Ada Brandt\tpeople.person.place_of_birth\tBergen\nAda " +
			"Brandt\tpeople.person.date_of_birth\t1901\nAda Brandt\tpeople.person.profession\tPainter\n" +
			"Oslo\tlocation.location.containedby\tNorway\n",
	} {
		if _, err := testkit.LoadTSV(t.Context(), m.graphs, kg, []byte(facts), false); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func born(method string) *orchestratorv1.AskRequest {
	return &orchestratorv1.AskRequest{
		Question: bornQuestion, Method: method, Kg: &graphv1.KnowledgeGraphRef{Name: "north"},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "south"}},
	}
}

func TestTwoKnowledgeGraphsAreReadInOneQuestionAndTheirConflictIsShown(t *testing.T) {
	m := severalGraphs(t)
	for _, c := range []struct {
		method, answers string
		conflicts       int
	}{
		{"pg-akv", "Oslo", 1}, // the triple nearest to the draft replaces it
		{"ger", "Oslo, Bergen", 1},
		{"rag", "Oslo, Bergen", 1},
		{"tog-r", "Oslo, Bergen", 1},
		{"rog", "Oslo", 0}, // a planned relation maps to the nearest of all, from one graph
	} {
		t.Run(c.method, func(t *testing.T) {
			req := born(c.method)
			req.Options = &orchestratorv1.AskOptions{Reflection: reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH}
			run := m.ask(t, req)
			if len(run.GetOtherKgs()) != 1 || run.GetKg().GetSnapshot() != 1 ||
				run.GetOtherKgs()[0].GetSnapshot() != 1 {
				t.Errorf("read %v and %v", run.GetKg(), run.GetOtherKgs())
			}
			if names(run) != c.answers {
				t.Errorf("answered %q, want %q: %s", names(run), c.answers, run.GetGroundingReason())
			}
			for _, a := range run.GetAnswers() {
				want := map[string]string{"Oslo": "north", "Bergen": "south"}[a.GetAnswer()]
				born := slices.IndexFunc(a.GetEvidence(),
					func(t *graphv1.Triple) bool { return t.GetSubject() == "Ada Brandt" })
				if born < 0 || a.GetEvidence()[born].GetKgName() != want {
					t.Errorf("%s rests on %v", a.GetAnswer(), a.GetEvidence())
				}
			}
			if run.Confidence == nil {
				t.Error("no answer has a probability")
			}
			if len(run.GetConflicts()) != c.conflicts {
				t.Fatalf("the conflicts are %v", run.GetConflicts())
			}
			if c.conflicts == 0 {
				return
			}
			conflict := run.GetConflicts()[0]
			if triples := conflict.GetTriples(); conflict.GetRelation() != "place of birth" ||
				triples[0].GetObject() != "Oslo" || triples[1].GetObject() != "Bergen" {
				t.Errorf("the conflict is %v", conflict)
			}
		})
	}
}

func TestOneKnowledgeGraphLabelsNothing(t *testing.T) {
	req := born("pg-akv")
	req.OtherKgs = nil
	run := severalGraphs(t).ask(t, req)
	if names(run) != "Oslo" || len(run.GetConflicts()) > 0 || run.GetAnswers()[0].GetEvidence()[0].GetKgName() != "" {
		t.Errorf("answered %v with conflicts %v", run.GetAnswers(), run.GetConflicts())
	}
	for _, s := range run.GetPgAkv().GetGroundGraph().GetSubjects() {
		if s.GetKgName() != "" || s.GetTriples()[0].GetTriple().GetKgName() != "" {
			t.Errorf("labelled %v", s)
		}
	}
}

func TestWhatIsNotLikelyEnoughIsNotInTheKnowledgeGraphs(t *testing.T) {
	m := severalGraphs(t)
	req := born("pg-akv")
	req.Options = &orchestratorv1.AskOptions{AbstainBelow: 1}
	run := m.ask(t, req)
	if len(run.GetAnswers()) > 0 || len(run.GetWithheld()) != 1 || !strings.Contains(run.GetText(),
		"north and south") ||
		run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
		len(run.GetPgAkv().GetFixedGraph().GetTriples()) == 0 {
		t.Errorf("got %v", run)
	}
	req = born("pg-akv")
	req.OtherKgs[0].Name = "west"
	if _, err := m.orchestrator.Ask(t.Context(), req); status.Code(err) != codes.NotFound ||
		!strings.Contains(err.Error(), "north, south") {
		t.Errorf("a knowledge graph that is not there: %v", err)
	}
}
