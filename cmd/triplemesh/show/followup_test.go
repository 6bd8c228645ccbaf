package show

import (
	"strings"
	"testing"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestWhatAFollowUpWasTakenAsStandsBeforeItsAnswer(t *testing.T) {
	var b strings.Builder
	run := &orchestratorv1.Run{
		Question: "And when was he born?", StandaloneQuestion: "When was Erik\x1b[2J Halvorsen born?",
		Answers: []*orchestratorv1.Answer{{Answer: "1931"}},
	}
	if err := Answer(&b, run, Style{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "taken as: When was Erik") || strings.Contains(got, "\x1b") ||
		!strings.Contains(got, "1931") {
		t.Errorf("printed %q", got)
	}
}
