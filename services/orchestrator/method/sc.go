package method

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/grounding"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/vote"
)

// How often and how freely SC lets the model answer (PG&AKV §IV-C).
const (
	scSamples     = 3
	scTemperature = .7
)

// SC is self-consistency: the model reasons several times and its answers are
// put to the vote (PG&AKV §IV-C, after Wang et al. 2023).
type SC struct{ Stages }

// Info implements Method.
func (SC) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "sc",
		Description: "Reasons three times at temperature 0.7 from the model's own knowledge, and keeps the answers that most samples give.",
		Calls:       fmt.Sprint(scSamples),
		Stages:      []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_SAMPLE},
	}
}

// Answer implements Method.
func (m SC) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.ScGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Sc{Sc: g} })

	return q.Stage(ctx, orchestratorv1.Stage_STAGE_SAMPLE, func(ctx context.Context) (question.Spent, error) {
		spent := newSpending(q)
		samples, err := m.sample(ctx, q, spent)
		if len(samples) == 0 || err != nil && !question.Survivable(ctx, err) {
			return nil, err
		}
		var ballots [][]string
		q.Update(func(*orchestratorv1.Run) {
			for _, s := range samples {
				g.Samples = append(g.Samples, &orchestratorv1.Sample{Text: s.GetText(), Answers: s.GetAnswers()})
				ballots = append(ballots, s.GetAnswers())
			}
		})
		names, by := vote.Count(ballots)
		m.settle(q, names, samples, by)
		if err != nil {
			spent.warn(llm.WarnUnavailable, fmt.Sprintf("%d of %d samples were counted: %s", len(samples), scSamples, question.Why(err)))
			early(q, err)
		}
		return spent, nil
	})
}

// sample lets the model answer several times, at once unless the samples share
// a budget. It returns the samples that could be had, in the order of their
// seeds, and why the others could not.
func (m SC) sample(ctx context.Context, q *question.Question, spent *spending) ([]*generatorv1.GenerateAnswerResponse, error) {
	var all [scSamples]*generatorv1.GenerateAnswerResponse
	var failed [scSamples]error
	var group errgroup.Group
	if budgeted(q) {
		group.SetLimit(1)
	}
	for i := range scSamples {
		group.Go(func() error {
			all[i], failed[i] = m.once(ctx, q, int64(i+1), spent)
			return nil // one that fails leaves the others be
		})
	}
	_ = group.Wait()
	var samples []*generatorv1.GenerateAnswerResponse
	var why error
	for i, s := range all {
		switch {
		case s != nil:
			samples = append(samples, s)
		case why == nil || !question.Survivable(ctx, failed[i]):
			why = failed[i]
		}
	}
	return samples, why
}

// once lets the model answer once.
func (m SC) once(ctx context.Context, q *question.Question, seed int64, spent *spending) (*generatorv1.GenerateAnswerResponse, error) {
	limits, err := spent.limits()
	if err != nil {
		return nil, err
	}
	resp, err := m.Generator.GenerateAnswer(ctx, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT, Form: form(q),
		Temperature: scTemperature, Seed: seed, Limits: limits,
	})
	if err != nil {
		return nil, err
	}
	spent.add(resp)
	return resp, nil
}

// settle writes the outcome of the vote, in the words of the first sample that
// gives it. Texts without answer entities cannot be counted: the first stands.
func (m SC) settle(q *question.Question, names []string, samples []*generatorv1.GenerateAnswerResponse, by int) {
	answers := grounding.Answers(names, nil)
	said := samples[max(by, 0)]
	switch {
	case len(names) == 0 && said.GetForm() == generatorv1.AnswerForm_ANSWER_FORM_TEXT:
		concludeProse(q, said.GetText(), nil)
	case by < 0 && len(names) > 0:
		conclude(q, grounding.Text(answers), answers, false)
		return // no sample says it, so none knows its probability
	default:
		conclude(q, said.GetText(), answers, false)
	}
	q.Update(func(r *orchestratorv1.Run) { r.AnswerProbability = said.Probability })
}
