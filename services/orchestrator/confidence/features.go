package confidence

import (
	"maps"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Families of methods.
const (
	// Graph is pg-akv and rag: answers written from triples.
	Graph = "graph"
	// Paths is ger, tog and rog: answers read off reasoning paths.
	Paths = "paths"
	// Own is io, cot and sc: answers from the model's own knowledge.
	Own = "own"
	// Strong ends the names of the families of strong readers: what they read is right more often.
	Strong = "-strong"
)

// listed are the features of the first answer by the groups of evidence that list it, and of the
// question.
var listed = map[string]float64{
	// grounded is 1 if the evidence lists the answer, named if in a group whose anchor the question
	// names.
	"grounded": 1, "named": 1,
	// asked is 1 if the question itself names the answer.
	"asked": -1,
	// words is the share of the relation's words that the question has.
	"words": 1,
	// size is the logarithm of the number of answers in the group, share the share of them that are
	// given, covered the share of the given answers that are in the group.
	"size": 0, "share": 1, "covered": 1,
	// length is the logarithm of the number of the question's words, groups that of the groups.
	"length": 0, "groups": 0,
	// probability is the model's probability of its words.
	"probability": 1,
	// answers is the logarithm of the number of answers.
	"answers": 0,
	// partial is 1 if the run ended early.
	"partial": -1,
}

// joinFeatures joins two sets of features.
func joinFeatures(all ...map[string]float64) map[string]float64 {
	joined := map[string]float64{}
	for _, m := range all {
		maps.Copy(joined, m)
	}
	return joined
}

// groundFeatures are those of answers read off the ground graph.
var groundFeatures = joinFeatures(listed, map[string]float64{
	// question_score is the similarity of the group's best triple to the question, draft_score to
	// the draft, relation_score that of its relation to the question without names.
	"question_score": 1, "draft_score": 1, "relation_score": 1,
	// question_lead and relation_lead are 1 if the group has the best score of all, less by what
	// it lacks; question_rank and relation_rank are the share of groups with a better one.
	"question_lead": 1, "relation_lead": 1, "question_rank": -1, "relation_rank": -1,
	// subject_confidence is the confidence of the triples' subject.
	"subject_confidence": 1,
	// verified is 1 if a draft was kept or replaced by a triple of the group, 0.5 if one was
	// added.
	"verified": 1,
	// forward is 1 if the answers are objects.
	"forward": 0,
})

// families are the features of each, with the sign constraint of their weight: 1 never negative, -1
// never positive, 0 free. All features lie in 0 to 1, except answers.
var families = map[string]map[string]float64{
	Graph: groundFeatures, Graph + Strong: groundFeatures,
	Paths: joinFeatures(listed, map[string]float64{
		// path_score, path_lead and path_rank are those of the relation path to the answer.
		"path_score": 1, "path_lead": 1, "path_rank": -1,
		// hops is the length of the path, over 4.
		"hops": 0,
		// verdict is the probability by the verdict that the answer is right.
		"verdict": 1,
		// set_right is 1 if the set of candidates was judged right.
		"set_right": 1,
		// incomplete is 1 if the verdict is that an answer is missing.
		"incomplete": -1,
		// kept is the share of candidates that became answers.
		"kept": 1,
		// sufficient is 1, or its probability, if the evidence was judged sufficient to answer.
		"sufficient": 1,
	}),
	Ranked: rankedGroundFeatures, Ranked + Strong: rankedGroundFeatures,
	RankedPaths: rankedPathsFeatures, RankedPaths + Strong: rankedPathsFeatures,
	Own: {
		"probability": 1,
		// votes is the share of samples that give the answer, averaged over answers.
		"votes":   1,
		"answers": 0,
		"partial": -1,
	},
}

// Families returns the names of all families.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// Signs returns the features of a family with the sign constraint of their weight: 1 never negative,
// -1 never positive, 0 free.
func Signs(family string) map[string]float64 { return maps.Clone(families[family]) }

// Features returns the features of a run and the family of its method; no family if there is no
// answer. Features that the run lacks, such as the probability of words if the model server returns
// none, are not in the map.
func Features(run *orchestratorv1.Run) (family string, values map[string]float64) {
	if len(run.GetAnswers()) == 0 || run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED {
		return "", nil
	}
	values = map[string]float64{"answers": math.Log(float64(len(run.GetAnswers()))), "partial": 0}
	if run.GetPartial() {
		values["partial"] = 1
	}
	if run.AnswerProbability != nil {
		set(values, "probability", float64(run.GetAnswerProbability()))
	}
	switch g := run.GetGraphs().(type) {
	case *orchestratorv1.Run_PgAkv:
		return ofPgAkv(run, g.PgAkv, values)
	case *orchestratorv1.Run_Rag:
		return Graph, ofHits(run, g.Rag.GetHits(), values)
	case *orchestratorv1.Run_Ger:
		return ofPathsOfGer(run, g.Ger, values)
	case *orchestratorv1.Run_Tog:
		return Paths, ofTog(run, g.Tog, values)
	case *orchestratorv1.Run_Rog:
		return Paths, ofPaths(run, g.Rog.GetReasoningPaths(), values)
	case *orchestratorv1.Run_Sc:
		return Own, ofSamples(run, g.Sc.GetSamples(), values)
	}
	return Own, values
}

// ofPgAkv returns the family of a run of pg-akv and its features.
func ofPgAkv(run *orchestratorv1.Run, g *orchestratorv1.PgAkvGraphs,
	values map[string]float64) (string, map[string]float64) {
	if isRanked(g.GetReasoningPaths()) {
		return byReader(Ranked, g.GetReadingShare()), ofRankedGround(run, g, values)
	}
	return byReader(Graph, g.GetReadingShare()), ofGround(run, g, values)
}

// byReader returns the family of a run by the share of the model's readings that are right.
func byReader(family string, share float32) string {
	if share > 0.5 {
		return family + Strong
	}
	return family
}

// ofPathsOfGer returns the family of a run of ger and its features.
func ofPathsOfGer(run *orchestratorv1.Run, g *orchestratorv1.GerGraphs,
	values map[string]float64) (string, map[string]float64) {
	if isRanked(g.GetReasoningPaths()) {
		return byReader(RankedPaths, g.GetReadingShare()), ofRankedGer(run, g, values)
	}
	return Paths, ofGer(run, g, values)
}

// ofSamples computes the votes.
func ofSamples(run *orchestratorv1.Run, samples []*orchestratorv1.Sample,
	values map[string]float64) map[string]float64 {
	votes := 0
	for _, a := range run.GetAnswers() {
		for _, s := range samples {
			for _, name := range s.GetAnswers() {
				if kgtext.Fold(name) == kgtext.Fold(a.GetAnswer()) {
					votes++
					break
				}
			}
		}
	}
	if len(samples) > 0 {
		set(values, "votes", float64(votes)/float64(len(samples)*len(run.GetAnswers())))
	}
	return values
}

// set clamps a feature to 0 to 1. NaN is left out.
func set(values map[string]float64, name string, v float64) {
	if !math.IsNaN(v) {
		values[name] = min(1, max(0, v))
	}
}

// graphGroups are the groups of triples, in both directions.
type graphGroups struct {
	byKey map[[3]string]*group
	all   []*group
}

// add adds a triple to its two groups and returns them.
func (g *graphGroups) add(t *graphv1.Triple) [2]*group {
	if g.byKey == nil {
		g.byKey = map[[3]string]*group{}
	}
	var both [2]*group
	for i, ends := range [2][2]string{{t.GetSubject(), t.GetObject()}, {t.GetObject(), t.GetSubject()}} {
		key := [3]string{ends[0], t.GetRelation(), [2]string{"forward", "inverse"}[i]}
		if g.byKey[key] == nil {
			g.byKey[key] = newGroup(ends[0], kgtext.VerbaliseRelationInContext(t.GetRelation()))
			g.byKey[key].raise("forward", indicator(i == 0))
			g.all = append(g.all, g.byKey[key])
		}
		g.byKey[key].answers[kgtext.Fold(ends[1])] = true
		both[i] = g.byKey[key]
	}
	return both
}

// ofGround computes the features of the evidence in the ground graph, and of what verification made
// of it.
func ofGround(run *orchestratorv1.Run, g *orchestratorv1.PgAkvGraphs, values map[string]float64) map[string]float64 {
	var groups graphGroups
	for _, s := range g.GetGroundGraph().GetSubjects() {
		for _, t := range s.GetTriples() {
			for _, of := range groups.add(t.GetTriple()) {
				of.raise("question_score", float64(t.GetQuestionScore()))
				of.raise("subject_confidence", float64(s.GetConfidence()))
				for _, score := range t.GetPseudoTripleScores() {
					of.raise("draft_score", float64(score))
				}
				if t.RelationScore != nil {
					of.raise("relation_score", float64(t.GetRelationScore()))
				}
			}
		}
	}
	for _, e := range g.GetEdits() {
		if len(e.GetEvidence()) == 0 || e.GetAfter() == nil {
			continue
		}
		for _, of := range groups.add(e.GetAfter()) {
			of.raise("verified", map[bool]float64{true: .5, false: 1}[e.GetKind() == graphv1.EditKind_EDIT_KIND_ADD])
		}
	}
	ofGroups(run, groups.all, []string{"question_score", "relation_score"}, values)
	return values
}

// ofHits computes the same features from the hits of the question.
func ofHits(run *orchestratorv1.Run, hits []*graphv1.ScoredTriple, values map[string]float64) map[string]float64 {
	var groups graphGroups
	for _, t := range hits {
		for _, of := range groups.add(t.GetTriple()) {
			of.raise("question_score", float64(max(t.GetScore(), t.GetQuestionScore())))
		}
	}
	ofGroups(run, groups.all, []string{"question_score"}, values)
	return values
}

// ofPaths computes the features of the reasoning paths that end in the first answer.
func ofPaths(run *orchestratorv1.Run, paths []*graphv1.ReasoningPath, values map[string]float64) map[string]float64 {
	const maxHops = 4
	var groups []*group
	for _, p := range kgtext.GroupPaths(paths) {
		g := newGroup(p.TopicEntity, "")
		for _, s := range p.Steps {
			g.relation += " " + kgtext.VerbaliseRelationInContext(s.GetRelation())
		}
		for _, end := range p.Ends {
			g.answers[kgtext.Fold(end)] = true
		}
		g.raise("path_score", float64(p.Score))
		g.raise("hops", float64(len(p.Steps))/maxHops)
		groups = append(groups, g)
	}
	ofGroups(run, groups, []string{"path_score"}, values)
	return values
}

// ofGer adds the verdicts of both levels.
func ofGer(run *orchestratorv1.Run, g *orchestratorv1.GerGraphs, values map[string]float64) map[string]float64 {
	values = ofPaths(run, g.GetReasoningPaths(), values)
	answers := map[string]bool{}
	for _, a := range run.GetAnswers() {
		answers[a.GetAnswer()] = true
	}
	kept := 0
	for _, c := range g.GetCandidates() {
		if answers[c.GetAnswer()] {
			kept++
		}
	}
	if n := len(g.GetCandidates()); n > 0 {
		set(values, "kept", float64(kept)/float64(n))
	}
	setVerdict(run, g.GetAnswerVerdicts(), values)
	if v := g.GetQuestionVerdict(); v != nil {
		set(values, "set_right", indicator(v.GetCorrect()))
		set(values, "incomplete", indicator(v.GetIncomplete()))
	}
	return values
}

// setVerdict sets the verdict on the first answer.
func setVerdict(run *orchestratorv1.Run, verdicts []*graphv1.AnswerVerdict, values map[string]float64) {
	for _, v := range verdicts {
		switch {
		case v.GetAnswer() != run.GetAnswers()[0].GetAnswer() || v.GetUnknown():
		case v.Probability != nil:
			set(values, "verdict", float64(v.GetProbability()))
		default:
			set(values, "verdict", indicator(v.GetCorrect()))
		}
	}
}

// ofTog adds the last sufficiency verdict.
func ofTog(run *orchestratorv1.Run, g *orchestratorv1.TogGraphs, values map[string]float64) map[string]float64 {
	values = ofPaths(run, g.GetReasoningPaths(), values)
	if n := len(g.GetDepths()); n > 0 {
		last := g.GetDepths()[n-1]
		set(values, "sufficient", indicator(last.GetSufficient()))
		if last.Probability != nil {
			set(values, "sufficient", float64(last.GetProbability()))
		}
	}
	return values
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bounded is the confidence in a value that a limit makes a lower bound, doubted that in the answer of a plan
// that may ask for something else: of 84 such answers of the parts tune and validate 8 were right.
const bounded, doubted = 0.5, 0.1

// estimateQuery returns the probability that a computed answer is right: what was computed is right if
// the plan is, so it is that of the alignment.
func estimateQuery(run *orchestratorv1.Run, g *orchestratorv1.QueryGraphs) *float32 {
	if len(run.GetAnswers()) == 0 {
		return nil
	}
	c := min(most, max(least, g.GetAlignment()))
	if len(g.GetTable().GetLimits()) > 0 {
		c = min(c, bounded)
	}
	if run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_RELATED {
		c = min(c, doubted)
	}
	return &c
}
