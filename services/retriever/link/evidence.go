package link

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// Evidence is the feature vector of a link, each about 0 to 1.
type Evidence [evidenceCount]float32

// The features.
const (
	// bias is 1.
	bias = iota
	// Matched by name, another form, a part or initials; 1 or 0.
	nameMatch
	formMatch
	partMatch
	initialsMatch
	// likeness of the mention and the name; letters of the name found anywhere in the text.
	likeness
	knownLetters
	// fame is the entity's degree on a logarithmic scale; fameGap is its distance to the highest of
	// the same mention.
	fame
	fameGap
	// letters and words of the mention.
	letters
	words
	// schema is the share of its letters in words of the graph's relations, stop words and numbers.
	schema
	// insideName: part of a longer name; touchesName: overlaps an exact name.
	insideName
	touchesName
	// uncapitalised: no capital in a text with capitals.
	uncapitalised
	// namesakes: the number of other entities that the mention may mean.
	namesakes
	// coverage: the mention's share of the text.
	coverage
	// lowercaseName: the entity's name has no capital, like a common noun.
	lowercaseName
	// bestMeaning and meanMeaning: see meaning.
	bestMeaning
	meanMeaning

	evidenceCount
)

// EvidenceNames are the names of the features, for reports.
var EvidenceNames = [evidenceCount]string{
	"bias", "name", "form", "part", "initials", "likeness", "known letters", "fame", "fame gap", "letters",
	"words", "schema", "inside name", "touches name", "uncapitalised", "namesakes", "coverage", "lowercase",
	"best meaning", "mean meaning",
}

func (q *question) evidence(c candidate, m meaning) Evidence {
	e := Evidence{bias: 1, likeness: c.likeness, knownLetters: c.knownLetters, bestMeaning: m.best, meanMeaning: m.mean}
	switch c.method {
	case byName, byAlias:
		e[nameMatch] = 1
	case byForm:
		e[formMatch] = 1
	case byPart:
		e[partMatch] = 1
	case byInitials:
		e[initialsMatch] = 1
	}
	most := c.degree
	for _, o := range q.candidates {
		if o.mention == c.mention && o.method == c.method {
			most = max(most, o.degree)
		}
	}
	e[fame] = fameScore(c.degree)
	e[fameGap] = fameScore(most) - e[fame]
	e[namesakes] = float32(math.Log10(float64(max(c.namesakes, 1))))
	for _, found := range q.exactMentions {
		if c.isInside(found) {
			e[insideName] = 1
		}
		if c.method >= byForm && c.touches(found) {
			e[touchesName] = 1
		}
	}
	if first, _ := utf8.DecodeRuneInString(q.snap.EntityName(c.entity)); 'a' <= first && first <= 'z' {
		e[lowercaseName] = 1
	}
	q.addTextEvidence(c, &e)
	return e
}

// addTextEvidence adds the features of the mention's words and of the words around it.
func (q *question) addTextEvidence(c candidate, e *Evidence) {
	mentioned, all, common, namely, capitals := 0, 0, 0, 0, 0
	for i, w := range q.words {
		if !w.stop {
			all += w.letters
		}
		if i < c.first || i >= c.last {
			continue
		}
		mentioned += w.letters
		if !w.stop {
			namely += w.letters
		}
		if q.schema[w.folded] || w.stop || w.number {
			common += w.letters
		}
		if w.capital {
			capitals++
		}
	}
	e[letters] = 1 - float32(math.Exp(-float64(mentioned)/6))
	e[words] = float32(min(c.words(), 4)) / 4
	e[schema] = float32(common) / float32(max(mentioned, 1))
	e[coverage] = float32(namely) / float32(max(all, 1))
	if q.cased && capitals == 0 {
		e[uncapitalised] = 1
	}
}

// fameScore grows with the number of an entity's triples, from 0.06 for one to 1 for a hundred
// thousand: of two entities with one name, the one with more triples is meant more often.
func fameScore(degree int) float32 {
	return float32(min(math.Log10(1+float64(max(degree, 1)))/5, 1))
}

