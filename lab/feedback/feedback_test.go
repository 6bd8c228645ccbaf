package feedback_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/triplemesh/triplemesh/lab/dataset"
	"github.com/triplemesh/triplemesh/lab/feedback"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const (
	right   = orchestratorv1.Judgement_JUDGEMENT_RIGHT
	wrong   = orchestratorv1.Judgement_JUDGEMENT_WRONG
	missing = orchestratorv1.Judgement_JUDGEMENT_MISSING
)

// mark is a caller's mark on an answer of run n, which asked question q and gave answers.
func mark(n int, caller, q, answer string, judgement orchestratorv1.Judgement,
	gave ...string) *orchestratorv1.Feedback {
	m := &orchestratorv1.Feedback{
		Id: fmt.Sprintf("run-%03d-%s-%s", n, caller, answer), RunId: fmt.Sprintf("run-%03d", n),
		Question: q, Subject: caller,
		Kg:            &graphv1.KnowledgeGraphRef{Name: "films", Snapshot: 2},
		TopicEntities: []*graphv1.Entity{{Id: "Q1", Name: "Film"}},
		CreateTime:    timestamppb.New(time.Unix(int64(1000+n), 0)),
		Mark: &orchestratorv1.Mark{Judgement: judgement,
			Item: &orchestratorv1.Mark_Answer{Answer: &orchestratorv1.MarkedAnswer{Answer: answer}}},
	}
	for _, a := range gave {
		m.Answers = append(m.Answers, &orchestratorv1.MarkedAnswer{Answer: a})
	}
	return m
}

func TestMarksBecomeQuestionsWithAnswers(t *testing.T) {
	for _, c := range []struct {
		name         string
		marks        []*orchestratorv1.Feedback
		right, wrong []string
		complete     bool
		contested    int
	}{
		{"one caller's marks", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right, "A", "B"),
			mark(1, "ana", "q", "B", wrong, "A", "B"), mark(1, "ana", "q", "C", missing, "A", "B")},
			[]string{"A", "C"}, []string{"B"}, true, 0},
		{"an answer that nobody marked", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right, "A", "B")},
			[]string{"A"}, nil, false, 0},
		{"wrong answers alone", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", wrong, "A")}, nil, []string{"A"},
			false, 0},
		{"a caller's latest mark on two runs of a question", []*orchestratorv1.Feedback{
			mark(1, "ana", "Q ?", "A", right, "A"), mark(2, "ana", "q", "A", wrong, "A")}, nil, []string{"A"}, false,
			0},
		{"the same in the other order", []*orchestratorv1.Feedback{mark(2, "ana", "q", "A", wrong, "A"),
			mark(1, "ana", "q", "A", right, "A")}, nil, []string{"A"}, false, 0},
		{"missing in one run and right in the next", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", missing, "B"),
			mark(2, "ben", "q", "A", right, "A"), mark(2, "ben", "q", "B", wrong, "A")}, []string{"A"}, []string{"B"},
			true, 0},
		{"two callers who disagree", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right, "A"),
			mark(2, "ben", "q", "A", wrong, "A")}, nil, nil, false, 1},
		{"two against one", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right, "A"),
			mark(2, "ben", "q", "A", right, "A"), mark(3, "eve", "q", "A", wrong, "A")}, []string{"A"}, nil, true, 0},
		{"one caller's many runs are one vote", []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right, "A"),
			mark(2, "eve", "q", "A", wrong, "A"), mark(3, "eve", "q", "A", wrong, "A"),
			mark(4, "eve", "q", "A", wrong, "A")}, nil, nil, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := feedback.Collect(c.marks, "films")
			if len(set.Questions) != 1 {
				t.Fatalf("%d questions: %+v", len(set.Questions), set)
			}
			q := set.Questions[0]
			slices.Sort(q.Answers)
			if !slices.Equal(q.Answers, c.right) || !slices.Equal(q.Wrong, c.wrong) || q.Complete != c.complete ||
				len(set.Contested) != c.contested {
				t.Errorf("right %q, wrong %q, complete %v, contested %v; want %q, %q, %v, %d", q.Answers, q.Wrong,
					q.Complete, set.Contested, c.right, c.wrong, c.complete, c.contested)
			}
		})
	}
}

func TestQuestionsAreThoseOfOneKnowledgeGraph(t *testing.T) {
	other := mark(3, "ana", "q", "A", wrong)
	other.Kg = &graphv1.KnowledgeGraphRef{Name: "rivers", Snapshot: 1}
	marks := []*orchestratorv1.Feedback{mark(1, "ana", "q", "A", right), other, mark(2, "ben", "p", "B", right)}
	set := feedback.Collect(marks, "films")
	var ids []string
	for _, q := range set.Questions {
		ids = append(ids, q.ID)
	}
	if !slices.Equal(ids, []string{"run-002", "run-001"}) || set.Callers["ana"] != 1 || set.Callers["ben"] != 1 {
		t.Errorf("got %q by %v", ids, set.Callers)
	}
	if all := feedback.Collect(marks, ""); len(all.Questions) != 3 {
		t.Errorf("of all graphs there are %d questions", len(all.Questions))
	}
}

