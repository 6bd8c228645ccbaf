package explore

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// asksSize matches a superlative that does not say of what measure.
var asksSize = regexp.MustCompile(`(?i)\b(?:largest|biggest|smallest)\b`)

// preferNamed puts the relation first that the question names, where it does not have the words of
// the pattern: a draft may say population where the question says area. Words that stand for another
// clause, a kind or a name are taken.
func (e *explorer) preferNamed(o open, candidates []Candidate) {
	if len(candidates) < 2 || kgtext.DescribeRelation(o.pattern) == "type" {
		return
	}
	words, phrase := kgtext.NewOpenWords(e.question), kgtext.DescribeRelation(o.pattern)
	for _, t := range e.terms {
		for words.Take(t.Name) > 0 {
			continue // a name may stand there more than once
		}
		if len(t.Links) > 0 && !e.isType(t.Name) {
			words.Take(e.snap.EntityName(t.Links[0].Entity)) // of "302" in the draft the Room 302
		}
	}
	claimed := map[string]bool{}
	for i, c := range e.plan.GetClauses() {
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			if other := kgtext.DescribeRelation(p); i != o.clause && other != "" && other != "type" && other != phrase {
				words.Take(other)
				claimed[other] = true
			}
		}
	}
	own := words.Has(phrase)
	first := candidates[0]
	best, most := 0, max(own, words.Has(e.lastName(first)))
	measure := strings.ToLower(kgtext.WithoutUnit(e.lastName(first)))
	elsewhere := claimed[measure] && measure != phrase
	for i, c := range candidates {
		name := strings.ToLower(kgtext.WithoutUnit(e.lastName(c)))
		n := words.Has(name)
		switch {
		case c.misfit > 0, c.TypeMiss && first.TypeMatch, own > 0 && !strings.Contains(name, phrase):
			continue // it is of other things, or the question has the words of the draft
		case elsewhere && name == phrase:
			n = math.MaxInt // the first is what another clause says, and this is what the draft says
		}
		if n > most && c.Joins == first.Joins && c.EndKind == first.EndKind &&
			math.Abs(float64(c.Comparable-first.Comparable)) < 0.5 {
			best, most = i, n
		}
	}
	if most == 0 && asksSize.MatchString(e.question) && kgtext.SharedWords(phrase, e.question) == 0 {
		// The largest of what has an area has the largest area.
		best = max(0, slices.IndexFunc(candidates, func(c Candidate) bool {
			return strings.HasPrefix(e.lastName(c), "area") && c.Coverage >= first.Coverage && c.Comparable > 0.8 &&
				first.Comparable > 0.8
		}))
	}
	putFirst(candidates, best)
}

// preferHead puts a relation first that ends in the last word of the pattern before one that has it as an attribute: a
// line is what something is "on line" and not its line type.
func (e *explorer) preferHead(o open, candidates []Candidate) {
	head := kgtext.LastWord(o.phrase)
	endsInHead := func(c Candidate) bool {
		name := kgtext.Fold(e.lastName(c))
		return c.Words == 1 && (name == head || strings.HasSuffix(name, " "+head))
	}
	if o.isType() || len(candidates) == 0 || candidates[0].Words < 1 || endsInHead(candidates[0]) {
		return
	}
	first := candidates[0]
	at := slices.IndexFunc(candidates, func(c Candidate) bool {
		return endsInHead(c) && c.Joins == first.Joins && math.Abs(float64(c.Comparable-first.Comparable)) < 0.5
	})
	putFirst(candidates, max(at, 0))
}

// isTurned reports whether a candidate is one step, forward, of a verb in one voice that a phrase has in the other.
func (e *explorer) isTurned(phrase string, c Candidate) bool {
	if len(c.Steps) != 1 || c.Steps[0].Inverse {
		return false
	}
	name := kgtext.Fold(e.lastName(c))
	if verb, isPassive := kgtext.PassiveVerb(name); isPassive {
		return kgtext.IsActive(phrase) && kgtext.SharedWords(phrase, verb) == 1
	}
	verb, isPassive := kgtext.PassiveVerb(phrase)
	return isPassive && strings.HasSuffix(name, "s") && kgtext.SharedWords(name, verb) == 1
}

// preferVoice puts the direction first in which a passive relation says what an active phrase says, or the other way
// round: who "influenced" A is what A is "influenced by", and "cited by" A what A "cites".
func (e *explorer) preferVoice(o open, candidates []Candidate) {
	if len(candidates) == 0 || o.start != nil || o.pattern.GetEnd().GetEntity() == "" ||
		!e.isTurned(o.phrase, candidates[0]) {
		return
	}
	first := candidates[0]
	i := slices.IndexFunc(candidates, func(c Candidate) bool { return slices.Equal(c.Steps, invert(first.Steps)) })
	if i > 0 {
		putFirst(candidates, i)
	}
}

// putFirst puts a candidate before those that were before it.
func putFirst(candidates []Candidate, i int) {
	c := candidates[i]
	copy(candidates[1:i+1], candidates[:i])
	candidates[0] = c
}

// asksWhere begins a question for a place.
var asksWhere = regexp.MustCompile(`(?i)^\s*where\b`)

// preferNearest puts the nearest place first where a question asks for one: the state, if it has the
// relation to the country that was first. A place holds several things, unlike a capital, and is in none by
// the same relation, unlike a neighbour.
func (e *explorer) preferNearest(phrase string, candidates []Candidate) error {
	if len(candidates) < 2 || !asksWhere.MatchString(e.question) ||
		kgtext.SharesWord(phrase, e.lastName(candidates[0])) {
		return nil
	}
	wide := candidates[0]
	for i, c := range candidates[1:] {
		if len(c.Steps) != 1 || c.Steps[0].Inverse {
			continue
		}
		var around, same, held []store.EntityID
		for _, to := range []struct {
			ids   *[]store.EntityID
			steps []walk.Step
		}{{&around, wide.Steps}, {&same, c.Steps}, {&held, invert(c.Steps)}} {
			var err error
			if *to.ids, err = e.follow(c.ends, to.steps); err != nil {
				return err
			}
		}
		isOutside := func(id store.EntityID) bool { return !slices.Contains(wide.ends, id) }
		if len(around) == 0 || len(same) > 0 || len(held) <= len(c.Anchors) || slices.ContainsFunc(around, isOutside) {
			continue
		}
		putFirst(candidates, i+1)
		candidates[0].TypeMatch = true // the question says what the ends are: places
		break
	}
	return nil
}

func (e *explorer) lastName(c Candidate) string {
	return kgtext.SplitIdentifiers(e.snap.RelationName(c.Steps[len(c.Steps)-1].Relation))
}

// addCommon makes the relation of most things count for words such as "in", which say nothing of the
// relation: the cities in a state are not its capital. It returns what it adds to the score of each.
func addCommon(phrase string, candidates []Candidate) func(Candidate) float32 {
	share, joins := func(c Candidate) float32 { return c.Coverage }, func(c Candidate) bool { return c.Joins }
	if !slices.ContainsFunc(candidates, joins) {
		share = func(c Candidate) float32 { return float32(c.Triples) }
		joins = func(Candidate) bool { return true }
	}
	most := float32(0)
	for _, c := range candidates {
		if joins(c) {
			most = max(most, share(c))
		}
	}
	if most == 0 || len(kgtext.NewOpenWords(phrase)) > 0 {
		return func(Candidate) float32 { return 0 }
	}
	return func(c Candidate) float32 { return 0.3 / most * share(c) }
}
