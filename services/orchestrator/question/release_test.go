package question_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

func TestAnAnswerIsHeldUntilItIsReleased(t *testing.T) {
	for _, c := range []struct {
		name    string
		below   float32
		instead string
		during  []string
		after   []string
	}{
		{"with no threshold the text is told as it comes", 0, "", []string{"It was ", "Oslo."}, nil},
		{"with one it is held", 0.4, "", nil, []string{"It was ", "Oslo."}},
		{"what is said in its place is told once", 0.4, "Not here.", nil, []string{"Not here."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var deltas []string
			var seen *orchestratorv1.Run
			q := begin(&orchestratorv1.AskRequest{Options: &orchestratorv1.AskOptions{AbstainBelow: c.below}},
				func(event *orchestratorv1.AskStreamResponse) {
					if d := event.GetAnswerDelta(); d != "" {
						deltas = append(deltas, d)
					}
					if f := event.GetStageFinished(); f != nil {
						seen = f.GetRun()
					}
				})
			if err := q.Stage(t.Context(), answer, func(context.Context) (question.Cost, error) {
				q.Delta("It was ")
				q.Delta("Oslo.")
				q.Update(func(r *orchestratorv1.Run) {
					r.Text, r.Answers = "It was Oslo.", []*orchestratorv1.Answer{{Answer: "Oslo"}}
					r.Grounding, r.GroundingReason, r.AnswerProbability = orchestratorv1.Grounding_GROUNDING_GROUNDED,
						"Oslo is there", new(float32(.5))
				})
				return question.NoCost, nil
			}); err != nil {
				t.Fatal(err)
			}
			leaks := seen.GetText() != "" || len(seen.GetAnswers()) > 0 || seen.GetGrounding() != 0 ||
				seen.GetGroundingReason() != "" || seen.AnswerProbability != nil
			if !slices.Equal(deltas, c.during) || leaks != (c.below == 0) || len(seen.GetStages()) != 1 {
				t.Errorf("told %q and %v before the decision", deltas, seen)
			}
			deltas = nil
			q.Release(c.instead)
			if !slices.Equal(deltas, c.after) {
				t.Errorf("told %q after it", deltas)
			}
			if q.Delta("more"); deltas[len(deltas)-1] != "more" {
				t.Error("it is still held")
			}
			if run := q.Snapshot(); run.GetText() == "" || len(run.GetAnswers()) != 1 {
				t.Errorf("the run itself lost its answer: %v", run)
			}
		})
	}
}

func TestTextThatWasSentIsReplacedOnRelease(t *testing.T) {
	for _, c := range []struct {
		name    string
		write   func(*question.Question)
		replace string
		want    []string
	}{
		{"text that was sent is discarded first", func(q *question.Question) { q.Delta("Oslo") }, "Not said: Oslo",
			[]string{"Oslo", "<restart>", "Not said: Oslo"}},
		{"text that was sent stays without a replacement", func(q *question.Question) { q.Delta("Oslo") }, "",
			[]string{"Oslo"}},
		{"text that was discarded needs no second restart", func(q *question.Question) { q.Delta("Oslo"); q.Restart() },
			"Not said: Oslo", []string{"Oslo", "<restart>"}},
		{"text that is held is replaced before it is sent", func(q *question.Question) { q.Hold(); q.Delta("Oslo") },
			"Not said: Oslo", []string{"Not said: Oslo"}},
		{"text that is held is sent without a replacement", func(q *question.Question) { q.Hold(); q.Delta("Oslo") },
			"", []string{"Oslo"}},
		{"text that is held may be written anew",
			func(q *question.Question) { q.Hold(); q.Delta("Os"); q.Delta("lo"); q.Replace("Bergen") }, "",
			[]string{"Bergen"}},
		{"text that was sent may be written anew",
			func(q *question.Question) { q.Delta("Oslo"); q.Replace("Bergen") }, "",
			[]string{"Oslo", "<restart>", "Bergen"}},
		{"text sent before the hold is discarded before it is written anew",
			func(q *question.Question) { q.Delta("Os"); q.Hold(); q.Delta("lo"); q.Replace("Bergen") }, "",
			[]string{"Os", "<restart>", "Bergen"}},
		{"no text is not written anew", func(q *question.Question) { q.Replace("Bergen") }, "", nil},
		{"text sent before the hold is discarded",
			func(q *question.Question) { q.Delta("Os"); q.Hold(); q.Delta("lo") },
			"Not said: Oslo", []string{"Os", "<restart>", "Not said: Oslo"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events []string
			q := begin(&orchestratorv1.AskRequest{}, func(e *orchestratorv1.AskStreamResponse) {
				if e.GetAnswerRestarted() {
					events = append(events, "<restart>")
				} else {
					events = append(events, e.GetAnswerDelta())
				}
			})
			c.write(q)
			if q.Release(c.replace); !slices.Equal(events, c.want) {
				t.Errorf("sent %q, want %q", events, c.want)
			}
		})
	}
}

func TestNothingIsToldInPlaceOfATextThatNeverCame(t *testing.T) {
	told := 0
	q := begin(&orchestratorv1.AskRequest{Options: &orchestratorv1.AskOptions{AbstainBelow: .5}},
		func(*orchestratorv1.AskStreamResponse) { told++ })
	if q.Release("Not here."); told != 0 {
		t.Errorf("told of %d events", told)
	}
}

// half holds one knowledge graph of two.
type half struct {
	retrieverv1.RetrieverServiceClient
}

func (half) ListNeighbours(_ context.Context, req *retrieverv1.ListNeighboursRequest,
	_ ...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error) {
	if req.GetKg().GetName() == "down" {
		return nil, status.Error(codes.Unavailable, "the store is down")
	}
	return &retrieverv1.ListNeighboursResponse{Total: 1}, nil
}

func TestAStageWarnsOnceOfAKnowledgeGraphItWentOnWithout(t *testing.T) {
	run := &orchestratorv1.Run{Kg: &graphv1.KnowledgeGraphRef{Name: "up"},
		OtherKgs: []*graphv1.KnowledgeGraphRef{{Name: "down"}}}
	q := question.New(&orchestratorv1.AskRequest{}, run, telemetry.Discard().Tracer(), nil)
	retriever := sources.New(half{})
	if err := q.Stage(t.Context(), verify, func(ctx context.Context) (question.Cost, error) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if resp, err := retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: q.KG(),
					Entity: "e"}); err != nil || resp.GetTotal() != 1 {
					t.Errorf("got %v, %v", resp, err)
				}
			})
		}
		group.Wait()
		return &orchestratorv1.StageReport{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	warnings := q.Snapshot().GetStages()[0].GetWarnings()
	if len(warnings) != 1 || warnings[0].GetCode() != llm.WarnUnavailable {
		t.Errorf("warned %v", warnings)
	}
}
