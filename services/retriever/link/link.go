// Package link finds the entities that a question or a mention means.
package link

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	misspelt, err := fuzzy(ctx, snap, text, words, mentions)
	if err != nil {
		return nil, err
	}
	mentions = append(mentions, misspelt...)
	w := newWeigher(snap, text, words, mentions)
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
	mostFuzzy      = 12
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

// fuzzy looks for names that resemble the runs of words that look like names
// and that no exact mention touches. A text of few words is taken whole.
func fuzzy(ctx context.Context, snap Snapshot, text string, words []word, known []mention) ([]mention, error) {
	var found []mention
	for _, m := range unknown(text, words, known) {
		key := store.Fold(m.text)
		if len(key) < 4 {
			continue
		}
		matches, err := snap.Fuzzy(ctx, key, leastAlike, 5)
		if err != nil {
			return nil, err
		}
		if len(matches) > 0 {
			m.entities, m.fuzzy = matches, true
			found = append(found, m)
		}
	}
	return found, nil
}

// leastAlike is the least likeness of a misspelt name.
const leastAlike = 0.55

// unknown lists the runs worth a fuzzy search, longest first.
func unknown(text string, words []word, known []mention) []mention {
	taken := make([]bool, len(words))
	for _, m := range known {
		if m.words() == 1 && !words[m.first].capital {
			continue
		}
		for i := m.first; i < m.last; i++ {
			taken[i] = true
		}
	}
	var runs []mention
	for first := 0; first < len(words); first++ {
		last := first
		for last < len(words) && !taken[last] && (words[last].capital || !words[last].stop) {
			last++
		}
		if last > first {
			for at := first; at < last; at++ {
				for to := last; to > at; to-- {
					if to-at <= 5 && (words[at].capital || to-at > 1 || len(words) <= 3) {
						runs = append(runs, mention{first: at, last: to, text: span(text, words, at, to)})
					}
				}
			}
			first = last
		}
	}
	slices.SortStableFunc(runs, func(a, b mention) int { return cmp.Compare(b.words(), a.words()) })
	if len(words) <= 5 && len(words) > 0 && len(known) == 0 {
		runs = append([]mention{{first: 0, last: len(words), text: strings.TrimSpace(text)}}, runs...)
	}
	return runs[:min(len(runs), mostFuzzy)]
}
