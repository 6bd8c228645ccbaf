package method_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
)

// computes scripts the table of a query.
func computes(m *stagetest.Mesh, table *graphv1.QueryTable) {
	stagetest.Script(m, func(context.Context, *retrieverv1.ExecuteQueryRequest) (*retrieverv1.ExecuteQueryResponse,
		error) {
		return &retrieverv1.ExecuteQueryResponse{Table: table, Cypher: "MATCH …"}, nil
	})
}

func TestQueryAnswersWithWhatIsComputed(t *testing.T) {
	fact := stagetest.Triple("The Quiet Harbour", "director", stagetest.Director)
	row := func(name string) *graphv1.QueryRow {
		return &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: name}, {Name: "1999"}},
			Triples: []*graphv1.Triple{fact}}
	}
	for _, c := range []struct {
		name, text, reason string
		table              *graphv1.QueryTable
		answers, evidence  int
		grounding          orchestratorv1.Grounding
	}{
		{"rows", "A B", "2 rows", &graphv1.QueryTable{Rows: []*graphv1.QueryRow{row("A"), row("B"), row("A")},
			Total: 2}, 2,
			3, orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"a value with its unit", "5 kilometre", "over 3 items of which 1 have no value",
			&graphv1.QueryTable{Value: "5",
				Unit: "kilometre", Rows: []*graphv1.QueryRow{row("A")}, Total: 1, Compared: 3, Lacking: 1}, 1, 1,
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"a value that a limit bounds", "5", "a lower bound, since 400000 triples were read", &graphv1.QueryTable{
			Value: "5", Rows: []*graphv1.QueryRow{row("A")}, Total: 5, Limits: []string{"400000 triples were read"}},
			1, 1,
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"nothing, with the reason", "This is not in the knowledge graph wikidata: nothing fulfils it.",
			"nothing fulfils it",
			&graphv1.QueryTable{Reason: "nothing fulfils it"}, 0, 0, orchestratorv1.Grounding_GROUNDING_ABSTAINED},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			computes(mesh, c.table)
			run, err := ask(t.Context(), t, mesh, askOptions{method: "query", limits: plenty})
			if err != nil {
				t.Fatal(err)
			}
			evidence := 0
			for _, a := range run.GetAnswers() {
				evidence += len(a.GetEvidence())
			}
			text := strings.NewReplacer(",", "", " and", "").Replace(run.GetText())
			if text != c.text || len(run.GetAnswers()) != c.answers || evidence != c.evidence ||
				run.GetGrounding() != c.grounding || !strings.Contains(run.GetGroundingReason(), c.reason) {
				t.Errorf("got %q, %d answers, %d triples, %v: %s", run.GetText(), len(run.GetAnswers()), evidence,
					run.GetGrounding(), run.GetGroundingReason())
			}
			if g := run.GetQuery(); g.GetCypher() == "" || len(g.GetEdits()) != 1 || g.GetAlignment() != .9 {
				t.Errorf("the run has %v", g)
			}
			if run.GetUsage().GetCalls() != 1 {
				t.Errorf("%d model calls", run.GetUsage().GetCalls())
			}
		})
	}
}

func TestGroupsAreAnsweredWithTheirValues(t *testing.T) {
	mesh := stagetest.New(t)
	group := func(name, value string) *graphv1.QueryRow {
		return &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: name, Id: "Q-" + name}, {Name: value}}}
	}
	computes(mesh, &graphv1.QueryTable{Columns: []string{"region", "sum"}, Unit: "kilometre", Total: 2,
		Rows: []*graphv1.QueryRow{group("Velmora", "90"), {Cells: []*graphv1.Entity{
			{Name: "Orla", Id: "Orla"}, {Name: "70"}}}}})
	stagetest.Script(mesh, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
		*verifierv1.AlignQueryPlanResponse, error) {
		plan := req.GetPlan()
		plan.Result.GroupBy = "region"
		return &verifierv1.AlignQueryPlanResponse{Plan: plan, Confidence: .9}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "query", limits: plenty})
	if err != nil || run.GetText() != "Velmora: 90 kilometre, Orla: 70 kilometre" || len(run.GetAnswers()) != 2 ||
		run.GetAnswers()[0].GetId() != "Q-Velmora" || run.GetAnswers()[1].GetId() != "" {
		t.Errorf("got %q, %v, %v", run.GetText(), run.GetAnswers(), err)
	}
}

