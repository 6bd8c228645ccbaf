package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// Explain prints the graphs a method made on its way, each edit or verdict
// with what it rests on, and what it all cost.
func Explain(w io.Writer, run *orchestratorv1.Run, style Style) error {
	p := newPage(w, style)
	if run.GetChoice() != nil {
		p.choice(run.GetChoice())
	}
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		p.pgakv(g.PgAkv)
	case *orchestratorv1.Run_Ger:
		p.ger(g.Ger)
	case *orchestratorv1.Run_Rag:
		p.rag(g.Rag)
	case *orchestratorv1.Run_Sc:
		p.sc(g.Sc)
	case *orchestratorv1.Run_Tog:
		p.tog(g.Tog)
	case *orchestratorv1.Run_Rog:
		p.rog(g.Rog)
	case *orchestratorv1.Run_Query:
		p.query(g.Query)
	}
	p.withheld(run)
	p.cost(run)
	return p.err
}

// withheld is what would have been answered.
func (p *page) withheld(run *orchestratorv1.Run) {
	if len(run.GetWithheld()) == 0 {
		return
	}
	p.heading("Withheld", "what would have been answered")
	for _, a := range run.GetWithheld() {
		p.answer(2, a)
	}
}

// cost is a line for each stage and one for all.
func (p *page) cost(run *orchestratorv1.Run) {
	p.heading("Cost", "")
	p.print(p.paint(dim, fmt.Sprintf("  %-20s %9s %6s %7s %8s %8s", "stage", "time", "calls", "cached", "read",
		"written")) + "\n")
	line := func(name string, took time.Duration, u *llmv1.Usage) {
		p.print(fmt.Sprintf("  %-20s %9s %6d %7d %8d %8d\n", name, duration(took),
			u.GetCalls(), u.GetCachedCalls(), u.GetPromptTokens(), u.GetCompletionTokens()))
	}
	for _, s := range run.GetStages() {
		line(stage(s.GetStage()), s.GetDuration().AsDuration(), s.GetUsage())
	}
	line("in all", run.GetDuration().AsDuration(), run.GetUsage())
	if cost := run.GetUsage().GetCostUsd(); cost > 0 {
		p.itemf(2, "", "%.4f US dollars", cost)
	}
	p.print("\n")
	p.itemf(2, "", "method %s", describeRun(run))
	p.itemf(2, "", "run %s", withFallback(run.GetId(), "(not kept)"))
	p.itemf(2, "", "trace %s", withFallback(run.GetTraceId(), "(none)"))
}

// describeRun names the method, what it did without, and what it read.
func describeRun(run *orchestratorv1.Run) string {
	words := run.GetMethod()
	if a := run.GetAblation(); a != orchestratorv1.Ablation_ABLATION_UNSPECIFIED {
		words += " (ablation " + config.EnumName(a) + ")"
	}
	kgs := append([]*graphv1.KnowledgeGraphRef{run.GetKg()}, run.GetOtherKgs()...)
	if kgs[0].GetName() == "" {
		return words
	}
	names := make([]string, len(kgs))
	for i, kg := range kgs {
		names[i] = fmt.Sprintf("%s@%d", kg.GetName(), kg.GetSnapshot())
	}
	return words + " on " + strings.Join(names, ", ")
}

// duration returns a time for people: 12 ms, 3.4 s.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func (p *page) choice(c *orchestratorv1.Choice) {
	p.heading("Method", "")
	p.item(2, withFallback(c.GetMethod(), "(none chosen)")+": ", bold, c.GetReason())
}

func (p *page) rag(g *orchestratorv1.RagGraphs) {
	p.heading("Hits", "the triples nearest to the question")
	for i, t := range g.GetHits() {
		if p.truncation(2, i, shownReasoning, len(g.GetHits())) {
			break
		}
		p.item(2, fmt.Sprintf("%.2f  ", t.GetScore()), dim, evidenceTriple(t.GetTriple()))
	}
	if len(g.GetHits()) == 0 {
		p.item(2, "", "", "(none)")
	}
}

