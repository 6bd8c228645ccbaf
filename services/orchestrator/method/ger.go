package method

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Ger generates, evaluates and reflects: it plans and follows relation paths, reads candidate
// answers from them, judges the candidates as a set and one by one, and decides with both verdicts
// (Ger §3).
type Ger struct {
	Stages
	cfg GerConfig
}

// GerConfig bounds the search of Ger.
type GerConfig struct {
	// MaxPaths is the maximum number of relation paths to follow.
	MaxPaths uint32 `koanf:"max_paths"`
	// MaxEnds is the maximum number of entities that all paths together may end in.
	MaxEnds uint32 `koanf:"max_ends"`
	// Choose lets the model select MaxPaths of twice as many existing paths, at the cost of one more
	// call.
	Choose bool `koanf:"choose"`
	// MaxCandidates is the maximum number of candidates judged one by one.
	MaxCandidates int `koanf:"max_candidates"`
}

// gerStep is one step of Ger.
type gerStep func(Ger, context.Context, *question.Question, *orchestratorv1.GerGraphs) error

// gerVariants are Ger and its ablations (§4.3): the stages to skip, how candidates are evaluated and
// how they become answers.
var gerVariants = variants[struct {
	skip             []orchestratorv1.Stage
	evaluate, decide gerStep
}]{
	orchestratorv1.Ablation_ABLATION_UNSPECIFIED: {nil, Ger.evaluateForReflection, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_GENERATION_ONLY: {slices.Concat(gerEvaluation, gerReflection),
		Ger.skipEvaluation, Ger.acceptAll},
	orchestratorv1.Ablation_ABLATION_NO_EVALUATION:       {gerEvaluation, Ger.skipEvaluation, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_NEGATIVE_VERDICTS:   {gerEvaluation, Ger.rejectAll, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_NO_REFLECTION:       {gerReflection, Ger.evaluate, Ger.acceptCorrect},
	orchestratorv1.Ablation_ABLATION_GENERATOR_REFLECTS:  {nil, Ger.evaluate, Ger.regenerate},
	orchestratorv1.Ablation_ABLATION_QUESTION_LEVEL_ONLY: {gerEvaluation[1:], Ger.evaluateQuestion, Ger.reflect},
	orchestratorv1.Ablation_ABLATION_ANSWER_LEVEL_ONLY:   {gerEvaluation[:1], Ger.evaluateAnswers, Ger.reflect},
}

// The stages of Ger after generation.
var (
	gerEvaluation = []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
		orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS}
	gerReflection = []orchestratorv1.Stage{orchestratorv1.Stage_STAGE_REFLECT}
)

// Info implements Method.
func (Ger) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name: "ger",
		Description: "Plans relation paths, follows them, reads candidates off them, evaluates these as a set and " +
			"one by one, and reflects.",
		Calls:   "2 + one per candidate (reflection by weighing), 4 + one (by the model); one less with a ranker",
		NeedsKg: true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_LINK,
			orchestratorv1.Stage_STAGE_PATHS,
			orchestratorv1.Stage_STAGE_CANDIDATES,
			orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
			orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
			orchestratorv1.Stage_STAGE_REFLECT,
		},
		Ablations: gerVariants.ablations(),
	}
}

// SkippedStages implements Ablatable.
func (Ger) SkippedStages(ablation orchestratorv1.Ablation) []orchestratorv1.Stage {
	return gerVariants[ablation].skip
}

// Answer implements Method.
func (m Ger) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.GerGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Ger{Ger: g} })
	return m.run(ctx, q, g)
}

// run takes a question through the stages. If a stage after the paths fails, Ger answers with the
// best candidates that it has.
func (m Ger) run(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	if err := m.link(ctx, q, func(links []*graphv1.EntityLink) { g.TopicEntities = links }); err != nil {
		return err
	}
	if err := m.generatePaths(ctx, q, g); err != nil {
		return err
	}
	if len(g.GetReasoningPaths()) == 0 {
		if q.Request().GetOptions().GetUntil() != orchestratorv1.Stage_STAGE_UNSPECIFIED {
			return question.ErrStopped // the stage to stop after is never reached
		}
		return m.answerFromMemory(ctx, q)
	}
	variant := gerVariants.requested(q)
	for _, step := range []gerStep{Ger.generateCandidates, variant.evaluate, variant.decide} {
		if err := step(m, ctx, q, g); err != nil {
			names := bestCandidates(g)
			if len(names) == 0 || !question.Recoverable(ctx, err) {
				return err
			}
			concludePartial(q, answersOnPaths(names, g.GetReasoningPaths()), err)
			return nil
		}
	}
	return nil
}

