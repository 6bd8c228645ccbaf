package method

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Auto chooses between PG&AKV and Query for each question by its words, without a model call. PG&AKV drafts only
// where the question alone does not find a relation path that is likely to answer it. Ger is not among them: it
// takes twice the calls, and PG&AKV reads the same ranked paths (ADR 42).
type Auto struct{ Stages }

const (
	// bothCalls is the minimum budget for a plan that may not fit, and PG&AKV after it.
	bothCalls = 3
	// querySure is the alignment from which on a computed answer is kept, if facts could answer too, queryLikely
	// that of an answer which nothing else makes doubtful.
	querySure, queryLikely = 0.8, 0.7
	// pathSure is the probability of a ranked relation path from which on no draft is made.
	pathSure = 0.7
	// readsWell is the share of right readings above which a model's memory comes before a doubtful plan.
	readsWell = 0.5
)

// Info implements Method.
func (m Auto) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name: "auto",
		Description: "Chooses query for what is to be computed, pg-akv for all others and where the plan does not " +
			"fit the knowledge graph; without a draft where the question alone finds a likely answer.",
		Calls:   "those of the method chosen: 1 to 3",
		NeedsKg: true,
		Stages: slices.Concat([]orchestratorv1.Stage{orchestratorv1.Stage_STAGE_CHOOSE},
			Query(m).Info().GetStages(), PGAKV(m).Info().GetStages()),
	}
}

// Answer implements Method.
func (m Auto) Answer(ctx context.Context, q *question.Question) error {
	answered, err := m.choose(ctx, q)
	if answered && err == nil {
		answered, err = m.compute(ctx, q)
	}
	if answered || err != nil {
		return err
	}
	return m.readFacts(ctx, q)
}

// readFacts answers by PG&AKV: without a draft if the question alone finds a path that is likely to answer it, and
// neither the request nor the form of the answer needs one.
func (m Auto) readFacts(ctx context.Context, q *question.Question) error {
	o, pgakv, g := q.Request().GetOptions(), PGAKV(m), &orchestratorv1.PgAkvGraphs{}
	if o.GetUntil() != orchestratorv1.Stage_STAGE_UNSPECIFIED ||
		o.GetVerification() != verifierv1.VerificationMode_VERIFICATION_MODE_UNSPECIFIED ||
		kgtext.ChooseAnswerForm(q.Text(), answerForm(q)) == graphv1.AnswerForm_ANSWER_FORM_TEXT {
		return answerWithin(ctx, q, pgakv)
	}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_PgAkv{PgAkv: g} })
	if err := pgakv.ground(ctx, q, g); err != nil {
		return err
	}
	likely := slices.ContainsFunc(g.GetReasoningPaths(), func(p *graphv1.ReasoningPath) bool {
		return p.GetProbability() >= pathSure
	})
	if !likely || len(g.GetGroundGraph().GetSubjects()) == 0 {
		return pgakv.run(ctx, q, g)
	}
	q.Update(func(r *orchestratorv1.Run) {
		r.Choice.Reason += "; no draft, since a relation path is likely to answer it"
	})
	return pgakv.run(ctx, q, g, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, orchestratorv1.Stage_STAGE_GROUND_GRAPH)
}

// choose chooses the method. It reports whether that is Query.
func (m Auto) choose(ctx context.Context, q *question.Question) (computes bool, err error) {
	err = q.Stage(ctx, orchestratorv1.Stage_STAGE_CHOOSE, func(context.Context) (question.Cost, error) {
		var method Method = PGAKV{}
		reason, operation := "", kgtext.AsksOperation(q.Text())
		calls := q.Request().GetLimits().GetBudget().GetMaxCalls()
		switch {
		case q.Request().GetPlan() != "":
			computes, reason = true, "the request has a plan"
		case operation == kgtext.NoOperation && !kgtext.AsksList(q.Text()):
			reason = "the question asks for facts"
		case len(q.OtherKGs()) > 0:
			reason = "query reads one knowledge graph"
		case operation != kgtext.MustCompute && calls > 0 && calls < bothCalls:
			reason = fmt.Sprintf("the budget of %d calls is too small to try a plan first", calls)
		case operation == kgtext.NoOperation:
			computes, reason = true, "the question asks for a list"
		default:
			computes, reason = true, "the question asks for something to be computed"
		}
		if computes {
			method = Query{}
		}
		q.Update(func(r *orchestratorv1.Run) {
			r.Choice = &orchestratorv1.Choice{Method: method.Info().GetName(), Reason: reason}
		})
		return question.NoCost, nil
	})
	return computes, err
}

