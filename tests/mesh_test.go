package tests

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

var traceID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// checkRun checks the invariants of an answered question: the method's stages, usage that adds up,
// and a trace.
func checkRun(t *testing.T, run *orchestratorv1.Run, stages ...orchestratorv1.Stage) {
	t.Helper()
	var passed []orchestratorv1.Stage
	var calls uint32
	var prompt, completion uint64
	for _, s := range run.GetStages() {
		passed = append(passed, s.GetStage())
		calls += s.GetUsage().GetCalls()
		prompt += s.GetUsage().GetPromptTokens()
		completion += s.GetUsage().GetCompletionTokens()
		if s.GetDuration() == nil || len(s.GetWarnings()) > 0 {
			t.Errorf("stage %v took %v, with warnings %v", s.GetStage(), s.GetDuration(), s.GetWarnings())
		}
	}
	slices.Sort(passed) // two of ger's run concurrently
	want := slices.Sorted(slices.Values(stages))
	if !slices.Equal(passed, want) {
		t.Errorf("it passed the stages %v, want %v", passed, want)
	}
	if u := run.GetUsage(); u.GetCalls() != calls || u.GetPromptTokens() != prompt ||
		u.GetCompletionTokens() != completion || calls == 0 {
		t.Errorf("the stages' usage is %d calls, %d and %d tokens, the run's %v", calls, prompt, completion, u)
	}
	if !traceID.MatchString(run.GetTraceId()) || run.GetPartial() || run.GetDuration().AsDuration() <= 0 {
		t.Errorf("trace id %q, partial %v, duration %v", run.GetTraceId(), run.GetPartial(), run.GetDuration())
	}
}

func TestPgAkvCorrectsTheDraftByTheKnowledgeGraph(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	req := question("pg-akv")
	req.Kg.Snapshot = 1
	run := m.ask(t, req)
	checkRun(t, run, orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, orchestratorv1.Stage_STAGE_GROUND_GRAPH,
		orchestratorv1.Stage_STAGE_VERIFY, orchestratorv1.Stage_STAGE_ANSWER)

	const draft, fact = "Robert Stam | employer | Google", "Robert Stam | employer | " + employer
	g := run.GetPgAkv()
	if got := g.GetPseudoGraph().GetTriples(); len(got) != 1 || show(got[0]) != draft ||
		!strings.Contains(g.GetCypher(), "CREATE") {
		t.Errorf("the pseudo-graph is %v, by %q", got, g.GetCypher())
	}
	if len(g.GetHits()) < 2 || show(g.GetHits()[0].GetTriple()) != fact {
		t.Errorf("the best of %d hits is %v, want %s", len(g.GetHits()), g.GetHits()[0], fact)
	}
	if s := g.GetGroundGraph().GetSubjects(); len(s) != 1 || s[0].GetSubject() != "Robert Stam" ||
		s[0].GetConfidence() < .7 {
		t.Errorf("the ground graph is %v", s)
	}
	for _, d := range g.GetDropped() {
		if d.GetReason() == graphv1.DropReason_DROP_REASON_UNSPECIFIED {
			t.Errorf("%s was dropped for no reason", d.GetSubject())
		}
	}
	edits := g.GetEdits()
	if len(edits) != 1 || edits[0].GetKind() != graphv1.EditKind_EDIT_KIND_REPLACE ||
		show(edits[0].GetBefore()) != draft || show(edits[0].GetAfter()) != fact {
		t.Fatalf("the edits are %v", edits)
	}
	if e := edits[0].GetEvidence(); len(e) != 1 || show(e[0].GetTriple()) != fact ||
		len(e[0].GetPseudoTripleScores()) != 1 {
		t.Errorf("its evidence is %v", e)
	}
	if f := g.GetFixedGraph().GetTriples(); len(f) != 1 || show(f[0].GetTriple()) != fact ||
		f[0].GetStatus() != graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED {
		t.Errorf("the fixed graph is %v", f)
	}
	if names(run) != employer || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED ||
		show(run.GetAnswers()[0].GetEvidence()[0]) != fact {
		t.Errorf("the answer is %v, %v", run.GetAnswers(), run.GetGrounding())
	}
	if run.GetKg().GetName() != wikidata || run.GetKg().GetSnapshot() != 1 {
		t.Errorf("it read %v", run.GetKg())
	}
}

