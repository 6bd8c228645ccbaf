package cli

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func byMethod(answers map[string]string) map[string]*orchestratorv1.Run {
	runs := map[string]*orchestratorv1.Run{}
	for method, answer := range answers {
		run := answeredRun()
		run.Method, run.Answers, run.Text = method, nil, ""
		if answer != "" {
			run.Answers = []*orchestratorv1.Answer{{Answer: answer}}
		}
		runs[method] = run
	}
	return runs
}

func TestCompareExitCodes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers map[string]string
		methods string
		code    int
		says    []string
	}{
		{"both answer alike", map[string]string{"io": "Ada", "pg-akv": "ada"}, "io,pg-akv", ExitOK,
			[]string{"Ada", "the same answers"}},
		{"they differ", map[string]string{"io": "Ada", "pg-akv": "Grace"}, "io,pg-akv", ExitOK,
			[]string{"Grace", "different answers"}},
		{"one has no answer", map[string]string{"io": "Ada", "pg-akv": ""}, "io,pg-akv", ExitOK,
			[]string{"(no answer)"}},
		{"none has an answer", map[string]string{"io": "", "pg-akv": ""}, "io,pg-akv", exitNoAnswer,
			[]string{"(no answer)"}},
		{"one fails", map[string]string{"io": "Ada"}, "io,pg-akv", ExitFailed,
			[]string{"Ada", "failed: the model server", "doctor"}},
		{"a method that is not there is told before the first is asked", map[string]string{"io": "Ada"}, "io,pg-akw",
			ExitUsage, []string{"no method pg-akw", "did you mean pg-akv?"}},
		{"one method is nothing to compare", map[string]string{"io": "Ada"}, "io", ExitUsage, []string{"two methods"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{runs: byMethod(tt.answers)})
			triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--compare", tt.methods).Expect(t,
				tt.code, tt.says...)
			if tt.code == ExitUsage && s.asked != nil {
				t.Errorf("it asked %v", s.asked)
			}
		})
	}
}

func TestCompareExitsByTheBestGroundedAnswer(t *testing.T) {
	kg := &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 1}
	own := func(method string, kg *graphv1.KnowledgeGraphRef) *orchestratorv1.Run {
		run := answeredRun()
		run.Method, run.Kg, run.Grounding = method, kg, orchestratorv1.Grounding_GROUNDING_UNGROUNDED
		return run
	}
	none := answeredRun()
	none.Kg, none.Answers, none.Text = kg, nil, ""
	none.Grounding = orchestratorv1.Grounding_GROUNDING_ABSTAINED
	grounded := answeredRun()
	grounded.Kg = kg
	for _, tt := range []struct {
		name        string
		first, last *orchestratorv1.Run
		code        int
	}{
		{"both answer from the model's own knowledge", own("pg-akv", kg), own("ger", kg), exitUngrounded},
		{"one has no answer, the other is the model's own", none, own("ger", kg), exitUngrounded},
		{"the model's own answer comes before none", own("pg-akv", kg), none, exitUngrounded},
		{"a grounded answer comes after the model's own", own("pg-akv", kg), grounded, ExitOK},
		{"a grounded answer comes before the model's own", grounded, own("ger", kg), ExitOK},
		{"a method without a knowledge graph answers", own("pg-akv", kg), own("io", nil), ExitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{runs: map[string]*orchestratorv1.Run{"pg-akv": tt.first, "io": tt.last}})
			triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--compare", "pg-akv,io").Expect(t, tt.code)
		})
	}
}

func TestCompareAsJSONIsAnArrayOfRuns(t *testing.T) {
	s := serve(t, &services{runs: byMethod(map[string]string{"io": "Ada"})})
	o := triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--compare=io,pg-akv", "--json")
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(o.Stdout), &all); err != nil || len(all) != 2 || o.Code != ExitFailed {
		t.Fatalf("exit code %d, %v:\n%s", o.Code, err, o.Stdout)
	}
	var runs [2]orchestratorv1.Run
	for i, text := range all {
		if err := protojson.Unmarshal(text, &runs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if runs[0].GetAnswers()[0].GetAnswer() != "Ada" || runs[1].GetMethod() != "pg-akv" || !runs[1].GetPartial() ||
		runs[1].GetGroundingReason() == "" {
		t.Errorf("got %v", o.Stdout)
	}
}

func TestWatchPrintsGraphsAsTheirStagesEnd(t *testing.T) {
	s := serve(t, &services{run: answeredRun()})
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--watch").Expect(t, ExitOK, "Edits",
		"Fixed graph", "Ada")
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--watch", "--json").Expect(t, ExitUsage,
		"exclude each other")
}