// compute runs Query. It reports false if PG&AKV should answer instead: the question only may ask for
// something to be computed or for a list, and the plan does not fit the knowledge graph well.
func (m Auto) compute(ctx context.Context, q *question.Question) (bool, error) {
	err := answerWithin(ctx, q, Query(m))
	if err != nil && !question.Recoverable(ctx, err) || q.Request().GetPlan() != "" {
		return true, err
	}
	sure, operation := false, kgtext.AsksOperation(q.Text())
	q.Update(func(r *orchestratorv1.Run) {
		g := r.GetQuery()
		isSure, isGrounded := g.GetAlignment() >= querySure,
			r.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED
		if operation == kgtext.NoOperation {
			sure = isSure && isGrounded // facts give lists too
			return
		}
		sure = isSure && g.GetTable() != nil && g.GetTable().GetReason() == "" ||
			isGrounded && g.GetAlignment() > queryLikely
	})
	if err == nil && (sure || operation == kgtext.MustCompute) {
		return true, nil
	}
	if err == nil {
		q.SetAlternative(q.Snapshot())
	}
	q.Update(func(r *orchestratorv1.Run) {
		r.Choice.Method = PGAKV{}.Info().GetName()
		r.Choice.Reason += "; the plan does not fit the knowledge graph, so pg-akv answers"
		r.Answers, r.Text, r.GroundingReason = nil, "", ""
		r.Grounding = orchestratorv1.Grounding_GROUNDING_UNSPECIFIED
	})
	return false, nil
}

// Confirm computes yes or no where facts gave no answer: A directed B if B acts in a film that A directed. Only a sure
// yes about what the question names becomes the answer, since the knowledge graph may lack what the plan does not find.
func (m Auto) Confirm(ctx context.Context, q *question.Question) error {
	before := q.Snapshot()
	if before.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED || !kgtext.IsYesNo(q.Text()) {
		return nil
	}
	if _, err := q.Limits(); err != nil {
		return nil // nothing is left for a plan
	}
	planned, err := m.planBeside(ctx, q, before)
	if g := planned.GetQuery(); planned.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED &&
		g.GetAlignment() >= querySure && (g.GetTable().GetValue() == "yes" || isFlag(planned)) &&
		namesAll(g.GetDraftedPlan(), q.Text()) {
		takePlan(q, planned, ", which a plan answers")
	}
	return err
}

// isFlag reports whether the answer of a plan is yes or no by a triple that says so.
func isFlag(run *orchestratorv1.Run) bool {
	return run.GetQuery().GetTable().GetValue() == "" && len(run.GetAnswers()) == 1 &&
		kgtext.IsFlag(run.GetAnswers()[0].GetAnswer())
}

// planBeside runs Query on a question that is answered as before says, and leaves the answers as they are. It returns
// the run by Query, nil if that failed and the answers can do without.
func (m Auto) planBeside(ctx context.Context, q *question.Question,
	before *orchestratorv1.Run) (planned *orchestratorv1.Run, err error) {
	if err = Query(m).Answer(ctx, q); err == nil {
		planned = q.Snapshot()
	}
	q.Update(func(r *orchestratorv1.Run) { setOutcome(r, before) })
	if question.Recoverable(ctx, err) {
		return nil, nil
	}
	return planned, err
}

// setOutcome gives a run the outcome of another one of its question.
func setOutcome(r, from *orchestratorv1.Run) {
	r.Text, r.Answers, r.Graphs = from.GetText(), from.GetAnswers(), from.GetGraphs()
	r.Grounding, r.GroundingReason = from.GetGrounding(), from.GetGroundingReason()
	r.AnswerProbability = from.AnswerProbability
}

// takePlan answers as a plan does, for a reason that is added to that of the choice. What facts gave stays the
// alternative.
func takePlan(q *question.Question, planned *orchestratorv1.Run, reason string) {
	q.SetAlternative(q.Snapshot())
	q.Update(func(r *orchestratorv1.Run) {
		setOutcome(r, planned)
		r.Choice = &orchestratorv1.Choice{Method: Query{}.Info().GetName(), Reason: r.GetChoice().GetReason() + reason}
	})
	q.Replace(planned.GetText())
}

