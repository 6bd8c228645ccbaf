package sft

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func TestExamplesOfAllTasks(t *testing.T) {
	examples, _ := export(t, Exporter{Seed: 1}, questions)
	got := formatExamples(examples)
	golden := filepath.Join("testdata", "examples.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the examples differ from %s; where that is meant, run with -update. Got:\n%s", golden, got)
	}
}

func TestWhatIsNotExportedIsCounted(t *testing.T) {
	_, s := export(t, Exporter{Seed: 1}, questions)
	if s.KG != "small@1" || s.Questions != 6 || s.OpenEnded != 1 || s.WithoutTopicEntities != 1 || s.Unreachable != 2 ||
		s.Answers != 7 || s.ReachedAnswers != 4 {
		t.Errorf("got %+v", s)
	}
	for _, task := range Tasks {
		if c := s.Examples[task]; c.Questions != 2 || c.Examples < 2 {
			t.Errorf("%s: %+v, want examples of two questions", task, c)
		}
	}
}

func TestJudgingIsTaughtByAsManyWrongExamplesAsRightOnes(t *testing.T) {
	r := newRetriever(t)
	for seed := range int64(20) {
		_, s := export(t, Exporter{Retriever: r, Seed: seed}, questions)
		for _, task := range []Task{EvaluateQuestion, EvaluateAnswer, Reflect} {
			if c := s.Examples[task]; c.Examples == 0 || c.Negative*2 != c.Examples {
				t.Errorf("seed %d, %s: %d of %d examples are negative, want half", seed, task, c.Negative, c.Examples)
			}
		}
	}
}

func TestNamesOfOneAnswerAreOneAnswer(t *testing.T) {
	q := dataset.Question{Answers: []string{"Orla"}, Aliases: [][]string{{"Velmora Water"}}}
	sc := scene{question: "who", id: "q", gold: newGold(q), random: (&Exporter{}).random("q"),
		paths: []*graphv1.ReasoningPath{
			path("river", "Velmora", "Orla"), path("river", "Velmora", "The Orla"),
			path("river", "Velmora", "Velmora Water"),
		}}
	s := settings
	if examples, err := s.judgeSet(sc); err != nil || len(examples) != 0 {
		t.Errorf("%d examples, %v; a set of one answer that is right cannot lack any", len(examples), err)
	}
	examples, err := s.readCandidates(sc)
	if err != nil || len(examples) != 1 || lastAnswer(examples[0]) != "{Orla} {The Orla} {Velmora Water}" {
		t.Errorf("got %q, %v; all entities of that name are to be read", formatExamples(examples), err)
	}
}

func TestTheSameSeedMakesTheSameExamples(t *testing.T) {
	r := newRetriever(t)
	one, _ := export(t, Exporter{Retriever: r, Seed: 1, Parallel: 1}, questions)
	for _, tt := range []struct {
		name string
		with Exporter
		same bool
	}{
		{"however many questions are under way", Exporter{Seed: 1, Parallel: 5}, true},
		{"and another seed makes others", Exporter{Seed: 2, Parallel: 5}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.with.Retriever = r
			other, _ := export(t, tt.with, questions)
			if same := formatExamples(one) == formatExamples(other); same != tt.same {
				t.Errorf("same %v, want %v", same, tt.same)
			}
		})
	}
	reversed := slices.Clone(questions)
	slices.Reverse(reversed)
	backwards, _ := export(t, Exporter{Retriever: r, Seed: 1, Tasks: []Task{Reflect}}, reversed)
	var reflections []Example
	for _, e := range one {
		if e.Task == Reflect {
			reflections = append(reflections, e)
		}
	}
	slices.SortStableFunc(backwards, func(a, b Example) int { return strings.Compare(a.QuestionID, b.QuestionID) })
	if formatExamples(backwards) != formatExamples(reflections) {
		t.Error("what is drawn for one question and task depends on the others")
	}
}

func TestOnlyTheTasksAskedForAreExported(t *testing.T) {
	examples, s := export(t, Exporter{Seed: 1, Tasks: []Task{EvaluateAnswer, RelationPaths}}, questions)
	if len(s.Examples) != 2 || len(examples) != s.Examples[EvaluateAnswer].Examples+s.Examples[RelationPaths].Examples {
		t.Errorf("got %+v", s.Examples)
	}
}

var errDown = errors.New("the retriever is down")

// broken fails one kind of call.
type broken struct {
	Retriever
	call string
}

func (b broken) FindShortestPaths(ctx context.Context, req *retrieverv1.FindShortestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error) {
	if b.call == "shortest" {
		return nil, errDown
	}
	resp, err := b.Retriever.FindShortestPaths(ctx, req)
	if err == nil && b.call == "other snapshot" && req.GetTo()[0] == "Erik Halvorsen" {
		resp.Kg.Snapshot = 2
		resp.Paths = nil
	}
	return resp, err
}

func (b broken) SuggestPaths(ctx context.Context, req *retrieverv1.SuggestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	if b.call == "suggest" {
		return nil, errDown
	}
	return b.Retriever.SuggestPaths(ctx, req)
}

func (b broken) FollowPaths(ctx context.Context, req *retrieverv1.FollowPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	if b.call == "follow" {
		return nil, errDown
	}
	return b.Retriever.FollowPaths(ctx, req)
}

func TestExportEndsAtTheFirstFailure(t *testing.T) {
	r := newRetriever(t)
	full := errors.New("the disk is full")
	for _, tt := range []struct {
		name, call string
		write      error
		want       []string
	}{
		{"walks cannot be found", "shortest", nil, []string{"question q1", "find walks", errDown.Error()}},
		{"near misses cannot be found", "suggest", nil, []string{"question q1", "resemble", errDown.Error()}},
		{"paths cannot be followed", "follow", nil, []string{"question q1", "follow", errDown.Error()}},
		{"the snapshot changes", "other snapshot", nil, []string{"small", "snapshot 2", "--kg small@2"}},
		{"examples cannot be written", "", full, []string{full.Error()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Exporter{Retriever: broken{r, tt.call}, KG: ref, Settings: settings, MaxHops: 4, Parallel: 3}
			_, err := e.Export(t.Context(), questions, func([]Example) error { return tt.write })
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want it to say %q", err, want)
				}
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e := Exporter{Retriever: r, KG: ref, Settings: settings, MaxHops: 4}
	if _, err := e.Export(ended, questions, func([]Example) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was interrupted", err)
	}
}

func TestAnswersCountByAnyOfTheirNames(t *testing.T) {
	q := dataset.Question{ID: "a", Question: "what rivers flow through velmora", Answers: []string{"The Tessen River",
		"Orla"}, Aliases: [][]string{{"Tessen"}}, TopicEntities: []string{"Velmora"}}
	examples, s := export(t, Exporter{Seed: 1, Tasks: []Task{CandidateAnswers}}, []dataset.Question{q})
	if s.ReachedAnswers != 2 || len(examples) != 1 || lastAnswer(examples[0]) != "{Orla} {Tessen}" {
		t.Errorf("got %d answers reached and %q", s.ReachedAnswers, formatExamples(examples))
	}
}
