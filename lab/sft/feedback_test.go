package sft

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	labfeedback "github.com/triplemesh/triplemesh/lab/feedback"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	markedRight   = orchestratorv1.Judgement_JUDGEMENT_RIGHT
	markedWrong   = orchestratorv1.Judgement_JUDGEMENT_WRONG
	markedMissing = orchestratorv1.Judgement_JUDGEMENT_MISSING
)

// riverFeedback is a mark on a run that answered Tessen and Harn to the question of the rivers.
func riverFeedback(answer string, judgement orchestratorv1.Judgement) *orchestratorv1.Feedback {
	m := &orchestratorv1.Feedback{
		Id: "01RUN-" + answer, RunId: "01RUN", Question: questions[0].Question,
		Kg:            &graphv1.KnowledgeGraphRef{Name: "small"},
		TopicEntities: []*graphv1.Entity{{Name: "Velmora"}}, CreateTime: timestamppb.New(time.Unix(1, 0)),
		Mark: &orchestratorv1.Mark{Judgement: judgement,
			Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: answer}}},
	}
	for _, name := range []string{"Tessen", "Harn"} {
		m.Answers = append(m.Answers, &orchestratorv1.MarkedAnswer{Answer: name})
	}
	return m
}

// feedbackFile writes marks as `triplemesh feedback export` does.
func feedbackFile(t *testing.T, marks ...*orchestratorv1.Feedback) string {
	t.Helper()
	var out bytes.Buffer
	if err := labfeedback.Write(&out, marks); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "feedback.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFeedbackTeachesWithTheAnswersAndMarksOfItsRun(t *testing.T) {
	open := riverFeedback("Tessen", markedRight)
	open.RunId, open.Question = "02RUN", "who directed the films that anna lindqvist acted in"
	c := Command{Feedback: feedbackFile(t, riverFeedback("Tessen", markedRight), riverFeedback("Harn", markedWrong),
		riverFeedback("Orla", markedMissing), open), MaxHops: 4, Seed: 1, Parallel: 1}
	if err := c.Prepare("small"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	summary, err := c.Write(t.Context(), newRetriever(t), ref, settings, &out)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Questions != 1 || summary.PartlyMarked != 1 {
		t.Errorf("got %+v", summary)
	}
	said := map[Task][]string{}
	for _, e := range lines(t, out.String()) {
		if e.QuestionID != "01RUN" {
			t.Errorf("an example of %s", e.QuestionID)
		}
		said[e.Task] = append(said[e.Task], fmt.Sprintf("%s => %s", lastPrompt(e), lastAnswer(e)))
	}
	for _, task := range Tasks {
		if len(said[task]) == 0 {
			t.Errorf("nothing is taught of %s", task)
		}
	}
	// The set that is judged faulty is the one that the run gave; it lacks Orla and has Harn.
	judged := strings.Join(said[EvaluateQuestion], "\n\n")
	if !strings.Contains(judged, "Candidates: Tessen; Harn => ") {
		t.Errorf("the run's answers are not judged as a set:\n%s", judged)
	}
	// Reflection sees people's verdicts on them and answers with what is right.
	for _, text := range said[Reflect] {
		_, answers, _ := strings.Cut(text, " => ")
		if strings.Contains(answers, "Harn") || !strings.Contains(answers, "Orla") ||
			!strings.Contains(answers, "Tessen") {
			t.Errorf("reflection answers %q", answers)
		}
	}
	var text bytes.Buffer
	if err := summary.Print(&text); err != nil || !strings.Contains(text.String(), "Not every answer marked") {
		t.Errorf("printed %s, %v", text.String(), err)
	}
}

func TestFeedbackThatTeachesNothingIsRefused(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, says string }{
		{"a run marked in part", feedbackFile(t, riverFeedback("Tessen", markedRight)), "of 1 questions"},
		{"wrong answers alone", feedbackFile(t, riverFeedback("Tessen", markedWrong),
			riverFeedback("Harn", markedWrong)), "none has every answer marked"},
		{"nothing", feedbackFile(t), "of 0 questions"},
		{"a bad line", bad, "bad.jsonl: line 1"},
		{"no such file", bad + "x", "bad.jsonlx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := Command{Feedback: c.file, MaxHops: 4, Seed: 1, Parallel: 1}
			if err := cmd.Prepare("small"); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}