// Reconsider answers by a plan what facts do not say surely: nothing of them names an answer, or no ranker knows which
// of them are meant and the plan is surer than certainty, which is that in the facts, 0 to 1. A plan that may ask for
// something else only comes before what a model has from memory that is not known to read well: one that does knows
// more. It reports whether the plan answers.
func (m Auto) Reconsider(ctx context.Context, q *question.Question, certainty float32) (isPlanned bool, err error) {
	before := q.Snapshot()
	isRanked := IsRanked(before)
	says := before.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED &&
		before.GetGrounding() != orchestratorv1.Grounding_GROUNDING_ABSTAINED
	if before.GetPgAkv() == nil || before.GetPartial() || isRanked && says || len(q.OtherKGs()) > 0 ||
		kgtext.ChooseAnswerForm(q.Text(), answerForm(q)) == graphv1.AnswerForm_ANSWER_FORM_TEXT {
		return false, nil
	}
	planned := q.Alternative()
	if _, err := q.Limits(); planned == nil && err == nil {
		if planned, err = m.planBeside(ctx, q, before); err != nil {
			return false, err
		}
	}
	isLikely := planned.GetGrounding() == orchestratorv1.Grounding_GROUNDING_GROUNDED &&
		planned.GetQuery().GetAlignment() > max(queryLikely, certainty) &&
		(certainty > 0 || !says || // else the doubt about the words stays
			!sameNames(answerNames(before.GetAnswers()), answerNames(planned.GetAnswers())))
	isWeak := !ReadsWell(before)
	// Facts do not say which is the smallest, and a plan that ranks does, whatever it takes for its size.
	isUnsaid := says && picks(planned.GetQuery().GetPlan()) && !StatesCondition(before.GetAnswers(), q.Text())
	isPlanned = len(planned.GetAnswers()) > 0 && (isLikely || isWeak && !isRanked && (!says || isUnsaid))
	if isPlanned {
		takePlan(q, planned, "; the facts do not surely say it, and a plan does")
	}
	return isPlanned, nil
}

// StatesCondition reports whether the evidence of the first answer states the condition by which a question picks some
// of the things that facts lead to, or there is none: no triple says which film is the latest.
func StatesCondition(answers []*orchestratorv1.Answer, text string) bool {
	condition := kgtext.Condition(text)
	return condition == "" || len(answers) > 0 && slices.ContainsFunc(answers[0].GetEvidence(),
		func(t *graphv1.Triple) bool {
			return kgtext.FoldWords(kgtext.FormatFact(t)).Mention(kgtext.Fold(condition))
		})
}

// picks reports whether a plan ranks or compares.
func picks(plan *graphv1.QueryPlan) bool {
	return slices.ContainsFunc(plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetRank() != nil || c.GetCondition() != nil
	})
}

// namesAll reports whether a plan has a word of each name that a question spells out in several.
func namesAll(plan *graphv1.QueryPlan, text string) bool {
	planned := strings.Join(kgtext.PlanNames(plan), " ")
	return !slices.ContainsFunc(kgtext.MissingNames(text, nil), func(name string) bool {
		return !kgtext.SharesWord(name, planned)
	})
}

// answerWithin answers by a method. It returns ErrStopped if the caller asked to stop after a stage that
// the method lacks.
func answerWithin(ctx context.Context, q *question.Question, m Method) error {
	until := q.Request().GetOptions().GetUntil()
	if until != orchestratorv1.Stage_STAGE_UNSPECIFIED && !slices.Contains(m.Info().GetStages(), until) {
		return question.ErrStopped
	}
	return m.Answer(ctx, q)
}

// Computes reports whether a method computes the answer to a question, rather than reading it off facts. Yes or no is
// read off facts first if these may say it: of "is French the first language of A" they do.
func Computes(m Method, q *question.Question) bool {
	if _, ok := m.(Auto); ok {
		operation := kgtext.AsksOperation(q.Text())
		return q.Request().GetPlan() != "" || operation == kgtext.MustCompute ||
			operation == kgtext.MayCompute && !kgtext.IsYesNo(q.Text())
	}
	return slices.Contains(m.Info().GetStages(), orchestratorv1.Stage_STAGE_PLAN)
}
