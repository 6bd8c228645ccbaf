package report

import (
	"fmt"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// NewView makes the view of a run of a question with these right answers.
func NewView(run *orchestratorv1.Run, right []string) View {
	n := newNames(right)
	v := View{Text: clip(run.GetText(), maxText), Facts: facts(run)}
	v.Answers = first(run.GetAnswers(), maxCandidates, func(a *orchestratorv1.Answer) Row {
		return Row{
			Text: clip(a.GetAnswer(), maxName), Gold: n.gold(Whole, a.GetAnswer()),
			Rows: first(a.GetEvidence(), maxEvidence, n.triple),
		}
	})
	if c := run.GetChoice(); c != nil {
		v.list("Choice", "", []Row{{Label: clip(c.GetMethod(), maxName), Text: clip(c.GetReason(), maxText)}})
	}
	switch graphs := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		v.pgAkv(graphs.PgAkv, n)
	case *orchestratorv1.Run_Ger:
		v.ger(graphs.Ger, n)
	case *orchestratorv1.Run_Rag:
		v.list("Hits", "the triples nearest to the question", first(graphs.Rag.GetHits(), maxHits, n.scoredTriple))
	case *orchestratorv1.Run_Sc:
		v.list("Samples", "each time the model was asked", first(graphs.Sc.GetSamples(), maxCandidates, n.sample))
	case *orchestratorv1.Run_Tog:
		v.tog(graphs.Tog, n)
	case *orchestratorv1.Run_Rog:
		v.rog(graphs.Rog, n)
	}
	v.conflicts(run.GetConflicts(), n)
	v.warnings(run.GetStages())
	return v
}

// list adds a section; one without rows says so.
func (v *View) list(title, note string, rows []Row) {
	if len(rows) == 0 {
		rows = []Row{{Kind: Quiet, Text: "none"}}
	}
	v.Sections = append(v.Sections, DetailSection{Title: title, Note: note, Rows: rows})
}

func facts(run *orchestratorv1.Run) [][2]string {
	var out [][2]string
	add := func(name, format string, args ...any) {
		out = append(out, [2]string{name, fmt.Sprintf(format, args...)})
	}
	grounding := word(run.GetGrounding().String(), "GROUNDING_")
	if reason := run.GetGroundingReason(); reason != "" {
		grounding += ": " + clip(reason, maxName)
	}
	add("Grounding", "%s", grounding)
	if run.Confidence != nil {
		add("Confidence", "%.2f", run.GetConfidence())
	}
	if run.AnswerProbability != nil {
		add("Probability of its words", "%.2f", run.GetAnswerProbability())
	}
	if kgs := knowledgeGraphs(run); kgs != "" {
		add("Knowledge graph", "%s", kgs)
	}
	u := run.GetUsage()
	calls := kgtext.FormatCount(int(u.GetCalls()), "call")
	if u.GetCachedCalls() > 0 {
		calls += fmt.Sprintf(", %d more from the cache", u.GetCachedCalls())
	}
	add("Cost", "%s; %d + %d tokens; %.1f s", calls, u.GetPromptTokens(), u.GetCompletionTokens(),
		run.GetDuration().AsDuration().Seconds())
	if run.GetPartial() {
		add("Partial", "a budget or a failing stage ended the run early")
	}
	return out
}

func knowledgeGraphs(run *orchestratorv1.Run) string {
	var out []string
	for _, kg := range append([]*graphv1.KnowledgeGraphRef{run.GetKg()}, run.GetOtherKgs()...) {
		if kg.GetName() != "" {
			out = append(out, fmt.Sprintf("%s@%d", clip(kg.GetName(), 64), kg.GetSnapshot()))
		}
	}
	return strings.Join(out, ", ")
}

func (n *names) sample(s *orchestratorv1.Sample) Row {
	answers, gold := make([]string, len(s.GetAnswers())), Part(0)
	for i, a := range s.GetAnswers() {
		answers[i] = clip(a, maxName)
		gold |= n.gold(Whole, a)
	}
	return Row{Label: strings.Join(answers, ", "), Text: clip(s.GetText(), maxText), Gold: gold}
}

func (v *View) conflicts(conflicts []*orchestratorv1.Conflict, n *names) {
	if len(conflicts) == 0 {
		return
	}
	v.list("Conflicts", "where the knowledge graphs contradict each other",
		first(conflicts, maxPaths, func(c *orchestratorv1.Conflict) Row {
			return Row{
				Kind: Replace, Text: clip(c.GetSubject(), maxName) + ": " + clip(c.GetRelation(), maxName),
				Rows: first(c.GetTriples(), maxPerSubject, n.triple),
			}
		}))
}

func (v *View) warnings(stages []*orchestratorv1.StageReport) {
	var rows []Row
	for _, s := range stages {
		for _, w := range s.GetWarnings() {
			rows = append(rows, Row{Kind: Unsure, Label: word(s.GetStage().String(), "STAGE_"),
				Text: clip(w.GetMessage(), maxName*2)})
		}
	}
	if len(rows) > 0 {
		v.list("Warnings", "what failed and was skipped",
			first(rows, maxPaths, func(r Row) Row { return r }))
	}
}

// word returns the name of an enum value in small letters, without its prefix.
func word(value, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value, prefix)), "_", " ")
}