func TestAnAnswerOfADoubtedPlanIsRelated(t *testing.T) {
	mesh := stagetest.New(t)
	computes(mesh, &graphv1.QueryTable{Value: "5", Total: 5})
	stagetest.Script(mesh, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
		*verifierv1.AlignQueryPlanResponse, error) {
		return &verifierv1.AlignQueryPlanResponse{Plan: req.GetPlan(), Confidence: .9,
			Reason: "the knowledge graph does not say what is a spacecraft"}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "query", limits: plenty})
	if err != nil || len(run.GetAnswers()) != 1 || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_RELATED ||
		!strings.Contains(run.GetGroundingReason(), "does not say what is a spacecraft") {
		t.Errorf("got %v %q: %s, %v", run.GetGrounding(), run.GetText(), run.GetGroundingReason(), err)
	}
}

func TestThatNoneHasMoreThanOneIsNoMost(t *testing.T) {
	row := func(name string, triples int) *graphv1.QueryRow {
		return &graphv1.QueryRow{Cells: []*graphv1.Entity{{Name: name}}, Triples: make([]*graphv1.Triple, triples)}
	}
	for _, c := range []struct {
		name string
		rows []*graphv1.QueryRow
		want orchestratorv1.Grounding
	}{
		{"two have one each", []*graphv1.QueryRow{row("Orla", 1), row("Velmora", 1)},
			orchestratorv1.Grounding_GROUNDING_RELATED},
		{"two have two each", []*graphv1.QueryRow{row("Orla", 2), row("Velmora", 2)},
			orchestratorv1.Grounding_GROUNDING_GROUNDED},
		{"one has the most", []*graphv1.QueryRow{row("Orla", 1)}, orchestratorv1.Grounding_GROUNDING_GROUNDED},
	} {
		mesh := stagetest.New(t)
		computes(mesh, &graphv1.QueryTable{Total: uint64(len(c.rows)), Rows: c.rows})
		stagetest.Script(mesh, func(_ context.Context, req *verifierv1.AlignQueryPlanRequest) (
			*verifierv1.AlignQueryPlanResponse, error) {
			plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
				{Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{}}},
				{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "y", GroupBy: "x", Count: true,
					Descending: true}}}}}
			return &verifierv1.AlignQueryPlanResponse{Plan: plan, Confidence: .9}, nil
		})
		run, err := ask(t.Context(), t, mesh, askOptions{method: "query", text: "which has the most", limits: plenty})
		if err != nil || run.GetGrounding() != c.want {
			t.Errorf("%s: %v: %s, %v", c.name, run.GetGrounding(), run.GetGroundingReason(), err)
		}
	}
}

