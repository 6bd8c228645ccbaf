package ground

import "github.com/triplemesh/triplemesh/services/retriever/prune"

// Options are the parameters of grounding. Paper and Default are two sets of
// them to start from.
type Options struct {
	// TopK is the number of hits per query.
	TopK int
	// MinConfidence is the least confidence of a subject that stays, -1 to 1.
	MinConfidence float32
	// MinNamed is that of a subject whose very name the pseudo-graph has.
	MinNamed float32
	// NamedBonus is added to the scores of its facts when it is chosen what of
	// all subjects is shown.
	NamedBonus float32
	// MaxSubjects is the most subjects that stay; 0 takes as many as the
	// pseudo-graph has.
	MaxSubjects int
	// MaxFacts is the most facts gathered over all subjects. Each subject that
	// stays shows one at least.
	MaxFacts int
	// MaxList is the most facts shown of one subject and relation.
	MaxList int

	// guesses makes the question and each "subject relation" queries as well:
	// the objects of a pseudo-graph are guesses.
	guesses bool
	// beyondHits shows also facts of a subject that were no hits, and facts in
	// which it is the object.
	beyondHits bool
	rule       func([]prune.Hit, int, float32) ([]prune.Subject, []prune.Dropped)
}

// Paper is the published parameters: top 10 per pseudo-triple; as many
// subjects as the pseudo-graph has, by number of hits; mean cosine at least
// 0.7 (PG&AKV §III-B). The evidence is the hits.
func Paper() Options {
	return Options{TopK: 10, MinConfidence: 0.7, MaxFacts: 10000, MaxList: 10000, rule: prune.Paper}
}

// Default is calibrated on all-MiniLM-L6-v2 with questions over Wikidata and
// Freebase (cmd/calibrate prints the shares): a subject counts by its best
// hit, the question and each "subject relation" are queries too, an entity
// that has a pseudo-subject's very name is a subject whatever the search finds,
// and the facts of a subject that are nearest to what was asked are shown, hits
// or not, with the lists they are part of.
func Default() Options {
	return Options{
		TopK: 10, MinConfidence: 0.55, MinNamed: 0.3, NamedBonus: 0.1, MaxSubjects: 5, MaxFacts: 20, MaxList: 10,
		guesses: true, beyondHits: true, rule: prune.Best,
	}
}
