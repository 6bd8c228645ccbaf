package ground

import (
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Options are the parameters of grounding. Start from Paper or Default.
type Options struct {
	// TopK is the number of hits per query.
	TopK int
	// MinConfidence is the minimum confidence of a kept subject, -1 to 1.
	MinConfidence float32
	// MinNamed is the minimum confidence of a subject that the pseudo-graph names exactly.
	MinNamed float32
	// MaxSubjects is the maximum number of kept subjects; 0 takes the number of the pseudo-graph's.
	MaxSubjects int
	// QuestionWeight and RelationWeight are the weights, in a fact's priority, of its cosine and
	// of its relation's cosine to the question; they add to its best cosine to any query. The
	// pseudo-graph's objects are guesses and its relations often paraphrases; the question is not.
	QuestionWeight, RelationWeight float32
	// NamedBonus adds to the priority of facts of an entity that the question or the pseudo-graph
	// names.
	NamedBonus float32
	// MaxGap is how far the priority of a list may lie below the best one. Each kept subject shows
	// one fact whatever its priority.
	MaxGap float32
	// MaxFacts is the maximum number of facts of all subjects together, but each kept subject
	// shows one at least.
	MaxFacts int
	// MaxList is the maximum number of facts of one subject and relation.
	MaxList int
	// MaxRead is the maximum number of facts read around all subjects in each direction.
	MaxRead int
	// MaxWalked is the maximum number of facts that join several facts, for questions that need
	// them; 0 disables this. A filter disables it too, because it applies to facts and not to
	// paths.
	MaxWalked int
	// Ranker ranks the relation paths around the entities that the question names, if it knows the
	// graph; may be nil.
	Ranker walk.Ranker
	// Filter limits the facts that are considered.
	Filter store.Filter

	// broadQueries adds the question and each "subject relation" to the queries, because the
	// objects of a pseudo-graph are guesses.
	broadQueries bool
	// beyondHits also shows facts around a subject that are not hits.
	beyondHits bool
	prune      func([]subjectHit, int, float32) ([]rankedSubject, []droppedSubject)
}

// unlimited exceeds every count in use.
const unlimited = 1 << 20

// Paper returns the published parameters (PG&AKV §III-B): top 10 per pseudo-triple; as many
// subjects as the pseudo-graph has, by number of hits; mean cosine at least 0.7. The evidence is
// the hits.
func Paper() Options {
	return Options{
		TopK: 10, MinConfidence: 0.7, MaxGap: unlimited, MaxFacts: unlimited, MaxList: unlimited, prune: prunePaper,
	}
}

// Default returns parameters calibrated for all-MiniLM-L6-v2 with questions over Wikidata and
// Freebase (docs/adr/0011; bench/cmd/calibrate prints the shares): a subject's confidence is its
// best hit, the question and each "subject relation" are queries too, entities named exactly are
// subjects whatever the search finds, and the evidence is the subject's facts nearest to the
// question, hits or not, with the lists they are part of.
func Default() Options {
	return Options{
		TopK: 10, MinConfidence: 0.55, MinNamed: 0.3, MaxSubjects: 5,
		QuestionWeight: 1, RelationWeight: 1, NamedBonus: 0.2, MaxGap: 0.4,
		MaxFacts: 18, MaxList: 10, MaxRead: 500, MaxWalked: 30,
		broadQueries: true, beyondHits: true, prune: pruneBest,
	}
}
