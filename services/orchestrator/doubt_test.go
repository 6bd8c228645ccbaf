package orchestrator

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// path is a reasoning path whose entities and relations alternate.
func path(score, leastHop float32, parts ...string) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{Score: proto.Float32(score), LeastHopScore: proto.Float32(leastHop)}
	for i, part := range parts {
		if i%2 == 0 {
			p.Entities = append(p.Entities, part)
		} else {
			p.Steps = append(p.Steps, &graphv1.RelationStep{Relation: part})
		}
	}
	return p
}

func TestAnswersOverAFactThatIsNotAskedForAreDoubted(t *testing.T) {
	stray := path(0.5, 0.2, "Anna Lind", "spouse", "Per Holm", "religion", "Lutheran")
	faith := func(score float32, end string) *graphv1.ReasoningPath {
		return path(score, 0.1, "Anna Lind", "faith", end)
	}
	older := path(0.5, 0, "Anna Lind", "spouse", "Per Holm", "religion", "Lutheran")
	older.LeastHopScore = nil
	for _, c := range []struct {
		name    string
		paths   []*graphv1.ReasoningPath
		doubted bool
	}{
		{"one fact, whatever its words", []*graphv1.ReasoningPath{faith(0.5, "Lutheran")}, false},
		{"two facts, of which the question says one", []*graphv1.ReasoningPath{stray}, true},
		{"two facts, both said", []*graphv1.ReasoningPath{path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm", "religion",
			"Lutheran")}, false},
		{"a likelier path of one fact leads there too", []*graphv1.ReasoningPath{stray, faith(0.6, "Lutheran")}, false},
		{"the likelier path leads elsewhere", []*graphv1.ReasoningPath{stray, faith(0.6, "Quaker")}, true},
		{"one fact over a mediator", []*graphv1.ReasoningPath{path(0.5, 0.1, "Anna Lind", "marriage", "m.0abc",
			"spouse", "Lutheran")}, false},
		{"a retriever that does not know", []*graphv1.ReasoningPath{older}, false},
		{"no paths", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, run := range []*orchestratorv1.Run{
				{Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{ReasoningPaths: c.paths}}},
				{Graphs: &orchestratorv1.Run_Ger{Ger: &orchestratorv1.GerGraphs{ReasoningPaths: c.paths}}},
			} {
				run.Answers = []*orchestratorv1.Answer{{Answer: "Lutheran"}}
				run.Grounding = orchestratorv1.Grounding_GROUNDING_GROUNDED
				doubtPath(run, "What religion does Anna Lind follow?")
				if doubted := run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED; doubted != c.doubted ||
					doubted != strings.Contains(run.GetGroundingReason(), "Anna Lind -> spouse -> religion") {
					t.Errorf("%v: %q", run.GetGrounding(), run.GetGroundingReason())
				}
			}
		})
	}
	doubtPath(&orchestratorv1.Run{}, "What?") // no answer
}

func TestAnswersOfAnotherRoleAreDoubted(t *testing.T) {
	run := &orchestratorv1.Run{Answers: []*orchestratorv1.Answer{{Answer: "Per Holm"}},
		Grounding: orchestratorv1.Grounding_GROUNDING_GROUNDED,
		Graphs: &orchestratorv1.Run_PgAkv{PgAkv: &orchestratorv1.PgAkvGraphs{ReasoningPaths: []*graphv1.ReasoningPath{
			path(0.5, 0.6, "Anna Lind", "spouse", "Per Holm")}}}}
	doubtPath(run, "Who is the husband of Anna Lind?")
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		t.Errorf("the husband: %v", run)
	}
	doubtPath(run, "Who is the father of Anna Lind?")
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_RELATED ||
		!strings.Contains(run.GetGroundingReason(), "is the spouse") {
		t.Errorf("the father: %v", run)
	}
}
