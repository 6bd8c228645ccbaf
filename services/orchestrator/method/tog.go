package method

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// What ToG takes where the caller does not say (Sun et al., §3.1).
const (
	togWidth = 3
	togDepth = 3
)

// ToG is Think-on-Graph (Sun et al., ICLR 2024): a beam of reasoning paths grows
// hop by hop, the model prunes the relations and then the entities that each
// hop may go on to, and says when it has seen enough to answer.
type ToG struct {
	Stages
	// Relations leaves the pruning of entities to chance and lets the model read
	// all that the kept relations lead to: ToG-R (§2.2).
	Relations bool
}

// Info implements Method.
func (m ToG) Info() *orchestratorv1.Method {
	info := &orchestratorv1.Method{
		Name:        "tog",
		Description: "Explores the graph hop by hop: the model prunes relations and entities and says when it has seen enough.",
		Calls:       "up to 2 · beam width · hops + hops + 1 (22 with a width of 3 and 3 hops)",
		NeedsKg:     true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_LINK,
			orchestratorv1.Stage_STAGE_EXPLORE,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
	}
	if m.Relations {
		info.Name = "tog-r"
		info.Description = "Explores the graph hop by hop as tog does, but the model prunes relations only."
		info.Calls = "up to beam width · hops + hops + 1 (13 with a width of 3 and 3 hops)"
	}
	return info
}

// Answer implements Method.
func (m ToG) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.TogGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Tog{Tog: g} })
	width := orElse(q.Request().GetOptions().GetBeamWidth(), togWidth)
	depths := orElse(q.Request().GetOptions().GetMaxHops(), togDepth)

	if err := m.link(ctx, q, func(links []*graphv1.EntityLink) { g.TopicEntities = likeliest(links, width) }); err != nil {
		return err
	}
	beam := fromTopics(g.GetTopicEntities())
	for range depths {
		h, err := m.explore(ctx, q, g, beam, width)
		switch {
		case err != nil && !errors.Is(err, question.ErrUntil): // which ends the last hop, not the first
			return err
		case h.cut != nil:
			return settleOnEnds(ctx, q, g.GetReasoningPaths(), h.cut)
		case h.sufficient, len(h.kept) == 0: // seen enough, or nothing more to see
			return m.conclude(ctx, q, g, m.fromPaths)
		}
		beam = h.kept
	}
	return m.conclude(ctx, q, g, m.fromOwnKnowledge)
}

// hop is what one round of the beam came to.
type hop struct {
	// kept are the reasoning paths to go on from, best first.
	kept []*graphv1.ReasoningPath
	// sufficient is the model's judgement of what was found so far.
	sufficient bool
	// cut is why the hop ended early.
	cut error
}

// explore grows the beam by one hop: relations, entities, and whether what was
// found suffices (§2.1.2, §2.1.3). What the hop cost counts also where it was
// cut off, so that is no error of the stage.
func (m ToG) explore(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs, beam []*graphv1.ReasoningPath, width int) (h hop, err error) {
	err = q.Stage(ctx, orchestratorv1.Stage_STAGE_EXPLORE, func(ctx context.Context) (question.Spent, error) {
		spent := newSpending(q)
		depth := &orchestratorv1.TogDepth{}
		h, err = m.grow(ctx, q, g, depth, beam, width, spent)
		q.Update(func(*orchestratorv1.Run) { g.Depths = append(g.Depths, depth) })
		if question.Survivable(ctx, err) {
			spent.lacked("this hop", err)
			h.cut, err = err, nil
		}
		return spent, llm.WithSpent(err, spent.ledger)
	})
	return h, err
}

