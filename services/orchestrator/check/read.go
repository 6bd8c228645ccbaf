package check

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// atOnce is the maximum number of sentences in flight.
	atOnce = 4
	// longest bounds a sentence, and its context, in bytes, as the contract does; longer ones are
	// skipped.
	longest = 16 << 10
)

// reader reads the sentences of one batch.
type reader struct {
	generatorv1.GeneratorServiceClient
	sentences []kgtext.Sentence
	ledger    *llm.Ledger
	model     *llmv1.ModelRef
	resps     []*generatorv1.ExtractClaimsResponse
	warnings  []*llmv1.Warning
}

func (r *reader) GetUsage() *llmv1.Usage { return r.ledger.Usage() }

func (r *reader) GetWarnings() []*llmv1.Warning { return r.warnings }

// readClaims extracts the claims of the sentences from start to end, and completes them unless they are of a
// question. It returns how many were read, and the error of the next.
func (c *Checker) readClaims(ctx context.Context, q *question.Question, sentences []kgtext.Sentence, start, end int,
	isQuestion bool) (claims []*generatorv1.ExtractedClaim, n int, failed error) {
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_CLAIMS, func(ctx context.Context) (question.Cost, error) {
		limits, err := q.Limits()
		if err != nil {
			return nil, err
		}
		r := &reader{
			GeneratorServiceClient: c.Generator, sentences: sentences,
			ledger: llm.NewLedger(limits), model: limits.GetModel(), resps: make([]*generatorv1.ExtractClaimsResponse,
				end-start),
		}
		failed = r.readAll(ctx, start, atOnceWithin(limits.GetBudget()))
		for n < len(r.resps) && r.resps[n] != nil {
			read := r.placed(n, sentences[start+n].Start)
			if !isQuestion {
				last := ""
				if len(claims) > 0 {
					last = claims[len(claims)-1].GetTriple().GetSubject()
				}
				added, err := c.complete(ctx, q, sentences[start+n], last, read)
				if err != nil {
					failed = err
					break
				}
				read = append(read, added...)
			}
			claims = append(claims, read...)
			n++
		}
		if n == 0 && failed != nil {
			return nil, r.ledger.AttachUsage(failed)
		}
		if failed != nil {
			r.warnings = append(r.warnings, question.StageWarning(orchestratorv1.Stage_STAGE_CLAIMS, failed))
		}
		return r, nil
	})
	if err != nil {
		failed = err
	}
	return claims, n, failed
}

// atOnceWithin returns the number of sentences in flight: one if they share a
// budget, because each may spend all that remains.
func atOnceWithin(b *llmv1.Budget) int {
	if b.GetMaxCalls() > 0 || b.GetMaxTokens() > 0 || b.GetMaxCostUsd() > 0 {
		return 1
	}
	return atOnce
}

// readAll reads a batch's sentences until one fails.
func (r *reader) readAll(ctx context.Context, start, limit int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i := range r.resps {
		group.Go(func() (err error) {
			if ctx.Err() == nil { // else one before it failed
				r.resps[i], err = r.readSentence(ctx, start+i)
			}
			return err
		})
	}
	return group.Wait()
}

func (r *reader) readSentence(ctx context.Context, at int) (*generatorv1.ExtractClaimsResponse, error) {
	text := r.sentences[at].Text
	if len(text) > longest {
		return &generatorv1.ExtractClaimsResponse{Warnings: []*llmv1.Warning{
			llm.Warn(llm.WarnShortened, "a sentence of %d bytes was skipped: split it", len(text)),
		}}, nil
	}
	left, err := r.ledger.Remaining()
	if err != nil {
		return nil, err
	}
	resp, err := r.ExtractClaims(ctx, &generatorv1.ExtractClaimsRequest{
		Text: text, Context: antecedentOf(r.sentences, at), Limits: &llmv1.Limits{Budget: left, Model: r.model},
	})
	if err != nil {
		r.ledger.Charge(llm.AttachedUsage(err))
		return nil, err
	}
	r.ledger.Charge(resp.GetUsage())
	return resp, nil
}

// placed returns the claims of a sentence with spans in the whole text; at is the sentence's
// offset.
func (r *reader) placed(i, at int) []*generatorv1.ExtractedClaim {
	r.warnings = append(r.warnings, r.resps[i].GetWarnings()...)
	for _, claim := range r.resps[i].GetClaims() {
		shift(claim.GetSpan(), at)
		shift(claim.GetSubjectSpan(), at)
		shift(claim.GetObjectSpan(), at)
	}
	return r.resps[i].GetClaims()
}

// antecedentOf returns the context of a sentence, if the contract's limit allows it.
func antecedentOf(sentences []kgtext.Sentence, at int) string {
	if text := kgtext.FindAntecedent(sentences, at); len(text) <= longest {
		return text
	}
	return ""
}

// pronouns that models leave as subjects.
var pronouns = []string{"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "this", "who", "which"}

// name resolves pronouns and partial names to the last subject, or to the last one whose name
// begins or ends with it ("Stam" after "Robert Stam").
func name(before, found []*Finding) {
	var names []string
	for _, f := range before {
		names = append(names, f.Extracted.GetTriple().GetSubject())
	}
	for _, f := range found {
		t := f.Extracted.GetTriple()
		t.Subject = resolveName(t.GetSubject(), names)
		names = append(names, t.GetSubject())
	}
}

func resolveName(subject string, names []string) string {
	words := strings.Fields(kgtext.Fold(subject))
	for _, n := range slices.Backward(names) {
		full := strings.Fields(kgtext.Fold(n))
		if len(words) == 1 && slices.Contains(pronouns, words[0]) {
			if len(full) != 1 || !slices.Contains(pronouns, full[0]) {
				return n
			}
			continue
		}
		if len(words) == 1 && len(full) > 1 && len(full) < 5 && full[len(full)-1] == words[0] {
			return n
		}
	}
	return subject
}
