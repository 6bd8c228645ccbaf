package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/internal/terminal"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func stageReport(stage orchestratorv1.Stage, took time.Duration, usage *llmv1.Usage,
	warnings ...*llmv1.Warning) *orchestratorv1.StageReport {
	return &orchestratorv1.StageReport{Stage: stage, Duration: durationpb.New(took), Usage: usage, Warnings: warnings}
}

func TestStagesAreShownWhileTheyAreUnderWay(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	l := newLive(&terminal.Terminal{Out: &out, Live: true, Unicode: true, Columns: func() int { return 50 }},
		func() time.Time { return clock })
	shows := func(want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("it writes\n%q, want\n%q", got, want)
		}
		out.Reset()
	}
	l.started(orchestratorv1.Stage_STAGE_PSEUDO_GRAPH)
	shows("⠋ pseudo-graph           0 ms")
	clock = clock.Add(2300 * time.Millisecond)
	l.frame++
	l.draw()
	shows("\r\x1b[K⠙ pseudo-graph          2.3 s")
	l.finished(stageReport(orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, 2400*time.Millisecond,
		&llmv1.Usage{Calls: 1, PromptTokens: 312, CompletionTokens: 85}))
	shows("\r\x1b[K✓ pseudo-graph          2.4 s   312→85 tokens\n")
	l.finished(stageReport(orchestratorv1.Stage_STAGE_VERIFY, 3*time.Millisecond, nil,
		&llmv1.Warning{Message: "nothing to verify"}))
	shows("! verify                 3 ms\n")

	l.started(orchestratorv1.Stage_STAGE_ANSWER)
	l.wrote("It is \x1b[2J" + strings.Repeat("Mars and Venus ", 20))
	l.draw()
	text := out.String()
	if lines := strings.Split(text[strings.LastIndex(text, "\r")+1:], "\n"); len(lines) != 1+shownAnswer ||
		strings.Contains(strings.Join(lines, ""), "It is") {
		t.Errorf("of a long answer it shows %d lines: %q", len(lines), lines)
	}
	out.Reset()
	err := l.printAside(func() error { out.WriteString("beside"); return nil })
	shows("\r\x1b[4A\x1b[Jbeside")
	l.end()
	l.end()
	if shows(""); err != nil {
		t.Error(err)
	}
}

func TestWhatAModelWritesDoesNotSteerTheTerminal(t *testing.T) {
	var out bytes.Buffer
	l := newLive(&terminal.Terminal{Out: &out, Live: true}, time.Now)
	l.started(orchestratorv1.Stage_STAGE_ANSWER)
	out.Reset()
	l.wrote("a\x1b]8;;http://evil\x07b\u202ec")
	l.draw()
	text := strings.TrimPrefix(out.String(), "\r\x1b[K")
	if strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, `\u001b]8;;http://evil\u0007b\u202ec`) {
		t.Errorf("it writes %q", text)
	}
	l.end()
}

func TestAPipeIsToldNothingOfStages(t *testing.T) {
	var out bytes.Buffer
	l := newLive(terminal.Detect(&out, nil), time.Now)
	l.say("pg-akv")
	l.started(orchestratorv1.Stage_STAGE_ANSWER)
	l.wrote("Mars")
	l.draw()
	l.finished(stageReport(orchestratorv1.Stage_STAGE_ANSWER, time.Second, nil))
	l.end()
	if out.Len() != 0 {
		t.Errorf("it writes %q", out.String())
	}
}
