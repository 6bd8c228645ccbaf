package method

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Query counts, compares, orders, filters, joins and excludes: the model plans what to compute in the
// words of the question, the knowledge graph supplies the names, and the retriever computes. Each row
// comes with its triples. It reads the first knowledge graph of a request.
type Query struct{ Stages }

// maxQueryAnswers is the maximum number of rows that are answers.
const maxQueryAnswers = 1000

// Info implements Method.
func (Query) Info() *orchestratorv1.Method {
	return &orchestratorv1.Method{
		Name: "query",
		Description: "Plans what to compute, aligns the plan to what the knowledge graph holds, and computes it: " +
			"counts, " +
			"superlatives, comparisons, filters.",
		Calls:   "1",
		NeedsKg: true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_PLAN,
			orchestratorv1.Stage_STAGE_ALIGN,
			orchestratorv1.Stage_STAGE_EXECUTE,
		},
	}
}

// Answer implements Method.
func (m Query) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.QueryGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Query{Query: g} })
	return m.run(ctx, q, g)
}

// run takes a question through the stages. A stage that finds the question unanswerable concludes the
// run with the reason.
func (m Query) run(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs) error {
	for _, step := range []func(context.Context, *question.Question, *orchestratorv1.QueryGraphs) (string, error){
		m.plan, m.align, m.execute, m.compare,
	} {
		reason, err := step(ctx, q, g)
		if err != nil {
			return err
		}
		if reason != "" {
			m.refuse(q, reason)
			return nil
		}
	}
	m.conclude(q, g)
	return nil
}

// plan lets the model say what to compute, unless the caller does.
func (m Query) plan(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs) (string, error) {
	err := modelStage(ctx, q, orchestratorv1.Stage_STAGE_PLAN,
		func(ctx context.Context, limits *llmv1.Limits) (question.Cost, error) {
			resp, err := m.Generator.GenerateQueryPlan(ctx, &generatorv1.GenerateQueryPlanRequest{
				Question: q.Text(), Limits: limits, Draft: q.Request().GetPlan(),
			})
			if err != nil {
				return nil, err
			}
			q.Update(func(*orchestratorv1.Run) {
				g.Draft, g.DraftedPlan, g.Edits = resp.GetDraft(), resp.GetPlan(), resp.GetEdits()
			})
			return resp, nil
		})
	if err == nil && len(g.GetDraftedPlan().GetClauses()) == 0 {
		return "the model wrote no plan that can be read", nil
	}
	return "", err
}

// align puts the names of the knowledge graph into the plan.
func (m Query) align(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs) (string, error) {
	reason := ""
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_ALIGN, func(ctx context.Context) (question.Cost, error) {
		resp, err := m.AlignPlan(ctx, &retrieverv1.ExploreQueryPlanRequest{
			Kg: q.KG(), Question: q.Text(), Plan: g.GetDraftedPlan(), TopicEntities: q.Request().GetTopicEntities(),
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) {
			g.Plan, g.Edits, g.Alignment = resp.GetPlan(), append(g.GetEdits(), resp.GetEdits()...),
				resp.GetConfidence()
		})
		if reason = resp.GetReason(); resp.GetPlan() != nil {
			q.Update(func(r *orchestratorv1.Run) { r.GroundingReason = reason })
			reason = ""
		}
		return question.NoCost, nil
	})
	return reason, err
}

// AlignPlan explores what a drafted plan may mean, and puts the names of the knowledge graph into it.
func (s Stages) AlignPlan(ctx context.Context,
	req *retrieverv1.ExploreQueryPlanRequest) (*verifierv1.AlignQueryPlanResponse, error) {
	found, err := s.Retriever.ExploreQueryPlan(ctx, req)
	if err != nil {
		return nil, err
	}
	return s.Verifier.AlignQueryPlan(ctx, &verifierv1.AlignQueryPlanRequest{
		Question: req.GetQuestion(), Plan: req.GetPlan(), Terms: found.GetTerms(), Patterns: found.GetPatterns(),
	})
}

