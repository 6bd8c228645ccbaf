package verifier_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/verifier"
	"github.com/triplemesh/triplemesh/services/verifier/align"
)

// scriptedModel is a model that always answers the same.
type scriptedModel string

func (s scriptedModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: string(s)}, nil
}

type unmetered struct{}

func (unmetered) Meter() metric.Meter { return noop.Meter{} }

// TestTheFixedGraphIsWhatTheEditsLeadTo verifies random drafts by random
// evidence in each mode, whatever the model answers.
func TestTheFixedGraphIsWhatTheEditsLeadTo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		req := drawRequest(r)
		answer := drawAnswer(r, req)
		service, err := verifier.New(verifier.DefaultConfig(), scriptedModel(answer), unmetered{})
		if err != nil {
			r.Fatal(err)
		}
		resp, err := service.Verify(r.Context(), req)
		if err != nil {
			r.Fatal(err)
		}
		checkEdits(r, req, resp, answer)
		checkGraph(r, resp)
	})
}

// TestTheOrderOfEvidenceDoesNotMatter shuffles evidence whose cosines tell it
// apart.
func TestTheOrderOfEvidenceDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		req := drawRequest(r)
		req.Mode = alignMode
		distinct(r, req)
		shuffled := proto.CloneOf(req)
		subjects := shuffled.GetGroundGraph().GetSubjects()
		for _, s := range subjects {
			s.Triples = rapid.Permutation(s.GetTriples()).Draw(r, "triples")
		}
		shuffled.GroundGraph.Subjects = rapid.Permutation(subjects).Draw(r, "subjects")
		cfg := verifier.DefaultConfig().Align
		cfg.Added = 3
		one := align.Align(req.GetQuestion(), req.GetPseudoGraph(), req.GetGroundGraph(), cfg)
		other := align.Align(req.GetQuestion(), shuffled.GetPseudoGraph(), shuffled.GetGroundGraph(), cfg)
		if !proto.Equal(one.FixedGraph, other.FixedGraph) {
			r.Fatalf("the fixed graph is %v, of shuffled evidence %v", one.FixedGraph, other.FixedGraph)
		}
	})
}

// distinct returns evidence cosines that are all different, a hundredth apart.
func distinct(r *rapid.T, req *verifierv1.VerifyRequest) {
	var all []*graphv1.ScoredTriple
	for _, s := range req.GetGroundGraph().GetSubjects() {
		all = append(all, s.GetTriples()...)
	}
	places := make([]int, len(all))
	for i := range places {
		places[i] = i
	}
	draw := func(of string) []int { return rapid.Permutation(places).Draw(r, "order by nearness to "+of) }
	for i, p := range draw("the question") {
		all[i].QuestionScore = 0.3 + float32(p)/100
	}
	for d := range req.GetPseudoGraph().GetTriples() {
		for i, p := range draw("a draft") {
			all[i].PseudoTripleScores[d] = 0.3 + float32(p)/50
		}
	}
}

// checkEdits looks at what each edit does and rests on.
func checkEdits(r *rapid.T, req *verifierv1.VerifyRequest, resp *verifierv1.VerifyResponse, answer string) {
	drafts := req.GetPseudoGraph().GetTriples()
	shown := map[string]bool{}
	for _, s := range req.GetGroundGraph().GetSubjects() {
		for _, e := range s.GetTriples() {
			shown[align.Key(e.GetTriple())] = true
		}
	}
	written := map[string]bool{}
	if resp.GetMode() == rewriteMode {
		for _, w := range verifier.ParseRewriting(answer) {
			written[align.Key(w)] = true
		}
	}
	for i, e := range resp.GetEdits() {
		adds := e.GetKind() == graphv1.EditKind_EDIT_KIND_ADD
		if i < len(drafts) && (adds || !proto.Equal(e.GetBefore(), drafts[i])) || i >= len(drafts) && !adds {
			r.Fatalf("edit %d of %d drafts is %v", i, len(drafts), e)
		}
		if deletes := e.GetKind() == graphv1.EditKind_EDIT_KIND_DELETE; deletes != (e.GetAfter() == nil) ||
			adds != (e.GetBefore() == nil) {
			r.Fatalf("edit %d is %v", i, e)
		}
		rests := false
		for _, evidence := range e.GetEvidence() {
			if !shown[align.Key(evidence.GetTriple())] {
				r.Fatalf("edit %d rests on %v, which is not in the ground graph", i, evidence)
			}
			rests = rests || e.GetAfter() == nil || align.SameWording(e.GetAfter(), evidence.GetTriple())
		}
		kept := e.GetKind() == graphv1.EditKind_EDIT_KIND_KEEP && proto.Equal(e.GetAfter(), e.GetBefore())
		if e.GetAfter() != nil && !rests && !kept && !written[align.Key(e.GetAfter())] {
			r.Fatalf("edit %d rests on nothing: %v", i, e)
		}
	}
	if len(resp.GetEdits()) < len(drafts) {
		r.Fatalf("%d edits of %d drafts", len(resp.GetEdits()), len(drafts))
	}
}