// Generation (§3.2).

// generatePaths plans relation paths, grounds the plan in paths that exist, and follows them. Paths
// given by the caller are followed without a plan.
func (m Ger) generatePaths(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	topics := entityNames(g.GetTopicEntities())
	return multiCallStage(ctx, q, orchestratorv1.Stage_STAGE_PATHS, func(ctx context.Context, b *stageBudget) error {
		if len(topics) == 0 {
			return nil
		}
		if given := q.Request().GetRelationPaths(); len(given) > 0 {
			existing, walks, err := m.followBothWays(ctx, q, topics, given, b)
			if err == nil {
				q.Update(func(*orchestratorv1.Run) {
					g.RelationPaths, g.ReasoningPaths = existing, kgtext.DropTextPaths(walks)
				})
			}
			return err
		}
		proposed, existing, err := m.findPaths(ctx, q, topics, b)
		if err != nil {
			return err
		}
		q.Update(func(*orchestratorv1.Run) { g.ProposedPaths, g.RelationPaths = proposed, existing })
		if len(existing) == 0 {
			return nil
		}
		resp, err := m.Retriever.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{
			Kg: q.KG(), TopicEntities: topics, Paths: existing, Question: q.Text(),
		})
		if err == nil {
			q.Update(func(*orchestratorv1.Run) { g.ReasoningPaths = kgtext.DropTextPaths(resp.GetPaths()) })
		}
		return err
	})
}

// proposePaths asks the model for relation paths in its own words. The proposal only helps to rank
// existing paths, so a failure is a warning.
func (m Ger) proposePaths(ctx context.Context, q *question.Question, topics []string,
	b *stageBudget) ([]*graphv1.RelationPath, error) {
	resp, err := callModel(b, func(limits *llmv1.Limits) (*generatorv1.GenerateRelationPathsResponse, error) {
		return m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
			Question: q.Text(), TopicEntities: topics, Limits: limits,
		})
	})
	if question.Recoverable(ctx, err) {
		b.warn(llm.WarnUnavailable, "the model proposed no relation paths, so the question alone ranks them: "+
			question.FailureReason(err))
		return nil, nil
	}
	return resp.GetPaths(), err
}

// findPaths returns the paths around the topic entities that fit the question best. Only if no ranker
// knows the graph does the model propose paths, which help to rank those that exist. With
// GerConfig.Choose the model selects among them.
func (m Ger) findPaths(ctx context.Context, q *question.Question, topics []string,
	b *stageBudget) (proposed, existing []*graphv1.RelationPath, err error) {
	existing, err = m.suggestPaths(ctx, q, topics, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(existing) > 0 && existing[0].Probability == nil {
		if proposed, err = m.proposePaths(ctx, q, topics, b); err != nil {
			return nil, nil, err
		}
		if existing, err = m.suggestPaths(ctx, q, topics, proposed); err != nil {
			return nil, nil, err
		}
	}
	if m.cfg.Choose && len(existing) > 1 {
		existing, err = m.choosePaths(ctx, q, topics, existing, b)
	}
	return proposed, existing, err
}

// suggestPaths returns the best of the paths that exist, twice MaxPaths if the model is to choose.
func (m Ger) suggestPaths(ctx context.Context, q *question.Question, topics []string,
	proposed []*graphv1.RelationPath) ([]*graphv1.RelationPath, error) {
	limit := m.cfg.MaxPaths
	if m.cfg.Choose {
		limit *= 2
	}
	resp, err := m.Retriever.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{
		Kg: q.KG(), Question: q.Text(), TopicEntities: topics, Proposed: proposed,
		MaxHops: q.Request().GetOptions().GetMaxHops(), Limit: limit, MaxEnds: m.cfg.MaxEnds,
	})
	return resp.GetPaths(), err
}

// choosePaths lets the model choose among suggested paths.
func (m Ger) choosePaths(ctx context.Context, q *question.Question, topics []string,
	suggested []*graphv1.RelationPath, b *stageBudget) ([]*graphv1.RelationPath, error) {
	chosen, err := callModel(b, func(limits *llmv1.Limits) (*generatorv1.GenerateRelationPathsResponse, error) {
		return m.Generator.GenerateRelationPaths(ctx, &generatorv1.GenerateRelationPathsRequest{
			Question: q.Text(), TopicEntities: topics, Existing: suggested, MaxPaths: m.cfg.MaxPaths,
			Limits: limits,
		})
	})
	if question.Recoverable(ctx, err) {
		b.warn(llm.WarnUnavailable, "the model chose no relation paths, so the best ranked ones were followed: "+
			question.FailureReason(err))
		return suggested[:min(len(suggested), int(m.cfg.MaxPaths))], nil
	}
	return chosen.GetPaths(), err
}