func (p *page) rog(g *orchestratorv1.RogGraphs) {
	p.topics(g.GetTopicEntities())
	p.relationPaths("planned:", g.GetPlannedPaths(), g.GetRelationPaths())
	p.reasoningPaths(g.GetReasoningPaths())
}

func (p *page) sc(g *orchestratorv1.ScGraphs) {
	p.heading("Samples", "answers that more than half of them give are kept")
	for i, s := range g.GetSamples() {
		p.item(2, fmt.Sprintf("%d  ", i+1), bold, withFallback(strings.Join(s.GetAnswers(), "; "), "(no answer)"))
		p.block(5, s.GetText())
	}
	if len(g.GetSamples()) == 0 {
		p.item(2, "", "", "(none)")
	}
}

func (p *page) tog(g *orchestratorv1.TogGraphs) {
	p.topics(g.GetTopicEntities())
	for i, d := range g.GetDepths() {
		p.depth(i, d)
	}
	p.reasoningPaths(g.GetReasoningPaths())
}

// depth is the i-th hop, counted from 0.
func (p *page) depth(i int, d *orchestratorv1.TogDepth) {
	p.heading(fmt.Sprintf("Hop %d", i+1), fmt.Sprintf("%s to %s",
		kgtext.FormatCount(len(d.GetRelations()), "relation"), kgtext.FormatCount(int(d.GetEntities()), "entity")))
	for _, r := range d.GetRelations() {
		for _, from := range r.GetTopicEntities() {
			p.item(2, fmt.Sprintf("%.2f  ", r.GetScore()), dim, from+": "+relationPath(r))
		}
	}
	for j, path := range d.GetReasoningPaths() {
		if j == 0 {
			p.item(2, "", "", "kept:")
		}
		p.item(4, fmt.Sprintf("%.2f  ", path.GetScore()), dim, reasoningPath(path))
	}
	p.sufficient(d)
}

// sufficient is what the model said of the paths found up to a hop.
func (p *page) sufficient(d *orchestratorv1.TogDepth) {
	said := "not enough to answer from"
	if d.GetSufficient() {
		said = "enough to answer from"
	}
	if d.Probability != nil {
		said += fmt.Sprintf(" (probability of enough %.2f)", d.GetProbability())
	}
	p.item(2, "judged: ", dim, said)
}

// Longest lists shown.
const (
	shownPaths     = 10
	shownEvidence  = 2
	shownReasoning = 12
)

func (p *page) ger(g *orchestratorv1.GerGraphs) {
	p.topics(g.GetTopicEntities())
	p.relationPaths("proposed, in the model's words:", g.GetProposedPaths(), g.GetRelationPaths())
	p.reasoningPaths(g.GetReasoningPaths())
	p.evaluation(g)
	p.reflections(g)
}

func (p *page) topics(links []*graphv1.EntityLink) {
	p.heading("Topic entities", "")
	for _, l := range links {
		how := "given"
		if l.GetMention() != "" {
			how = fmt.Sprintf("“%s”, %s", l.GetMention(), name(l.GetMatch().String(), "LINK_MATCH_"))
		}
		p.item(2, fmt.Sprintf("%.2f  ", l.GetScore()), dim, label(l.GetKgName())+fmt.Sprintf("%s (%s)",
			entity(l.GetEntity(), l.GetEntityId()), how))
	}
	if len(links) == 0 {
		p.item(2, "", "", "(none found in the question)")
	}
}

func (p *page) relationPaths(planned string, plan, followed []*graphv1.RelationPath) {
	p.heading("Relation paths", "")
	for i, path := range plan {
		if i == 0 {
			p.item(2, "", "", planned)
		}
		p.item(4, "", "", relationPath(path))
	}
	for i, path := range followed {
		if i == 0 {
			p.item(2, "", "", "followed, as the knowledge graph has them:")
		}
		if p.truncation(4, i, shownPaths, len(followed)) {
			break
		}
		p.item(4, fmt.Sprintf("%.2f  ", path.GetScore()), dim, fmt.Sprintf("%s (%s)",
			relationPath(path), kgtext.FormatCount(int(path.GetEnds()), "end")))
	}
	if len(followed) == 0 {
		p.item(2, "", "", "(none followed)")
	}
}