func (m ToG) grow(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs, depth *orchestratorv1.TogDepth, beam []*graphv1.ReasoningPath, width int, spent *spending) (h hop, err error) {
	branches, err := m.exploreRelations(ctx, q, beam, width, spent)
	if err != nil {
		return h, err
	}
	q.Update(func(*orchestratorv1.Run) { depth.Relations = relationPaths(branches) })
	if branches, err = m.searchEntities(ctx, q, branches); err != nil {
		return h, err
	}
	shown := g.GetReasoningPaths()
	if m.Relations {
		h.kept = atRandom(q, branches, width)
		if len(h.kept) > 0 {
			shown = candidates(branches)
		}
	} else {
		if h.kept, err = m.pruneEntities(ctx, q, branches, width, spent); err != nil {
			return h, err
		}
		shown = append(slices.Clone(h.kept), notExtended(shown, h.kept)...)
	}
	q.Update(func(*orchestratorv1.Run) {
		depth.Entities, depth.ReasoningPaths, g.ReasoningPaths = distinctEnds(branches), h.kept, shown
	})
	if len(h.kept) == 0 {
		return h, nil
	}
	h.sufficient, err = m.suffices(ctx, q, depth, shown, spent)
	return h, err
}

// suffices asks whether the reasoning paths are enough to answer (§2.1.3).
func (m ToG) suffices(ctx context.Context, q *question.Question, depth *orchestratorv1.TogDepth, paths []*graphv1.ReasoningPath, spent *spending) (bool, error) {
	limits, err := spent.limits()
	if err != nil {
		return false, err
	}
	resp, err := m.Evaluator.JudgeSufficiency(ctx, &evaluatorv1.JudgeSufficiencyRequest{Question: q.Text(), Paths: paths, Limits: limits})
	if err != nil {
		spent.ledger.Charge(llm.Spent(err))
		return false, err
	}
	spent.add(resp)
	q.Update(func(*orchestratorv1.Run) {
		depth.Sufficient, depth.Probability = resp.GetSufficient(), resp.Probability
	})
	return resp.GetSufficient(), nil
}

// conclude answers, unless the caller wanted to stop after the exploration.
func (m ToG) conclude(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs, answer func(context.Context, *question.Question, []*graphv1.ReasoningPath) error) error {
	if q.Request().GetOptions().GetUntil() == orchestratorv1.Stage_STAGE_EXPLORE {
		return question.ErrUntil
	}
	if err := answer(ctx, q, g.GetReasoningPaths()); err != nil {
		return settleOnEnds(ctx, q, g.GetReasoningPaths(), err)
	}
	return nil
}

// fromPaths answers from the reasoning paths; where there are none, from the
// model's own knowledge.
func (m ToG) fromPaths(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath) error {
	if len(paths) == 0 {
		return m.fromOwnKnowledge(ctx, q, nil)
	}
	return m.Stages.fromPaths(ctx, q, paths)
}

// fromOwnKnowledge is what ToG falls back to where the last hop was not enough
// either: the model reasons without the graph (§2.1.3).
func (m ToG) fromOwnKnowledge(ctx context.Context, q *question.Question, unused []*graphv1.ReasoningPath) error {
	err := m.answer(ctx, q, &generatorv1.GenerateAnswerRequest{
		Question: q.Text(), Style: generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT,
	}, known(nil))
	q.Update(func(r *orchestratorv1.Run) {
		if len(unused) > 0 && r.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED {
			r.GroundingReason = fmt.Sprintf("the model judged that %d reasoning paths are not enough to answer: the answer is its own knowledge", len(unused))
		}
	})
	return err
}

// likeliest keeps the entities that are linked best, no more than the beam is
// wide.
func likeliest(links []*graphv1.EntityLink, width int) []*graphv1.EntityLink {
	ranked := slices.Clone(links)
	slices.SortStableFunc(ranked, func(a, b *graphv1.EntityLink) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	names := entities(ranked)
	names = names[:min(len(names), width)]
	return slices.DeleteFunc(ranked, func(l *graphv1.EntityLink) bool { return !slices.Contains(names, l.GetEntity()) })
}

func orElse(n uint32, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return int(n)
}

// lacked warns of something that a stage did without, or ended for.
func (s *spending) lacked(what string, err error) {
	code := llm.WarnUnavailable
	if question.OutOfBudget(err) {
		code = llm.WarnBudget
	}
	s.warn(code, what+" ended early: "+question.Why(err))
}
