package claims

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

// minProse and maxProse bound the length of a sentence, in bytes.
const minProse, maxProse = 30, 300

// sentenceEnd is the end of a sentence before the next one. An initial is none.
var sentenceEnd = regexp.MustCompile(`([a-z0-9)\]"]{2}[.!?])\s+([A-Z"(])`)

// MakeProse makes claims of sentences that people wrote: of the reference texts of open questions, n of
// each verdict. A sentence is true if it has both names of a fact of the knowledge graph as they are
// spelt there. Errors are seeded into others: in place of the object another one of the relation
// (swapped), or in place of the subject a name that the graph does not hold (strange). Each sentence is
// used once, in one part of the questions (see dataset.Part).
func MakeProse(questions, facts string, part dataset.Part, n int, seed int64) ([]Item, error) {
	known, err := readFacts(facts)
	if err != nil {
		return nil, err
	}
	set, err := dataset.ReadPart(questions, "open", part)
	if err != nil {
		return nil, err
	}
	m := &maker{facts: known, random: rand.New(rand.NewPCG(uint64(seed), 11)), seen: map[string]bool{}}
	var drafts []Item
	for _, q := range set.Questions {
		for _, text := range q.Answers {
			for sentence := range strings.SplitSeq(sentenceEnd.ReplaceAllString(text, "$1\n$2"), "\n") {
				drafts = append(drafts, m.readSentence(strings.TrimSpace(sentence), q.TopicEntities)...)
			}
		}
	}
	m.random.Shuffle(len(drafts), func(i, j int) { drafts[i], drafts[j] = drafts[j], drafts[i] })
	var items []Item
	for _, kind := range []string{Swapped, Strange, True} { // those with fewer sentences to choose from first
		want := n
		for _, draft := range drafts {
			if want == 0 {
				break
			}
			if m.seen[draft.original] {
				continue
			}
			item, ok := m.seedError(draft, kind)
			if !ok {
				continue
			}
			m.seen[draft.original] = true
			item.ID, item.Kind = fmt.Sprintf("prose-%s-%d", kind, want), kind
			items = append(items, item)
			want--
		}
		if want > 0 {
			return nil, fmt.Errorf("make claims from %s: it has no room for %d more of the kind %s; ask for fewer "+
				"with --claims, or more questions with --part all", questions, want, kind)
		}
	}
	for i := range items {
		k := slices.IndexFunc(kinds, func(k kindOfClaim) bool { return k.name == items[i].Kind })
		items[i].Gold = kinds[k].gold
	}
	m.random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items, nil
}

// readSentence returns a claim for each fact of a topic entity whose names both stand in a sentence.
func (m *maker) readSentence(sentence string, topics []string) (items []Item) {
	if len(sentence) < minProse || len(sentence) > maxProse || strings.Contains(sentence, "\n") {
		return nil
	}
	for _, topic := range topics {
		if findName(sentence, topic) < 0 {
			continue
		}
		for _, relation := range m.facts.relations[topic] {
			for _, object := range m.facts.objects[[2]string{topic, relation}] {
				if findName(sentence, object) < 0 || strings.Contains(object, topic) ||
					strings.Contains(topic, object) {
					continue
				}
				items = append(items, Item{Sentence: sentence, Subject: topic, Relation: relation, Object: object,
					Topic: topic, original: sentence, listed: m.facts.objects[[2]string{topic, relation}]})
			}
		}
	}
	return items
}

// seedError turns a true sentence into one of a kind; false if it cannot.
func (m *maker) seedError(item Item, kind string) (Item, bool) {
	switch kind {
	case Swapped:
		peers := m.facts.byRelation[item.Relation]
		if len(item.listed) != 1 || len(peers) < 10 || m.facts.several(item.Relation) > single {
			return item, false
		}
		other := pick(m.random, peers).object
		if !sayable(other) || m.mayOverlap(other, item.listed) || m.facts.joins(item.Subject, other) ||
			strings.Contains(item.Sentence, other) {
			return item, false
		}
		item.Sentence, item.Object = replaceName(item.Sentence, item.Object, other), other
	case Strange:
		first, last := strings.Fields(item.Subject), strings.Fields(pick(m.random, m.facts.all).subject)
		if len(first) < 2 || len(last) < 2 {
			return item, false
		}
		name := first[0] + " " + last[len(last)-1]
		if !sayable(name) || strings.ContainsAny(name, "()") || m.facts.hasName(name) ||
			strings.Contains(item.Object, first[0]) {
			return item, false
		}
		item.Sentence, item.Subject = replaceName(item.Sentence, item.Subject, name), name
	}
	return item, true
}

// findName returns where a name stands in a sentence as words of its own; -1 if it does not.
func findName(sentence, name string) int {
	if name == "" || !utf8.ValidString(name) {
		return -1
	}
	if at := nameIn(name).FindStringIndex(sentence); at != nil {
		return at[0]
	}
	return -1
}

// replaceName puts a name in the place of another wherever that stands as words of its own.
func replaceName(sentence, name, by string) string {
	if findName(sentence, name) < 0 {
		return sentence
	}
	return nameIn(name).ReplaceAllString(sentence, "${1}"+strings.ReplaceAll(by, "$", "$$")+"${2}")
}

// nameIn matches a name that is no part of another word, number or date.
func nameIn(name string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\pL\pN.-])` + regexp.QuoteMeta(name) + `(\.?$|\.\s|[^\pL\pN.-])`)
}
