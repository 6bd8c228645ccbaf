// Package link finds the entities that a question or a mention means.
package link

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Match is how a mention and an entity's name met.
type Match uint8

const (
	// Exact: letter for letter.
	Exact Match = iota + 1
	// Normalised: alike after case, accents and punctuation were folded.
	Normalised
	// Alias: by another name of the entity.
	Alias
	// Fuzzy: with small differences in spelling, in another form such as a
	// plural or an adjective, by a part of the name or by its initials.
	Fuzzy
)

// Link is an entity that a part of a text may mean.
type Link struct {
	Entity store.EntityID
	// Mention is the part of the text, as it stands there.
	Mention string
	Match   Match
	// Score is how likely the text means the entity, 0 to 1.
	Score float32
}

// Snapshot is what linking needs of a knowledge graph.
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

// leastScore is the score under which nothing is returned: of the topic
// entities gathered for the dev questions two in a thousand score less.
const leastScore = 0.001

// Entities links a text to at most limit entities, best first, each once.
// None is returned where nothing fits. The encoder is the one the snapshot was
// built with; the text is encoded once, if anything in it may be a name.
func Entities(ctx context.Context, snap Snapshot, encoder Encoder, text string, limit int) ([]Link, error) {
	candidates, err := Gather(ctx, snap, encoder, text)
	if err != nil {
		return nil, err
	}
	best := map[store.EntityID]Link{}
	for _, c := range candidates {
		c.Score = Weigh(c.Evidence)
		if c.Score >= leastScore && c.Score > best[c.Entity].Score {
			best[c.Entity] = c.Link
		}
	}
	links := make([]Link, 0, len(best))
	for _, l := range best {
		links = append(links, l)
	}
	slices.SortFunc(links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(b.Mention), len(a.Mention)), cmp.Compare(a.Entity, b.Entity))
	})
	return links[:min(limit, len(links))], nil
}
