package walk

import (
	"context"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What ranks a path, found on WebQSP questions over the Freebase slice with
// all-MiniLM-L6-v2 (cmd/calibrate prints the shares).
const (
	// sizePenalty times the natural logarithm of the number of ends is taken
	// off a path's score: one with hundreds of ends is rarely the answer.
	sizePenalty = 0.02
	// waysPenalty times the natural logarithm of the number of ways there were to
	// go on is taken off for each hop after the first: the more paths of a length
	// there are, the likelier one of them fits by chance. So a graph of nine
	// relations allows longer paths than one of thousands.
	waysPenalty = 0.07
	// sharedBonus is for a path with an end that another topic entity's path
	// ends in too.
	sharedBonus = 0.1
	// timeBonus is for a path to dates where the question asks for a time; it is
	// taken off one to dates where the question does not.
	timeBonus = 0.1
	// proposedWeight is how much of the score comes from the model's own words
	// where there are any, the rest from the question's.
	proposedWeight = 0.4
)

// What a suggestion may cost.
const (
	// beam is how many paths of each length are gone on from.
	beam = 64
	// fan is the most entities a path may reach and still be gone on from.
	fan = 1000
	// reads is the most edges that one hop after the first reads in a direction.
	reads = 300000
	// topicReads is that for the first hop, where one topic entity may have more.
	topicReads = 1 << 22
	// finalists is how many paths of each length have their words encoded;
	// they are chosen by the vectors of their relations.
	finalists = 48
	// fewFinalists is that for Ask.Across; clearly is how far the best path of
	// one fact must be ahead, by the vectors of relations, to be the best.
	fewFinalists = 12
	clearly      = 0.1
	// backPenalty is what Ask.Across takes off a path for each hop back by the
	// relation before it, to what shares an end with where it was.
	backPenalty = 0.1
)

// Snapshot is what suggesting needs of a knowledge graph.
type Snapshot interface {
	Reader
	RelationVector(store.RelationID) []float32
}

// Encoder turns texts into vectors, one per text, each of length 1.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// Ask is what paths are suggested for.
type Ask struct {
	Question string
	Topics   []store.EntityID
	// Proposed are the words of paths that the model expects; may be empty.
	Proposed []string
	// MaxHops is the longest path, Limit the most paths.
	MaxHops, Limit int
	// MaxEnds is the most distinct ends of all paths together; 0 leaves it
	// open.
	MaxEnds int
	// Across asks for paths only where one that joins several facts is the best,
	// and settles that with few texts to encode: of each length only the
	// fewFinalists are compared by their words, and none where the vectors of
	// their relations already speak for a single fact.
	Across bool
}

// Suggestion is a path that exists and leads from its one topic entity to an
// entity with a readable name.
type Suggestion struct {
	Plan
	// Score is the closeness of its words to the question's and the proposed
	// ones, less what long and broad paths lose: about -1 to 1.
	Score float32
	// Ends counts the entities it leads to, opaque ones and the topic entity
	// itself left out. At most fan entities are gone on from at each hop.
	Ends int
	// Hops counts the facts it joins: its steps, those that start from a mediator
	// left out.
	Hops int
}

// Suggest ranks the relation paths around the topic entities, best first. Of
// paths from one topic entity with the same ends only the best is kept. Paths
// are taken from the best down; one that does not fit in MaxEnds is passed
// over for smaller ones.
func Suggest(ctx context.Context, snap Snapshot, encoder Encoder, ask Ask) ([]Suggestion, error) {
	aim, err := newAim(ctx, snap, encoder, ask)
	if err != nil {
		return nil, err
	}
	prospects, err := explore(ctx, snap, aim, ask.Topics, ask.MaxHops)
	if err != nil {
		return nil, err
	}
	if ask.Across {
		if prospects = few(prospects); !across(prospects, clearly) {
			return nil, nil
		}
	}
	if err := score(ctx, snap, encoder, aim, prospects); err != nil {
		return nil, err
	}
	if ask.Across {
		discount(prospects)
		if !across(prospects, 0) {
			return nil, nil
		}
	}
	return choose(prospects, ask), nil
}

// few keeps the best prospects of each number of facts, by their scores so far.
func few(prospects []*prospect) []*prospect {
	slices.SortFunc(prospects, better)
	taken := map[int]int{}
	return slices.DeleteFunc(prospects, func(p *prospect) bool {
		taken[p.hops]++
		return taken[p.hops] > fewFinalists
	})
}

// discount takes backPenalty off the paths that go back by a relation they
// came by: their words are those of the relation alone, so they seem to fit
// wherever it does.
func discount(prospects []*prospect) {
	for _, p := range prospects {
		for i, step := range p.steps[1:] {
			if step.back(p.steps[i]) {
				p.score -= backPenalty
			}
		}
	}
	slices.SortFunc(prospects, better)
}

// across tells whether a path of several facts is the best, or not further
// behind than a slack.
func across(prospects []*prospect, slack float32) bool {
	best := map[bool]float32{}
	for _, p := range prospects {
		several := p.hops > 1
		if score, ok := best[several]; !ok || p.score > score {
			best[several] = p.score
		}
	}
	one, several := best[false], best[true]
	_, any := best[true]
	return any && several > one-slack
}

// score replaces each prospect's rough score by that of its whole words.
func score(ctx context.Context, snap Snapshot, encoder Encoder, aim *aim, prospects []*prospect) error {
	vectors, err := pathVectors(ctx, snap, encoder, prospects)
	if err != nil {
		return err
	}
	shared := reachedByMany(prospects)
	for i, p := range prospects {
		p.score = p.worth(aim.closeness(vectors[i]) + p.fit)
		p.score += aim.timely(snap, p)
		if slices.ContainsFunc(p.ends, func(e store.EntityID) bool { return shared[e] }) {
			p.score += sharedBonus
		}
	}
	slices.SortFunc(prospects, better)
	return nil
}

// pathVectors encodes the words of paths. A single hop from subject to object
// has the words of its relation, whose vector is stored.
func pathVectors(ctx context.Context, snap Snapshot, encoder Encoder, prospects []*prospect) ([][]float32, error) {
	vectors := make([][]float32, len(prospects))
	var texts []string
	var at []int
	for i, p := range prospects {
		if len(p.steps) == 1 && !p.steps[0].Inverse {
			vectors[i] = snap.RelationVector(p.steps[0].Relation)
			continue
		}
		texts, at = append(texts, words(snap, p.steps)), append(at, i)
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

// worth is a closeness less the penalties.
func (p *prospect) worth(closeness float32) float32 {
	return closeness -
		sizePenalty*float32(math.Log(float64(len(p.ends)))) -
		waysPenalty*p.ways
}

// reachedByMany finds the ends that paths from several topic entities share.
func reachedByMany(prospects []*prospect) map[store.EntityID]bool {
	first := map[store.EntityID]store.EntityID{}
	shared := map[store.EntityID]bool{}
	for _, p := range prospects {
		for _, e := range p.ends {
			if topic, seen := first[e]; !seen {
				first[e] = p.topic
			} else if topic != p.topic {
				shared[e] = true
			}
		}
	}
	return shared
}

// choose takes ranked prospects while they fit.
func choose(ranked []*prospect, ask Ask) []Suggestion {
	var chosen []Suggestion
	kept := map[string]bool{}
	ends := map[store.EntityID]bool{}
	for _, p := range ranked {
		if len(chosen) == ask.Limit {
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
		if ask.MaxEnds > 0 && len(ends)+added > ask.MaxEnds {
			continue
		}
		kept[key] = true
		for _, e := range p.ends {
			ends[e] = true
		}
		chosen = append(chosen, Suggestion{
			Plan:  Plan{Steps: p.steps, Topics: []store.EntityID{p.topic}},
			Score: p.score,
			Ends:  len(p.ends), Hops: p.hops,
		})
	}
	return chosen
}
