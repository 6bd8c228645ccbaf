package check

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

var (
	// fromYear and beforeThing match what stands around the year of a thing: "a comedy from 1987", "a 1987 comedy".
	fromYear    = regexp.MustCompile(`(?i)\b(?:an?|the) (?:[\p{L}-]+ ){1,4}from $`)
	beforeThing = regexp.MustCompile(`^ (\p{Ll}[\p{L}-]+)`)
	article     = regexp.MustCompile(`(?i)\b(?:an?|the) $`)
	// year matches years of which a number of other things is unlikely.
	year = regexp.MustCompile(`^(?:1[6-9]|20)\d\d$`)
	// isCounted matches words for what there are many of.
	isCounted = regexp.MustCompile(`^(?:seat|seats|capacity|member|strong|page|word|people|person|mile|meter|room)$`)
	// ofLife matches relations to dates of a life or a time, which are not given so.
	ofLife = regexp.MustCompile(`(?i)birth|born|death|died|start|end`)
)

// facts is how many facts of an entity are read for their dates.
const facts = 100

// date completes the claim of a year, the ith mention of a sentence, where that gives the year of a thing alone: "Tides
// (1998)", "Tides, a film from 1998". Its relation is the only one to dates that its subject has, or the first name of
// the sentence, which then is the subject. It reports whether there is one, other than those of a life.
func (c *Checker) date(ctx context.Context, q *question.Question, text string, mentions []mention, i int,
	t *graphv1.Triple) (isDated bool, err error) {
	if !year.MatchString(mentions[i].text) {
		return false, nil
	}
	names := []string{t.GetSubject(), mentions[0].text}
	if inBrackets(text, mentions, i) {
		names = []string{mentions[i-1].text}
	} else if !isOfThing(text, mentions[i]) {
		return false, nil
	}
	for _, name := range slices.Compact(names) {
		relations, err := c.listDates(ctx, q, name)
		if err != nil {
			return false, err
		}
		if len(relations) == 1 && !ofLife.MatchString(relations[0]) {
			t.Subject, t.Relation = name, relations[0]
			return true, nil
		}
	}
	return false, nil
}

// isOfThing reports whether a year tells of when a thing is.
func isOfThing(text string, m mention) bool {
	before, after := text[:m.start], text[m.end:]
	if fromYear.MatchString(before) {
		return true
	}
	thing := beforeThing.FindStringSubmatch(after)
	return article.MatchString(before) && thing != nil && !kgtext.IsUnit(thing[1]) && !isCounted.MatchString(thing[1])
}

// inBrackets reports whether the ith mention of a text stands alone in brackets behind the one before it.
func inBrackets(text string, mentions []mention, i int) bool {
	m := mentions[i]
	return i > 0 && text[mentions[i-1].end:m.start] == " (" && strings.HasPrefix(text[m.end:], ")")
}

// listDates returns the relations of an entity to dates, in words.
func (c *Checker) listDates(ctx context.Context, q *question.Question, entity string) (relations []string, err error) {
	resp, err := c.listNeighbours(ctx, q, entity, retrieverv1.Direction_DIRECTION_OUT, facts)
	for _, t := range resp.GetTriples() {
		words := kgtext.VerbaliseRelation(t.GetRelation())
		if _, isDate := kgtext.ParseDate(t.GetObject()); isDate && !slices.Contains(relations, words) {
			relations = append(relations, words)
		}
	}
	return relations, err
}
