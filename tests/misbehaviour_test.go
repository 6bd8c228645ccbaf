package tests

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// askedByAll is a model that every method calls.
func askedByAll(tb testing.TB) *testkit.LLM {
	model := scripted(tb)
	model.On(testkit.Task("rank-candidates")).ReplyFunc(chooses("director", "educated at", yale)).Usage(90, 20)
	model.On(testkit.Task("judge-sufficiency")).ReplyChoice(map[string]float64{"no": .8, "yes": .2}).Usage(40, 1)
	model.On(testkit.Task("judge-sufficiency"), testkit.Matches(yale)).ReplyChoice(map[string]float64{"yes": .9,
		"no": .1}).Usage(40, 1)
	model.On(testkit.Task("answer"), testkit.Matches(yale)).Reply("He studied at {"+yale+"}.").Usage(60, 10)
	return model
}

// asking returns a question that a method answers with all of its stages.
func asking(method string) *orchestratorv1.AskRequest {
	req := &orchestratorv1.AskRequest{Question: employerQuestion, Method: method,
		Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: 1}}
	switch method {
	case "ger", "rog", "tog", "tog-r":
		req.Question, req.TopicEntities = studyQuestion, []string{"Alexander"}
	}
	return req
}

// Whichever of a method's calls the model server fails, the question ends in time, with an answer
// that names what is missing or with a status that gives the reason. Each call gets every sixteenth
// fixture; MISBEHAVIOURS=all gives every call all of them.
func TestEveryMethodEndsWhateverTheModelServerDoes(t *testing.T) {
	share := 16
	if os.Getenv("MISBEHAVIOURS") == "all" {
		share = 1
	}
	model := askedByAll(t)
	m := start(t, options{model: model})
	methods, err := m.orchestrator.ListMethods(timeoutContext(t, patience), &orchestratorv1.ListMethodsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	fixtures := testkit.Misbehaviours(t)
	ends := map[string]map[string]int{}
	turn, asked := 0, 0
	for _, method := range methods.GetMethods() {
		before := len(model.Requests())
		right := m.ask(t, asking(method.GetName()))
		for _, task := range tasks(model.Requests()[before:]) {
			turn++
			call := method.GetName() + ", " + task
			ends[call] = map[string]int{}
			for i, f := range fixtures {
				if i%share != turn%share {
					continue
				}
				asked++
				t.Run(call+", "+f.Name, func(t *testing.T) {
					rule := model.On(testkit.Task(task)).Misbehave(f)
					defer model.Drop(rule)
					given := patience
					if f.Has("DEADLINE_EXCEEDED") {
						given = time.Second
					}
					before := len(model.Requests())
					run, err := m.askOnceOrStream(timeoutContext(t, given), asking(method.GetName()), turn%2 == 0)
					ends[call][checkHonest(t, f.Ends, right, run, err)]++
					checkUntold(t, model.Requests()[before:], run, err)
				})
			}
		}
		if run := m.ask(t, asking(method.GetName())); names(run) != names(right) ||
			len(warnings(run)) > len(warnings(right)) {
			t.Errorf("%s answers %s afterwards, with %v; before it was %s", method.GetName(), names(run),
				warnings(run), names(right))
		}
	}
	if len(ends) < 20 || asked < len(fixtures) {
		t.Errorf("%d calls met %d fixtures", len(ends), asked)
	}
	for call, ended := range ends {
		t.Logf("%s: %v", call, ended)
	}
	testkit.Measured(t, "%d questions, a misbehaviour at a call of each: 0 end otherwise", asked)
}

// tasks returns the distinct tasks of requests.
func tasks(requests []testkit.Request) []string {
	var all []string
	for _, r := range requests {
		if !slices.Contains(all, r.Task) {
			all = append(all, r.Task)
		}
	}
	return all
}

// askOnceOrStream asks by Ask or AskStream.
func (r *running) askOnceOrStream(ctx context.Context, req *orchestratorv1.AskRequest,
	stream bool) (*orchestratorv1.Run, error) {
	if !stream {
		resp, err := r.orchestrator.Ask(ctx, req)
		return resp.GetRun(), err
	}
	events, err := r.orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: req})
	if err != nil {
		return nil, err
	}
	var run *orchestratorv1.Run
	for {
		event, err := events.Recv()
		if errors.Is(err, io.EOF) {
			return run, nil
		}
		if err != nil {
			return nil, err
		}
		if event.GetRun() != nil {
			run = event.GetRun()
		}
	}
}

// checkHonest checks how a question ended, and returns a name for it.
func checkHonest(t *testing.T, ends []string, right, run *orchestratorv1.Run, err error) string {
	t.Helper()
	if err != nil {
		code := status.Code(err)
		honest := code == codes.DeadlineExceeded || code == codes.Unavailable || code == codes.ResourceExhausted ||
			code == codes.FailedPrecondition
		if text := status.Convert(err).Message(); !honest || text == "" || strings.ContainsAny(text, "\x00\x07\x1b\n") {
			t.Errorf("got %v", err)
		}
		return code.String()
	}
	if u := run.GetUsage(); u.GetPromptTokens() > 200_000 || u.GetCompletionTokens() > 200_000 || u.GetCostUsd() != 0 ||
		u.GetCalls() > 100 {
		t.Errorf("the usage is %v", u)
	}
	same := names(run) == names(right) && run.GetText() == right.GetText()
	switch more := len(warnings(run)) > len(warnings(right)); {
	case run.GetPartial():
		return "partial"
	case more:
		return "warned"
	case !same:
		t.Errorf("no warning for a wrong answer: %s, %q; want %s (the fixture: %v)", names(run), run.GetText(),
			names(right), ends)
		return "otherwise"
	}
	return "answered"
}

// checkUntold fails if prompts leak into the result of a question.
func checkUntold(t *testing.T, asked []testkit.Request, run *orchestratorv1.Run, err error) {
	t.Helper()
	encoded, _ := protojson.Marshal(run) // cannot fail
	unquoted := strings.NewReplacer(`\n`, " ", `\"`, `"`).Replace(string(encoded))
	all := strings.Join(strings.Fields(unquoted+status.Convert(err).Message()), " ")
	for _, r := range asked {
		for _, m := range r.Messages {
			const row = 80
			for text := strings.Join(strings.Fields(m.Content), " "); m.Role == llm.RoleSystem &&
				len(text) >= row; text = text[10:] {
				if strings.Contains(all, text[:row]) {
					t.Errorf("the result leaks %q", text[:row])
					return
				}
			}
		}
	}
}