func (p *page) reasoningPaths(paths []*graphv1.ReasoningPath) {
	p.heading("Reasoning paths", kgtext.FormatCount(len(paths), "walk"))
	for i, path := range paths {
		if p.truncation(2, i, shownReasoning, len(paths)) {
			break
		}
		p.item(2, "", "", reasoningPath(path))
	}
}

// evaluation shows each candidate with its own paths and its verdict, then the
// verdict on all of them.
func (p *page) evaluation(g *orchestratorv1.GerGraphs) {
	p.heading("Candidates and evaluation", "answer level, then question level")
	for i, c := range g.GetCandidates() {
		label, colour := "  ", ""
		if i < len(g.GetAnswerVerdicts()) {
			switch v := g.GetAnswerVerdicts()[i]; {
			case v.GetUnknown():
				label, colour = "no verdict   ", dim
			case v.Probability != nil && v.GetCorrect():
				label, colour = fmt.Sprintf("right  %.2f  ", v.GetProbability()), green
			case v.Probability != nil:
				label, colour = fmt.Sprintf("wrong  %.2f  ", v.GetProbability()), red
			case v.GetCorrect():
				label, colour = "right        ", green
			default:
				label, colour = "wrong        ", red
			}
		}
		p.item(2, label, colour, entity(c.GetAnswer(), c.GetAnswerId()))
		p.paths(4, c.GetPaths())
	}
	if len(g.GetCandidates()) == 0 {
		p.item(2, "", "", "(no candidates)")
	}
	if v := g.GetQuestionVerdict(); v != nil {
		all, missing := "not all of them are right", "nothing is missing"
		if v.GetCorrect() {
			all = "all of them are right"
		}
		if v.GetIncomplete() {
			missing = "something is missing"
		}
		p.itemf(2, "as a whole: ", "%s, %s", all, missing)
		if v.GetReason() != "" {
			p.item(4, "", "", v.GetReason())
		}
	}
}

func (p *page) reflections(g *orchestratorv1.GerGraphs) {
	p.heading("Reflection", "")
	for _, r := range g.GetReflections() {
		switch r.GetDecision() {
		case reflectorv1.Decision_DECISION_KEEP:
			p.item(2, "keep  ", "", r.GetAnswer())
		case reflectorv1.Decision_DECISION_DROP:
			p.item(2, "drop  ", red, r.GetAnswer())
		case reflectorv1.Decision_DECISION_ADD:
			p.item(2, "add   ", green, r.GetAnswer())
			p.paths(4, r.GetPaths())
		}
	}
	if len(g.GetReflections()) == 0 {
		p.item(2, "", "", "(none)")
	}
}

func (p *page) paths(indent int, paths []*graphv1.ReasoningPath) {
	for i, path := range paths {
		if p.truncation(indent, i, shownEvidence, len(paths)) {
			return
		}
		p.item(indent, "by ", dim, reasoningPath(path))
	}
}

// truncation says how many are left out once most are shown.
func (p *page) truncation(indent, shown, most, all int) bool {
	if shown < most {
		return false
	}
	p.itemf(indent, "", "and %d more", all-shown)
	return true
}

// perSubject is how many triples of a subject are shown.
const perSubject = 5

func (p *page) pgakv(g *orchestratorv1.PgAkvGraphs) {
	p.pseudoGraph(g)
	p.groundGraph(g)
	p.edits(g)
	p.fixedGraph(g)
}

