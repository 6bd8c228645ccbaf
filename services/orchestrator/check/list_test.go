package check

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// listing holds triples, "subject | relation | object", that can be listed around their ends.
type listing struct {
	retrieverv1.RetrieverServiceClient
	lines []string
}

func (l listing) ListNeighbours(_ context.Context, req *retrieverv1.ListNeighboursRequest,
	_ ...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error) {
	resp := &retrieverv1.ListNeighboursResponse{}
	for _, line := range l.lines {
		parts := strings.Split(line, " | ")
		if parts[0] == req.GetEntity() || parts[2] == req.GetEntity() {
			t := &graphv1.Triple{Subject: parts[0], Relation: parts[1], Object: parts[2]}
			resp.Triples = append(resp.Triples, t)
		}
	}
	return resp, nil
}

func TestASubjectThatIsOnlyANameIsWhatHasThatName(t *testing.T) {
	for _, c := range []struct {
		name, subject, want string
		lines               []string
	}{
		{"a former name", "1928 SJ", "1101 Clematis", []string{"1101 Clematis | formerName | 1928 SJ",
			"1101 Clematis | mass | 5.7"}},
		{"not one that the graph has facts of", "1928 SJ", "", []string{"1101 Clematis | formerName | 1928 SJ",
			"1928 SJ | mass | 3"}},
		{"nor what is no name", "1928 SJ", "", []string{"1101 Clematis | near | 1928 SJ"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := question.New(&orchestratorv1.AskRequest{}, &orchestratorv1.Run{},
				noop.NewTracerProvider().Tracer(""), nil)
			g := &gathering{Checker: New(method.Stages{Retriever: listing{lines: c.lines}}), q: q,
				near: []map[string]bool{{}}, isPresent: map[int]bool{},
				req: &verifierv1.JudgeClaimsRequest{GroundGraph: &graphv1.GroundGraph{},
					Claims: []*verifierv1.ClaimToJudge{{Triple: &graphv1.Triple{Subject: c.subject, Relation: "mass",
						Object: "4"}, Subjects: []*graphv1.EntityLink{{Entity: c.subject, Mention: c.subject}}}}}}
			if err := g.list(t.Context()); err != nil {
				t.Fatal(err)
			}
			linked := ""
			for _, l := range g.req.GetClaims()[0].GetSubjects()[1:] {
				linked += l.GetEntity()
			}
			if linked != c.want {
				t.Errorf("also linked to %q, want %q", linked, c.want)
			}
			if got := g.req.GetClaims()[0].GetTriple().GetSubject(); got != cmp.Or(c.want, c.subject) {
				t.Errorf("the claim is about %q", got)
			}
		})
	}
}

func TestWhatWasSoBeforeSaysNothingOfNow(t *testing.T) {
	const subject = "Mara Vell"
	for isPresent, want := range map[bool]string{true: "club", false: "club previous club"} {
		q := question.New(&orchestratorv1.AskRequest{}, &orchestratorv1.Run{}, noop.NewTracerProvider().Tracer(""), nil)
		g := &gathering{Checker: New(method.Stages{Retriever: listing{lines: []string{"Mara Vell | club | Orla",
			"Mara Vell | previous club | Tessen"}}}), q: q, near: []map[string]bool{{}},
			isPresent: map[int]bool{0: isPresent}, req: &verifierv1.JudgeClaimsRequest{
				GroundGraph: &graphv1.GroundGraph{}, Claims: []*verifierv1.ClaimToJudge{{
					Triple:   &graphv1.Triple{Subject: subject, Relation: "plays for", Object: "Tessen"},
					Subjects: []*graphv1.EntityLink{{Entity: subject, Mention: subject}}}}}}
		if err := g.list(t.Context()); err != nil {
			t.Fatal(err)
		}
		var relations []string
		for _, m := range g.req.GetClaims()[0].GetRelations() {
			relations = append(relations, m.GetRelation())
		}
		if got := strings.Join(relations, " "); got != want {
			t.Errorf("in the present %v: %q, want %q", isPresent, got, want)
		}
	}
}
