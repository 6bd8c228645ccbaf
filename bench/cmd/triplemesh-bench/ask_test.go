package main

import (
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/cli"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestAskShowsWhatTheModelServerReused(t *testing.T) {
	call := func(attributes map[string]string) *orchestratorv1.Span {
		all := map[string]string{"gen_ai.operation.name": "chat", "triplemesh.task": "pseudo-graph",
			"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20"}
		maps.Copy(all, attributes)
		return &orchestratorv1.Span{Attributes: all, Duration: durationpb.New(1500 * time.Millisecond)}
	}
	s := serve(t, &orchestrator{run: &orchestratorv1.Run{
		Stages: []*orchestratorv1.StageReport{{Stage: orchestratorv1.Stage_STAGE_GROUND_GRAPH,
			Duration: durationpb.New(25 * time.Millisecond)}},
		Spans: []*orchestratorv1.Span{{Name: "ask"},
			call(map[string]string{"gen_ai.usage.cache_read.input_tokens": "80"}),
			call(map[string]string{"triplemesh.cached": "true"})},
	}})
	runBench(t, t.Context(), "ask", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t)).Expect(t,
		cli.ExitOK, "stage ground-graph", "0.025 s", "model pseudo-graph", "1.500 s", "160 (80 %)", "40")
}

func TestAskSaysThatItHasNoTrace(t *testing.T) {
	s := serve(t, &orchestrator{})
	runBench(t, t.Context(), "ask", "--server", s.addr, "--kg", "films", "--questions", questionsFile(t), "--limit",
		"1").Expect(t, cli.ExitOK, "question", "keeps no spans")
	runBench(t, t.Context(), "ask", "--server", s.addr).Expect(t, cli.ExitUsage, "--questions")
}
