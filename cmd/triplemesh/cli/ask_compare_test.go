package cli

import (
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func byMethod(answers map[string]string) map[string]*orchestratorv1.Run {
	runs := map[string]*orchestratorv1.Run{}
	for method, answer := range answers {
		run := answered()
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
		{"both answer alike", map[string]string{"io": "Ada", "pg-akv": "ada"}, "io,pg-akv", exitAnswered, []string{"Ada", "the same answers"}},
		{"they differ", map[string]string{"io": "Ada", "pg-akv": "Grace"}, "io,pg-akv", exitAnswered, []string{"Grace", "different answers"}},
		{"one has no answer", map[string]string{"io": "Ada", "pg-akv": ""}, "io,pg-akv", exitAnswered, []string{"(no answer)"}},
		{"none has an answer", map[string]string{"io": "", "pg-akv": ""}, "io,pg-akv", exitNoAnswer, []string{"(no answer)"}},
		{"one fails", map[string]string{"io": "Ada"}, "io,pg-akv", exitFailed, []string{"Ada", "failed: the model server", "doctor"}},
		{"a method that is not there is told before the first is asked", map[string]string{"io": "Ada"}, "io,pg-akw", exitUsage, []string{"no method pg-akw", "did you mean pg-akv?"}},
		{"one method is nothing to compare", map[string]string{"io": "Ada"}, "io", exitUsage, []string{"two methods"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &services{runs: byMethod(tt.answers)})
			triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--compare", tt.methods).says(t, tt.code, tt.says...)
			if tt.code == exitUsage && s.asked != nil {
				t.Errorf("it asked %v", s.asked)
			}
		})
	}
}

func TestCompareAsJSONIsAnArrayOfRuns(t *testing.T) {
	s := serve(t, &services{runs: byMethod(map[string]string{"io": "Ada"})})
	o := triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--compare=io,pg-akv", "--json")
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || len(all) != 2 || o.code != exitFailed {
		t.Fatalf("exit code %d, %v:\n%s", o.code, err, o.stdout)
	}
	var runs [2]orchestratorv1.Run
	for i, text := range all {
		if err := protojson.Unmarshal(text, &runs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if runs[0].GetAnswers()[0].GetAnswer() != "Ada" || runs[1].GetMethod() != "pg-akv" || !runs[1].GetPartial() || runs[1].GetGroundingReason() == "" {
		t.Errorf("got %v", o.stdout)
	}
}

func TestWatchPrintsGraphsAsTheirStagesEnd(t *testing.T) {
	s := serve(t, &services{run: answered()})
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--watch").says(t, exitAnswered, "Edits", "Fixed graph", "Ada")
	triplemesh(t, nil, "", "ask", "Who?", "--server", s.addr, "--watch", "--json").says(t, exitUsage, "leave one out")
}
