package confidence

import (
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
)

// Families of runs whose relation paths have probabilities, by a ranker.
const (
	// Ranked is pg-akv.
	Ranked = "ranked"
	// RankedPaths is ger.
	RankedPaths = "ranked-paths"
)

// rankedFeatures are the features of the first answer by the paths that lead to it.
var rankedFeatures = map[string]float64{
	// mass is the sum of the scores of the paths that lead to the answer, peak the greatest, rival the
	// greatest of those that do not: probabilities that leave room for none of them.
	"mass": 1, "peak": 1, "rival": -1,
	// read is 1 if the model read the answer too, agreed the share of what it read that the answers
	// have.
	"read": 1, "agreed": 1,
	// size is the logarithm of the number of ends of the likeliest path to it, inverse 1 if its last step
	// is inverse, since a relation's words describe its object, unasked 1 if the path joins a fact that the
	// question does not speak of or says another role than it asks for.
	"size": 0, "inverse": -1, "unasked": -1,
	// asked is 1 if the question itself names the answer.
	"asked": -1,
	// answers is the logarithm of the number of answers, partial 1 if the run ended early.
	"answers": 0, "partial": -1,
}

// rankedGroundFeatures are those of pg-akv: question_score is the best cosine to the question of a triple of the
// ground graph that names the answer, probability the model's probability of its words.
var rankedGroundFeatures = joinFeatures(rankedFeatures, map[string]float64{"question_score": 1, "probability": 1})

// rankedPathsFeatures are those of ger: verdict is the probability by the verdict that the answer is right.
var rankedPathsFeatures = joinFeatures(rankedFeatures, map[string]float64{"verdict": 1})

// isRanked reports whether reasoning paths have probabilities.
func isRanked(paths []*graphv1.ReasoningPath) bool {
	return len(paths) > 0 && paths[0].Probability != nil
}

// ofRanked computes the features of ranked paths. read are what the model took for answers, folded.
func ofRanked(run *orchestratorv1.Run, paths []*graphv1.ReasoningPath, read map[string]bool,
	values map[string]float64) map[string]float64 {
	first := kgtext.Fold(run.GetAnswers()[0].GetAnswer())
	groups := slices.DeleteFunc(kgtext.GroupPaths(paths), func(g *kgtext.PathGroup) bool {
		return g.Probability == nil
	})
	mass, peak, rival := 0.0, 0.0, 0.0
	for _, g := range groups {
		if p := float64(g.Score); g.LeadsTo(first) {
			mass, peak = mass+p, max(peak, p)
		} else {
			rival = max(rival, p)
		}
	}
	if best := kgtext.FindBestGroup(groups, first); best != nil {
		set(values, "size", math.Log(float64(len(best.Ends)))/math.Log(maxSize))
		set(values, "inverse", indicator(best.Steps[len(best.Steps)-1].GetInverse()))
		set(values, "unasked", indicator(best.IsUnasked() || best.OtherRole(run.GetQuestion()) != ""))
	}
	set(values, "mass", mass)
	set(values, "peak", peak)
	set(values, "rival", rival)
	set(values, "read", indicator(read[first]))
	both := 0
	for _, a := range run.GetAnswers() {
		both += int(indicator(read[kgtext.Fold(a.GetAnswer())]))
	}
	set(values, "agreed", float64(both)/float64(max(1, len(read))))
	set(values, "asked", indicator(kgtext.Mentions(run.GetQuestion(), run.GetAnswers()[0].GetAnswer())))
	return values
}

// ofRankedGround is ofRanked for pg-akv. Without reflections the reading was answered as it was.
func ofRankedGround(run *orchestratorv1.Run, g *orchestratorv1.PgAkvGraphs,
	values map[string]float64) map[string]float64 {
	read := map[string]bool{}
	for _, r := range g.GetReflections() {
		if r.GetDecision() != reflectorv1.Decision_DECISION_ADD {
			read[kgtext.Fold(r.GetAnswer())] = true
		}
	}
	if len(g.GetReflections()) == 0 {
		for _, a := range run.GetAnswers() {
			read[kgtext.Fold(a.GetAnswer())] = true
		}
	}
	first := kgtext.Fold(run.GetAnswers()[0].GetAnswer())
	for _, s := range g.GetGroundGraph().GetSubjects() {
		for _, t := range s.GetTriples() {
			subject, object := t.GetTriple().GetSubject(), t.GetTriple().GetObject()
			if kgtext.Fold(subject) == first || kgtext.Fold(object) == first {
				set(values, "question_score", max(values["question_score"], float64(t.GetQuestionScore())))
			}
		}
	}
	return ofRanked(run, g.GetReasoningPaths(), read, values)
}

// ofRankedGer is ofRanked for ger, with the verdict on the first answer.
func ofRankedGer(run *orchestratorv1.Run, g *orchestratorv1.GerGraphs, values map[string]float64) map[string]float64 {
	read := map[string]bool{}
	for _, c := range g.GetCandidates() {
		read[kgtext.Fold(c.GetAnswer())] = true
	}
	setVerdict(run, g.GetAnswerVerdicts(), values)
	return ofRanked(run, g.GetReasoningPaths(), read, values)
}
