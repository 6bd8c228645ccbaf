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
	// Fuzzy: with small differences in spelling.
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
	store.Names
	Info() store.Info
	Degree(store.EntityID, store.Direction) int
}

// leastScore is the score under which nothing is returned.
const leastScore = 0.1

// Entities links a text to at most limit entities, best first, each once.
// None is returned where nothing fits.
func Entities(ctx context.Context, snap Snapshot, text string, limit int) ([]Link, error) {
	words := split(text)
	mentions, err := exact(ctx, snap, text, words)
	if err != nil {
		return nil, err
	}
	w := newWeigher(snap, words, mentions)
	misspelt, err := fuzzy(ctx, snap, text, words, w)
	if err != nil {
		return nil, err
	}
	mentions = append(mentions, misspelt...)
	best := map[store.EntityID]Link{}
	for _, m := range mentions {
		for _, l := range w.weigh(snap, m) {
			if l.Score >= leastScore && l.Score > best[l.Entity].Score {
				best[l.Entity] = l
			}
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

// mention is a run of words with the entities it may mean.
type mention struct {
	// first and last are the words it runs over, last excluded.
	first, last int
	text        string
	entities    []store.NameMatch
	fuzzy       bool
}

func (m mention) words() int { return m.last - m.first }

// within tells whether a longer mention covers this one.
func (m mention) within(o mention) bool {
	return o.first <= m.first && m.last <= o.last && o.words() > m.words()
}

// What a text may cost to link.
const (
	longestMention = 10
	mostWords      = 400
	mostFuzzy      = 24
	mostEntities   = 50
)

// exact finds the runs of words whose folded text is an entity's name or alias.
func exact(ctx context.Context, snap Snapshot, text string, words []word) ([]mention, error) {
	var found []mention
	for first := range words {
		for last := first + 1; last <= min(len(words), first+longestMention); last++ {
			if idle(words[first:last]) {
				continue
			}
			ms := mention{first: first, last: last, text: span(text, words, first, last)}
			ids, err := snap.Match(ctx, store.Fold(ms.text))
			if err != nil {
				return nil, err
			}
			for _, id := range ids[:min(len(ids), mostEntities)] {
				ms.entities = append(ms.entities, store.NameMatch{Entity: id, Similarity: 1})
			}
			if len(ids) > 0 {
				found = append(found, ms)
			}
		}
	}
	return found, nil
}