// findSchemaWords returns the words of a text that occur in the graph's relations.
func findSchemaWords(snap Snapshot, text []word) map[string]bool {
	found := map[string]bool{}
	var asked []string
	for _, w := range text {
		if !w.stop && !slices.Contains(asked, w.folded) {
			asked = append(asked, w.folded)
		}
	}
	for id := range store.RelationID(snap.Info().Relations) {
		name := snap.RelationName(id)
		lower := strings.ToLower(name)
		// A cheap test, because most relations have none.
		if !slices.ContainsFunc(asked, func(word string) bool { return strings.Contains(lower, word) }) {
			continue
		}
		for part := range strings.FieldsSeq(strings.ToLower(kgtext.VerbaliseRelationInContext(name))) {
			if slices.Contains(asked, part) {
				found[part] = true
			}
		}
	}
	return found
}

// Weights are the weights of the evidence. `calibrate weights` fitted them to the dev parts of
// WebQSP, SimpleQuestions, zsRE, QALD-10 and MetaQA together, so that the topic entity ranks first
// and scores are probabilities. Fame itself hardly counts; what counts is to have fewer triples
// than a namesake.
var Weights = Evidence{
	bias: -13.84, nameMatch: 3.44, formMatch: 0.42, partMatch: 2.87, initialsMatch: 5.86,
	likeness: 1.21, knownLetters: 2.25, fame: -0.77, fameGap: -7.19, letters: 3.04,
	words: 5.29, schema: -4.94, insideName: -3.77, touchesName: 0.30, uncapitalised: -2.21,
	namesakes: -2.01, coverage: 2.21, lowercaseName: -1.58, bestMeaning: 7.35, meanMeaning: 7.14,
}

// Weigh returns the probability that a link with this evidence is the topic, 0 to 1.
func Weigh(e Evidence) float32 {
	sum := float32(0)
	for i, weight := range Weights {
		sum += weight * e[i]
	}
	return float32(1 / (1 + math.Exp(-float64(sum))))
}

// meaning compares a text with the relations of an entity: the best cosine and the mean of the best
// three.
type meaning struct{ best, mean float32 }

// unknownMeaning is the average of topic entities, for graphs without vectors.
var unknownMeaning = meaning{0.41, 0.34}

// compareMeanings returns the meaning of each candidate: "who wrote" is near to the relations of a
// book and far from those of a river with the same name.
func (q *question) compareMeanings(ctx context.Context, encoder Encoder) ([]meaning, error) {
	meanings := make([]meaning, len(q.candidates))
	for i := range meanings {
		meanings[i] = unknownMeaning
	}
	if q.snap.Info().Dims == 0 {
		return meanings, nil
	}
	vectors, err := encoder.Encode(ctx, []string{q.text})
	if err != nil {
		return nil, err
	}
	cosines := map[store.RelationID]float32{}
	around := make([][]float32, len(q.candidates))
	for i, c := range q.candidates {
		for _, dir := range []store.Direction{store.Out, store.In} {
			// A country has a hundred thousand edges and a hundred relations.
			relations, err := q.snap.Relations(ctx, c.entity, dir)
			if err != nil {
				return nil, err
			}
			for _, r := range relations {
				cosine, ok := cosines[r.Relation]
				if !ok {
					cosine = vector.Dot(vectors[0], q.snap.RelationVector(r.Relation))
					cosines[r.Relation] = cosine
				}
				around[i] = append(around[i], cosine)
			}
		}
	}
	for i, a := range around {
		if len(a) > 0 {
			meanings[i] = newMeaning(a)
		}
	}
	return meanings, nil
}

func newMeaning(cosines []float32) meaning {
	slices.Sort(cosines)
	slices.Reverse(cosines)
	top := cosines[:min(3, len(cosines))]
	sum := float32(0)
	for _, c := range top {
		sum += c
	}
	return meaning{top[0], sum / float32(len(top))}
}