func (p *page) pseudoGraph(g *orchestratorv1.PgAkvGraphs) {
	p.heading("Pseudo-graph", "what the model wrote from memory; names may be wrong")
	p.block(2, g.GetCypher())
	for _, d := range g.GetDiagnostics() {
		p.item(2, fmt.Sprintf("line %d, column %d: ", d.GetLine(), d.GetColumn()), yellow, d.GetMessage())
	}
	if g.GetCypher() != "" {
		p.print("\n")
	}
	for _, t := range g.GetPseudoGraph().GetTriples() {
		p.item(2, "", "", triple(t))
	}
	if len(g.GetPseudoGraph().GetTriples()) == 0 {
		p.item(2, "", "", "(no triples)")
	}
}

func (p *page) groundGraph(g *orchestratorv1.PgAkvGraphs) {
	subjects := g.GetGroundGraph().GetSubjects()
	p.heading("Ground graph", fmt.Sprintf("%s; %s kept, %d dropped", kgtext.FormatCount(len(g.GetHits()), "hit"),
		kgtext.FormatCount(len(subjects), "subject"), len(g.GetDropped())))
	for _, s := range subjects {
		p.item(2, fmt.Sprintf("%.2f  ", s.GetConfidence()), bold,
			label(s.GetKgName())+entity(s.GetSubject(), s.GetSubjectId()))
		for i, t := range s.GetTriples() {
			if i == perSubject {
				p.item(8, "", "", fmt.Sprintf("and %d more", len(s.GetTriples())-i))
				break
			}
			p.item(8, fmt.Sprintf("%.2f  ", t.GetScore()), dim, evidenceTriple(t.GetTriple()))
		}
	}
	for i, d := range g.GetDropped() {
		if i == 0 {
			p.item(2, "", "", "dropped:")
		}
		p.item(4, fmt.Sprintf("%.2f  ", d.GetConfidence()), dim, label(d.GetKgName())+fmt.Sprintf("%s: %s (%s)",
			entity(d.GetSubject(), d.GetSubjectId()), dropReason(d.GetReason()),
			kgtext.FormatCount(int(d.GetHits()), "hit")))
	}
}

func dropReason(r graphv1.DropReason) string {
	switch r {
	case graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION:
		return "other subjects had better hits"
	case graphv1.DropReason_DROP_REASON_CONFIDENCE:
		return "confidence under the threshold"
	}
	return "no reason given"
}

func (p *page) edits(g *orchestratorv1.PgAkvGraphs) {
	p.heading("Edits", "from pseudo-graph to fixed graph, mode "+name(g.GetVerification().String(),
		"VERIFICATION_MODE_"))
	for _, e := range g.GetEdits() {
		switch e.GetKind() {
		case graphv1.EditKind_EDIT_KIND_KEEP:
			p.item(2, "keep     ", "", triple(e.GetBefore()))
		case graphv1.EditKind_EDIT_KIND_REPLACE:
			p.item(2, "replace  ", yellow, triple(e.GetBefore()))
			p.item(2, "    by   ", green, triple(e.GetAfter()))
		case graphv1.EditKind_EDIT_KIND_ADD:
			p.item(2, "add      ", green, triple(e.GetAfter()))
		case graphv1.EditKind_EDIT_KIND_DELETE:
			p.item(2, "delete   ", red, triple(e.GetBefore()))
		}
		for _, t := range e.GetEvidence() {
			p.item(11, fmt.Sprintf("evidence %.2f  ", t.GetScore()), dim, evidenceTriple(t.GetTriple()))
		}
		if len(e.GetEvidence()) == 0 {
			p.item(11, "", "", "no evidence")
		}
	}
	if len(g.GetEdits()) == 0 {
		p.item(2, "", "", "(none)")
	}
}

func (p *page) fixedGraph(g *orchestratorv1.PgAkvGraphs) {
	p.heading("Fixed graph", "what the answer is written from; ? has no evidence")
	for _, t := range g.GetFixedGraph().GetTriples() {
		if t.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
			p.item(2, "  ", "", triple(t.GetTriple()))
		} else {
			p.item(2, "? ", yellow, triple(t.GetTriple()))
		}
	}
	if len(g.GetFixedGraph().GetTriples()) == 0 {
		p.item(2, "", "", "(empty)")
	}
}
