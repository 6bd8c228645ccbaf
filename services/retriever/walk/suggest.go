package walk

import (
	"context"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Weights of the ranking, tuned on WebQSP questions over the Freebase slice with all-MiniLM-L6-v2
// (bench/cmd/calibrate prints the shares).
const (
	// sizePenalty is multiplied by the natural logarithm of the number of ends: a path with
	// hundreds of ends is rarely the answer.
	sizePenalty = 0.02
	// waysPenalty is multiplied, for each hop after the first, by the natural logarithm of the
	// number of alternatives: the more paths of a length there are, the likelier one fits by
	// chance. So a graph of nine relations allows longer paths than one of thousands.
	waysPenalty = 0.07
	// sharedBonus is for a path that shares an end with another topic entity's path.
	sharedBonus = 0.1
	// timeBonus is added for a path to dates if the question asks for a time, and subtracted
	// otherwise.
	timeBonus = 0.1
	// inversePenalty is for a path whose last step is inverse: a relation's words describe its object,
	// and a path that ends at subjects fits as well wherever its opposite does.
	inversePenalty = 0.17
	// topicPlacePenalty is multiplied by a topic entity's place among the linked ones; mentionBonus is
	// for one whose name the question has, mentionWordBonus for each word of that. They and
	// inversePenalty are the coefficients of docs/adr/0036-ranker.md divided by that of the score.
	topicPlacePenalty, mentionBonus, mentionWordBonus = 0.05, 0.13, 0.03
	// proposedWeight is the weight of the proposed paths, if there are any, against the question's.
	proposedWeight = 0.4
)

// Limits on the cost of a suggestion.
const (
	// beamWidth is the number of paths of each length that the search continues from.
	beamWidth = 64
	// maxReach is the maximum number of entities that a path may reach for the search to continue
	// from it.
	maxReach = 1000
	// maxHopReads is the maximum number of edges that a hop after the first reads in a direction.
	maxHopReads = 100000
	// maxTopicReads is the same for the first hop; one topic entity may exceed it.
	maxTopicReads = 1 << 22
	// maxFinalists is the number of paths of each length whose words are encoded, chosen by the
	// vectors of their relations.
	maxFinalists = 48
	// maxMultiFactFinalists is the same with SuggestRequest.MultiFactOnly; singleFactMargin is the
	// lead, by the vectors of relations, with which a path of one fact is the best.
	maxMultiFactFinalists = 12
	singleFactMargin      = 0.1
	// backPenalty is what MultiFactOnly subtracts for each hop that reverses the relation of the
	// hop before it.
	backPenalty = 0.1
)

// Snapshot is the part of a snapshot that Suggest reads.
type Snapshot interface {
	Reader
	RelationVector(store.RelationID) []float32
	Relations(ctx context.Context, entity store.EntityID, dir store.Direction) ([]store.RelationEdges, error)
}

// Encoder turns texts into vectors, one per text, each of length 1.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// SuggestRequest is the input of Suggest.
type SuggestRequest struct {
	Question string
	Topics   []store.EntityID
	// TopicScores are, for each topic, the probability that the question means it, by which a ranker's
	// probabilities are multiplied; nil if it means all.
	TopicScores []float32
	// Proposed are the words of paths that the model expects; may be empty.
	Proposed []string
	// MaxHops is the maximum length of a path, Limit the maximum number of paths.
	MaxHops, Limit int
	// MaxEnds is the maximum number of distinct ends of all paths; 0 sets no limit.
	MaxEnds int
	// Ranker ranks the paths if it knows their relations; may be nil. RankedHops is the maximum length
	// of a path then, if greater than MaxHops: it needs no penalty for length.
	Ranker     Ranker
	RankedHops int
	// RankedOnly returns no paths if the ranker does not know the graph.
	RankedOnly bool
	// MultiFactOnly returns no paths unless one that joins several facts is the best, and decides
	// this with few texts to encode: only maxMultiFactFinalists paths of each number of facts are
	// compared by their words, and none if the vectors of their relations already favour a single
	// fact.
	MultiFactOnly bool
}

// Suggestion is a path of the graph from its one topic entity to an entity that is not a mediator.
type Suggestion struct {
	Plan
	// Score is the similarity of its words to the question's and the proposed ones, less penalties:
	// about -1 to 1. With a ranker it is the probability.
	Score float32
	// Probability is the ranker's: that it is the path that leads to the answers. Nil without one.
	Probability *float32
	// Ends is the number of entities it leads to, except mediators and the topic entity. At most
	// maxReach entities are followed per hop.
	Ends int
	// Hops is the number of facts it joins: its steps except those that start from a mediator.
	Hops int
	// LeastHopScore is how well the question says the hop that it says least, -1 to 1.
	LeastHopScore float32
}

// Suggest ranks the relation paths around the topic entities by falling score. Of paths with the
// same topic entity and ends it keeps the best. A path that exceeds MaxEnds is skipped for smaller
// ones.
func Suggest(ctx context.Context, snap Snapshot, encoder Encoder, req SuggestRequest) ([]Suggestion, error) {
	aim, err := newAim(ctx, snap, encoder, req)
	if err != nil {
		return nil, err
	}
	hops := req.MaxHops
	if req.Ranker != nil {
		hops = max(hops, req.RankedHops)
	}
	finalists := maxFinalists
	if req.MultiFactOnly && req.Ranker == nil {
		finalists = maxMultiFactFinalists
	}
	prospects, err := explore(ctx, snap, aim, req.Topics, hops, finalists)
	if err != nil {
		return nil, err
	}
	ranked, ok, err := rankProspects(ctx, snap, aim, req, prospects)
	if err != nil {
		return nil, err
	}
	if ok {
		return selectSuggestions(snap, aim, ranked, req), nil
	}
	if req.RankedOnly {
		return nil, nil
	}
	prospects = slices.DeleteFunc(prospects, func(p *prospect) bool { return len(p.steps) > req.MaxHops })
	if req.MultiFactOnly {
		if prospects = limitFinalists(prospects); !multiFactLeads(prospects, singleFactMargin) {
			return nil, nil
		}
	}
	if err := scoreByWords(ctx, snap, encoder, aim, prospects); err != nil {
		return nil, err
	}
	if req.MultiFactOnly {
		penaliseBacktracking(prospects)
		if !multiFactLeads(prospects, 0) {
			return nil, nil
		}
	} else {
		addPriors(aim, req.Topics, prospects)
	}
	slices.SortFunc(prospects, compareProspects)
	return selectSuggestions(snap, aim, prospects, req), nil
}

// limitFinalists keeps the best prospects of each number of facts by their scores so far.
func limitFinalists(prospects []*prospect) []*prospect {
	slices.SortFunc(prospects, compareProspects)
	taken := map[int]int{}
	return slices.DeleteFunc(prospects, func(p *prospect) bool {
		taken[p.hops]++
		return taken[p.hops] > maxMultiFactFinalists
	})
}

// penaliseBacktracking penalises paths that reverse a relation they have just followed: their words
// are those of the relation alone, so they fit wherever it does.
func penaliseBacktracking(prospects []*prospect) {
	for _, p := range prospects {
		for i, step := range p.steps[1:] {
			if step == p.steps[i].Reverse() {
				p.score -= backPenalty
			}
		}
	}
}

// multiFactLeads reports whether a path of several facts is the best or at most margin behind.
func multiFactLeads(prospects []*prospect, margin float32) bool {
	best := map[bool]float32{}
	for _, p := range prospects {
		if score, ok := best[p.hops > 1]; !ok || p.score > score {
			best[p.hops > 1] = p.score
		}
	}
	several, ok := best[true]
	return ok && several > best[false]-margin
}

// scoreByWords replaces each prospect's rough score by that of its full words.
func scoreByWords(ctx context.Context, snap Snapshot, encoder Encoder, aim *aim, prospects []*prospect) error {
	vectors, err := encodePaths(ctx, snap, encoder, prospects)
	if err != nil {
		return err
	}
	shared, _ := shareEnds(prospects)
	for i, p := range prospects {
		p.score = penalise(aim.weigh(aim.compare(vectors[i]))+p.fit, len(p.ends), p.ways)
		p.score += aim.dateBonus(snap, p)
		if shared[i].ends > 0 {
			p.score += sharedBonus
		}
	}
	return nil
}

// addPriors adds what is likely whatever the graph: which topic entity is meant, and which way its
// last relation is followed. They are relative to those of the best prospect, whose score remains
// comparable with that of other questions.
func addPriors(aim *aim, topics []store.EntityID, prospects []*prospect) {
	priors, best := make([]float32, len(prospects)), 0
	for i, p := range prospects {
		priors[i] = -topicPlacePenalty*float32(slices.Index(topics, p.topic)) -
			inversePenalty*indicator(p.steps[len(p.steps)-1].Inverse)
		if mention, ok := aim.mentions[p.topic]; ok {
			priors[i] += mentionBonus + mentionWordBonus*float32(mention.words())
		}
		if p.score+priors[i] > prospects[best].score+priors[best] {
			best = i
		}
	}
	for i, p := range prospects {
		p.score += priors[i] - priors[best]
	}
}

// encodePaths returns the vectors of paths' words. A single hop from subject to object has the
// words of its relation, whose vector is stored.
func encodePaths(ctx context.Context, snap Snapshot, encoder Encoder, prospects []*prospect) ([][]float32, error) {
	vectors := make([][]float32, len(prospects))
	var texts []string
	var at []int
	for i, p := range prospects {
		if len(p.steps) == 1 && !p.steps[0].Inverse {
			vectors[i] = snap.RelationVector(p.steps[0].Relation)
			continue
		}
		texts, at = append(texts, describeSteps(snap, p.steps)), append(at, i)
	}
	encoded, err := encoder.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	for j, i := range at {
		vectors[i] = encoded[j]
	}
	return vectors, nil
}

// penalise subtracts the penalties of a path from its similarity.
func penalise(closeness float32, ends int, ways float32) float32 {
	return closeness - sizePenalty*float32(math.Log(float64(ends))) - waysPenalty*ways
}

// sharing is what a prospect and those of other topic entities lead to.
type sharing struct {
	// ends is the number of such ends, score the best of the other prospects' scores; -1 if there are none.
	ends  int
	score float32
}

// shareEnds returns what each prospect shares, and the number of topic entities.
func shareEnds(prospects []*prospect) (shared []sharing, topics int) {
	shared = slices.Repeat([]sharing{{score: -1}}, len(prospects))
	topicIndexes := map[store.EntityID]int{}
	topicOf := make([]int, len(prospects))
	var arrivals []uint64 // an entity, and in the lower half the prospect that leads there
	for i, p := range prospects {
		at, ok := topicIndexes[p.topic]
		if !ok {
			at = len(topicIndexes)
			topicIndexes[p.topic] = at
		}
		topicOf[i] = at
		for _, e := range p.ends {
			arrivals = append(arrivals, uint64(e)<<32|uint64(i))
		}
	}
	if topics = len(topicIndexes); topics < 2 {
		return shared, topics
	}
	slices.Sort(arrivals)
	none := float32(math.Inf(-1))
	best := make([]float32, topics) // by topic entity, of the prospects that lead to one end
	for len(arrivals) > 0 {
		n := 1
		for n < len(arrivals) && arrivals[n]>>32 == arrivals[0]>>32 {
			n++
		}
		together := arrivals[:n]
		arrivals = arrivals[n:]
		for t := range best {
			best[t] = none
		}
		for _, a := range together {
			i := uint32(a)
			best[topicOf[i]] = max(best[topicOf[i]], prospects[i].score)
		}
		for _, a := range together {
			i := uint32(a)
			others := none
			for t, score := range best {
				if t != topicOf[i] {
					others = max(others, score)
				}
			}
			if others > none {
				shared[i].ends, shared[i].score = shared[i].ends+1, max(shared[i].score, others)
			}
		}
	}
	return shared, topics
}

// selectSuggestions takes ranked prospects within the limits.
func selectSuggestions(snap Snapshot, aim *aim, ranked []*prospect, req SuggestRequest) []Suggestion {
	var chosen []Suggestion
	kept := map[string]bool{}
	ends := map[store.EntityID]bool{}
	for _, p := range ranked {
		if len(chosen) == req.Limit {
			break
		}
		key := p.key()
		if kept[key] {
			continue
		}
		added := 0
		for _, e := range p.ends {
			if !ends[e] {
				added++
			}
		}
		if req.MaxEnds > 0 && len(ends)+added > req.MaxEnds {
			continue
		}
		kept[key] = true
		for _, e := range p.ends {
			ends[e] = true
		}
		suggestion := p.suggestion()
		suggestion.LeastHopScore = aim.leastHop(snap, p)
		chosen = append(chosen, suggestion)
	}
	return chosen
}

func (p *prospect) suggestion() Suggestion {
	return Suggestion{
		Plan:  Plan{Steps: p.steps, Topics: []store.EntityID{p.topic}},
		Score: p.score, Probability: p.probability,
		Ends: len(p.ends), Hops: p.hops,
	}
}
