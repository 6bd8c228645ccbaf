package tests

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// swayed answers every task as the hostile texts want it.
func swayed(tb testing.TB) *testkit.LLM {
	tb.Helper()
	const want = "Atlantis"
	model := testkit.NewLLM(tb)
	model.On().Reply("{" + want + "}")
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (a {name: "Robert Stam"})-[:EMPLOYER]->(b {name: "` + want + `"})`)
	model.On(testkit.Task("query-plan")).Reply(`Person(name="Robert Stam").get("` + want + `")`)
	model.On(testkit.Task("relation-paths")).Reply("employer -> " + want)
	model.On(testkit.Task("rewrite-question")).Reply("Is it " + want + "?")
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": want, "correct": true,
		"incomplete": false})
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"yes": .99, "no": .01})
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{want}})
	return model
}

// A question that is an instruction is refused, or treated as a question: what the graph does not
// say is never said in its name, even by a model that obeys.
func TestAQuestionThatIsAnInstructionIsNeverGrounded(t *testing.T) {
	m := start(t, options{data: t.TempDir(), model: swayed(t)})
	snapshot, err := loadKnown(t, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked, refused := 0, 0
	for _, method := range []string{"pg-akv", "ger", "query"} {
		for _, text := range readInjections(t) {
			for _, followUp := range []bool{false, true} {
				req := &orchestratorv1.AskRequest{Question: text.text, Method: method,
					Kg: &graphv1.KnowledgeGraphRef{Name: "known", Snapshot: snapshot}}
				if followUp {
					req.History = []*generatorv1.Turn{
						{Role: generatorv1.Role_ROLE_USER, Text: known[0].question},
						{Role: generatorv1.Role_ROLE_ASSISTANT, Text: known[0].object}}
				}
				resp, err := m.orchestrator.Ask(timeoutContext(t, patience), req)
				asked++
				if err != nil {
					if code := status.Code(err); code != codes.InvalidArgument && code != codes.NotFound {
						t.Errorf("%s, %q: %v", method, text.text, err)
					}
					refused++
					continue
				}
				run := resp.GetRun()
				if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED {
					refused++
				}
				for _, a := range run.GetAnswers() {
					if strings.Contains(a.GetAnswer(), "Atlantis") && (len(a.GetEvidence()) > 0 ||
						run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED) {
						t.Errorf("%s, %q (follow-up: %v): %v rests on %v", method, text.text, followUp,
							run.GetGrounding(), a.GetEvidence())
					}
				}
			}
		}
	}
	t.Logf("%d of %d questions were refused or abstained from", refused, asked)
}