func TestGerWeighsCandidatesByBothVerdicts(t *testing.T) {
	m := start(t, options{model: scripted(t), set: map[string]string{"orchestrator.confidence.grounded": "0"}})
	run := m.ask(t, question("ger"))
	checkRun(t, run, orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_PATHS,
		orchestratorv1.Stage_STAGE_CANDIDATES,
		orchestratorv1.Stage_STAGE_EVALUATE_QUESTION, orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS,
		orchestratorv1.Stage_STAGE_REFLECT)

	g := run.GetGer()
	if l := g.GetTopicEntities(); len(l) == 0 || l[0].GetEntity() != "Alexander" || l[0].GetMention() != "Alexander" {
		t.Errorf("the topic entities are %v", l)
	}
	if len(g.GetProposedPaths()) != 2 {
		t.Errorf("the model proposed %v", g.GetProposedPaths())
	}
	if !slices.ContainsFunc(g.GetRelationPaths(), func(p *graphv1.RelationPath) bool {
		s := p.GetSteps()
		return len(s) == 2 && s[0].GetRelation() == "director" && s[1].GetRelation() == "educated at"
	}) {
		t.Errorf("no relation path is the one proposed: %v", g.GetRelationPaths())
	}
	if !slices.ContainsFunc(g.GetReasoningPaths(), func(p *graphv1.ReasoningPath) bool {
		return slices.Equal(p.GetEntities(), []string{"Alexander", "Oliver Stone", yale})
	}) {
		t.Errorf("no reasoning path leads to %s: %v", yale, g.GetReasoningPaths())
	}
	if c := g.GetCandidates(); len(c) != 2 || c[0].GetAnswer() != yale || len(c[0].GetPaths()) == 0 {
		t.Errorf("the candidates are %v", c)
	}
	if v := g.GetQuestionVerdict(); !v.GetIncomplete() || v.GetReason() == "" {
		t.Errorf("the verdict on the set is %v", v)
	}
	if v := g.GetAnswerVerdicts(); len(v) != 2 || !v[0].GetCorrect() || v[1].GetCorrect() ||
		v[0].GetProbability() < .9 {
		t.Errorf("the verdicts on the candidates are %v", v)
	}
	var decisions []reflectorv1.Decision
	for _, r := range g.GetReflections() {
		decisions = append(decisions, r.GetDecision())
	}
	if want := []reflectorv1.Decision{reflectorv1.Decision_DECISION_KEEP, reflectorv1.Decision_DECISION_DROP,
		reflectorv1.Decision_DECISION_ADD}; !slices.Equal(decisions, want) {
		t.Errorf("reflection decided %v, want %v", decisions, want)
	}
	if names(run) != yale+", "+tisch || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		t.Errorf("the answers are %s, %v", names(run), run.GetGrounding())
	}
	for _, a := range run.GetAnswers() {
		seen := map[string]bool{}
		for _, e := range a.GetEvidence() {
			if seen[show(e)] {
				t.Errorf("the evidence of %s names %s twice", a.GetAnswer(), show(e))
			}
			seen[show(e)] = true
		}
	}
}

func TestGerReflectsByWeighingUnlessToldOtherwise(t *testing.T) {
	m := start(t, options{model: scripted(t), set: map[string]string{"reflector.reflection.mode": "weigh",
		"orchestrator.confidence.grounded": "0"}})
	run := m.ask(t, question("ger"))
	for _, s := range run.GetStages() {
		if s.GetStage() == orchestratorv1.Stage_STAGE_REFLECT && s.GetUsage().GetCalls() != 0 {
			t.Errorf("reflecting asked the model %d times", s.GetUsage().GetCalls())
		}
	}
	if all := names(run); !strings.Contains(all, yale) || !strings.Contains(all, tisch) ||
		run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		t.Errorf("the answers are %s, %v", all, run.GetGrounding())
	}
	if len(run.GetGer().GetReflections()) < 2 {
		t.Errorf("the reflections are %v", run.GetGer().GetReflections())
	}
}

func TestMethodsWithoutAKnowledgeGraphAreUngrounded(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	for _, method := range []string{"io", "cot"} {
		t.Run(method+" asks the model alone", func(t *testing.T) {
			run := m.ask(t, &orchestratorv1.AskRequest{Question: employerQuestion, Method: method})
			checkRun(t, run, orchestratorv1.Stage_STAGE_ANSWER)
			if names(run) != "Google" || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED ||
				run.GetGroundingReason() == "" || run.GetKg() != nil {
				t.Errorf("the answer is %s, %v of %v", names(run), run.GetGrounding(), run.GetKg())
			}
		})
	}
}

func TestEveryStageIsReachedByItsOwnDoorToo(t *testing.T) {
	m := start(t, options{model: scripted(t)})
	resp, err := generatorv1.NewGeneratorServiceClient(m.dial(t, "generator")).GeneratePseudoGraph(
		timeoutContext(t, patience), &generatorv1.GeneratePseudoGraphRequest{Question: employerQuestion})
	if err != nil || len(resp.GetPseudoGraph().GetTriples()) != 1 || resp.GetUsage().GetCalls() != 1 {
		t.Errorf("got %v, %v", resp, err)
	}
	methods, err := m.orchestrator.ListMethods(timeoutContext(t, patience), &orchestratorv1.ListMethodsRequest{})
	if err != nil || len(methods.GetMethods()) < 4 {
		t.Errorf("got %v, %v", methods, err)
	}
}
