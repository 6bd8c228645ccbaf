package eval

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// fakeAsker answers every question with "a", which is right, from snapshot 7,
// unless reply says otherwise. It keeps what it was asked.
type fakeAsker struct {
	reply func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error)

	mu       sync.Mutex
	requests []*orchestratorv1.AskRequest
}

func (f *fakeAsker) Ask(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	f.mu.Lock()
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	run, err := rightAnswer(), error(nil)
	if f.reply != nil {
		run, err = f.reply(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	return &orchestratorv1.AskResponse{Run: run}, nil
}

func rightAnswer() *orchestratorv1.Run {
	run := newRun("a")
	run.Kg = &graphv1.KnowledgeGraphRef{Name: "wikidata", Snapshot: 7}
	return run
}

// questions returns what was asked so far, sorted.
func (f *fakeAsker) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, r := range f.requests {
		out = append(out, r.GetQuestion())
	}
	slices.Sort(out)
	return out
}

func nQuestions(n int) []dataset.Question {
	out := make([]dataset.Question, n)
	for i := range out {
		id := string(rune('a' + i))
		out[i] = dataset.Question{ID: id, Question: "question " + id, Answers: []string{"a"}}
	}
	return out
}

func newRunner(t *testing.T, asker Asker, dir string, questions ...dataset.Question) *runner {
	t.Helper()
	j := mustResume(t, dir)
	t.Cleanup(func() { j.Close() })
	e := &evaluation{
		name: "q-wikidata-pg-akv", dir: dir, questions: questions, manifest: testManifest(),
		options: &orchestratorv1.AskOptions{}, journal: j,
	}
	l := &lab{
		asker: asker, parallel: 3, timeout: time.Minute, hops: newHops(nil),
		budget:   &budget{now: time.Now},
		progress: newProgress(terminal.Detect(io.Discard, nil)),
		pause:    func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
	l.progress.expect([]*evaluation{e}, l.parallel)
	l.progress.begin(0)
	return &runner{lab: l, evaluation: e}
}

// run runs the evaluation as a command with no other does.
func run(ctx context.Context, r *runner) error {
	if err := r.lab.run(ctx, []*evaluation{r.evaluation}); err != nil {
		return err
	}
	return r.stopped
}

func failureOf(r *runner, id string) *results.Failure {
	record, _ := r.journal.Record(id)
	return record.Failure
}

func TestRunAsksEveryQuestionOnce(t *testing.T) {
	t.Parallel()
	asker, questions := &fakeAsker{}, nQuestions(9)
	r := newRunner(t, asker, "", questions...)
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := asker.questions(); len(got) != 9 || len(slices.Compact(got)) != 9 {
		t.Errorf("asked %v", got)
	}
	for _, q := range questions {
		if !r.journal.IsAnswered(q.ID) {
			t.Errorf("question %s has no result", q.ID)
		}
	}
}

func TestRunReadsOneSnapshot(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{}
	if err := run(t.Context(), newRunner(t, asker, "", nQuestions(6)...)); err != nil {
		t.Fatal(err)
	}
	for i, request := range asker.requests {
		want := uint64(7)
		if i == 0 {
			want = 0 // the first one asks for the active snapshot, and tells which that is
		}
		if got := request.GetKg().GetSnapshot(); got != want {
			t.Errorf("request %d asks for snapshot %d, want %d", i, got, want)
		}
	}
}

func TestRunRefusesToMixSnapshots(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		run := rightAnswer()
		run.Kg.Snapshot += req.GetKg().GetSnapshot()
		return run, nil
	}}
	err := run(t.Context(), newRunner(t, asker, "", nQuestions(6)...))
	if err == nil || !strings.Contains(err.Error(), "read snapshot 14 of wikidata and not 7") {
		t.Errorf("error %v", err)
	}
}

func TestRunGivesTopicEntitiesOnlyWhereTold(t *testing.T) {
	t.Parallel()
	for _, gold := range []bool{false, true} {
		asker, questions := &fakeAsker{}, nQuestions(1)
		questions[0].TopicEntities = []string{"Mapo Bridge"}
		r := newRunner(t, asker, "", questions...)
		m := r.journal.Manifest()
		m.GoldEntities = gold
		if err := r.journal.Settle(m); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := asker.requests[0].GetTopicEntities(); (len(got) == 1) != gold {
			t.Errorf("gold entities %v: asked with %v", gold, got)
		}
	}
}

func TestRunGoesOnAfterAQuestionThatFails(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		switch req.GetQuestion() {
		case "question b":
			return nil, status.Error(codes.Internal, "broken")
		case "question c":
			return nil, nil
		case "question d":
			return nil, context.DeadlineExceeded
		case "question e":
			return newRun("\xff"), nil
		}
		return rightAnswer(), nil
	}}
	dir := t.TempDir()
	r := newRunner(t, asker, dir, nQuestions(7)...)
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for id, code := range map[string]string{"b": "Internal", "c": "Internal", "d": "DeadlineExceeded", "e": "Unknown"} {
		if got := failureOf(r, id); got == nil || got.Code != code || got.Message == "" {
			t.Errorf("question %s ended in %+v, want %s", id, got, code)
		}
	}

	if err := r.journal.Close(); err != nil {
		t.Fatal(err)
	}
	again := &fakeAsker{}
	if err := run(t.Context(), newRunner(t, again, dir, nQuestions(7)...)); err != nil {
		t.Fatal(err)
	}
	if got := again.questions(); !slices.Equal(got, []string{"question b", "question c", "question d", "question e"}) {
		t.Errorf("the second time it asked %v, want what failed", got)
	}
}

func TestRunAsksNothingTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newRunner(t, &fakeAsker{}, dir, nQuestions(4)...)
	if err := run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := first.journal.Close(); err != nil {
		t.Fatal(err)
	}
	asker := &fakeAsker{}
	if err := run(t.Context(), newRunner(t, asker, dir, nQuestions(6)...)); err != nil {
		t.Fatal(err)
	}
	if got := asker.questions(); !slices.Equal(got, []string{"question e", "question f"}) {
		t.Errorf("asked %v", got)
	}
	for _, request := range asker.requests {
		if request.GetKg().GetSnapshot() != 7 {
			t.Errorf("asked for %v, want the snapshot of the first time", request.GetKg())
		}
	}
}

func TestRunEndsWhenNothingCanBeAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		questions int
		err       error
		asked     int
		want      []string
	}{
		{
			"five questions in a row find no server", 20, status.Error(codes.Unavailable, "connection refused"),
			giveUpAfter,
			[]string{"5 questions in a row", "Unavailable: connection refused", "triplemesh up",
				"0 of 20 questions answered"},
		},
		{
			"five questions in a row name a knowledge graph without a snapshot", 20,
			status.Error(codes.FailedPrecondition, "no snapshot"), giveUpAfter,
			[]string{"5 questions in a row", "FailedPrecondition: no snapshot", "mend that"},
		},
		{
			"all questions of a small sample find no server", 2, status.Error(codes.Unavailable, "connection refused"),
			2,
			[]string{"2 questions in a row", "connection refused"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
				return nil, c.err
			}}
			err := run(t.Context(), newRunner(t, asker, "", nQuestions(c.questions)...))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if got := len(asker.questions()); got != c.asked {
				t.Errorf("asked %d questions, want %d", got, c.asked)
			}
		})
	}
}

func TestRunDoesNotCountFailuresThatAreNotInARow(t *testing.T) {
	t.Parallel()
	asked := 0
	asker := &fakeAsker{reply: func(context.Context, *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		asked++
		switch {
		case asked == 8:
			return nil, status.Error(codes.Internal, "broken")
		case asked%giveUpAfter == 0:
			return rightAnswer(), nil
		}
		return nil, status.Error(codes.Unavailable, "restarting")
	}}
	r := newRunner(t, asker, "", nQuestions(14)...)
	r.parallel = 1
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if asked != 14 {
		t.Errorf("asked %d questions", asked)
	}
}

func TestRunStopsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asker := &fakeAsker{reply: func(ctx context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		if req.GetQuestion() == "question c" {
			cancel()
			<-ctx.Done()
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		return rightAnswer(), nil
	}}
	dir := t.TempDir()
	r := newRunner(t, asker, dir, nQuestions(6)...)
	r.parallel = 1
	err := run(ctx, r)
	if err == nil || !strings.Contains(err.Error(),
		"stopped; give the same command again to go on (2 of 6 questions answered, kept in "+dir) {
		t.Errorf("error %v", err)
	}
	if _, recorded := r.journal.Record("c"); recorded {
		t.Error("the question that was called off counts as a failure")
	}
}

func TestRunBoundsTheTimeOfAQuestion(t *testing.T) {
	t.Parallel()
	asker := &fakeAsker{reply: func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	r := newRunner(t, asker, "", nQuestions(1)...)
	r.timeout = time.Millisecond
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := failureOf(r, "a"); got == nil || got.Code != "DeadlineExceeded" {
		t.Errorf("it ended in %+v", got)
	}
}

func TestRunEndsOnAFullDisk(t *testing.T) {
	t.Parallel()
	r := newRunner(t, &fakeAsker{}, t.TempDir(), nQuestions(6)...)
	r.journal = fullDisk{r.journal.(*results.Journal)}
	err := run(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "no space left on device") ||
		!strings.Contains(err.Error(), "make room") {
		t.Errorf("error %v", err)
	}
}

func TestRunAsksSeveralAtATime(t *testing.T) {
	t.Parallel()
	together := make(chan struct{})
	arrived := make(chan struct{}, 3)
	first := true
	asker := &fakeAsker{}
	asker.reply = func(ctx context.Context, _ *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
		if first {
			first = false // alone, for it settles the snapshot
			return rightAnswer(), nil
		}
		arrived <- struct{}{}
		select {
		case <-together:
			return rightAnswer(), nil
		case <-ctx.Done():
			return nil, errors.New("the others never came")
		}
	}
	go func() {
		for range 3 {
			<-arrived
		}
		close(together)
	}()
	r := newRunner(t, asker, "", nQuestions(4)...)
	r.timeout = 10 * time.Second
	if err := run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, q := range nQuestions(4) {
		if failure := failureOf(r, q.ID); failure != nil {
			t.Errorf("question %s: %+v", q.ID, failure)
		}
	}
}
