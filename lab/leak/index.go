package leak

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// index finds the texts that are like a text, without comparing it with each.
//
// Words are numbered from the rarest on, and a text is the rising numbers of its
// different words. Two texts of n and m words with a similarity of at least
// .9 share at least .9 n and .9 m words, so that they must share one among the
// first n - .9 n + 1 of the one and the first m - .9 m + 1 of the other (prefix
// filtering: Chaudhuri et al., 2006; Bayardo et al., 2007). Only these first
// words are indexed and looked up.
type index struct {
	sets  []Set
	texts [][]entry
	// What was added: places by equal text, by equal id, and by first words.
	byText map[string][]location
	byID   map[id][]location
	byWord map[int][]location
}

// entry is a text as it is compared.
type entry struct {
	normal string
	words  []int
}

// location is the place of a text.
type location struct{ set, text int }

// id is an id with the dataset that it belongs to.
type id struct{ dataset, id string }

// match is a text that another one leaks from.
type match struct {
	location
	kind       Kind
	similarity float64
}

func newIndex(sets []Set) *index {
	x := &index{sets: sets, byText: make(map[string][]location), byID: make(map[id][]location),
		byWord: make(map[int][]location)}
	counts := make(map[string]int)
	words := make([][][]string, len(sets))
	for s, set := range sets {
		entries := make([]entry, len(set.Texts))
		words[s] = make([][]string, len(set.Texts))
		for t, text := range set.Texts {
			entries[t].normal = normal(text.Question)
			all := strings.Fields(entries[t].normal)
			slices.Sort(all)
			words[s][t] = slices.Compact(all)
			for _, word := range words[s][t] {
				counts[word]++
			}
		}
		x.texts = append(x.texts, entries)
	}
	rarest := make([]string, 0, len(counts))
	for word := range counts {
		rarest = append(rarest, word)
	}
	slices.SortFunc(rarest, func(a, b string) int { return cmp.Or(counts[a]-counts[b], strings.Compare(a, b)) })
	numbers := make(map[string]int, len(rarest))
	for number, word := range rarest {
		numbers[word] = number
	}
	for s := range words {
		for t := range words[s] {
			for _, word := range words[s][t] {
				x.texts[s][t].words = append(x.texts[s][t].words, numbers[word])
			}
			slices.Sort(x.texts[s][t].words)
		}
	}
	return x
}

// add makes the texts of a set ones to be found.
func (x *index) add(set int) {
	for t, e := range x.texts[set] {
		if e.normal == "" {
			continue
		}
		here := location{set, t}
		// One text of a set will do for all others that are equal.
		if there := x.byText[e.normal]; len(there) == 0 || there[len(there)-1].set != set {
			x.byText[e.normal] = append(there, here)
			for _, word := range e.words[:first(len(e.words))] {
				x.byWord[word] = append(x.byWord[word], here)
			}
		}
		if key := x.id(here); key.dataset != "" && key.id != "" {
			x.byID[key] = append(x.byID[key], here)
		}
	}
}

func (x *index) id(here location) id {
	set := x.sets[here.set]
	return id{set.Dataset, set.Texts[here.text].ID}
}

// matches returns the texts that were added and that a text is like: the best of
// each set, by set.
func (x *index) matches(set, text int) []match {
	e := x.texts[set][text]
	if e.normal == "" {
		return nil
	}
	best := make(map[int]match) // by set
	offer := func(there location, kind Kind, similarity float64) {
		if before, ok := best[there.set]; !ok || before.kind == Near &&
			(kind != Near || similarity > before.similarity) {
			best[there.set] = match{there, kind, similarity}
		}
	}
	for _, there := range x.byText[e.normal] {
		offer(there, SameText, 1)
	}
	if key := x.id(location{set, text}); key.dataset != "" && key.id != "" {
		for _, there := range x.byID[key] {
			offer(there, SameID, similarity(e.words, x.texts[there.set][there.text].words))
		}
	}
	seen := make(map[location]bool)
	for _, word := range e.words[:first(len(e.words))] {
		for _, there := range x.byWord[word] {
			if seen[there] {
				continue
			}
			seen[there] = true
			other := x.texts[there.set][there.text].words
			if min(len(e.words), len(other)) < atLeast(max(len(e.words), len(other))) {
				continue
			}
			if s := similarity(e.words, other); s >= Similar {
				offer(there, Near, s)
			}
		}
	}
	var out []match
	for _, m := range best {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b match) int { return cmp.Compare(a.set, b.set) })
	return out
}

// first returns how many words of n are indexed.
func first(n int) int { return n - atLeast(n) + 1 }

// atLeast returns how many of n words a similar text shares: the share, rounded up,
// with room for the rounding of the product.
func atLeast(n int) int { return int(math.Ceil(Similar*float64(n) - 1e-9)) }

// similarity returns the number of shared words over that of all words of two texts
// in rising order.
func similarity(a, b []int) float64 {
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			shared, i, j = shared+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if all := len(a) + len(b) - shared; all > 0 {
		return float64(shared) / float64(all)
	}
	return 0
}
