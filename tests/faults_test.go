package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// faults are the failures of a model server.
var faults = []struct {
	name   string
	script func(*testkit.Rule)
	// code is the status of a question that has no partial answer yet; OK means that the failed
	// call is skipped.
	code codes.Code
	// why is part of the reason that a partial answer gives if only the call that writes the answer
	// fails; empty if a warning is due instead of a partial answer.
	why string
	// brief shortens the deadline for a model that never answers.
	brief bool
}{
	{name: "down", script: func(r *testkit.Rule) { r.Disconnect() }, code: codes.Unavailable, why: "model"},
	{name: "slow", script: func(r *testkit.Rule) { r.Hang() }, code: codes.DeadlineExceeded, why: "the time ran out",
		brief: true},
	{name: "429", script: func(r *testkit.Rule) { r.Status(429) }, code: codes.ResourceExhausted, why: "429"},
	{name: "429 for longer than anyone waits", script: func(r *testkit.Rule) { r.Status(429, "Retry-After", "3600") },
		code: codes.ResourceExhausted, why: "429"},
	{name: "500", script: func(r *testkit.Rule) { r.Status(500) }, code: codes.Unavailable, why: "500"},
	{name: "a refused key", script: func(r *testkit.Rule) { r.Status(401) }, code: codes.FailedPrecondition,
		why: "401"},
	{name: "HTML", script: func(r *testkit.Rule) { r.HTML() }, code: codes.Unavailable, why: "model"},
	{name: "an empty choice", script: func(r *testkit.Rule) { r.EmptyChoices() }, code: codes.Unavailable,
		why: "model"},
	{name: "half a JSON", script: func(r *testkit.Rule) { r.HalfJSON() }, code: codes.Unavailable, why: "model"},
	{name: "killed in mid-answer", script: func(r *testkit.Rule) { r.CutStream("{", "New") }, code: codes.Unavailable,
		why: "model"},
	{name: "garbage", script: func(r *testkit.Rule) { r.Garbage(5000) }, code: codes.Unavailable, why: "model"},
	{name: "no text", script: func(r *testkit.Rule) { r.NullContent() }, code: codes.OK},
	{name: "bytes that are no text", script: func(r *testkit.Rule) { r.Reply("\x01\x02 \ufffd\n\n") }, code: codes.OK},
	{name: "text in another language", script: func(r *testkit.Rule) {
		r.Reply("申し訳ありませんが、その質問にはお答えできません。別の質問をしていただければ、喜んでお手伝いいたします。どうぞよろしくお願いいたします。")
	}, code: codes.OK},
}

// waits returns the deadline of a question to a faulty model.
func waits(brief bool) time.Duration {
	if brief {
		return 2 * time.Second
	}
	return patience
}

func TestAModelThatFailsFromTheStartFailsTheQuestionByCode(t *testing.T) {
	model := scripted(t)
	m := start(t, options{model: model})
	for _, f := range faults {
		for _, method := range []string{"pg-akv", "io"} {
			t.Run(f.name+" under "+method, func(t *testing.T) {
				f.script(model.On())
				resp, err := m.orchestrator.Ask(timeoutContext(t, waits(f.brief)), question(method))
				checkStatus(t, err, f.code, "")
				if err == nil && len(warnings(resp.GetRun())) == 0 {
					t.Errorf("the answer has no warning: %v", resp)
				}
				if err == nil && resp.GetRun().GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED {
					t.Errorf("the answer claims to be grounded: %v", resp)
				}
			})
		}
	}
}

func TestAModelThatFailsAtTheEndLeavesAPartialAnswer(t *testing.T) {
	for _, c := range []struct{ method, task, answer string }{
		{"pg-akv", "answer", employer},
		{"ger", "reflect", yale},
	} {
		t.Run(c.method, func(t *testing.T) {
			model := scripted(t)
			m := start(t, options{model: model})
			for _, f := range faults {
				t.Run(f.name, func(t *testing.T) {
					f.script(model.On(testkit.Task(c.task)))
					resp, err := m.orchestrator.Ask(timeoutContext(t, waits(f.brief)), question(c.method))
					if err != nil {
						t.Fatalf("want an answer, got %v", err)
					}
					run := resp.GetRun()
					if f.code == codes.OK {
						if run.GetPartial() || len(warnings(run)) == 0 {
							t.Errorf("partial is %v, the warnings are %v", run.GetPartial(), warnings(run))
						}
						return
					}
					checkPartial(t, run, f.why)
					if names(run) != c.answer {
						t.Errorf("the answer is %s, want %s", names(run), c.answer)
					}
				})
			}
		})
	}
}

func TestAModelThatFailsBetweenLeavesTheStagesBeforeAndAfter(t *testing.T) {
	model := scripted(t)
	m := start(t, options{model: model})
	model.On(testkit.Task("relation-paths")).Status(500)
	model.On(testkit.Task("evaluate-question")).Reply("I would rather not say.")
	run := m.ask(t, question("ger"))
	if run.GetPartial() || !strings.Contains(names(run), yale) || len(warnings(run)) < 2 {
		t.Errorf("the answer is %s, partial %v, with warnings %v", names(run), run.GetPartial(), warnings(run))
	}
}

func TestAModelServerThatComesBackIsAskedAgain(t *testing.T) {
	model := scripted(t)
	m := start(t, options{model: model, set: map[string]string{"llm.retries": "0"}})
	model.On(testkit.Task("pseudo-graph")).Hang()
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := m.orchestrator.Ask(ctx, question("pg-akv"))
		ended <- err
	}()
	model.Await(1)
	model.Kill()
	checkStatus(t, <-ended, codes.Unavailable, "")
	_, err := m.orchestrator.Ask(timeoutContext(t, patience), question("io"))
	checkStatus(t, err, codes.Unavailable, "")
	model.Start()
	if run := m.ask(t, question("io")); names(run) != "Google" {
		t.Errorf("the answer is %s", names(run))
	}
}