// execute computes the plan.
func (m Query) execute(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs) (string, error) {
	err := q.Stage(ctx, orchestratorv1.Stage_STAGE_EXECUTE, func(ctx context.Context) (question.Cost, error) {
		resp, err := m.Retriever.ExecuteQuery(ctx, &retrieverv1.ExecuteQueryRequest{
			Kg: q.KG(), Plan: g.GetPlan(), MaxRows: maxQueryAnswers,
		})
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { g.Table, g.Cypher = resp.GetTable(), resp.GetCypher() })
		return question.NoCost, nil
	})
	return g.GetTable().GetReason(), err
}

// refuse says that the knowledge graph does not hold the answer, and why.
func (Query) refuse(q *question.Question, reason string) {
	q.Update(func(r *orchestratorv1.Run) {
		r.Text = "This is not in the knowledge graph " + r.GetKg().GetName() + ": " + reason + "."
		r.Answers, r.Grounding, r.GroundingReason = nil, orchestratorv1.Grounding_GROUNDING_ABSTAINED, reason
	})
}

// conclude makes the answers of the table. The text says the same.
func (Query) conclude(q *question.Question, g *orchestratorv1.QueryGraphs) {
	table := g.GetTable()
	var answers []*orchestratorv1.Answer
	if table.GetValue() != "" {
		answer := &orchestratorv1.Answer{Answer: strings.TrimSpace(table.GetValue())}
		for _, row := range table.GetRows() {
			if len(answer.Evidence) >= maxTriples {
				break
			}
			answer.Evidence = append(answer.Evidence, row.GetTriples()...)
		}
		answers = append(answers, answer)
	} else {
		answers = rowAnswers(table, g.GetPlan().GetResult().GetGroupBy() != "")
	}
	text := JoinNames(answers)
	if table.GetUnit() != "" && table.GetValue() != "" {
		text += " " + table.GetUnit()
	}
	q.Update(func(r *orchestratorv1.Run) {
		doubted := cmp.Or(r.GetGroundingReason(), namesItself(answers, g.GetPlan()), ranksNothing(table, g.GetPlan()))
		r.Text, r.Answers = text, answers
		r.Grounding, r.GroundingReason = orchestratorv1.Grounding_GROUNDING_GROUNDED, queryReason(table)
		if doubted != "" {
			r.Grounding = orchestratorv1.Grounding_GROUNDING_RELATED
			r.GroundingReason += ", which may be something else: " + doubted
		}
	})
}

// leastMass is the probability of the ranked paths to an answer below which the plan may ask for another one.
const leastMass = 0.3

// compare takes a plan to be no surer than that the relation paths which a ranker takes the question to ask for lead
// to its answer, and doubts it if they lead to others. Such a path starts from one name, and nothing is computed of
// what it leads to.
func (m Query) compare(ctx context.Context, q *question.Question, g *orchestratorv1.QueryGraphs) (string, error) {
	rows := g.GetTable().GetRows()
	if g.GetTable().GetValue() != "" || len(rows) == 0 || len(rows[0].GetCells()) == 0 || q.Request().GetPlan() != "" ||
		kgtext.AsksOperation(q.Text()) != kgtext.NoOperation || len(kgtext.ThingNames(g.GetDraftedPlan())) > 1 {
		return "", nil
	}
	found, err := m.Retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{Kg: q.KG(), Question: q.Text()})
	if question.Recoverable(ctx, err) {
		return "", nil // the plan stands on its own
	}
	mass, isRanked := float32(0), false
	for _, path := range kgtext.GroupPaths(found.GetPaths()) {
		if path.Probability == nil {
			continue
		}
		isRanked = true
		leads := path.LeadsTo(rows[0].GetCells()[0].GetName())
		// A ranker reads no direction from the words of a question.
		if opposite := kgtext.FindOpposite(found.GetGroundGraph(), q.Text(), path); !leads && opposite != nil {
			leads = slices.ContainsFunc(rows, func(r *graphv1.QueryRow) bool {
				name := r.GetCells()[0].GetName()
				return name == opposite.GetSubject() || name == opposite.GetObject()
			})
		}
		if leads {
			mass += *path.Probability
		}
	}
	if isRanked {
		q.Update(func(r *orchestratorv1.Run) {
			if g.Alignment = min(g.GetAlignment(), mass); mass < leastMass {
				r.GroundingReason = cmp.Or(r.GetGroundingReason(),
					"the relation paths nearest to the question lead elsewhere")
			}
		})
	}
	return "", err
}

