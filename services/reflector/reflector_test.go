package reflector_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/testkit"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector"
)

func serve(t *testing.T, model *testkit.LLM) reflectorv1.ReflectorServiceClient {
	t.Helper()
	s := testkit.Serve(t, func(ctx context.Context, l net.Listener) error {
		cfg := reflector.DefaultConfig()
		cfg.Server.Listener, cfg.Telemetry.LogWriter, cfg.LLM = l, t.Output(), model.Config()
		cfg.Reflection.Mode = "model"
		return reflector.Run(ctx, cfg)
	})
	return reflectorv1.NewReflectorServiceClient(s.Conn)
}

func request() *reflectorv1.ReflectRequest {
	walk := func(r, to string) *graphv1.ReasoningPath {
		return &graphv1.ReasoningPath{Entities: []string{"Velmora", to}, Steps: []*graphv1.RelationStep{{Relation: r}}}
	}
	tessen, orla, harn := walk("river", "Tessen"), walk("river", "Orla"), walk("twin", "Harn")
	return &reflectorv1.ReflectRequest{
		Question: "what rivers flow through velmora",
		Candidates: []*graphv1.CandidateAnswer{
			{Answer: "Harn", Paths: []*graphv1.ReasoningPath{harn}},
			{Answer: "Tessen", Paths: []*graphv1.ReasoningPath{tessen}},
		},
		Paths: []*graphv1.ReasoningPath{tessen, orla, harn},
		AnswerVerdicts: []*graphv1.AnswerVerdict{
			{Answer: "Harn", Probability: new(float32(.05))}, {Answer: "Tessen", Correct: true,
				Probability: new(float32(.9))},
		},
	}
}

func TestReflectAsksTheModel(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{"Harn", "Orla"}})
	resp, err := serve(t, model).Reflect(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(resp.GetAnswers(), []string{"Orla", "Tessen"}) || len(resp.GetReflections()) != 3 ||
		resp.GetReason() != "kept 1, dropped 1, added 1" {
		t.Errorf("got %v", resp)
	}
	if resp.GetUsage().GetCalls() != 1 || len(resp.GetWarnings()) > 0 {
		t.Errorf("usage %v, warnings %v", resp.GetUsage(), resp.GetWarnings())
	}
}

func TestWeighingAsksNoModel(t *testing.T) {
	req := request()
	req.Mode = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
	for _, p := range req.GetPaths() {
		p.Score = proto.Float32(0.5) // the verdicts tell the rivers from the twin
	}
	resp, err := serve(t, testkit.NewLLM(t)).Reflect(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(resp.GetAnswers(), []string{"Tessen", "Orla"}) || resp.GetUsage().GetCalls() != 0 ||
		resp.GetMode() != req.GetMode() {
		t.Errorf("got %v", resp)
	}
}

func TestTheModelServerMisbehaves(t *testing.T) {
	model := testkit.NewLLM(t)
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{"Harn", "Orla"}})
	client := serve(t, model)
	model.Misbehave(t, func(ctx context.Context) (testkit.Warned, error) {
		resp, err := client.Reflect(ctx, request())
		if resp.GetMode() == reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH && !slices.Equal(resp.GetAnswers(),
			[]string{"Tessen"}) {
			t.Errorf("answers %q, want what the verdicts say", resp.GetAnswers())
		}
		return resp, err
	})
}

func TestRequestsThatCannotBe(t *testing.T) {
	client := serve(t, testkit.NewLLM(t))
	for _, c := range []struct {
		name   string
		change func(*reflectorv1.ReflectRequest)
	}{
		{"nothing to reflect on", func(r *reflectorv1.ReflectRequest) { r.Candidates, r.Paths = nil, nil }},
		{"no question", func(r *reflectorv1.ReflectRequest) { r.Question = "" }},
		{"a candidate without a name", func(r *reflectorv1.ReflectRequest) { r.Candidates[0].Answer = "" }},
		{"a path of one entity", func(r *reflectorv1.ReflectRequest) { r.Paths[0].Entities = r.Paths[0].Entities[:1] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := request()
			c.change(req)
			if _, err := client.Reflect(t.Context(), req); status.Code(err) != codes.InvalidArgument {
				t.Errorf("got %v, want INVALID_ARGUMENT", err)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	cfg := reflector.DefaultConfig()
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	cfg.Reflection.MaxTokens = 0
	if cfg.Validate() == nil {
		t.Error("no tokens to write are no setting, but passed")
	}
	cfg = reflector.DefaultConfig()
	cfg.Reflection.Mode = "guess"
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "guess") {
		t.Errorf("a mode there is not gave %v", err)
	}
}

func TestGetReflectionModeReturnsTheConfiguredOne(t *testing.T) {
	for _, c := range []struct {
		mode, reader string
		want         reflectorv1.ReflectionMode
		share        float32 // of readings that are right
	}{
		{"auto", llm.WeakReader, reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH, 0.2},
		{"auto", llm.StrongReader, reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, 0.85},
		{"model", llm.WeakReader, reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, 0.2},
		{"model", llm.AutoReader, reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL, 0.2}, // a name is no measurement
	} {
		cfg := reflector.DefaultConfig()
		cfg.Reflection.Mode, cfg.LLM.Reader = c.mode, c.reader
		s, err := reflector.New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.GetReflectionMode(t.Context(), nil); err != nil || got.GetMode() != c.want {
			t.Errorf("mode %s for a %s reader: got %v, %v, want %v", c.mode, c.reader, got.GetMode(), err, c.want)
		}
		req := request()
		req.Mode = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
		if resp, err := s.Reflect(t.Context(), req); err != nil || resp.GetReadingShare() != c.share {
			t.Errorf("a %s reader: got a share of %g, %v, want %g", c.reader, resp.GetReadingShare(), err, c.share)
		}
	}
}
