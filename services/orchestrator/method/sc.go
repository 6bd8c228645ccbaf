package method

import (
	"context"
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// The number of samples and their temperature (PG&AKV §IV-C).
const (
	scSamples     = 3
	scTemperature = .7
)

// SC is self-consistency: the model reasons several times, and the majority of the answers wins
// (PG&AKV §IV-C, after Wang et al. 2023).
type SC struct{ Stages }

// Info implements Method.
func (SC) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name: "sc",
		Description: "Reasons three times at temperature 0.7 from the model's own knowledge, and keeps the answers " +
			"that most samples give.",
		Calls:  fmt.Sprint(scSamples),
		Stages: []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_SAMPLE},
	}
}

// Answer implements Method.
func (m SC) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.ScGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Sc{Sc: g} })

	return multiCallStage(ctx, q, orchestratorv1.Stage_STAGE_SAMPLE, func(ctx context.Context, b *stageBudget) error {
		samples, err := m.sample(ctx, q, b)
		if len(samples) == 0 || err != nil && !question.Recoverable(ctx, err) {
			return err
		}
		var ballots [][]string
		q.Update(func(*orchestratorv1.Run) {
			for _, s := range samples {
				g.Samples = append(g.Samples, &orchestratorv1.Sample{Text: kgtext.RemoveBraces(s.GetText()),
					Answers: s.GetAnswers()})
				ballots = append(ballots, s.GetAnswers())
			}
		})
		names, representative := majorityVote(ballots)
		m.conclude(q, names, samples, representative)
		if err != nil {
			b.warn(llm.WarnUnavailable, fmt.Sprintf("%d of %d samples were counted: %s", len(samples), scSamples,
				question.FailureReason(err)))
			markPartial(q, err)
		}
		return nil
	})
}

// sample lets the model answer several times. It returns the samples that succeeded, in the order of
// their seeds, and the error of one that failed.
func (m SC) sample(ctx context.Context, q *question.Question,
	b *stageBudget) ([]*generatorv1.GenerateAnswerResponse, error) {
	var all [scSamples]*generatorv1.GenerateAnswerResponse
	var errs [scSamples]error
	group := newGroup(q, 0)
	for i := range scSamples {
		group.Go(func() error {
			all[i], errs[i] = callModel(b, func(limits *llmv1.Limits) (*generatorv1.GenerateAnswerResponse, error) {
				return m.Generator.GenerateAnswer(ctx, &generatorv1.GenerateAnswerRequest{
					Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT,
					Form: answerForm(q), Temperature: scTemperature, Seed: int64(i + 1), Limits: limits,
				})
			})
			return nil // a failed sample does not cancel the others
		})
	}
	_ = group.Wait()
	var samples []*generatorv1.GenerateAnswerResponse
	var failure error
	for i, err := range errs {
		switch {
		case err == nil:
			samples = append(samples, all[i])
		case failure == nil || !question.Recoverable(ctx, err):
			failure = err
		}
	}
	return samples, failure
}

// conclude writes the answers to the run, in the words of the representative sample. Texts without
// answer entities cannot be counted: the first one is the answer.
func (m SC) conclude(q *question.Question, names []string, samples []*generatorv1.GenerateAnswerResponse,
	representative int) {
	answers := tripleEvidence(nil).support(names)
	sample := samples[max(representative, 0)]
	switch {
	case len(names) == 0 && sample.GetForm() == graphv1.AnswerForm_ANSWER_FORM_TEXT:
		concludeText(q, sample.GetText(), nil)
	case representative < 0 && len(names) > 0:
		conclude(q, JoinNames(answers), answers, false)
		return // no sample gives these answers, so their probability is unknown
	default:
		conclude(q, sample.GetText(), answers, false)
	}
	q.Update(func(r *orchestratorv1.Run) { r.AnswerProbability = sample.Probability })
}

// majorityVote returns the answers of the majority of samples, and the sample that represents them.
// Each sample has one vote for each of its answers; names that differ in case, spacing and
// punctuation are one answer, shown as first written.
//
// The answers that more than half of the samples give win, in the order in which they first appear.
// If there are none, the sample with the best supported answer wins, the earlier if equal.
//
// representative is the first sample that gives exactly the winning answers; -1 if none does, or no
// sample has an answer.
func majorityVote(samples [][]string) (answers []string, representative int) {
	ballots := make([][]string, len(samples)) // the distinct keys of each sample's answers
	votes, spelling := map[string]int{}, map[string]string{}
	for i, names := range samples {
		own := map[string]bool{}
		for _, name := range names {
			key := answerKey(name)
			if own[key] {
				continue
			}
			own[key] = true
			ballots[i] = append(ballots[i], key)
			votes[key]++
			if _, ok := spelling[key]; !ok {
				spelling[key] = name
			}
		}
	}
	var winners, best []string
	won, most := map[string]bool{}, 0
	for _, ballot := range ballots {
		for _, key := range ballot {
			if 2*votes[key] > len(ballots) && !won[key] {
				won[key] = true
				winners = append(winners, key)
			}
			if votes[key] > most {
				most, best = votes[key], ballot
			}
		}
	}
	if len(winners) == 0 {
		winners = best
	}
	for _, key := range winners {
		answers = append(answers, spelling[key])
	}
	return answers, findBallot(ballots, winners)
}

// findBallot returns the index of the first ballot for exactly the winners, or -1.
func findBallot(ballots [][]string, winners []string) int {
	won := map[string]bool{}
	for _, key := range winners {
		won[key] = true
	}
	for i, ballot := range ballots {
		same := len(winners) > 0 && len(ballot) == len(winners)
		for _, key := range ballot {
			same = same && won[key]
		}
		if same {
			return i
		}
	}
	return -1
}
