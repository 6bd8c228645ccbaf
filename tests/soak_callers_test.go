//go:build soak

package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/testkit"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// errCode is an answer with an unexpected status.
var errCode = errors.New("another code than was wanted")

// does is one action of callers, its frequency in a thousand, and whether it is a question.
type does struct {
	weight   int
	question bool
	do       func(s *soak, ctx context.Context, random *rand.Rand) error
}

var doings = []does{
	{260, true, askBy("io")}, {90, true, askBy("cot")}, {20, true, askBy("sc")}, {60, true, askBy("query")},
	{170, true, askBy("pg-akv")}, {80, true, askBy("rag")}, {40, true, askBy("ger")},
	{60, true, (*soak).stream}, {40, true, (*soak).check}, {30, true, (*soak).followUp},
	{20, true, askExpectingError(codes.NotFound, func(r *orchestratorv1.AskRequest) { r.Kg.Name = "atlantis" })},
	{10, true, askExpectingError(codes.FailedPrecondition, func(r *orchestratorv1.AskRequest) { r.Kg.Name = idle })},
	{20, true, askExpectingError(codes.InvalidArgument, func(r *orchestratorv1.AskRequest) { r.Question = "" })},
	{10, true, askExpectingError(codes.InvalidArgument, func(r *orchestratorv1.AskRequest) { r.Method = "guess" })},
	{40, false, (*soak).feedback},
	{25, false, (*soak).list}, {15, false, (*soak).searchRuns}, {10, false, (*soak).links},
}

// soak runs one action after the other until ctx ends.
func (s *soak) soak(ctx context.Context, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	// A few are asked often, most rarely.
	which := rand.NewZipf(random, 1.1, 8, uint64(len(s.questions)-1))
	for ctx.Err() == nil {
		s.gate.RLock()
		d := pick(random)
		began := time.Now()
		err := s.once(ctx, d, random, s.questions[which.Uint64()])
		s.tally.count(d.question, time.Since(began), err)
		s.gate.RUnlock()
		if errors.Is(err, errCode) {
			s.t.Error(err)
		}
	}
}

func pick(random *rand.Rand) does {
	n := random.IntN(1000)
	for _, d := range doings {
		if n -= d.weight; n < 0 {
			return d
		}
	}
	return doings[0]
}

type textKey struct{}

// once runs an action; in one of fifty the caller cancels half way.
func (s *soak) once(ctx context.Context, d does, random *rand.Rand, text string) error {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, textKey{}, text), patience)
	defer cancel()
	if random.IntN(50) == 0 {
		timer := time.AfterFunc(time.Duration(random.IntN(10_000))*time.Microsecond, cancel)
		defer timer.Stop()
	}
	return d.do(s, ctx, random)
}

// request returns the request for a question.
func (s *soak) request(ctx context.Context, method string) *orchestratorv1.AskRequest {
	req := &orchestratorv1.AskRequest{Question: ctx.Value(textKey{}).(string), Method: method,
		Kg: &graphv1.KnowledgeGraphRef{Name: wikidata}}
	if method == "ger" {
		req.Question = studyQuestion
	}
	return req
}

func askBy(method string) func(*soak, context.Context, *rand.Rand) error {
	return func(s *soak, ctx context.Context, _ *rand.Rand) error {
		_, err := s.orchestrator.Ask(ctx, s.request(ctx, method))
		return err
	}
}

// askExpectingError sends a question that must fail.
func askExpectingError(code codes.Code,
	change func(*orchestratorv1.AskRequest)) func(*soak, context.Context, *rand.Rand) error {
	return func(s *soak, ctx context.Context, _ *rand.Rand) error {
		req := s.request(ctx, "pg-akv")
		change(req)
		_, err := s.orchestrator.Ask(ctx, req)
		switch status.Code(err) {
		case code:
			return nil
		case codes.Canceled, codes.ResourceExhausted:
			return err
		}
		return fmt.Errorf("%w: %v, want %v", errCode, err, code)
	}
}

