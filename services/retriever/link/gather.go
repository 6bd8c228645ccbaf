package link

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Candidate is a link with its evidence.
type Candidate struct {
	Link
	Evidence Evidence
}

// Limits on the cost of linking a text.
const (
	maxMentionWords = 10
	maxWords        = 400
	// maxHolders is the number of entities of one name that are considered.
	maxHolders = 50
	// maxSearches is the number of runs of words that are searched by similarity, maxSimilarNames
	// the number of similar names of each.
	maxSearches, maxSimilarNames = 16, 60
	// maxCandidates is the number of candidates compared with the text's meaning.
	maxCandidates = 64
	// minLikeness is the minimum likeness of a name to a part of the text.
	minLikeness = 0.25
	// minStopwordName is the number of stop words that may be a name: "You and Me" is one.
	minStopwordName = 3
)

// question is the state of linking one text.
type question struct {
	snap  Snapshot
	text  string
	words []word
	// cased reports whether the text uses capitals, so that a word without one is hardly a name.
	cased bool
	// schema are the words of the graph's relations: "country" in a question rather asks for a
	// country than names the entity Country.
	schema map[string]bool
	// exactMentions are the mentions that are exactly the name of an entity.
	exactMentions []mention
	candidates    []candidate
}

// mention is a run of words.
type mention struct {
	// first and last delimit its words, last excluded.
	first, last int
}

func (m mention) words() int { return m.last - m.first }

// isInside reports whether a longer mention covers this one.
func (m mention) isInside(o mention) bool {
	return o.first <= m.first && m.last <= o.last && o.words() > m.words()
}

func (m mention) touches(o mention) bool { return m.first < o.last && o.first < m.last }

// candidate is a mention and an entity it may mean.
type candidate struct {
	mention
	entity store.EntityID
	method matchMethod
	// likeness compares the mention and the name; knownLetters is the share of the name's letters
	// whose words occur anywhere in the text; 0 to 1.
	likeness, knownLetters float32
	degree                 int
	// namesakes is the number of names that the same search found.
	namesakes int
}

// matchMethod is the way a mention matched a name.
type matchMethod uint8

const (
	byName matchMethod = iota
	byAlias
	byForm
	byPart
	bySpelling
	byInitials
)

// Gather returns the entities that a text may mean with their evidence, without a score. An entity
// may occur more than once, for several mentions.
func Gather(ctx context.Context, snap Snapshot, encoder Encoder, text string) ([]Candidate, error) {
	q := &question{snap: snap, text: text, words: splitWords(text)}
	for _, w := range q.words {
		q.cased = q.cased || w.capital
	}
	for _, step := range []func(context.Context) error{q.matchExact, q.matchSynonyms, q.matchForms, q.matchSimilar} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if len(q.candidates) == 0 {
		return nil, nil
	}
	q.limitCandidates()
	meanings, err := q.compareMeanings(ctx, encoder)
	if err != nil {
		return nil, err
	}
	q.schema = findSchemaWords(snap, q.words)
	gathered := make([]Candidate, len(q.candidates))
	for i, c := range q.candidates {
		gathered[i] = Candidate{Link: q.toLink(c), Evidence: q.evidence(c, meanings[i])}
	}
	return gathered, nil
}

// matchExact finds the runs of words whose folded text is an entity's name or alias.
func (q *question) matchExact(ctx context.Context) error {
	for first := range q.words {
		for last := first + 1; last <= min(len(q.words), first+maxMentionWords); last++ {
			m := mention{first, last}
			if onlyStopwords(q.words[first:last]) && m.words() < minStopwordName {
				continue
			}
			before := len(q.candidates)
			if err := q.match(ctx, m, fold(q.mentionText(m)), byName); err != nil {
				return err
			}
			if len(q.candidates) > before {
				q.exactMentions = append(q.exactMentions, m)
			}
		}
	}
	return nil
}

