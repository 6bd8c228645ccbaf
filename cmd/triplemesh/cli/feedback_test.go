package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/lab/dataset"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func (s *services) CreateFeedback(_ context.Context,
	req *orchestratorv1.CreateFeedbackRequest) (*orchestratorv1.CreateFeedbackResponse, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resp := &orchestratorv1.CreateFeedbackResponse{}
	for i, mark := range req.GetMarks() {
		resp.Feedback = append(resp.Feedback, &orchestratorv1.Feedback{
			Id: fmt.Sprintf("%s-%d", req.GetRunId(), i), RunId: req.GetRunId(), Question: "Who wrote it?",
			Subject: "ana", Mark: mark, CreateTime: timestamppb.New(time.Date(2026, 11, 21, 10, 0, i, 0, time.UTC)),
		})
	}
	s.feedback = append(s.feedback, resp.GetFeedback()...)
	return resp, nil
}

func (s *services) ListFeedback(_ context.Context,
	req *orchestratorv1.ListFeedbackRequest) (*orchestratorv1.ListFeedbackResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = req
	return &orchestratorv1.ListFeedbackResponse{Feedback: s.feedback}, s.err
}

func (s *services) DeleteFeedback(_ context.Context,
	req *orchestratorv1.DeleteFeedbackRequest) (*orchestratorv1.DeleteFeedbackResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.GetId() == "none" {
		return nil, status.Error(codes.NotFound, "there is no feedback \"none\"")
	}
	s.deleted = append(s.deleted, req.GetId())
	return &orchestratorv1.DeleteFeedbackResponse{}, nil
}

// items are the marks that were stored, as "judgement item".
func (s *services) items() (all []string) {
	for _, m := range s.feedback {
		all = append(all, strings.TrimPrefix(m.GetMark().GetJudgement().String(), "JUDGEMENT_")+" "+
			describeItem(m.GetMark(), 100))
	}
	return all
}

func TestFeedbackMarksItemsOfARun(t *testing.T) {
	s := serve(t, &services{run: &orchestratorv1.Run{Id: "01NEWEST", Question: "Who wrote it?"}})
	triplemesh(t, nil, "", "feedback", "last", "--right", "Ada, Countess", "--wrong", "Bob", "--wrong", "Cy",
		"--missing", "Q7", "--wrong-triple", "It | author | Bob", "--comment", "see the cover", "--server",
		s.addr).Expect(t, ExitOK, "Who wrote it?", "right    Ada, Countess", "wrong    Bob", "missing  Q7",
		"It | author | Bob")
	want := []string{"RIGHT Ada, Countess", "WRONG Bob", "WRONG Cy", "WRONG It | author | Bob", "MISSING Q7"}
	if got := s.items(); !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
	if m := s.feedback[0]; m.GetRunId() != "01NEWEST" || m.GetMark().GetComment() != "see the cover" {
		t.Errorf("sent %v", m)
	}
	triplemesh(t, nil, "", "feedback", "give", "01OTHER", "--right", "Ada", "--json", "--server", s.addr).Expect(t,
		ExitOK, `"runId":`, "01OTHER", "JUDGEMENT_RIGHT")
}

func TestFeedbackWithoutMarksIsWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"feedback", "last"}, "nothing is marked"},
		{[]string{"feedback"}, "run"},
		{[]string{"feedback", "last", "--right-triple", "a | b"}, `"a | b" is no triple`},
		{[]string{"feedback", "last", "--wrong-triple", "a | | c"}, "is no triple"},
		{[]string{"feedback", "export", "--max-share", "2"}, "2 is not 0 to 1"},
	} {
		triplemesh(t, nil, "", append(c.args, "--server", "127.0.0.1:1")...).Expect(t, ExitUsage, c.says)
	}
}

func TestFeedbackTellsTheServersReason(t *testing.T) {
	s := serve(t, &services{err: status.Error(codes.InvalidArgument,
		`marks[0]: the run has no answer "X"; it has "Y"`)})
	triplemesh(t, nil, "", "feedback", "01RUN", "--right", "X", "--server", s.addr).Expect(t, ExitUsage,
		`the run has no answer "X"`)
}

func TestFeedbackIsListedExportedAndDeleted(t *testing.T) {
	s := serve(t, &services{})
	triplemesh(t, nil, "", "feedback", "list", "--server", s.addr).Expect(t, ExitOK, "no feedback")
	triplemesh(t, nil, "", "feedback", "01RUN", "--right", "Ada\x1b[31m", "--wrong", "Bob", "--server",
		s.addr).Expect(t, ExitOK)
	triplemesh(t, nil, "", "feedback", "list", "--run", "01RUN", "--kg", "films", "--by", "ana", "--own", "--server",
		s.addr).Expect(t, ExitOK, "01RUN-0", "ana", "right", `Ada\u001b[31m`, "Who wrote it?")
	if r := s.listed; r.GetRunId() != "01RUN" || r.GetKgName() != "films" || r.GetSubject() != "ana" || !r.GetOwn() {
		t.Errorf("asked for %v", r)
	}
	triplemesh(t, nil, "", "feedback", "list", "--json", "--server", s.addr).Expect(t, ExitOK, `"feedback":`)

	out := filepath.Join(t.TempDir(), "feedback.jsonl")
	triplemesh(t, nil, "", "feedback", "export", "--out", out, "--server", s.addr).Expect(t, ExitOK, "2 marks")
	triplemesh(t, nil, "", "feedback", "export", "--out", out, "--server", s.addr).Expect(t, ExitUsage, "exists")
	if data, err := os.ReadFile(out); err != nil || strings.Count(string(data), "\n") != 2 {
		t.Errorf("exported %s, %v", data, err)
	}
	triplemesh(t, nil, "", "feedback", "export", "--questions", "--force", "--out", out, "--server", s.addr).Expect(t,
		ExitOK, "1 questions of 2 marks by 1 callers")
	read, err := dataset.Read(out, "")
	if err != nil || len(read.Questions) != 1 || !slices.Equal(read.Questions[0].Answers, []string{"Ada\x1b[31m"}) {
		t.Errorf("the questions are %+v, %v", read.Questions, err)
	}
	triplemesh(t, nil, "", "feedback", "export", "--questions", "--min-callers", "2", "--server", s.addr).Expect(t,
		ExitFailed, "feedback refused", `the caller "ana" alone`)

	triplemesh(t, nil, "", "feedback", "delete", "01RUN-0", "01RUN-1", "--server", s.addr).Expect(t, ExitOK,
		"deleted 01RUN-0")
	if !slices.Equal(s.deleted, []string{"01RUN-0", "01RUN-1"}) {
		t.Errorf("deleted %q", s.deleted)
	}
	triplemesh(t, nil, "", "feedback", "delete", "none", "--server", s.addr).Expect(t, ExitFailed, "no feedback")
}
