// Package profile measures how well a model reads facts that no model can know, and derives the
// settings that suit it: how far stages rely on its reading, and how many tokens it thinks.
package profile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/score"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
)

const (
	// few and many are the numbers of facts that an item shows.
	few, many = 12, 40
	// perKind is the number of items of each kind and number of facts.
	perKind = 3
	// parallel is the number of concurrent calls.
	parallel = 2
	// seed of the items: every model reads the same ones.
	seed = 1
)

// Services are the stages that call the model.
type Services struct {
	Generator generatorv1.GeneratorServiceClient
	Evaluator evaluatorv1.EvaluatorServiceClient
}

// Measurement is how a model read.
type Measurement struct {
	// Few and Many are the mean F1 of what the model read off 12 and 40 facts, 0 to 1.
	Few  float64 `json:"few"`
	Many float64 `json:"many"`
	// Kinds is the mean F1 by kind of question.
	Kinds map[string]float64 `json:"kinds"`
	// Verdicts is the share of right verdicts on single answers, half of which are wrong; 0.5 is chance.
	Verdicts float64 `json:"verdicts"`
	// Calls of the model, and the tokens that it wrote in all and at most for one answer.
	Calls     int `json:"calls"`
	Tokens    int `json:"tokens"`
	MaxTokens int `json:"max_tokens"`
	// Cut is the number of answers that ended at their limit of tokens.
	Cut int `json:"cut"`
	// Seconds that it took.
	Seconds float64 `json:"seconds"`
}

// reading is the outcome of one item.
type reading struct {
	f1       float64
	right    int // verdicts
	verdicts int
	tokens   []int
	cut      int
}

// Measure has the model read and judge two dozen items. progress is called after each.
func Measure(ctx context.Context, s Services, progress func(done, total int)) (Measurement, error) {
	var items []item
	m := newMaker(seed)
	for _, facts := range []int{few, many} {
		for _, k := range kinds {
			for range perKind {
				items = append(items, m.make(k, facts))
			}
		}
	}
	start := time.Now()
	readings := make([]reading, len(items))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	finished := make(chan struct{}, len(items))
	for i, it := range items {
		group.Go(func() (err error) {
			if readings[i], err = readItem(groupCtx, s, it); err == nil {
				finished <- struct{}{}
			}
			return err
		})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	for n := 0; ; {
		select {
		case <-finished:
			n++
			progress(n, len(items))
		case err := <-done:
			if err != nil {
				return Measurement{}, err
			}
			out := summarise(items, readings)
			out.Seconds = time.Since(start).Seconds()
			return out, nil
		}
	}
}

// readItem asks an item's question, and for a verdict on a right and on a wrong answer.
func readItem(ctx context.Context, s Services, it item) (reading, error) {
	graph := &graphv1.FixedGraph{}
	for _, f := range it.facts {
		graph.Triples = append(graph.Triples, &graphv1.FixedTriple{
			Triple: f, Status: graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED,
		})
	}
	answer, err := s.Generator.GenerateAnswer(ctx, &generatorv1.GenerateAnswerRequest{
		Question: it.question, Style: generatorv1.AnswerStyle_ANSWER_STYLE_FROM_GRAPH, FixedGraph: graph,
		Form: graphv1.AnswerForm_ANSWER_FORM_ENTITIES,
	})
	if err != nil {
		return reading{}, fmt.Errorf("read %d facts: %w", len(it.facts), err)
	}
	r := reading{f1: overlapF1(answer.GetAnswers(), it.answers),
		tokens: []int{int(answer.GetUsage().GetCompletionTokens())}, cut: countCut(answer.GetWarnings())}
	candidates := []*graphv1.CandidateAnswer{{Answer: it.answers[0], Paths: []*graphv1.ReasoningPath{it.path}}}
	if it.wrongPath != nil {
		candidates = append(candidates, &graphv1.CandidateAnswer{
			Answer: it.wrong, Paths: []*graphv1.ReasoningPath{it.wrongPath},
		})
	}
	judged, err := s.Evaluator.EvaluateAnswers(ctx, &evaluatorv1.EvaluateAnswersRequest{
		Question: it.question, Candidates: candidates,
	})
	if err != nil {
		return reading{}, fmt.Errorf("judge an answer: %w", err)
	}
	for i, v := range judged.GetVerdicts() {
		r.verdicts++
		if !v.GetUnknown() && v.GetCorrect() == (i == 0) {
			r.right++
		}
	}
	r.tokens = append(r.tokens, int(judged.GetUsage().GetCompletionTokens()))
	r.cut += countCut(judged.GetWarnings())
	return r, nil
}

// countCut counts the answers that ended early.
func countCut(warnings []*llmv1.Warning) int {
	n := 0
	for _, w := range warnings {
		if w.GetCode() == llm.WarnTruncated {
			n++
		}
	}
	return n
}

func summarise(items []item, readings []reading) Measurement {
	var out Measurement
	byFacts, byKind := map[bool][]float64{}, map[string][]float64{}
	right, verdicts := 0, 0
	for i, r := range readings {
		isMany := len(items[i].facts) >= many
		byFacts[isMany] = append(byFacts[isMany], r.f1)
		byKind[string(items[i].kind)] = append(byKind[string(items[i].kind)], r.f1)
		right, verdicts = right+r.right, verdicts+r.verdicts
		for _, n := range r.tokens {
			out.Calls++
			out.Tokens += n
		}
		// The verdicts of an item are one response: only an answer's tokens are those of one call.
		out.MaxTokens = max(out.MaxTokens, r.tokens[0])
		out.Cut += r.cut
	}
	out.Few, out.Many = mean(byFacts[false]), mean(byFacts[true])
	out.Kinds = map[string]float64{}
	for k, f1 := range byKind {
		out.Kinds[k] = mean(f1)
	}
	if verdicts > 0 {
		out.Verdicts = float64(right) / float64(verdicts)
	}
	return out
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// overlapF1 is the F1 of names read against the right ones.
func overlapF1(read, right []string) float64 {
	var keys []string
	for _, name := range right {
		keys = append(keys, score.NameKey(name))
	}
	both, distinct := 0, map[string]bool{}
	for _, name := range read {
		key := score.NameKey(name)
		if !distinct[key] && slices.Contains(keys, key) {
			both++
		}
		distinct[key] = true
	}
	if both == 0 {
		return 0
	}
	return 2 * float64(both) / float64(len(distinct)+len(keys))
}
