package confidence

import (
	"cmp"
	"math"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
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
)

// families are the features of each, with the way they may turn a confidence:
// 1 never down, -1 never up, 0 either way. All are between 0 and 1 but for
// answers.
var families = map[string]map[string]float64{
	Graph: {
		// grounded is the share of answers that a triple names.
		"grounded": 1,
		// question_score is how near to the question the triples that name the
		// answers are, the best for each answer, mean over all.
		"question_score": 1,
		// subject_confidence is that of the subjects of these triples, likewise.
		"subject_confidence": 1,
		// named is the share of answers that a triple names together with
		// something that the question names.
		"named": 1,
		// lead is 1 where these triples are the ones nearest to the question, and
		// less by as much as others are nearer, mean over all answers.
		"lead": 1,
		// probability is how sure the model was of its words.
		"probability": 1,
		// answers is the logarithm of how many there are.
		"answers": 0,
		// partial is 1 where the run ended early.
		"partial": -1,
	},
	Paths: {
		"grounded": 1,
		// verdict is the probability that the answers are right by the verdicts on
		// them, mean over those judged.
		"verdict": 1,
		// set_right is 1 where the set of candidates was judged right.
		"set_right": 1,
		// incomplete is 1 where it was judged that something is missing.
		"incomplete": -1,
		// kept is the share of the candidates that are answers.
		"kept": 1,
		// path_score is that of the best relation path that leads to each answer,
		// mean over all.
		"path_score": 1,
		// sufficient is 1, or its probability, where what was found was judged
		// enough to answer from.
		"sufficient":  1,
		"probability": 1,
		"answers":     0,
		"partial":     -1,
	},
	Own: {
		"probability": 1,
		// votes is the share of the samples that give the answers, mean over all.
		"votes":   1,
		"answers": 0,
		"partial": -1,
	},
}

// Features are what a run tells about its answers, with the family of its
// method; the family is empty where there is no answer to be sure of. A feature
// that the run does not tell, such as the probability of words where the model
// server gives none, is not in the map.
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
		return Graph, ofGround(run, g.PgAkv.GetGroundGraph(), values)
	case *orchestratorv1.Run_Rag:
		return Graph, ofHits(run, g.Rag.GetHits(), values)
	case *orchestratorv1.Run_Ger:
		return Paths, ofGer(run, g.Ger, values)
	case *orchestratorv1.Run_Tog:
		return Paths, ofTog(run, g.Tog, values)
	case *orchestratorv1.Run_Rog:
		return Paths, ofPaths(run, g.Rog.GetReasoningPaths(), values)
	case *orchestratorv1.Run_Sc:
		return Own, ofSamples(run, g.Sc.GetSamples(), values)
	case *orchestratorv1.Run_Auto:
		if g.Auto.GetMethod() == "ger" {
			return Paths, ofGer(run, g.Auto.GetGer(), values)
		}
		return Graph, ofGround(run, g.Auto.GetPgAkv().GetGroundGraph(), values)
	}
	return Own, values
}

// ofSamples counts the votes.
func ofSamples(run *orchestratorv1.Run, samples []*orchestratorv1.Sample, values map[string]float64) map[string]float64 {
	votes := 0
	for _, a := range run.GetAnswers() {
		for _, s := range samples {
			for _, name := range s.GetAnswers() {
				if verbalise.Fold(name) == verbalise.Fold(a.GetAnswer()) {
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

// grounded is the share of answers with evidence.
func grounded(run *orchestratorv1.Run) float64 {
	backed := 0
	for _, a := range run.GetAnswers() {
		if len(a.GetEvidence()) > 0 {
			backed++
		}
	}
	return float64(backed) / float64(len(run.GetAnswers()))
}

// named is the share of answers of which a triple of the evidence says something
// about what the question names.
func named(run *orchestratorv1.Run) float64 {
	question := " " + verbalise.Fold(cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion())) + " "
	in := func(name string) bool {
		name = verbalise.Fold(name)
		return name != "" && strings.Contains(question, " "+name+" ")
	}
	n := 0
	for _, a := range run.GetAnswers() {
		for _, t := range a.GetEvidence() {
			if in(t.GetSubject()) || in(t.GetObject()) {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(run.GetAnswers()))
}

// set bounds a feature to 0 to 1. What is no number is not told.
func set(values map[string]float64, name string, v float64) {
	if !math.IsNaN(v) {
		values[name] = min(1, max(0, v))
	}
}