func TestTriplesAreCollected(t *testing.T) {
	triple := &graphv1.Triple{Subject: "Film", Relation: "director", Object: "Ada"}
	m := mark(1, "ana", "q", "", wrong)
	m.Mark.Item = &orchestratorv1.Mark_Triple{Triple: triple}
	q := feedback.Collect([]*orchestratorv1.Feedback{m}, "films").Questions[0]
	if len(q.WrongTriples) != 1 || !proto.Equal(q.WrongTriples[0], triple) || len(q.Answers) > 0 {
		t.Errorf("got %+v", q)
	}
}

func TestEvalReadsTheQuestions(t *testing.T) {
	withID := mark(1, "ana", "who?", "Ada <b>", right, "Ada <b>")
	withID.Mark.GetAnswer().Id = "Q7"
	set := feedback.Collect([]*orchestratorv1.Feedback{withID, mark(1, "ana", "who?", "Bob", missing, "Ada <b>"),
		mark(2, "ana", "where?", "Rome", wrong, "Rome")}, "films")
	var out bytes.Buffer
	if n, err := set.WriteQuestions(&out); err != nil || n != 1 {
		t.Fatalf("%d questions, %v", n, err)
	}
	read, err := dataset.Parse(out.Bytes(), "")
	if err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	q := read.Questions[0]
	if q.ID != "run-001" || q.Question != "who?" || !slices.Equal(q.TopicEntities, []string{"Film"}) ||
		q.Kind != dataset.Set || !slices.Contains(q.Names(), "Q7") || len(q.Answers) != 2 {
		t.Errorf("read %+v of %s", q, out.String())
	}
}

// marks are one caller's right marks on n questions of their own, from run first on.
func marks(caller string, first, n int) []*orchestratorv1.Feedback {
	var all []*orchestratorv1.Feedback
	for i := range n {
		n := first + i
		all = append(all, mark(n, caller, fmt.Sprint("question ", n), fmt.Sprint("answer ", n), right))
	}
	return all
}

func TestPoisonedSetsAreRefused(t *testing.T) {
	against := func(caller string, first, n int) []*orchestratorv1.Feedback {
		all := marks(caller, first, n)
		for _, m := range all {
			m.Mark.Judgement = wrong
		}
		return all
	}
	same := marks("eve", 0, 30)
	for _, m := range same[:20] {
		m.Mark = mark(0, "eve", "", "Buy Now Ltd", missing).Mark
	}
	many := feedback.Requirements{MinQuestions: 10, MinCallers: 3, MaxShare: .5, MaxContested: .2}
	for _, c := range []struct {
		name     string
		marks    []*orchestratorv1.Feedback
		requires feedback.Requirements
		says     []string
	}{
		{"nothing", nil, feedback.Requirements{}, []string{"0 questions have an answer that is known to be right"}},
		{"too little", marks("ana", 0, 9), feedback.DefaultRequirements(), []string{"9 questions", "20 are needed",
			"there are 9 marks"}},
		{"wrong answers alone", against("ana", 0, 50), feedback.DefaultRequirements(), []string{"0 questions"}},
		{"one caller where many are asked for", marks("eve", 0, 50), many, []string{`the caller "eve" alone made`,
			"3 callers are needed"}},
		{"one caller without a name", marks("", 0, 50), many, []string{"a caller without authentication alone"}},
		{"one caller who made most", slices.Concat(marks("eve", 0, 50), marks("ana", 50, 5), marks("ben", 55, 5)), many,
			[]string{`the caller "eve" made 50 of 60 marks`, "50 %"}},
		{"two callers who say the opposite", slices.Concat(marks("ana", 0, 30), against("eve", 0, 20)),
			feedback.DefaultRequirements(), []string{"contradict each other on 20 of 30", `"answer`,
				"(1 right, 1 wrong)"}},
		{"one answer to most questions", same, feedback.DefaultRequirements(), []string{`"Buy Now Ltd"`,
			"20 of 30 questions"}},
		{"a requirement that cannot be", marks("ana", 0, 50), feedback.Requirements{MaxContested: 2},
			[]string{"contested items: 2 is not 0 to 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := feedback.Collect(c.marks, "films").Check(c.requires)
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want it to say %q", err, want)
				}
			}
			if refused := (*feedback.RefusedError)(nil); errors.As(err, &refused) != (c.requires.Validate() == nil) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

func TestGoodSetsAreTaken(t *testing.T) {
	yes := marks("ana", 0, 30)
	for _, m := range yes {
		m.Mark.GetAnswer().Answer = "yes"
	}
	for _, c := range []struct {
		name     string
		marks    []*orchestratorv1.Feedback
		requires feedback.Requirements
	}{
		{"one person's", marks("", 0, 20), feedback.DefaultRequirements()},
		{"three callers'", slices.Concat(marks("ana", 0, 10), marks("ben", 10, 10), marks("cho", 20, 10)),
			feedback.Requirements{MinQuestions: 10, MinCallers: 3, MaxShare: .5, MaxContested: .2}},
		{"one vandal among three", slices.Concat(marks("ana", 0, 30), marks("ben", 0, 30),
			[]*orchestratorv1.Feedback{mark(40, "eve", "question 1", "answer 1", wrong)}),
			feedback.DefaultRequirements()},
		{"yes to every question", yes, feedback.DefaultRequirements()},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := feedback.Collect(c.marks, "films").Check(c.requires); err != nil {
				t.Error(err)
			}
		})
	}
}

