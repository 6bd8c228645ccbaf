package link

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// leastAlike is the least likeness of a misspelt name, leastPart that of a
	// name of which the mention is a part, such as a surname.
	leastAlike = 0.6
	leastPart  = 0.35
	// leastLetters is the shortest mention worth a fuzzy search.
	leastLetters = 4
	// mostAlike is how many names that resemble a mention are looked at.
	mostAlike = 40
)

// fuzzy looks for names that resemble the runs of words that may be names and
// that no exact mention touches.
func fuzzy(ctx context.Context, snap Snapshot, text string, words []word, w *weigher) ([]mention, error) {
	var found []mention
	for _, m := range w.unknown(text, words) {
		key := store.Fold(m.text)
		if utf8.RuneCountInString(key) < leastLetters {
			continue
		}
		matches, err := snap.Fuzzy(ctx, key, leastPart, mostAlike)
		if err != nil {
			return nil, err
		}
		matches = slices.DeleteFunc(matches, func(n store.NameMatch) bool {
			return n.Similarity < leastAlike && !partOf(m.text, snap.EntityName(n.Entity))
		})
		if len(matches) > 0 {
			m.entities, m.fuzzy = matches, true
			found = append(found, m)
		}
	}
	return found, nil
}

// unknown lists the runs worth a fuzzy search, longest first. A text of few
// words in which nothing was found is taken whole: it may be a mention.
func (w *weigher) unknown(text string, words []word) []mention {
	taken := make([]bool, len(words))
	for _, m := range w.all {
		if m.words() == 1 && w.weak(words[m.first]) {
			continue
		}
		for i := m.first; i < m.last; i++ {
			taken[i] = true
		}
	}
	var runs []mention
	for first := 0; first < len(words); first++ {
		for last := first + 1; last <= min(len(words), first+5) && !taken[last-1]; last++ {
			run := words[first:last]
			if run[0].stop || run[len(run)-1].stop || (len(run) == 1 && w.weak(run[0])) {
				continue
			}
			runs = append(runs, mention{first: first, last: last, text: span(text, words, first, last)})
		}
	}
	slices.SortStableFunc(runs, func(a, b mention) int { return cmp.Compare(b.words(), a.words()) })
	if 0 < len(words) && len(words) <= 5 && len(w.all) == 0 {
		runs = append([]mention{{first: 0, last: len(words), text: strings.TrimSpace(text)}}, runs...)
	}
	return runs[:min(len(runs), mostFuzzy)]
}

// weak tells single words that are hardly a name: those of the graph's
// relations, and in a text with capitals those without one.
func (w *weigher) weak(word word) bool {
	return w.schema[word.folded] || word.stop || word.number || (w.cased && !word.capital)
}