func TestAnAnswerThatOtherPathsOrTheQuestionSpeakAgainstIsRelated(t *testing.T) {
	path := func(probability float32, end string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"The Quiet Harbour", end}, Probability: &probability,
			Score: &probability, Steps: []*graphv1.RelationStep{{Relation: fmt.Sprint(end, " of ", probability)}}}
	}
	for _, c := range []struct {
		name, question, answer, says string
		paths                        []*graphv1.ReasoningPath
		err                          error
		sure                         float32 // of the answer; the alignment is by .9
	}{
		{"the ranked paths lead elsewhere", "", "Mara Vell", "lead elsewhere",
			[]*graphv1.ReasoningPath{path(.8, "Per Holm"), path(.1, "Mara Vell")}, nil, .1},
		{"they lead there together", "", "Mara Vell", "",
			[]*graphv1.ReasoningPath{path(.4, "Per Holm"), path(.3, "Mara Vell"), path(.25, "Mara Vell")}, nil, .55},
		{"the likelier path is the other way round", "Who will join The Quiet Harbour?", "Mara Vell", "",
			[]*graphv1.ReasoningPath{path(.7, "Per Holm")}, nil, .7},
		{"no ranker knows the graph", "", "Mara Vell", "", []*graphv1.ReasoningPath{{Entities: []string{"A", "B"},
			Steps: []*graphv1.RelationStep{{Relation: "r"}}}}, nil, .9},
		{"paths cannot be had", "", "Mara Vell", "", nil, status.Error(codes.Unavailable, "no retriever"), .9},
		{"two names are asked about", "", "Per Holm's", "", []*graphv1.ReasoningPath{path(.8, "Per Holm")}, nil, .9},
		{"something is computed", "Which film did Mara Vell direct first?", "Mara Vell's", "",
			[]*graphv1.ReasoningPath{path(.8, "Per Holm")}, nil, .9},
		{"the answer is what the question is about", "", "The Quiet Harbour", "itself", nil, nil, .9},
		{"nothing is looked up", "", "Orla", "itself", nil, nil, .9},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			computes(mesh, &graphv1.QueryTable{Total: 1, Rows: []*graphv1.QueryRow{
				{Cells: []*graphv1.Entity{{Name: c.answer}}}}})
			stagetest.Script(mesh, func(context.Context, *retrieverv1.GroundGraphRequest) (
				*retrieverv1.GroundGraphResponse, error) {
				turned := &graphv1.Triple{Subject: "Mara Vell", Relation: "Per Holm of 0.7",
					Object: "The Quiet Harbour"}
				return &retrieverv1.GroundGraphResponse{Paths: c.paths, GroundGraph: &graphv1.GroundGraph{
					Subjects: []*graphv1.SubjectEvidence{{Triples: []*graphv1.ScoredTriple{{Triple: turned}}}}}}, c.err
			})
			result := &graphv1.QueryResult{Variable: "x"}
			twoNames := &graphv1.QueryPlan{Result: result, Clauses: []*graphv1.QueryClause{{
				Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "x",
					Entities: []string{"Orla", "Velmora"}}}}}}
			aligned := &graphv1.QueryPlan{Result: result, Clauses: []*graphv1.QueryClause{{
				Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{
					Start: &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: "The Quiet Harbour"}},
					Steps: []*graphv1.RelationStep{{Relation: "director"}},
					End:   &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: "x"}}}}}}}
			switch c.name {
			case "two names are asked about":
				stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateQueryPlanRequest) (
					*generatorv1.GenerateQueryPlanResponse, error) {
					return &generatorv1.GenerateQueryPlanResponse{Usage: stagetest.Usage(), Plan: twoNames}, nil
				})
			case "nothing is looked up":
				aligned = twoNames
			}
			stagetest.Script(mesh, func(context.Context, *verifierv1.AlignQueryPlanRequest) (
				*verifierv1.AlignQueryPlanResponse, error) {
				return &verifierv1.AlignQueryPlanResponse{Confidence: .9, Plan: aligned}, nil
			})
			run, err := ask(t.Context(), t, mesh, askOptions{method: "query", text: c.question, limits: plenty})
			want := orchestratorv1.Grounding_GROUNDING_GROUNDED
			if c.says != "" {
				want = orchestratorv1.Grounding_GROUNDING_RELATED
			}
			if err != nil || run.GetGrounding() != want || !strings.Contains(run.GetGroundingReason(), c.says) {
				t.Errorf("got %v %q: %s, %v", run.GetGrounding(), run.GetText(), run.GetGroundingReason(), err)
			}
			if got := run.GetQuery().GetAlignment(); max(got-c.sure, c.sure-got) > 1e-6 {
				t.Errorf("it is sure by %g, want %g", got, c.sure)
			}
		})
	}
}