// matchSynonyms finds states and unions of states by another common name, if nothing has the one that
// the text uses.
func (q *question) matchSynonyms(ctx context.Context) error {
	for first := range q.words {
		for last := first + 1; last <= min(len(q.words), first+maxSynonymWords); last++ {
			m := mention{first, last}
			if onlyStopwords(q.words[first:last]) && m.words() < len(q.words) ||
				slices.ContainsFunc(q.exactMentions, m.touches) {
				continue
			}
			key := fold(q.mentionText(m))
			group := slices.IndexFunc(synonyms, func(names []string) bool { return slices.Contains(names, key) })
			if group < 0 {
				continue
			}
			for _, name := range synonyms[group] {
				if err := q.match(ctx, m, name, byAlias); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (q *question) mentionText(m mention) string {
	return textBetween(q.text, q.words, m.first, m.last)
}

// match adds the entities that have a key.
func (q *question) match(ctx context.Context, m mention, key string, by matchMethod) error {
	ids, err := q.snap.Match(ctx, key)
	if err != nil {
		return err
	}
	for _, id := range ids[:min(len(ids), maxHolders)] {
		c := candidate{mention: m, entity: id, method: by, likeness: 1, knownLetters: 1, namesakes: len(ids)}
		if by == byName && store.Fold(q.snap.EntityName(id)) != key {
			c.method = byAlias
		}
		q.add(c)
	}
	return nil
}

// add adds a candidate unless it is a mediator, which has no name of its own.
func (q *question) add(c candidate) {
	if q.snap.Kind(c.entity) == store.Mediator {
		return
	}
	c.degree = q.snap.Degree(c.entity, store.Out) + q.snap.Degree(c.entity, store.In)
	q.candidates = append(q.candidates, c)
}

// matchForms finds entities by another form of a mention's last word, such as the singular of a
// plural or the base of an adjective, and by another spelling of its first word.
func (q *question) matchForms(ctx context.Context) error {
	for last, w := range q.words {
		if w.stop || w.number {
			continue
		}
		for first := max(0, last-3); first <= last; first++ {
			m := mention{first, last + 1}
			var keys []string
			if first < last {
				head := fold(textBetween(q.text, q.words, first, last)) + " "
				keys = alternativeSpellings(head + w.folded)
				for _, form := range wordForms(w.folded, false) {
					keys = append(keys, head+form)
				}
			} else {
				keys = wordForms(w.folded, true)
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

// matchSimilar finds names that are spelt like runs of words of the text or share words with them.
func (q *question) matchSimilar(ctx context.Context) error {
	seen := map[store.EntityID]bool{}
	for _, c := range q.candidates {
		seen[c.entity] = true
	}
	for _, run := range q.searchRuns() {
		matches, err := q.snap.Fuzzy(ctx, fold(q.mentionText(run)), minLikeness, maxSimilarNames)
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

// searchRuns returns the runs to search for: those between stop words, and each single word.
func (q *question) searchRuns() []mention {
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
	return runs[:min(len(runs), maxSearches)]
}

// limitCandidates keeps the candidates worth comparing with the text's meaning: those with a likely
// name or many triples. In a large graph hundreds of names are similar to some words of a text; one
// that the text has in full, word by word, comes before these.
func (q *question) limitCandidates() {
	promise := func(c candidate) float64 {
		p := float64(c.likeness) + 0.3*math.Log10(1+float64(c.degree))
		if c.method <= byAlias {
			p += 0.5 * float64(c.words())
		}
		return p
	}
	slices.SortStableFunc(q.candidates, func(a, b candidate) int { return cmp.Compare(promise(b), promise(a)) })
	q.candidates = q.candidates[:min(len(q.candidates), maxCandidates)]
}

func (q *question) toLink(c candidate) Link {
	l := Link{Entity: c.entity, Mention: q.mentionText(c.mention), Match: Fuzzy}
	switch {
	case c.method == byAlias:
		l.Match = Alias
	case c.method == byName && l.Mention == q.snap.EntityName(c.entity):
		l.Match = Exact
	case c.method == byName:
		l.Match = Normalised
	}
	return l
}

// wordForms returns the words that a folded word may be a form of: the singular of a plural and, if
// alone, the base of an adjective, such as "italy" for "italian".
func wordForms(word string, alone bool) []string {
	var forms []string
	singular := word
	if s, ok := strings.CutSuffix(word, "s"); ok && len(s) >= 3 && !strings.HasSuffix(s, "s") {
		singular = s
		forms = append(forms, s)
		if s, ok := strings.CutSuffix(word, "ies"); ok {
			forms = append(forms, s+"y")
		}
	} else if len(word) >= 4 {
		forms = append(forms, word+"s")
	}
	if !alone {
		return forms
	}
	return append(forms, kgtext.AdjectiveBases(singular)...)
}

// synonyms are the folded names of states and unions that share no words or are abbreviations.
var synonyms = [][]string{
	{"usa", "us", "united states", "united states of america", "america"},
	{"uk", "united kingdom", "great britain", "britain"},
	{"uae", "united arab emirates"},
	{"ussr", "soviet union"},
	{"eu", "european union"},
	{"un", "united nations"},
	{"netherlands", "the netherlands", "holland"},
	{"czech republic", "czechia"},
	{"myanmar", "burma"},
	{"drc", "democratic republic of the congo", "dr congo"},
	{"ivory coast", "cote divoire"},
}

// maxSynonymWords is the number of words of the longest of them.
const maxSynonymWords = 5

// alternativeSpellings returns other spellings of a name whose first word is often abbreviated.
func alternativeSpellings(name string) []string {
	var forms []string
	for _, pair := range [][2]string{{"st ", "saint "}, {"mt ", "mount "}, {"ft ", "fort "}} {
		for i := range pair {
			if rest, ok := strings.CutPrefix(name, pair[i]); ok {
				forms = append(forms, pair[1-i]+rest)
			}
		}
	}
	return forms
}