// namesItself says which answer is what the plan asks about; empty if none is, or if it asks for one of several
// that it names by a fact about them.
func namesItself(answers []*orchestratorv1.Answer, plan *graphv1.QueryPlan) string {
	looksUp := func(c *graphv1.QueryClause) bool { return c.GetMatch() != nil || c.GetExclude() != nil }
	if slices.ContainsFunc(plan.GetClauses(), looksUp) && kgtext.IsListed(plan, plan.GetResult().GetVariable()) {
		return ""
	}
	named := kgtext.ThingNames(plan)
	for _, a := range answers {
		if slices.Contains(named, a.GetAnswer()) {
			return "the question asks about " + a.GetAnswer() + " itself"
		}
	}
	return ""
}

// ranksNothing says that none has more than one of what a plan counts to find who has the most; empty if it does not.
func ranksNothing(table *graphv1.QueryTable, plan *graphv1.QueryPlan) string {
	facts, counts := 0, false
	for _, c := range plan.GetClauses() {
		if c.GetMatch() != nil {
			facts++
		}
		counts = counts || c.GetRank().GetCount() && c.GetRank().GetDescending() && c.GetRank().GetOperator() == 0
	}
	if !counts || len(table.GetRows()) < 2 || slices.ContainsFunc(table.GetRows(), func(r *graphv1.QueryRow) bool {
		return len(r.GetTriples()) > facts
	}) {
		return ""
	}
	return "none has more than one of what is counted"
}

// rowAnswers makes an answer of each distinct first cell, of groups with their values.
func rowAnswers(table *graphv1.QueryTable, grouped bool) []*orchestratorv1.Answer {
	var answers []*orchestratorv1.Answer
	byID := map[string]*orchestratorv1.Answer{}
	for _, row := range table.GetRows() {
		if len(row.GetCells()) == 0 {
			continue
		}
		cell := row.GetCells()[0]
		key := cell.GetId() + "\x00" + cell.GetName()
		if known := byID[key]; known != nil {
			known.Evidence = append(known.Evidence, row.GetTriples()...)
			continue
		}
		answer := &orchestratorv1.Answer{Answer: cell.GetName(), Id: cell.GetId(), Evidence: row.GetTriples()}
		if grouped && len(row.GetCells()) == 2 {
			answer.Answer += ": " + strings.TrimSpace(row.GetCells()[1].GetName()+" "+table.GetUnit())
			if answer.GetId() == cell.GetName() {
				answer.Id = "" // the name, which the answer no longer is
			}
		}
		byID[key] = answer
		answers = append(answers, answer)
	}
	return answers
}

// queryReason says what the result was computed from.
func queryReason(table *graphv1.QueryTable) string {
	reason := fmt.Sprintf("computed from %s of the knowledge graph", kgtext.FormatCount(int(table.GetTotal()), "row"))
	if table.GetCompared() > 0 {
		reason += fmt.Sprintf(", over %s", kgtext.FormatCount(int(table.GetCompared()), "item"))
		if table.GetLacking() > 0 {
			reason += fmt.Sprintf(" of which %d have no value that can be compared", table.GetLacking())
		}
	}
	if len(table.GetLimits()) > 0 {
		reason += "; a lower bound, since " + strings.Join(table.GetLimits(), " and ")
	}
	return reason
}