// pages is a Lister of marks, three a page.
type pages []*orchestratorv1.Feedback

func (p pages) ListFeedback(_ context.Context, req *orchestratorv1.ListFeedbackRequest,
	_ ...grpc.CallOption) (*orchestratorv1.ListFeedbackResponse, error) {
	if req.GetKgName() != "films" {
		return nil, errors.New("unreachable")
	}
	from := len(req.GetPageToken())
	resp := &orchestratorv1.ListFeedbackResponse{Feedback: p[from:min(from+3, len(p))]}
	if from+3 < len(p) {
		resp.NextPageToken = strings.Repeat("x", from+3)
	}
	return resp, nil
}

func TestListReadsAllPages(t *testing.T) {
	stored := pages(marks("ana", 0, 7))
	got, err := feedback.List(t.Context(), stored, &orchestratorv1.ListFeedbackRequest{KgName: "films"})
	if err != nil || len(got) != 7 {
		t.Errorf("got %d, %v", len(got), err)
	}
	if _, err := feedback.List(t.Context(), stored, &orchestratorv1.ListFeedbackRequest{}); err == nil {
		t.Error("a failing server is no error")
	}
}

func TestWrittenFeedbackIsReadBack(t *testing.T) {
	want := marks("ana", 0, 3)
	var out bytes.Buffer
	if err := feedback.Write(&out, want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 3 || strings.Contains(out.String(), ": ") {
		t.Errorf("it is written in %d lines: %s", n, out.String())
	}
	got, err := feedback.Read(strings.NewReader("\n" + out.String() + "  \n"))
	if err != nil || len(got) != 3 {
		t.Fatalf("read %v, %v", got, err)
	}
	for i := range got {
		if !proto.Equal(got[i], want[i]) {
			t.Errorf("mark %d is read as %v", i, got[i])
		}
	}
}

func TestReadNamesBadLines(t *testing.T) {
	var out bytes.Buffer
	if err := feedback.Write(&out, marks("ana", 0, 1)); err != nil {
		t.Fatal(err)
	}
	good := out.String()
	for _, c := range []struct{ name, in, says string }{
		{"no JSON", good + "x\n", "line 2: is no feedback"},
		{"no question", `{"runId": "r", "mark": {"answer": {"answer": "a"}, "judgement": "JUDGEMENT_RIGHT"}}`,
			`field "question"`},
		{"no run", `{"question": "q", "mark": {"answer": {"answer": "a"}, "judgement": "JUDGEMENT_RIGHT"}}`,
			`field "runId"`},
		{"no judgement", `{"question": "q", "runId": "r", "mark": {"answer": {"answer": "a"}}}`, "mark.judgement"},
		{"a judgement that there is not", `{"question": "q", "runId": "r", "mark": {"answer": {"answer": "a"},
			"judgement": 7}}`, "line 1"},
		{"no item", `{"question": "q", "runId": "r", "mark": {"judgement": "JUDGEMENT_RIGHT"}}`, "neither an answer"},
		{"many bad lines", strings.Repeat("x\n", 30), "line 10:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := feedback.Read(strings.NewReader(c.in))
			if err == nil || got != nil || !strings.Contains(err.Error(), c.says) ||
				strings.Contains(err.Error(), "line 11") {
				t.Errorf("got %v, %v; want an error that says %q", got, err, c.says)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	var out bytes.Buffer
	if err := feedback.Write(&out, marks("ana", 0, 2)); err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", out.String(), out.String()[:40], `{"mark":{"triple":{}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := feedback.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		set := feedback.Collect(read, "")
		var questions bytes.Buffer
		n, err := set.WriteQuestions(&questions)
		if err != nil {
			t.Fatal(err)
		}
		if n > len(read) || set.Marks > len(read) {
			t.Errorf("%d questions with %d marks of %d lines", n, set.Marks, len(read))
		}
		_ = set.Check(feedback.DefaultRequirements())
	})
}
