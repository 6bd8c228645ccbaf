package orchestrator

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/check"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// answerYesNo answers a yes/no question with the stages of Check: the facts that it claims are read
// off it, grounded and judged. It reports false if reading failed: the method may manage without.
func (s *Service) answerYesNo(ctx context.Context, q *question.Question) (bool, error) {
	v, findings, err := s.judgeYesNo(ctx, q)
	if v == nil || err != nil {
		return false, err
	}
	q.Update(func(r *orchestratorv1.Run) {
		switch r.GetMethod() {
		case "auto":
			r.Choice = &orchestratorv1.Choice{Method: "pg-akv", Reason: "the question asks whether something is so"}
			fallthrough
		case "pg-akv":
			r.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: claimGraphs(findings)}
		}
		r.Grounding, r.GroundingReason = v.grounding, v.reason
		if v.answer == "" {
			r.Text = "The knowledge graph does not say: " + v.reason + "."
			return
		}
		r.Answers = []*orchestratorv1.Answer{{Answer: v.answer, Evidence: v.evidence}}
		r.Confidence = proto.Float32(v.confidence)
		r.Text = "{" + v.answer + "}"
		if v.grounding == orchestratorv1.Grounding_GROUNDING_RELATED {
			r.Text += ", as far as the knowledge graph lists it"
		}
		separator := ": "
		for _, t := range v.evidence {
			r.Text += separator + kgtext.FormatFact(t)
			separator = "; "
		}
		r.Text += "."
	})
	return true, nil
}

// judgeYesNo reads the claim of a question off the names in it, and by the model if the knowledge graph
// does not say anything about that. If the model reads none, it may be one of a kind. Without a claim the
// knowledge graph does not say: what a method would answer instead is an entity, which is no answer to such
// a question. It returns nil if reading failed.
func (s *Service) judgeYesNo(ctx context.Context, q *question.Question) (*yesNo, []*check.Finding, error) {
	options := q.Request().GetOptions().GetGrounding()
	named, err := s.checker.JudgeMentions(ctx, q, q.Text(), options)
	byName, err := settle(ctx, named, err)
	if err != nil || byName != nil && byName.answer != "" {
		return byName, named, err
	}
	whole, err := s.checker.JudgeComputed(ctx, q, q.Text())
	if whole != nil || err != nil {
		computed, fatal := settle(ctx, []*check.Finding{whole}, err)
		if fatal != nil || computed != nil && computed.answer != "" {
			return computed, []*check.Finding{whole}, fatal
		}
	}
	read, err := s.checker.CheckQuestion(ctx, q, q.Text(), options)
	byModel, fatal := settle(ctx, read, err)
	if byModel != nil || fatal != nil {
		return byModel, read, fatal
	}
	ofKind, kindErr := s.checker.JudgeKind(ctx, q, q.Text(), options)
	if byKind, fatal := settle(ctx, ofKind, kindErr); byKind != nil || fatal != nil {
		return byKind, ofKind, fatal
	}
	if byName == nil && err == nil {
		byName = &yesNo{grounding: orchestratorv1.Grounding_GROUNDING_ABSTAINED,
			reason: "no claim that it could be compared with was read off the question"}
	}
	return byName, named, nil
}

// settle combines the verdicts on claims. It returns nil if there are none, or if they failed in a way
// that the next reading can do without.
func settle(ctx context.Context, findings []*check.Finding, err error) (*yesNo, error) {
	if err == nil {
		return combineVerdicts(findings), nil
	}
	if question.Recoverable(ctx, err) {
		return nil, nil
	}
	return nil, err
}

// yesNo is the answer to a yes/no question.
type yesNo struct {
	// answer is "Yes" or "No"; empty if the knowledge graph does not say.
	answer     string
	grounding  orchestratorv1.Grounding
	reason     string
	confidence float32
	evidence   []*graphv1.Triple
}

