// Package check fact-checks a text with the stages of PG&AKV, with the text in the place of the
// model's draft: its claims are the pseudo-graph, the knowledge graph grounds them, and each is judged.
package check

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// batch is the number of sentences that pass the stages together: few enough for early verdicts on a
// stream, many enough not to call stages for single claims.
const batch = 8

// Checker checks texts.
type Checker struct {
	method.Stages
	uses *uses
}

// New returns a Checker over the stages.
func New(stages method.Stages) *Checker { return &Checker{Stages: stages, uses: newUses()} }

// Finding is one claim and its judgement.
type Finding struct {
	// Extracted is the claim with spans in the whole text.
	Extracted *generatorv1.ExtractedClaim
	// Judgement is nil until the claim is judged.
	Judgement *verifierv1.Judgement
}

// Listener receives all findings so far, and the number of characters read.
type Listener func(findings []*Finding, read int)

// Check extracts the claims of a text and judges them. tell may be nil. If a stage fails or the
// budget runs out, it returns the findings so far with the error, which then is
// question.Recoverable.
func (c *Checker) Check(ctx context.Context, q *question.Question, text string, options *retrieverv1.GroundingOptions,
	tell Listener) ([]*Finding, error) {
	if tell == nil {
		tell = func([]*Finding, int) {}
	}
	return c.check(ctx, q, text, options, false, tell)
}

// CheckQuestion is Check of a question, of which the model reads what is asked and no name is left to claim
// something of.
func (c *Checker) CheckQuestion(ctx context.Context, q *question.Question, text string,
	options *retrieverv1.GroundingOptions) ([]*Finding, error) {
	return c.check(ctx, q, text, options, true, func([]*Finding, int) {})
}

func (c *Checker) check(ctx context.Context, q *question.Question, text string, options *retrieverv1.GroundingOptions,
	isQuestion bool, tell Listener) ([]*Finding, error) {
	sentences := kgtext.SplitSentences(text)
	var all []*Finding
	for start := 0; start < len(sentences); start += batch {
		end := min(start+batch, len(sentences))
		claims, n, err := c.readClaims(ctx, q, sentences, start, end, isQuestion)
		end = start + n
		var found []*Finding
		for _, claim := range claims {
			found = append(found, &Finding{Extracted: claim})
		}
		name(all, found)
		before := all
		all = append(before, found...)
		tell(all, countReadRunes(sentences, end))
		if judged := c.judge(ctx, q, sentences[start:end], found, options); err == nil {
			err = judged
		}
		if err == nil && !isQuestion {
			found, err = c.judgeSentences(ctx, q, sentences[start:end], before, found)
			all = append(before, found...)
		}
		if err != nil {
			return all, err
		}
		tell(all, countReadRunes(sentences, end))
	}
	return all, nil
}

// JudgeTriples judges triples as claims of a text.
func (c *Checker) JudgeTriples(ctx context.Context, q *question.Question, text string, triples []*graphv1.Triple,
	options *retrieverv1.GroundingOptions) ([]*Finding, error) {
	var found []*Finding
	for _, t := range triples {
		found = append(found, &Finding{Extracted: &generatorv1.ExtractedClaim{Triple: t}})
	}
	return found, c.judge(ctx, q, kgtext.SplitSentences(text), found, options)
}

// countReadRunes returns the number of characters up to the end of the first n sentences.
func countReadRunes(sentences []kgtext.Sentence, n int) int {
	if n == 0 {
		return 0
	}
	return sentences[n-1].End
}

// judge grounds findings and judges them.
func (c *Checker) judge(ctx context.Context, q *question.Question, sentences []kgtext.Sentence, found []*Finding,
	options *retrieverv1.GroundingOptions) error {
	if len(found) == 0 {
		return nil
	}
	var req *verifierv1.JudgeClaimsRequest
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_GROUND_GRAPH, func(ctx context.Context) (_ question.Cost,
		err error) {
		req, err = c.ground(ctx, q, sentences, found, options)
		return question.NoCost, err
	})
	if err != nil {
		return err
	}
	err = q.Stage(ctx, orchestratorv1.Stage_STAGE_VERIFY, func(ctx context.Context) (question.Cost, error) {
		if limits, err := q.Limits(); err == nil { // names and cosines cost nothing
			req.Limits = limits
		}
		resp, err := c.Verifier.JudgeClaims(ctx, req)
		if err != nil {
			return nil, err
		}
		for i, j := range resp.GetJudgements() {
			if i < len(found) {
				found[i].Judgement = j
			}
		}
		return resp, nil
	})
	if err != nil {
		return err
	}
	return c.compute(ctx, q, req.GetClaims(), found)
}

// Claims converts findings to the API's type.
func Claims(findings []*Finding) []*orchestratorv1.Claim {
	claims := make([]*orchestratorv1.Claim, len(findings))
	for i, f := range findings {
		claims[i] = &orchestratorv1.Claim{
			Triple: f.Extracted.GetTriple(), Negated: f.Extracted.GetNegated(), Span: f.Extracted.GetSpan(),
			Verdict: f.Judgement.GetVerdict(), Confidence: f.Judgement.GetConfidence(),
			Evidence: f.Judgement.GetEvidence(), Reason: f.Judgement.GetReason(),
		}
	}
	return claims
}

// shift moves a span of a sentence to its position in the text.
func shift(s *graphv1.TextSpan, by int) {
	if s != nil {
		s.Start, s.End = s.GetStart()+uint32(by), s.GetEnd()+uint32(by)
	}
}