// checkGraph compares the fixed graph with what the edits leave: each triple
// once, supported where any edit has evidence for it.
func checkGraph(r *rapid.T, resp *verifierv1.VerifyResponse) {
	want := map[string]bool{}
	for _, e := range resp.GetEdits() {
		if e.GetAfter() != nil {
			key := align.Key(e.GetAfter())
			want[key] = want[key] || len(e.GetEvidence()) > 0
		}
	}
	for _, f := range resp.GetFixedGraph().GetTriples() {
		key := align.Key(f.GetTriple())
		supported, ok := want[key]
		if !ok || supported != (f.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED) {
			r.Fatalf("the fixed graph %v is not what the edits %v lead to", resp.GetFixedGraph(), resp.GetEdits())
		}
		delete(want, key)
	}
	if len(want) > 0 {
		r.Fatalf("the fixed graph %v lacks what the edits %v lead to", resp.GetFixedGraph(), resp.GetEdits())
	}
}

func drawRequest(r *rapid.T) *verifierv1.VerifyRequest {
	req := &verifierv1.VerifyRequest{
		Question: rapid.SampledFrom([]string{"who directed the quiet harbour", "Tell me about Velmora.",
			"?"}).Draw(r, "question"),
		PseudoGraph: &graphv1.PseudoGraph{Triples: rapid.SliceOfN(rapid.Custom(drawTriple), 0, 4).Draw(r, "drafts")},
		GroundGraph: &graphv1.GroundGraph{},
		Mode: rapid.SampledFrom([]verifierv1.VerificationMode{alignMode, editsMode, rewriteMode}).Draw(r,
			"mode"),
	}
	held := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(r, "subjects") {
		s := &graphv1.SubjectEvidence{Confidence: rapid.SampledFrom([]float32{0.7, 0.9}).Draw(r, "confidence")}
		for _, t := range rapid.SliceOfN(rapid.Custom(drawTriple), 0, 5).Draw(r, "evidence") {
			if held[align.Key(t)] {
				continue
			}
			held[align.Key(t)] = true
			e := &graphv1.ScoredTriple{Triple: t, QuestionScore: rapid.Float32Range(-1, 1).Draw(r, "to the question")}
			for range req.PseudoGraph.Triples {
				e.PseudoTripleScores = append(e.PseudoTripleScores, rapid.Float32Range(-1, 1).Draw(r, "to a draft"))
			}
			s.Triples = append(s.Triples, e)
		}
		req.GroundGraph.Subjects = append(req.GroundGraph.Subjects, s)
	}
	return req
}

func drawTriple(r *rapid.T) *graphv1.Triple {
	t := triple(
		rapid.SampledFrom([]string{"Velmora", "velmora", "The Quiet Harbour"}).Draw(r, "subject"),
		rapid.SampledFrom([]string{"director", "mayor", "DIRECTOR"}).Draw(r, "relation"),
		rapid.SampledFrom([]string{"Erik", "Reik", "Velmora"}).Draw(r, "object"),
	)
	if rapid.IntRange(0, 3).Draw(r, "timeless three of four times") == 0 {
		t.Validity = &graphv1.ValidityInterval{Start: rapid.SampledFrom([]string{"1998", "2006"}).Draw(r, "start")}
	}
	return t
}

// drawAnswer is what a model may say in the request's mode.
func drawAnswer(r *rapid.T, req *verifierv1.VerifyRequest) string {
	number := rapid.IntRange(-1, 6)
	if req.GetMode() == rewriteMode {
		var lines []string
		for _, t := range rapid.SliceOfN(rapid.Custom(drawTriple), 0, 5).Draw(r, "written") {
			lines = append(lines, fmt.Sprintf("%s | %s | %s", t.GetSubject(), t.GetRelation(), t.GetObject()))
		}
		return strings.Join(lines, "\n")
	}
	var edits []string
	for range rapid.IntRange(0, 5).Draw(r, "edits") {
		edits = append(edits, fmt.Sprintf(`{"draft":%d,"action":%q,"evidence":%d}`, number.Draw(r, "draft"),
			rapid.SampledFrom([]string{"keep", "replace", "delete"}).Draw(r, "action"), number.Draw(r, "evidence")))
	}
	added := strings.Join(strings.Fields(fmt.Sprint(rapid.SliceOfN(number, 0, 4).Draw(r, "added"))), ",")
	return `{"edits":[` + strings.Join(slices.Compact(edits), ",") + `],"add":` + added + `}`
}
