package method

import (
	"context"
	"slices"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Ger is generation, evaluation and reflection: relation paths are planned and
// followed, candidates read off them, judged as a set and one by one, and
// weighed again with the verdicts at hand (Ger §3).
type Ger struct {
	Stages
	cfg GerConfig
}

// GerConfig bounds how far Ger looks.
type GerConfig struct {
	// MaxPaths is how many relation paths are followed.
	MaxPaths uint32 `koanf:"max_paths"`
	// MaxEnds is the most path ends all of them may lead to.
	MaxEnds uint32 `koanf:"max_ends"`
	// Choose lets the model choose MaxPaths among twice as many paths that
	// exist: one more call, worth it for models that can.
	Choose bool `koanf:"choose"`
	// MaxCandidates is how many candidates are judged one by one.
	MaxCandidates int `koanf:"max_candidates"`
}

// gerStep is a part of Ger.
type gerStep func(Ger, context.Context, *question.Question, *orchestratorv1.GerGraphs) error

// gerVariants are Ger and its ablations (§4.3): the stages left out, how the
// candidates are evaluated, and how they become answers.
var gerVariants = variants[struct {
	without          []orchestratorv1.Stage
	evaluate, decide gerStep
}]{
	orchestratorv1.Ablation_ABLATION_UNSPECIFIED:         {nil, Ger.evaluate, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_GENERATION_ONLY:     {slices.Concat(gerEvaluation, gerReflection), Ger.judgeNothing, Ger.acceptAll},
	orchestratorv1.Ablation_ABLATION_NO_EVALUATION:       {gerEvaluation, Ger.judgeNothing, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS:   {gerEvaluation, Ger.condemnAll, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_NO_REFLECTION:       {gerReflection, Ger.evaluate, Ger.acceptRight},
	orchestratorv1.Ablation_ABLATION_GENERATOR_REFLECTS:  {nil, Ger.evaluate, Ger.generateAgain},
	orchestratorv1.Ablation_ABLATION_QUESTION_LEVEL_ONLY: {gerEvaluation[1:], Ger.evaluateQuestion, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_ANSWER_LEVEL_ONLY:   {gerEvaluation[:1], Ger.evaluateAnswers, Ger.reflect},
}

// The stages of Ger that come after generation.
var (
	gerEvaluation = []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_EVALUATE_QUESTION, orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS}
	gerReflection = []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_REFLECT}
)

// Info implements Method.
func (Ger) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name:        "ger",
		Description: "Plans relation paths, follows them, reads candidates off them, evaluates these as a set and one by one, and reflects.",
		Calls:       "3 + one per candidate (reflection by weighing), 4 + one (by the model)",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_LINK,
			orchestratorv1.Stage_STAGE_PATHS,
			orchestratorv1.Stage_STAGE_CANDIDATES,
			orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
			orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
			orchestratorv1.Stage_STAGE_REFLECT,
		},
		Ablations: gerVariants.names(),
	}
}

// Without implements Ablated.
func (Ger) Without(ablation orchestratorv1.Ablation) []orchestratorv1.Stage {
	return gerVariants[ablation].without
}

// Answer implements Method.
func (m Ger) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.GerGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Ger{Ger: g} })
	return m.through(ctx, q, g)
}

// through takes a question through the stages.
func (m Ger) through(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	if err := m.link(ctx, q, func(links []*graphv1.EntityLink) { g.TopicEntities = links }); err != nil {
		return err
	}
	if err := m.paths(ctx, q, g); err != nil {
		return err
	}
	if len(g.GetReasoningPaths()) == 0 {
		if q.Request().GetOptions().GetUntil() != orchestratorv1.Stage_STAGE_UNSPECIFIED {
			return question.ErrUntil // the stage to stop after is not reached
		}
		return m.fromMemory(ctx, q)
	}
	variant := gerVariants.of(q)
	for _, step := range []gerStep{Ger.candidates, variant.evaluate, variant.decide} {
		if err := step(m, ctx, q, g); err != nil {
			return m.settle(ctx, q, g, err)
		}
	}
	return nil
}