// generateCandidates reads candidate answers from the reasoning paths.
func (m Ger) generateCandidates(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return modelStage(ctx, q, orchestratorv1.Stage_STAGE_CANDIDATES,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := m.Generator.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{
				Question: q.Text(), Paths: g.GetReasoningPaths(), Limits: limits,
			})
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) { g.Candidates = resp.GetCandidates() })
			return resp, nil
		})
}

// Evaluation (§3.3).

// evaluate judges the candidates at both levels in parallel: neither needs the other's verdict, and
// if one fails, the other's still counts.
func (m Ger) evaluate(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	if q.Request().GetOptions().GetUntil() == orchestratorv1.Stage_STAGE_EVALUATE_QUESTION {
		return m.evaluateQuestion(ctx, q, g)
	}
	group := newGroup(q, 0)
	group.Go(func() error { return m.evaluateQuestion(ctx, q, g) })
	group.Go(func() error { return m.evaluateAnswers(ctx, q, g) })
	return group.Wait()
}

// evaluateForReflection judges the candidates at the levels that reflection reads.
func (m Ger) evaluateForReflection(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	until := q.Request().GetOptions().GetUntil()
	if until != orchestratorv1.Stage_STAGE_EVALUATE_QUESTION && !m.readsQuestionVerdict(ctx, q) {
		return m.evaluateAnswers(ctx, q, g)
	}
	return m.evaluate(ctx, q, g)
}

// readsQuestionVerdict reports whether reflection reads the verdict on the set, which weighing ignores.
// A reflector that does not tell its mode may.
func (m Ger) readsQuestionVerdict(ctx context.Context, q *question.Question) bool {
	mode := q.Request().GetOptions().GetReflection()
	if mode == reflectorv1.ReflectionMode_REFLECTION_MODE_UNSPECIFIED {
		resp, err := m.Reflector.GetReflectionMode(ctx, &reflectorv1.GetReflectionModeRequest{})
		if err == nil {
			mode = resp.GetMode()
		}
	}
	return mode != reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
}

// evaluateQuestion judges the candidates as a set.
func (m Ger) evaluateQuestion(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return modelStage(ctx, q, orchestratorv1.Stage_STAGE_EVALUATE_QUESTION,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := m.Evaluator.EvaluateQuestion(ctx, &evaluatorv1.EvaluateQuestionRequest{
				Question: q.Text(), Candidates: g.GetCandidates(), Paths: g.GetReasoningPaths(), Limits: limits,
			})
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) { g.QuestionVerdict = resp.GetVerdict() })
			return resp, nil
		})
}

// evaluateAnswers judges each candidate by its own paths.
func (m Ger) evaluateAnswers(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return modelStage(ctx, q, orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			if len(m.firstCandidates(g)) == 0 {
				return question.NoCost, nil
			}
			resp, err := m.Evaluator.EvaluateAnswers(ctx, &evaluatorv1.EvaluateAnswersRequest{
				Question: q.Text(), Candidates: m.firstCandidates(g), Limits: limits,
			})
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) { g.AnswerVerdicts = resp.GetVerdicts() })
			return resp, nil
		})
}

// firstCandidates returns the candidates to judge one by one.
func (m Ger) firstCandidates(g *orchestratorv1.GerGraphs) []*graphv1.CandidateAnswer {
	return g.GetCandidates()[:min(len(g.GetCandidates()), m.cfg.MaxCandidates)]
}

// skipEvaluation leaves the candidates without a verdict.
func (Ger) skipEvaluation(context.Context, *question.Question, *orchestratorv1.GerGraphs) error {
	return nil
}

// rejectAll judges the set and every candidate as wrong without a model call (§4.3.1, w/ negative).
func (m Ger) rejectAll(_ context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	var verdicts []*graphv1.AnswerVerdict
	for _, c := range m.firstCandidates(g) {
		verdicts = append(verdicts, &graphv1.AnswerVerdict{Answer: c.GetAnswer(), Probability: new(float32)})
	}
	q.Update(func(*orchestratorv1.Run) {
		g.QuestionVerdict = &graphv1.QuestionVerdict{Incomplete: true,
			Reason: "the candidates are wrong, and an answer is missing"}
		g.AnswerVerdicts = verdicts
	})
	return nil
}

// Reflection (§3.4).