func TestQueryRefusesWhatIsNotInTheGraph(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		script       func(*stagetest.Mesh)
	}{
		{"a plan that cannot be read", "no plan", func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context, *generatorv1.GenerateQueryPlanRequest) (
				*generatorv1.GenerateQueryPlanResponse, error) {
				return &generatorv1.GenerateQueryPlanResponse{Plan: &graphv1.QueryPlan{}, Usage: stagetest.Usage()}, nil
			})
		}},
		{"a name that it does not hold", `no entity "Nobody"`, func(m *stagetest.Mesh) {
			stagetest.Script(m, func(context.Context, *verifierv1.AlignQueryPlanRequest) (
				*verifierv1.AlignQueryPlanResponse, error) {
				return &verifierv1.AlignQueryPlanResponse{Reason: `the knowledge graph has no entity "Nobody"`}, nil
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mesh := stagetest.New(t)
			c.script(mesh)
			run, err := ask(t.Context(), t, mesh, askOptions{method: "query", limits: plenty})
			if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
				len(run.GetAnswers()) > 0 || !strings.Contains(run.GetText(), c.reason) {
				t.Errorf("got %v %q, %v", run.GetGrounding(), run.GetText(), err)
			}
			if n := len(stagetest.Requests[*retrieverv1.ExecuteQueryRequest](mesh)); n > 0 {
				t.Errorf("%d queries were executed", n)
			}
		})
	}
}

func TestText2CypherShowsTheModelASchemaAndAlignsNothing(t *testing.T) {
	mesh := stagetest.New(t)
	computes(mesh, &graphv1.QueryTable{Value: "5", Total: 5})
	stagetest.Script(mesh, func(context.Context, *retrieverv1.SearchRelationsRequest) (
		*retrieverv1.SearchRelationsResponse, error) {
		return &retrieverv1.SearchRelationsResponse{Results: []*retrieverv1.RelationHits{{
			Relations: []*retrieverv1.ScoredRelation{{Relation: "budget"}, {Relation: "odd `name`"}}}}}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "text2cypher", limits: plenty})
	if err != nil || run.GetText() != "5" || run.GetUsage().GetCalls() != 1 {
		t.Errorf("got %q, %d calls, %v", run.GetText(), run.GetUsage().GetCalls(), err)
	}
	schema := stagetest.Requests[*generatorv1.GenerateQueryPlanRequest](mesh)[0].GetSchema()
	text := strings.Join(schema, "\n")
	if !strings.HasPrefix(text, `("`) || !strings.Contains(text, "()-[:`budget`]->()") ||
		!strings.Contains(text, "`odd ``name```") {
		t.Errorf("the model is shown\n%s", text)
	}
	if n := len(stagetest.Requests[*verifierv1.AlignQueryPlanRequest](mesh)); n > 0 {
		t.Errorf("%d plans were aligned", n)
	}
	if plan := stagetest.Requests[*retrieverv1.ExecuteQueryRequest](mesh)[0].GetPlan(); len(plan.GetClauses()) == 0 ||
		run.GetQuery().GetAlignment() != .5 {
		t.Errorf("executed %v, alignment %v", plan, run.GetQuery().GetAlignment())
	}
}

func TestText2CypherRefusesWhatIsNoCypher(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *generatorv1.GenerateQueryPlanRequest) (
		*generatorv1.GenerateQueryPlanResponse, error) {
		return &generatorv1.GenerateQueryPlanResponse{Plan: &graphv1.QueryPlan{}, Usage: stagetest.Usage()}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "text2cypher", limits: plenty})
	if err != nil || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED ||
		!strings.Contains(run.GetText(), "no Cypher that can be read") {
		t.Errorf("got %q, %v, %v", run.GetText(), run.GetGrounding(), err)
	}
}
