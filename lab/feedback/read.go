// Package feedback turns the marks that callers made on answers into questions with answers known to
// be right or wrong, to train on. It refuses sets that cannot be trusted.
package feedback

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Lister lists the stored feedback: a FeedbackServiceClient.
type Lister interface {
	ListFeedback(context.Context, *orchestratorv1.ListFeedbackRequest,
		...grpc.CallOption) (*orchestratorv1.ListFeedbackResponse, error)
}

// pageSize is the most that the contract lets a page hold.
const pageSize = 1000

// List returns all feedback that a request selects, from all pages.
func List(ctx context.Context, from Lister, req *orchestratorv1.ListFeedbackRequest) ([]*orchestratorv1.Feedback,
	error) {
	var all []*orchestratorv1.Feedback
	for token := ""; ; {
		resp, err := from.ListFeedback(ctx, &orchestratorv1.ListFeedbackRequest{
			PageSize: pageSize, PageToken: token, RunId: req.GetRunId(), KgName: req.GetKgName(),
			Subject: req.GetSubject(), Own: req.GetOwn(),
		})
		if err != nil {
			return nil, fmt.Errorf("list feedback: %w", err)
		}
		all = append(all, resp.GetFeedback()...)
		if token = resp.GetNextPageToken(); token == "" {
			return all, nil
		}
	}
}

// Write writes feedback as JSON Lines, one message a line.
func Write(out io.Writer, marks []*orchestratorv1.Feedback) error {
	buffered := bufio.NewWriter(out)
	for _, m := range marks {
		text, err := protojson.Marshal(m)
		if err != nil {
			return fmt.Errorf("write feedback %s: %w", m.GetId(), err)
		}
		var line bytes.Buffer // protojson puts spaces where it likes
		if err := json.Compact(&line, text); err != nil {
			return fmt.Errorf("write feedback %s: %w", m.GetId(), err)
		}
		line.WriteByte('\n')
		if _, err := line.WriteTo(buffered); err != nil {
			return fmt.Errorf("write feedback: %w", err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write feedback: %w", err)
	}
	return nil
}

const (
	// maxLine bounds a line, in bytes: the largest mark that the contract allows has less.
	maxLine = 16 << 20
	// maxProblems bounds how many bad lines one error names.
	maxProblems = 10
)

// Read reads what Write wrote. Unknown fields are passed over. The error names up to ten bad lines.
func Read(in io.Reader) ([]*orchestratorv1.Feedback, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	var all []*orchestratorv1.Feedback
	var problems []error
	number := 0
	for lines.Scan() && len(problems) < maxProblems {
		number++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		m, err := parse(lines.Bytes())
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		all = append(all, m)
	}
	if err := lines.Err(); err != nil {
		problems = append(problems, fmt.Errorf("line %d: %w", number+1, err))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return all, nil
}

func parse(line []byte) (*orchestratorv1.Feedback, error) {
	m := &orchestratorv1.Feedback{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line, m); err != nil {
		return nil, fmt.Errorf("is no feedback as `triplemesh feedback export` writes it: %w", err)
	}
	mark := m.GetMark()
	switch {
	case strings.TrimSpace(m.GetQuestion()) == "":
		return nil, errors.New(`field "question": missing or empty`)
	case strings.TrimSpace(m.GetRunId()) == "":
		return nil, errors.New(`field "runId": missing or empty`)
	case mark.GetJudgement() < orchestratorv1.Judgement_JUDGEMENT_RIGHT ||
		mark.GetJudgement() > orchestratorv1.Judgement_JUDGEMENT_MISSING:
		return nil, errors.New(`field "mark.judgement": must be JUDGEMENT_RIGHT, JUDGEMENT_WRONG or JUDGEMENT_MISSING`)
	case mark.GetTriple() == nil && strings.TrimSpace(mark.GetAnswer().GetAnswer()) == "":
		return nil, errors.New(`field "mark": has neither an answer nor a triple`)
	}
	return m, nil
}
