// Package link finds the entities that a question or a mention means.
package link

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Match is the way a mention matched an entity's name.
type Match uint8

const (
	// Exact means that mention and name are equal.
	Exact Match = iota + 1
	// Normalised means equal after folding case, accents and punctuation.
	Normalised
	// Alias means equal to another name of the entity.
	Alias
	// Fuzzy means a match with small differences in spelling, in another form such as a plural
	// or an adjective, by a part of the name or by its initials.
	Fuzzy
)

// Link is an entity that a part of a text may mean.
type Link struct {
	Entity store.EntityID
	// Mention is the part of the text, unchanged.
	Mention string
	Match   Match
	// Score is the probability that the text means the entity, 0 to 1.
	Score float32
}

// Snapshot is the part of a knowledge graph that linking reads.
type Snapshot interface {
	Info() store.Info
	store.Names
	store.Walker
	RelationVector(store.RelationID) []float32
}

// Encoder turns texts into vectors, one per text, each of length 1.
type Encoder interface {
	Encode(ctx context.Context, texts []string) ([][]float32, error)
}

// minScore is the minimum score of a result: two in a thousand of the topic entities gathered for
// the dev questions score less.
const minScore = 0.001

// Entities links a text to at most limit entities by falling score, each once. It returns none if
// nothing fits. The encoder must be the snapshot's; the text is encoded once, if anything in it may
// be a name.
func Entities(ctx context.Context, snap Snapshot, encoder Encoder, text string, limit int) ([]Link, error) {
	candidates, err := Gather(ctx, snap, encoder, text)
	if err != nil {
		return nil, err
	}
	best := map[store.EntityID]Link{}
	for _, c := range candidates {
		c.Score = Weigh(c.Evidence)
		if c.Score >= minScore && c.Score > best[c.Entity].Score {
			best[c.Entity] = c.Link
		}
	}
	links := make([]Link, 0, len(best))
	for _, l := range best {
		links = append(links, l)
	}
	slices.SortFunc(links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(b.Mention), len(a.Mention)),
			cmp.Compare(a.Entity, b.Entity))
	})
	return links[:min(limit, len(links))], nil
}