// combineVerdicts joins the verdicts on all claims of a question: yes if all are supported, no if one
// is contradicted. If the knowledge graph lists other things in the place of one, that one is no as
// far as the list is complete. It returns nil if no claim was judged.
func combineVerdicts(findings []*check.Finding) *yesNo {
	order := []struct {
		answer    string
		grounding orchestratorv1.Grounding
		applies   func(verifierv1.Verdict, *verifierv1.Judgement) bool
	}{
		{"No", orchestratorv1.Grounding_GROUNDING_GROUNDED, func(v verifierv1.Verdict, j *verifierv1.Judgement) bool {
			return v == verifierv1.Verdict_VERDICT_CONTRADICTED
		}},
		{"", orchestratorv1.Grounding_GROUNDING_ABSTAINED, func(v verifierv1.Verdict, j *verifierv1.Judgement) bool {
			return v == verifierv1.Verdict_VERDICT_NOT_IN_KG && len(j.GetEvidence()) == 0
		}},
		{"No", orchestratorv1.Grounding_GROUNDING_RELATED, func(v verifierv1.Verdict, j *verifierv1.Judgement) bool {
			return v == verifierv1.Verdict_VERDICT_NOT_IN_KG
		}},
		{"Yes", orchestratorv1.Grounding_GROUNDING_GROUNDED, func(v verifierv1.Verdict, j *verifierv1.Judgement) bool {
			return v == verifierv1.Verdict_VERDICT_SUPPORTED
		}},
	}
	for _, o := range order {
		var v *yesNo
		for _, f := range findings {
			if f.Judgement == nil || !o.applies(positiveVerdict(f), f.Judgement) {
				continue
			}
			if v == nil {
				v = &yesNo{answer: o.answer, grounding: o.grounding, reason: f.Judgement.GetReason(),
					confidence: f.Judgement.GetConfidence()}
			}
			v.confidence = min(v.confidence, f.Judgement.GetConfidence())
			for _, e := range f.Judgement.GetEvidence() {
				v.evidence = append(v.evidence, e.GetTriple())
			}
		}
		if v != nil {
			return v
		}
	}
	return nil
}

// positiveVerdict is the verdict on a claim as it stands without a denial: "Isn't K2 in Nepal?" asks
// whether it is.
func positiveVerdict(f *check.Finding) verifierv1.Verdict {
	v := f.Judgement.GetVerdict()
	switch {
	case !f.Extracted.GetNegated():
	case v == verifierv1.Verdict_VERDICT_SUPPORTED:
		return verifierv1.Verdict_VERDICT_CONTRADICTED
	case v == verifierv1.Verdict_VERDICT_CONTRADICTED:
		return verifierv1.Verdict_VERDICT_SUPPORTED
	}
	return v
}

// claimGraphs are the graphs of PG&AKV with the claims of a question in the place of the draft.
func claimGraphs(findings []*check.Finding) *orchestratorv1.PgAkvGraphs {
	g := &orchestratorv1.PgAkvGraphs{PseudoGraph: &graphv1.PseudoGraph{}, GroundGraph: &graphv1.GroundGraph{},
		FixedGraph: &graphv1.FixedGraph{}}
	subjects := map[string]*graphv1.SubjectEvidence{}
	for _, f := range findings {
		claim, j := f.Extracted.GetTriple(), f.Judgement
		g.PseudoGraph.Triples = append(g.PseudoGraph.Triples, claim)
		edit := &graphv1.Edit{Kind: graphv1.EditKind_EDIT_KIND_KEEP, Before: claim, After: claim,
			Evidence: j.GetEvidence()}
		status := graphv1.TripleStatus_TRIPLE_STATUS_UNVERIFIED
		if j.GetVerdict() != verifierv1.Verdict_VERDICT_NOT_IN_KG && len(j.GetEvidence()) > 0 {
			edit.Kind, edit.After = graphv1.EditKind_EDIT_KIND_REPLACE, j.GetEvidence()[0].GetTriple()
			status = graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED
		}
		g.Edits = append(g.Edits, edit)
		g.FixedGraph.Triples = append(g.FixedGraph.Triples, &graphv1.FixedTriple{Triple: edit.After, Status: status})
		for _, e := range j.GetEvidence() {
			name := e.GetTriple().GetSubject()
			if subjects[name] == nil {
				subjects[name] = &graphv1.SubjectEvidence{Subject: name, SubjectId: e.GetTriple().GetSubjectId(),
					Confidence: j.GetConfidence(), KgName: e.GetTriple().GetKgName()}
				g.GroundGraph.Subjects = append(g.GroundGraph.Subjects, subjects[name])
			}
			s := subjects[name]
			s.Triples, s.Hits = append(s.Triples, e), s.GetHits()+1
		}
	}
	return g
}