// reflect decides the final answers with the verdicts of both levels.
func (m Ger) reflect(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_REFLECT, func(ctx context.Context) (question.Cost, error) {
		mode := q.Request().GetOptions().GetReflection()
		limits, err := q.Limits()
		if err != nil { // out of budget: weighing needs no model
			mode = reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH
		}
		resp, err := m.Reflector.Reflect(ctx, &reflectorv1.ReflectRequest{
			Question: q.Text(), Candidates: g.GetCandidates(), Paths: g.GetReasoningPaths(),
			QuestionVerdict: g.GetQuestionVerdict(), AnswerVerdicts: g.GetAnswerVerdicts(),
			Mode: mode, Limits: limits,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.Reflections, g.Reflection, g.ReadingShare = resp.GetReflections(), resp.GetMode(), resp.GetReadingShare()
		})
		answers := answersOnPaths(resp.GetAnswers(), g.GetReasoningPaths())
		conclude(q, JoinNames(answers), answers, true)
		return resp, nil
	})
}

// regenerate lets the generator write the candidates again with both verdicts; they are the answers
// (§4.3.2, w/ generation).
func (m Ger) regenerate(ctx context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	return modelStage(ctx, q, orchestratorv1.Stage_STAGE_REFLECT,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := m.Generator.GenerateCandidateAnswers(ctx, &generatorv1.GenerateCandidateAnswersRequest{
				Question: q.Text(), Paths: g.GetReasoningPaths(), Limits: limits,
				Feedback: &generatorv1.Feedback{Question: g.GetQuestionVerdict(), Answers: g.GetAnswerVerdicts()},
			})
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) {
				g.Reflections = compareCandidates(g.GetCandidates(), resp.GetCandidates())
			})
			m.conclude(q, g, candidateNames(resp.GetCandidates()),
				"the generator gave no candidate when it saw the verdicts")
			return resp, nil
		})
}

// compareCandidates returns which candidates were kept, dropped and added when they were written
// again.
func compareCandidates(before, after []*graphv1.CandidateAnswer) []*reflectorv1.Reflection {
	var all []*reflectorv1.Reflection
	namesBefore, namesAfter := candidateNames(before), candidateNames(after)
	for _, c := range before {
		decision := reflectorv1.Decision_DECISION_DROP
		if slices.Contains(namesAfter, c.GetAnswer()) {
			decision = reflectorv1.Decision_DECISION_KEEP
		}
		all = append(all, &reflectorv1.Reflection{Answer: c.GetAnswer(), Decision: decision, Paths: c.GetPaths()})
	}
	for _, c := range after {
		if !slices.Contains(namesBefore, c.GetAnswer()) {
			all = append(all, &reflectorv1.Reflection{Answer: c.GetAnswer(),
				Decision: reflectorv1.Decision_DECISION_ADD, Paths: c.GetPaths()})
		}
	}
	return all
}

// acceptAll takes the candidates as the answers.
func (m Ger) acceptAll(_ context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	m.conclude(q, g, candidateNames(g.GetCandidates()), "no candidate could be read off the reasoning paths")
	return nil
}

// acceptCorrect takes the candidates judged correct as the answers (§4.3.2, w/o reflection).
func (m Ger) acceptCorrect(_ context.Context, q *question.Question, g *orchestratorv1.GerGraphs) error {
	m.conclude(q, g, correctAnswers(g.GetAnswerVerdicts()), "no candidate was judged right")
	return nil
}

// conclude writes the answers to the run; reason says why there are none.
func (m Ger) conclude(q *question.Question, g *orchestratorv1.GerGraphs, names []string, reason string) {
	answers := answersOnPaths(names, g.GetReasoningPaths())
	conclude(q, JoinNames(answers), answers, true)
	if len(answers) == 0 {
		q.Update(func(r *orchestratorv1.Run) { r.GroundingReason = reason })
	}
}

// bestCandidates returns the candidates judged correct, else all candidates, else the ends of the
// best relation path.
func bestCandidates(g *orchestratorv1.GerGraphs) []string {
	correct, all := correctAnswers(g.GetAnswerVerdicts()), candidateNames(g.GetCandidates())
	switch groups := kgtext.GroupPaths(g.GetReasoningPaths()); {
	case len(correct) > 0:
		return correct
	case len(all) > 0 || len(groups) == 0:
		return all
	default:
		return groups[0].Ends
	}
}

func correctAnswers(verdicts []*graphv1.AnswerVerdict) []string {
	var names []string
	for _, v := range verdicts {
		if v.GetCorrect() {
			names = append(names, v.GetAnswer())
		}
	}
	return names
}

func candidateNames(candidates []*graphv1.CandidateAnswer) []string {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.GetAnswer()
	}
	return names
}
