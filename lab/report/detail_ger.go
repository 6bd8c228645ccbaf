package report

import (
	"fmt"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

func (v *View) ger(g *orchestratorv1.GerGraphs, n *names) {
	v.topics(g.GetTopicEntities(), n)
	if len(g.GetProposedPaths()) > 0 {
		v.list("Proposed relation paths", "in the model's words", first(g.GetProposedPaths(), maxPaths, relationPath))
	}
	v.list("Relation paths", "as the knowledge graph has them", first(g.GetRelationPaths(), maxPaths, relationPath))
	v.walks("Reasoning paths", g.GetReasoningPaths(), n)
	verdicts := make(map[string]*graphv1.AnswerVerdict)
	for _, verdict := range g.GetAnswerVerdicts() {
		verdicts[verdict.GetAnswer()] = verdict
	}
	v.list("Candidates", setVerdict(g.GetQuestionVerdict()), first(g.GetCandidates(), maxCandidates,
		func(c *graphv1.CandidateAnswer) Row {
			row := Row{Text: clip(c.GetAnswer(), maxName), Gold: n.gold(Whole, c.GetAnswer()),
				Rows: first(c.GetPaths(), maxEvidence, n.path)}
			row.judge(verdicts[c.GetAnswer()])
			return row
		}))
	if len(g.GetReflections()) > 0 {
		v.list("Reflection", "mode "+word(g.GetReflection().String(), "REFLECTION_MODE_"),
			first(g.GetReflections(), maxCandidates, n.reflection))
	}
}

// setVerdict returns the verdict on the candidates as a whole, in words.
func setVerdict(q *graphv1.QuestionVerdict) string {
	if q == nil {
		return ""
	}
	right, missing := "judged as a whole: not all are right", "nothing is missing"
	if q.GetCorrect() {
		right = "judged as a whole: all are right"
	}
	if q.GetIncomplete() {
		missing = "something is missing"
	}
	text := right + ", " + missing
	if q.GetReason() != "" {
		text += ": " + clip(q.GetReason(), maxName)
	}
	return text
}

// judge shows the verdict on the candidate of a row.
func (r *Row) judge(verdict *graphv1.AnswerVerdict) {
	switch {
	case verdict == nil:
		return
	case verdict.GetUnknown():
		r.Kind, r.Label = Unsure, "no verdict"
	case verdict.GetCorrect():
		r.Kind, r.Label = Right, "judged right"
	default:
		r.Kind, r.Label = Wrong, "judged wrong"
	}
	if verdict.Probability != nil {
		r.Score = round(verdict.GetProbability())
	}
}

func (n *names) reflection(r *reflectorv1.Reflection) Row {
	row := Row{Text: clip(r.GetAnswer(), maxName), Gold: n.gold(Whole, r.GetAnswer())}
	switch r.GetDecision() {
	case reflectorv1.Decision_DECISION_KEEP:
		row.Kind, row.Label = Keep, "keep"
	case reflectorv1.Decision_DECISION_DROP:
		row.Kind, row.Label = Delete, "drop"
	case reflectorv1.Decision_DECISION_ADD:
		row.Kind, row.Label = Add, "add"
		row.Rows = first(r.GetPaths(), maxEvidence, n.path)
	}
	return row
}

func (v *View) topics(links []*graphv1.EntityLink, n *names) {
	v.list("Topic entities", "", first(links, maxSubjects, func(l *graphv1.EntityLink) Row {
		how := "given"
		if l.GetMention() != "" {
			how = fmt.Sprintf("“%s”, %s", clip(l.GetMention(), maxName), word(l.GetMatch().String(), "LINK_MATCH_"))
		}
		return Row{Text: fmt.Sprintf("%s (%s)", clip(l.GetEntity(), maxName), how), Score: round(l.GetScore()),
			Label: clip(l.GetKgName(), 64)}
	}))
}

func (v *View) walks(title string, paths []*graphv1.ReasoningPath, n *names) {
	v.list(title, kgtext.FormatCount(len(paths), "walk"), first(paths, maxPaths, n.path))
}

func (v *View) tog(g *orchestratorv1.TogGraphs, n *names) {
	v.topics(g.GetTopicEntities(), n)
	for i, depth := range g.GetDepths() {
		enough := "judged not enough to answer from"
		if depth.GetSufficient() {
			enough = "judged enough to answer from"
		}
		if depth.Probability != nil {
			enough += fmt.Sprintf(" (%.2f)", depth.GetProbability())
		}
		note := fmt.Sprintf("%s kept, leading to %d entities; %s",
			kgtext.FormatCount(len(depth.GetRelations()), "relation"), depth.GetEntities(), enough)
		v.list(fmt.Sprintf("Hop %d", i+1), note, append(first(depth.GetRelations(), maxPerSubject, relationPath),
			first(depth.GetReasoningPaths(), maxPerSubject, n.path)...))
	}
	v.walks("Reasoning paths", g.GetReasoningPaths(), n)
}

func (v *View) rog(g *orchestratorv1.RogGraphs, n *names) {
	v.topics(g.GetTopicEntities(), n)
	v.list("Planned relation paths", "in the model's words", first(g.GetPlannedPaths(), maxPaths, relationPath))
	v.list("Relation paths", "as the knowledge graph has them", first(g.GetRelationPaths(), maxPaths, relationPath))
	v.walks("Reasoning paths", g.GetReasoningPaths(), n)
}
