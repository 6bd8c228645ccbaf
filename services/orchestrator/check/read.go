package check

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/sentence"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// atOnce is how many sentences are read at a time.
	atOnce = 4
	// longest is the most bytes of a sentence, or of what stands before it, that
	// the contract takes; what is longer is no sentence.
	longest = 16 << 10
)

// reader reads the sentences of one batch.
type reader struct {
	generatorv1.GeneratorServiceClient
	sentences []sentence.Sentence
	ledger    *llm.Ledger
	model     *llmv1.ModelRef
	resps     []*generatorv1.ExtractClaimsResponse
	warnings  []*llmv1.Warning
}

// GetUsage implements question.Spent.
func (r *reader) GetUsage() *llmv1.Usage { return r.ledger.Usage() }

// GetWarnings implements question.Spent.
func (r *reader) GetWarnings() []*llmv1.Warning { return r.warnings }

// read asks for the claims of sentences from start up to end. It returns how
// many of these were read, and why the next was not.
func (c *Checker) read(ctx context.Context, q *question.Question, sentences []sentence.Sentence, start, end int) (claims []*generatorv1.ExtractedClaim, n int, failed error) {
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_CLAIMS, func(ctx context.Context) (question.Spent, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		r := &reader{
			GeneratorServiceClient: c.Generator, sentences: sentences,
			ledger: llm.NewLedger(limits), model: limits.GetModel(), resps: make([]*generatorv1.ExtractClaimsResponse, end-start),
		}
		failed = r.all(ctx, start, atOnceWithin(limits.GetBudget()))
		for n < len(r.resps) && r.resps[n] != nil {
			claims = append(claims, r.placed(n, sentences[start+n].Start)...)
			n++
		}
		if n == 0 && failed != nil {
			return nil, failed
		}
		if failed != nil {
			r.warnings = append(r.warnings, question.Warning(orchestratorv1.Stage_STAGE_CLAIMS, failed))
		}
		return r, nil
	})
	if err != nil {
		failed = err
	}
	return claims, n, failed
}

// atOnceWithin is how many sentences are read at a time: where they share a
// budget, one, since each would take all that is left.
func atOnceWithin(b *llmv1.Budget) int {
	if b.GetMaxCalls() > 0 || b.GetMaxTokens() > 0 || b.GetMaxCostUsd() > 0 {
		return 1
	}
	return atOnce
}

// all reads a batch's sentences, until one fails.
func (r *reader) all(ctx context.Context, start, limit int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i := range r.resps {
		group.Go(func() (err error) {
			if ctx.Err() == nil { // else one before it failed
				r.resps[i], err = r.one(ctx, start+i)
			}
			return err
		})
	}
	return group.Wait()
}

// one reads a sentence.
func (r *reader) one(ctx context.Context, at int) (*generatorv1.ExtractClaimsResponse, error) {
	text := r.sentences[at].Text
	if len(text) > longest {
		return &generatorv1.ExtractClaimsResponse{Warnings: []*llmv1.Warning{
			llm.Warn(llm.WarnShortened, "a sentence of %d bytes was passed over: split it", len(text)),
		}}, nil
	}
	left, err := r.ledger.Left()
	if err != nil {
		return nil, err
	}
	resp, err := r.ExtractClaims(ctx, &generatorv1.ExtractClaimsRequest{
		Text: text, Context: before(r.sentences, at), Limits: &llmv1.Limits{Budget: left, Model: r.model},
	})
	if err != nil {
		r.ledger.Charge(llm.Spent(err))
		return nil, err
	}
	r.ledger.Charge(resp.GetUsage())
	return resp, nil
}

// placed are the claims of a sentence with spans in the whole text, which the
// sentence begins in at a character.
func (r *reader) placed(i, at int) []*generatorv1.ExtractedClaim {
	r.warnings = append(r.warnings, r.resps[i].GetWarnings()...)
	for _, claim := range r.resps[i].GetClaims() {
		shift(claim.GetSpan(), at)
		shift(claim.GetSubjectSpan(), at)
		shift(claim.GetObjectSpan(), at)
	}
	return r.resps[i].GetClaims()
}

// before is what a sentence needs of those before it to be understood, where
// the contract takes it.
func before(sentences []sentence.Sentence, at int) string {
	if text := sentence.Before(sentences, at); len(text) <= longest {
		return text
	}
	return ""
}