func (s *soak) stream(ctx context.Context, random *rand.Rand) error {
	method := []string{"pg-akv", "io"}[random.IntN(2)]
	stream, err := s.orchestrator.AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: s.request(ctx, method)})
	for err == nil {
		_, err = stream.Recv()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (s *soak) followUp(ctx context.Context, _ *rand.Rand) error {
	req := s.request(ctx, "io")
	req.Question = "And he?"
	req.History = []*generatorv1.Turn{
		{Role: generatorv1.Role_ROLE_USER, Text: ctx.Value(textKey{}).(string)}, {Role: generatorv1.Role_ROLE_ASSISTANT,
			Text: "Nobody."},
	}
	_, err := s.orchestrator.Ask(ctx, req)
	return err
}

func (s *soak) check(ctx context.Context, _ *rand.Rand) error {
	_, err := s.orchestrator.Check(ctx, &orchestratorv1.CheckRequest{
		Text: "Robert Stam works at Google.", Kg: &graphv1.KnowledgeGraphRef{Name: wikidata},
	})
	return err
}

func (s *soak) list(ctx context.Context, _ *rand.Rand) error {
	_, err := s.newestRun(ctx)
	return err
}

// newestRun returns the first run of the list; nil if there is none.
func (s *soak) newestRun(ctx context.Context) (*orchestratorv1.Run, error) {
	page, err := s.orchestrator.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 10})
	if err != nil || len(page.GetRuns()) == 0 {
		return nil, err
	}
	resp, err := s.orchestrator.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: page.GetRuns()[0].GetId()})
	return resp.GetRun(), err
}

// feedback marks the first answer of the newest run.
func (s *soak) feedback(ctx context.Context, _ *rand.Rand) error {
	run, err := s.newestRun(ctx)
	if err != nil || len(run.GetAnswers()) == 0 {
		return err
	}
	_, err = s.marks.CreateFeedback(ctx, &orchestratorv1.CreateFeedbackRequest{RunId: run.GetId(),
		Marks: []*orchestratorv1.Mark{{
			Item: &orchestratorv1.Mark_Answer{
				Answer: &orchestratorv1.MarkedAnswer{Answer: run.GetAnswers()[0].GetAnswer()}},
			Judgement: orchestratorv1.Judgement_JUDGEMENT_WRONG,
		}}})
	return err
}

// deleteFeedback deletes all marks, so that what is stored does not grow. It must not be called while
// callers mark answers.
func (s *soak) deleteFeedback(ctx context.Context) error {
	for {
		page, err := s.marks.ListFeedback(ctx, &orchestratorv1.ListFeedbackRequest{PageSize: 1000})
		if err != nil || len(page.GetFeedback()) == 0 {
			return err
		}
		for _, f := range page.GetFeedback() {
			if _, err := s.marks.DeleteFeedback(ctx, &orchestratorv1.DeleteFeedbackRequest{Id: f.GetId()}); err != nil {
				return err
			}
		}
	}
}

func (s *soak) searchRuns(ctx context.Context, _ *rand.Rand) error {
	_, err := s.orchestrator.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 20, Query: "stam"})
	return err
}

func (s *soak) links(ctx context.Context, _ *rand.Rand) error {
	_, err := s.graphs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{})
	return err
}

func (s *soak) activate(number uint64) error {
	_, err := s.graphs.ActivateSnapshot(s.t.Context(),
		&retrieverv1.ActivateSnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: wikidata, Snapshot: number}})
	return err
}

// soakQuestions returns questions about the bundled facts; the first ones, asked most, are about
// the tests' graphs. In a soak of a million or more, caches fill up and evict; a shorter one has so
// few questions that all of them are cached before anything is judged.
func soakQuestions(t *testing.T, expected int64) []string {
	most := int64(math.MaxInt64)
	if expected < 1_000_000 {
		most = max(50, expected/1000)
	}
	questions := []string{employerQuestion, studyQuestion}
	seen := map[string]bool{}
	for line := range strings.Lines(string(testkit.Facts(t, func(int, []string) bool { return true }))) {
		fields := strings.Split(line, "\t")
		if q := fmt.Sprintf("What is the %s of %s?", fields[1], fields[0]); !seen[q] && int64(len(questions)) < most {
			seen[q] = true
			questions = append(questions, q)
		}
	}
	return questions
}

// callTally counts the outcomes of callers' actions, and their latency in the current window.
type callTally struct {
	mu        sync.Mutex
	changed   *sync.Cond
	questions int64
	calls     int64
	gone      int64
	failed    map[codes.Code]int64
	took      []time.Duration
}

func (c *callTally) start() {
	c.changed = sync.NewCond(&c.mu)
	c.failed = map[codes.Code]int64{}
}

func (c *callTally) count(question bool, took time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if question {
		if c.questions++; c.questions%64 == 0 {
			c.changed.Broadcast()
		}
	}
	switch code := status.Code(err); {
	case err == nil:
		c.took = append(c.took, took)
	case code == codes.Canceled || errors.Is(err, context.Canceled):
		c.gone++
	default:
		c.failed[code]++
	}
}

// await returns once n questions have been asked.
func (s *soak) await(ctx context.Context, n int64) {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	for s.tally.questions < n && ctx.Err() == nil {
		s.tally.changed.Wait()
	}
}
