package method_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// turn is what one generator writes, and how that ends; nil is well.
type turn struct {
	pieces []string
	err    error
}

// generators write one after the other.
type generators struct {
	generatorv1.GeneratorServiceClient
	turns []turn
	asked []*llmv1.Limits
}

func (g *generators) GenerateAnswerStream(_ context.Context, req *generatorv1.GenerateAnswerStreamRequest,
	_ ...grpc.CallOption) (grpc.ServerStreamingClient[generatorv1.GenerateAnswerStreamResponse], error) {
	g.asked = append(g.asked, req.GetRequest().GetLimits())
	next := g.turns[0]
	g.turns = g.turns[1:]
	return &text{turn: next, whole: strings.Join(next.pieces, "")}, nil
}

// text is the stream of one of them.
type text struct {
	grpc.ClientStream
	turn
	whole string
	told  bool
}

func (s *text) Recv() (*generatorv1.GenerateAnswerStreamResponse, error) {
	switch {
	case len(s.pieces) > 0:
		piece := s.pieces[0]
		s.pieces = s.pieces[1:]
		return &generatorv1.GenerateAnswerStreamResponse{Event: &generatorv1.GenerateAnswerStreamResponse_Delta{
			Delta: piece}}, nil
	case s.err != nil:
		return nil, s.err
	case s.told:
		return nil, io.EOF
	}
	s.told = true
	return &generatorv1.GenerateAnswerStreamResponse{Event: &generatorv1.GenerateAnswerStreamResponse_Answer{
		Answer: &generatorv1.GenerateAnswerResponse{Text: s.whole, Usage: &llmv1.Usage{Calls: 1}},
	}}, nil
}

func TestAnAnswerWhoseGeneratorIsLostIsBegunAgain(t *testing.T) {
	gone := status.Error(codes.Unavailable, "connection reset")
	for _, c := range []struct {
		name  string
		turns []turn
		held  bool // the answer is told when its confidence is known
		want  []string
		fails bool
	}{
		{"what is the same is not told again", []turn{{[]string{"It is ", "Os"}, gone},
			{[]string{"It ", "is O", "slo", "."}, nil}}, false, []string{"It is ", "Os", "lo", "."}, false},
		{"what is another takes back what was told", []turn{{[]string{"It is ", "Os"}, gone},
			{[]string{"It is ", "Ber", "gen"}, nil}}, false, []string{"It is ", "Os", "<again>", "It is Ber", "gen"},
			false},
		{"as does what is less", []turn{{[]string{"Oslo, ", "or"}, gone}, {[]string{"Oslo"}, nil}}, false,
			[]string{"Oslo, ", "or", "<again>", "Oslo"}, false},
		{"and nothing", []turn{{[]string{"Oslo"}, gone}, {nil, nil}}, false, []string{"Oslo", "<again>"}, false},
		{"one that was lost before its first word", []turn{{nil, gone}, {[]string{"Oslo"}, nil}}, false,
			[]string{"Oslo"}, false},
		{"one that was lost at its end", []turn{{[]string{"Os", "lo"}, gone}, {[]string{"Oslo"}, nil}}, false,
			[]string{"Os", "lo"}, false},
		{"one that nobody was told of", []turn{{[]string{"Os"}, gone}, {[]string{"Ber", "gen"}, nil}},
			true, nil, false},
		{"twice is given up", []turn{{[]string{"Os"}, gone}, {[]string{"O"}, gone}}, false, []string{"Os"}, true},
		{"what the generator says is its answer",
			[]turn{{[]string{"Os"}, status.Error(codes.ResourceExhausted, "the budget ran out")}}, false,
			[]string{"Os"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			g := &generators{turns: c.turns}
			req := &orchestratorv1.AskRequest{Question: "q", Options: &orchestratorv1.AskOptions{},
				Limits: &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: 2}}}
			if c.held {
				req.Options.AbstainBelow = .5
			}
			q := question.New(req, &orchestratorv1.Run{}, noop.Tracer{}, func(e *orchestratorv1.AskStreamResponse) {
				switch e := e.GetEvent().(type) {
				case *orchestratorv1.AskStreamResponse_AnswerDelta:
					told = append(told, e.AnswerDelta)
				case *orchestratorv1.AskStreamResponse_AnswerRestarted:
					told = append(told, "<again>")
				}
			})
			err := method.IO{Stages: method.Stages{Generator: g}}.Answer(t.Context(), q)
			if (err != nil) != c.fails || !slices.Equal(told, c.want) {
				t.Errorf("told %q, then %v; want %q", told, err, c.want)
			}
			for _, l := range g.asked {
				if l.GetBudget().GetMaxCalls() != 2 {
					t.Errorf("it was asked with %v left", l)
				}
			}
			if c.fails {
				return
			}
			run := q.Snapshot()
			if run.GetUsage().GetCalls() != 1 || run.GetPartial() {
				t.Errorf("the run cost %v, partial %v", run.GetUsage(), run.GetPartial())
			}
			if q.Release(""); c.held && !slices.Equal(told, []string{"Ber", "gen"}) &&
				!slices.Equal(told, []string{"Bergen"}) {
				t.Errorf("of what was held, %q was told", told)
			}
		})
	}
}

// rewritten is a generator whose answer is not what it told of it: a spare model
// server wrote it.
type rewritten struct {
	generatorv1.GeneratorServiceClient
	pieces []string
	answer string
}

func (r rewritten) GenerateAnswerStream(context.Context, *generatorv1.GenerateAnswerStreamRequest,
	...grpc.CallOption) (grpc.ServerStreamingClient[generatorv1.GenerateAnswerStreamResponse], error) {
	return &text{turn: turn{pieces: slices.Clone(r.pieces)}, whole: r.answer}, nil
}

func TestAnAnswerThatIsAnotherThanWasToldTakesThatBack(t *testing.T) {
	for _, c := range []struct {
		name string
		rewritten
		want []string
	}{
		{"another", rewritten{pieces: []string{"It is B"}, answer: "It is Oslo"}, []string{"It is B", "<again>",
			"It is Oslo"}},
		{"a longer one", rewritten{pieces: []string{"It is "}, answer: "It is Oslo"}, []string{"It is ", "Oslo"}},
		{"the same but for spaces around it", rewritten{pieces: []string{" Oslo\n"}, answer: "Oslo"},
			[]string{" Oslo\n"}},
		{"one of which nothing was told", rewritten{answer: "Oslo"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			q := question.New(&orchestratorv1.AskRequest{Question: "q"}, &orchestratorv1.Run{}, noop.Tracer{},
				func(e *orchestratorv1.AskStreamResponse) {
					switch e := e.GetEvent().(type) {
					case *orchestratorv1.AskStreamResponse_AnswerDelta:
						told = append(told, e.AnswerDelta)
					case *orchestratorv1.AskStreamResponse_AnswerRestarted:
						told = append(told, "<again>")
					}
				})
			if err := (method.IO{Stages: method.Stages{Generator: c.rewritten}}).Answer(t.Context(), q); err != nil ||
				!slices.Equal(told, c.want) {
				t.Errorf("told %q, then %v; want %q", told, err, c.want)
			}
		})
	}
}
