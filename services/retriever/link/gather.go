package link

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Candidate is a link with what speaks for it.
type Candidate struct {
	Link
	Evidence Evidence
}

// What a text may cost to link.
const (
	longestMention = 10
	mostWords      = 400
	// mostHolders is how many entities of one name are looked at.
	mostHolders = 50
	// mostSearches is how many runs of words are searched for names that
	// resemble them, and mostAlike how many such names of each are looked at.
	mostSearches, mostAlike = 16, 60
	// mostWeighed is how many candidates are compared with the text's meaning.
	mostWeighed = 64
	// leastAlike is the least likeness of a name to a part of the text.
	leastAlike = 0.25
	// leastIdle is how many words that only hold a sentence together make a
	// name: "You and Me" is one.
	leastIdle = 3
)

// question is a text on its way to its links.
type question struct {
	snap  Snapshot
	text  string
	words []word
	// cased: the text uses capitals, so that a word without one is hardly a
	// name.
	cased bool
	// schema are the words of the graph's relations: "country" in a question
	// asks for a country sooner than it names the entity Country.
	schema map[string]bool
	// found are the mentions that are the very name of an entity.
	found      []mention
	candidates []candidate
}

// mention is a run of words.
type mention struct {
	// first and last are the words it runs over, last excluded.
	first, last int
}

func (m mention) words() int { return m.last - m.first }

// within tells whether a longer mention covers this one.
func (m mention) within(o mention) bool {
	return o.first <= m.first && m.last <= o.last && o.words() > m.words()
}

func (m mention) touches(o mention) bool { return m.first < o.last && o.first < m.last }

// candidate is a mention and an entity it may mean.
type candidate struct {
	mention
	entity store.EntityID
	how    how
	// likeness is that of the mention and the name, known the share of the
	// name's letters whose words stand anywhere in the text; 0 to 1.
	likeness, known float32
	degree          int
	// namesakes is how many names were found in the same way.
	namesakes int
}

// how a mention met a name.
type how uint8

const (
	byName how = iota
	byAlias
	byForm
	byPart
	bySpelling
	byInitials
)

// Gather finds what a text may mean, with what speaks for each; Score is not
// set. An entity may come more than once, by several mentions.
func Gather(ctx context.Context, snap Snapshot, encoder Encoder, text string) ([]Candidate, error) {
	q := &question{snap: snap, text: text, words: split(text)}
	for _, w := range q.words {
		q.cased = q.cased || w.capital
	}
	for _, step := range []func(context.Context) error{q.exact, q.forms, q.alike} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if len(q.candidates) == 0 {
		return nil, nil
	}
	q.narrow()
	meanings, err := q.compare(ctx, encoder)
	if err != nil {
		return nil, err
	}
	q.schema = schemaWords(snap, q.words)
	gathered := make([]Candidate, len(q.candidates))
	for i, c := range q.candidates {
		gathered[i] = Candidate{Link: q.link(c), Evidence: q.evidence(c, meanings[i])}
	}
	return gathered, nil
}

// exact finds the runs of words whose folded text is an entity's name or alias.
func (q *question) exact(ctx context.Context) error {
	for first := range q.words {
		for last := first + 1; last <= min(len(q.words), first+longestMention); last++ {
			m := mention{first, last}
			if idle(q.words[first:last]) && m.words() < leastIdle {
				continue
			}
			before := len(q.candidates)
			if err := q.match(ctx, m, fold(q.textOf(m)), byName); err != nil {
				return err
			}
			if len(q.candidates) > before {
				q.found = append(q.found, m)
			}
		}
	}
	return nil
}

func (q *question) textOf(m mention) string { return span(q.text, q.words, m.first, m.last) }

// match adds the entities that have a key.
func (q *question) match(ctx context.Context, m mention, key string, by how) error {
	ids, err := q.snap.Match(ctx, key)
	if err != nil {
		return err
	}
	for _, id := range ids[:min(len(ids), mostHolders)] {
		c := candidate{mention: m, entity: id, how: by, likeness: 1, known: 1, namesakes: len(ids)}
		if by == byName && store.Fold(q.snap.EntityName(id)) != key {
			c.how = byAlias
		}
		q.add(c)
	}
	return nil
}

// add takes a candidate, unless it has no name of its own.
func (q *question) add(c candidate) {
	if q.snap.Kind(c.entity) == store.Mediator {
		return
	}
	c.degree = q.snap.Degree(c.entity, store.Out) + q.snap.Degree(c.entity, store.In)
	q.candidates = append(q.candidates, c)
}

// forms finds entities by another form of a mention's last word, such as the
// singular of a plural or the name that an adjective is made from, and by
// another spelling of its first.
func (q *question) forms(ctx context.Context) error {
	for last, w := range q.words {
		if w.stop || w.number {
			continue
		}
		for first := max(0, last-3); first <= last; first++ {
			m := mention{first, last + 1}
			var keys []string
			if first < last {
				head := fold(span(q.text, q.words, first, last)) + " "
				keys = respelt(head + w.folded)
				for _, form := range formsOf(w.folded, false) {
					keys = append(keys, head+form)
				}
			} else {
				keys = formsOf(w.folded, true)
			}
			for _, key := range keys {
				if err := q.match(ctx, m, key, byForm); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// alike finds names that resemble runs of words of the text or share words
// with them.
func (q *question) alike(ctx context.Context) error {
	seen := map[store.EntityID]bool{}
	for _, c := range q.candidates {
		seen[c.entity] = true
	}
	for _, run := range q.runs() {
		matches, err := q.snap.Fuzzy(ctx, fold(q.textOf(run)), leastAlike, mostAlike)
		if err != nil {
			return err
		}
		for _, m := range matches {
			if !seen[m.Entity] {
				seen[m.Entity] = true
				q.align(m, run, len(matches))
			}
		}
	}
	return nil
}

// runs lists what is searched for: the runs between words that only hold the
// sentence together, and each word of those alone.
func (q *question) runs() []mention {
	var runs []mention
	for first := 0; first < len(q.words); first++ {
		last := first
		for last < len(q.words) && last < first+6 && !q.words[last].stop {
			last++
		}
		if last-first > 1 {
			runs = append(runs, mention{first, last})
			first = last
		}
	}
	for i, w := range q.words {
		if !w.stop && !w.number && w.letters > 1 {
			runs = append(runs, mention{i, i + 1})
		}
	}
	return runs[:min(len(runs), mostSearches)]
}

// narrow keeps the candidates worth comparing with the text's meaning: those
// with a likely name or well known.
func (q *question) narrow() {
	promise := func(c candidate) float64 {
		return float64(c.likeness) + 0.3*math.Log10(1+float64(c.degree))
	}
	slices.SortStableFunc(q.candidates, func(a, b candidate) int { return cmp.Compare(promise(b), promise(a)) })
	q.candidates = q.candidates[:min(len(q.candidates), mostWeighed)]
}

// link is a candidate for the caller.
func (q *question) link(c candidate) Link {
	l := Link{Entity: c.entity, Mention: q.textOf(c.mention), Match: Fuzzy}
	switch {
	case c.how == byAlias:
		l.Match = Alias
	case c.how == byName && l.Mention == q.snap.EntityName(c.entity):
		l.Match = Exact
	case c.how == byName:
		l.Match = Normalised
	}
	return l
}
