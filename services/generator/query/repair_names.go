package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// splitNames makes of "A, B" in one name, which the question does not have so, two.
func (r *repairer) splitNames() {
	for i := 0; i < len(r.plan.GetClauses()); i++ {
		p := r.plan.GetClauses()[i].GetMatch()
		name := p.GetEnd().GetEntity()
		if name == "" || strings.Contains(r.lower, strings.ToLower(name)) {
			continue
		}
		parts := strings.FieldsFunc(strings.ReplaceAll(name, " and ", ","), func(c rune) bool { return c == ',' })
		if len(parts) < 2 || slices.ContainsFunc(parts, func(part string) bool {
			part = strings.ToLower(strings.TrimSpace(part))
			return part == "" || !strings.Contains(r.lower, part)
		}) {
			continue
		}
		var clauses []*graphv1.QueryClause
		for _, part := range parts {
			c := matchClause(newPattern(p.GetStart().GetVariable(), p.GetSteps()[0].GetRelation(),
				entityTerm(strings.TrimSpace(part))))
			r.because("the question names each by itself")
			clauses = append(clauses, c)
		}
		r.plan.Clauses = slices.Replace(r.plan.Clauses, i, i+1, clauses...)
		i += len(clauses) - 1
	}
}

// spellNames writes names as the question does that the draft has as one word: AgnesMoreau.
func (r *repairer) spellNames() {
	spell := func(name string) (string, bool) {
		words := splitWords(name)
		return words, words != name && !strings.Contains(r.question, name) && strings.Contains(r.question, words)
	}
	for _, c := range r.plan.GetClauses() {
		isSpelled := false
		for i, name := range c.GetValues().GetEntities() {
			if words, ok := spell(name); ok {
				c.GetValues().Entities[i], isSpelled = words, true
			}
		}
		if words, ok := spell(c.GetMatch().GetEnd().GetEntity()); ok {
			c.GetMatch().End, isSpelled = entityTerm(words), true
		}
		if isSpelled {
			r.because("the question spells it so")
		}
	}
}

// numberedThing is a name that ends in a number, "Room 302", which yearForm is none of: "Wimbledon 1990".
var (
	numberedThing = regexp.MustCompile(` (\p{Lu}\p{L}+) (\d+)\b`)
	yearForm      = regexp.MustCompile(`^(?:1[5-9]|20)\d\d$`)
)

// nameNumbers takes the whole name of the question where the draft has its number: of Room(302), and of
// Patient(room=302).
func (r *repairer) nameNumbers() {
	m := numberedThing.FindStringSubmatch(r.question)
	if m == nil || isDate(m[1]+" "+m[2]) || yearForm.MatchString(m[2]) {
		return
	}
	name := m[1] + " " + m[2]
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.GetClauses()), func(c *graphv1.QueryClause) bool {
		v, cond := c.GetValues(), c.GetCondition()
		fact := factOf(r.plan, cond.GetVariable())
		switch {
		case slices.Equal(v.GetEntities(), m[2:]):
			v.Entities = []string{name}
			r.because("the question names " + name)
		case cond.GetOperator() == equal && cond.GetValue() == m[2] && fact != nil:
			fact.End = entityTerm(name)
			r.because("the question names " + name)
			return true
		}
		return false
	})
}

// dropInvented removes facts about names that the question does not have: the model invented them.
func (r *repairer) dropInvented() {
	question := " " + kgtext.Fold(r.question) + " "
	inQuestion := func(name string) bool {
		key := kgtext.Fold(name)
		return key == "" || strings.Contains(question, key) || yearOrNumber.MatchString(name) || isDate(name) ||
			strings.Contains(question, " "+strings.TrimSuffix(key, "s"))
	}
	kept := r.plan.GetClauses()[:0:0]
	for _, c := range r.plan.GetClauses() {
		name := c.GetMatch().GetEnd().GetEntity()
		isType := typeOf(c) != "" || r.describeFlag(c)
		if isType {
			r.takeWord(c.GetMatch())
		}
		if name == "" {
			name = c.GetExclude().GetEnd().GetEntity()
		}
		if v := c.GetCondition(); v.GetOperator() == equal && v.GetValue() != "" &&
			!strings.Contains(question, kgtext.Fold(v.GetValue())) && r.ranksBy(r.phraseOf(v.GetVariable())) {
			r.because("the question asks for the best by it, and has no " + v.GetValue())
			continue
		} else if r.isEnd(v) {
			r.because("the question asks for the first or last")
			r.compared = r.phraseOf(v.GetVariable())
			continue
		}
		if cond := c.GetCondition(); r.isValue(cond) {
			cond.Operator = equal
			r.because("the question sets no bound")
		}
		if rank := r.rankForBound(c.GetCondition()); rank != nil {
			r.because("the question asks for the best, and has no " + c.GetCondition().GetValue())
			kept = append(kept, rank)
			continue
		}
		if relation := kgtext.DescribeRelation(c.GetMatch()); name != "" && r.ranksBy(relation) &&
			kgtext.SameNoun(name, relation) {
			r.because("this names nothing")
			continue
		}
		if name != "" && !isType && !inQuestion(name) {
			place, word := r.openPlace(), r.adjectiveOf(name)
			if c.GetMatch() == nil || place == "" && word == "" {
				r.because("the question does not name " + name)
				continue
			}
			reason := "the question says " + word
			if place != "" {
				reason = "the question names " + place
				c.GetMatch().Steps, word = []*graphv1.RelationStep{{Relation: "in"}}, place
			}
			c.GetMatch().End = entityTerm(word)
			r.because(reason)
		}
		kept = append(kept, c)
	}
	if len(kept) > 0 {
		r.plan.Clauses = kept
	}
}

// rankForBound returns the ranking that a question asks for by its only word that compares, where the draft has a bound
// that it invented instead: which engineer earns more of Engineer(salary="> 50000"). It is nil for other conditions.
func (r *repairer) rankForBound(c *graphv1.QueryCondition) *graphv1.QueryClause {
	if !isBound(c.GetOperator()) || !isNumber(c.GetValue()) || saysNumber.MatchString(r.question) ||
		thanName.MatchString(r.question) || !anySuperlative.MatchString(thanForm.ReplaceAllString(r.question, "")) {
		return nil
	}
	return rankClause(&graphv1.QueryRank{Variable: c.GetVariable(), Descending: c.GetOperator() == greater ||
		c.GetOperator() == greaterEqual})
}

// isBound reports whether an operator sets a bound.
func isBound(op graphv1.QueryOperator) bool {
	return slices.Contains([]graphv1.QueryOperator{less, lessEqual, greater, greaterEqual}, op)
}

// boundForm are words that set a bound, or may.
var boundForm = regexp.MustCompile(`(?i)\b(?:more|less|fewer|above|below|least|most|before|after|since|until|from|` +
	`between|to|exceed\w*|minimum|maximum|within|than|past|beyond|up|max|min|not|\p{L}{2,}er)\b|[-+<>≥≤]`)

// isValue reports whether a condition bounds a number that the question has without a word for that: which talks last
// 60 minutes of Talk(duration=">60").
func (r *repairer) isValue(c *graphv1.QueryCondition) bool {
	return isBound(c.GetOperator()) && isNumber(c.GetValue()) &&
		kgtext.FoldWords(r.question).Mention(kgtext.Fold(c.GetValue())) && !boundForm.MatchString(r.question)
}

// isEnd reports whether a condition stands for the first or the last, which the question asks for without a number: who
// died last of Person(died=1).
func (r *repairer) isEnd(c *graphv1.QueryCondition) bool {
	return c.GetOperator() == equal && isNumber(c.GetValue()) && !saysNumber.MatchString(r.question) &&
		superlative.MatchString(r.question)
}

// saysNumber is a number in digits or words.
var saysNumber = regexp.MustCompile(`(?i)\d|\b(?:` + smallNumbers +
	`|thirty|forty|fifty|hundred|thousand|million|billion|half|dozen)\b`)

// ranksBy reports whether the plan ranks by an attribute.
func (r *repairer) ranksBy(phrase string) bool {
	return phrase != "" && slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetRank() != nil && r.phraseOf(c.GetRank().GetVariable()) == phrase
	})
}

// describeFlag makes what a draft says yes to a kind, unless the question does: of "which plants get aphids"
// Plant(aphid="yes") says what they are. It reports whether it did.
func (r *repairer) describeFlag(c *graphv1.QueryClause) bool {
	p := c.GetMatch()
	phrase := kgtext.DescribeRelation(p)
	isSaid := strings.Contains(r.lower, phrase) ||
		strings.Contains(phrase, " ") && kgtext.SharedWords(phrase, r.question) == 1 // "breakfast included"
	if !strings.EqualFold(p.GetEnd().GetEntity(), "yes") || !isSaid ||
		kgtext.FoldWords(r.question).Mention("yes") || articleForm.MatchString(r.readBefore(phrase)) {
		return false // "the mississippi" is a name
	}
	p.Steps, p.End = []*graphv1.RelationStep{{Relation: TypeRelation}}, entityTerm(phrase)
	r.because("the question says " + phrase)
	return true
}

// adjectiveOf returns the word of the question that is an adjective of a name: Spanish of Spain.
func (r *repairer) adjectiveOf(name string) string {
	words := strings.FieldsFunc(r.question, func(c rune) bool { return !unicode.IsLetter(c) })
	at := slices.IndexFunc(words, func(w string) bool {
		return w != strings.ToLower(w) && slices.Contains(kgtext.AdjectiveBases(kgtext.Fold(w)), kgtext.Fold(name))
	})
	if at < 0 {
		return ""
	}
	return words[at]
}

// takeWord puts the word of the question in the place of a kind that begins like it: dancer for dance.
func (r *repairer) takeWord(p *graphv1.QueryPattern) {
	name := p.GetEnd().GetEntity()
	words := strings.Fields(kgtext.Fold(r.question))
	if len(strings.Fields(name)) != 1 || slices.Contains(words, kgtext.Fold(name)) || len(name) < 3 {
		return
	}
	for _, w := range words {
		if strings.HasPrefix(w, name) && len(w) <= len(name)+3 && w != name+"ly" &&
			strings.TrimSuffix(w, "s") != name && strings.TrimSuffix(w, "es") != name {
			p.End = entityTerm(w)
			r.because("the question says " + w)
			return
		}
	}
}

// askOfNamed asks for what a fact of a named thing leads to, if the plan would answer with the name
// itself: "who wrote A" is not A.
func (r *repairer) askOfNamed() {
	result := r.plan.GetResult()
	if result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	r.mergeLookup()
	named := ""
	for _, c := range r.plan.GetClauses() {
		switch {
		case c.GetRank().GetCount(), c.GetCondition() != nil, c.GetExclude() != nil:
			return
		case c.GetValues() != nil && len(c.GetValues().GetEntities()) == 1:
			named = c.GetValues().GetVariable()
		}
	}
	if named == "" || result.GetVariable() != named {
		return
	}
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p.GetStart().GetVariable() != named || p.GetSteps()[0].GetRelation() == TypeRelation {
			continue
		}
		// The best of one thing is that thing.
		r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
			return c.GetRank() != nil
		})
		if p.GetEnd().GetVariable() == "" {
			p.End = variableTerm(r.newVariable(p.GetSteps()[0].GetRelation()))
		}
		result.Variable = p.GetEnd().GetVariable()
		r.because("the answer is not what the question names")
		return
	}
	// The kind of the named thing is what is asked for: Director("A").
	phrase := kindOf(named)
	if isGeneric(phrase) || phrase == "person" || phrase == "film" || phrase == "movie" {
		phrase = r.residue()
	}
	if phrase == "" {
		return
	}
	v := r.newVariable("answer")
	r.insert(len(r.plan.GetClauses()), "the answer is not what the question names",
		matchClause(newPattern(named, phrase, variableTerm(v))))
	result.Variable = v
}

// residue is the question without its names and its first words.
func (r *repairer) residue() string {
	text := r.lower
	for _, c := range r.plan.GetClauses() {
		for _, name := range c.GetValues().GetEntities() {
			text = strings.ReplaceAll(text, strings.ToLower(name), " ")
		}
	}
	text = interrogative.ReplaceAllString(text, "")
	return clean(strings.Trim(text, " ?.!"))
}

// mergeLookup makes "things directed by A, their director", which asks for the director of A, that.
func (r *repairer) mergeLookup() {
	result := r.plan.GetResult()
	var fact, asked *graphv1.QueryPattern
	others := 0
	for _, c := range r.plan.GetClauses() {
		switch p := c.GetMatch(); {
		case p == nil:
			return
		case p.GetSteps()[0].GetRelation() == TypeRelation:
		case p.GetEnd().GetEntity() != "":
			fact = p
			others++
		case p.GetEnd().GetVariable() == result.GetVariable():
			asked = p
			others++
		default:
			return
		}
	}
	if others != 2 || fact == nil || asked == nil || fact.GetStart().GetVariable() != asked.GetStart().GetVariable() ||
		!kgtext.SharesWord(fact.GetSteps()[0].GetRelation(), asked.GetSteps()[0].GetRelation()) &&
			!kgtext.SharesWord(fact.GetSteps()[0].GetRelation(), "released in located") {
		return
	}
	v := asked.GetStart().GetVariable()
	r.plan.Clauses = []*graphv1.QueryClause{valuesClause(v, []string{fact.GetEnd().GetEntity()}), matchClause(asked)}
	r.because("a thing is not what its own relation leads to")
}

var interrogative = regexp.MustCompile(
	`(?i)^(?:which|what|who|whose)(?: of (?:the|these)(?: two)?)?\s+(?:is|was|are|were|has|had|have|did|does)?\s*`)

func trimArticle(name string) string {
	return strings.TrimPrefix(strings.Trim(strings.TrimSpace(name), "?.!\"'“”"), "the ")
}

func sameNames(a, b []string) bool {
	fold := func(s string) string { return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "the ") }
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y string) bool { return fold(x) == fold(y) }) {
			return false
		}
	}
	return true
}

var negation = regexp.MustCompile(
	`(?i)\b(?:not|n't|never|except(?: for)?|excluding|without|other than|besides|apart from|aside from)\b`)

// excludeNegated makes an exclusion of the last fact whose name follows a negation, if the plan has
// none.
func (r *repairer) excludeNegated() {
	at := negation.FindStringIndex(r.lower)
	if at == nil {
		return
	}
	last := -1
	for i, c := range r.plan.GetClauses() {
		r.excludeAny(c)
		if c.GetExclude() != nil || c.GetCondition().GetOperator() == graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL {
			return
		}
		name := strings.ToLower(c.GetMatch().GetEnd().GetEntity())
		if name == "" || c.GetMatch().GetSteps()[0].GetRelation() == TypeRelation {
			continue
		}
		if strings.Contains(r.lower[at[1]:], name) && !strings.Contains(r.lower[:at[0]], name) {
			last = i
		}
	}
	if last < 0 {
		r.excludeDone()
		return
	}
	before := r.plan.GetClauses()[last]
	after := excludeClause(before.GetMatch())
	r.because("the question says " + r.question[at[0]:at[1]])
	r.plan.Clauses[last] = after
	r.excludeAny(after)
}

// anyForm stands before something of a kind: "has never visited a vet".
var anyForm = regexp.MustCompile(`(?i)\b(?:an?|any) $`)

// excludeAny excludes what has a relation to anything of a kind that the draft takes for a name.
func (r *repairer) excludeAny(c *graphv1.QueryClause) {
	p, kind := c.GetExclude(), c.GetExclude().GetEnd().GetEntity()
	if kind == "" || kind != strings.ToLower(kind) || p.GetSteps()[0].GetRelation() == TypeRelation ||
		!anyForm.MatchString(r.readBefore(kind)) {
		return
	}
	p.End = variableTerm(r.newVariable(kind))
	r.because("the question says any " + kind)
}

// notDone is "which products have never been ordered".
var notDone = regexp.MustCompile(`^(?i:which|what|how many) (?:\p{Ll}+ )*?(\p{Ll}+) ` +
	`(?:have|has|were|was|are|is) (?:not|never) (?:yet |ever )?(?:been )?(\p{Ll}+)(?: yet)?\W*$`)

// excludeDone excludes the things to which was done what the question says was not, where the draft does not.
func (r *repairer) excludeDone() {
	m, root := notDone.FindStringSubmatch(r.question), r.root()
	if m == nil || !kgtext.IsParticiple(m[2]) || !kgtext.SameNoun(m[1], kindOf(root)) {
		return
	}
	done := excludeClause(newPattern(root, TypeRelation, entityTerm(m[2])))
	reason := "the question says that they are not " + m[2]
	at := slices.IndexFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return typeOf(c) != "" && c.GetMatch().GetStart().GetVariable() == root &&
			kgtext.SharesWord(m[2], typeOf(c)) && !kgtext.SameNoun(m[1], typeOf(c))
	})
	if at < 0 {
		r.insert(len(r.plan.GetClauses()), reason, done)
		return
	}
	r.because(reason)
	r.plan.Clauses[at] = done
}

// dropContradicted removes a fact about a name that the question gives once and the plan excludes, or that a
// thing has it: of "what other film than A" the film is not A.
func (r *repairer) dropContradicted() {
	excluded := map[string]bool{}
	for _, c := range r.plan.GetClauses() {
		name := c.GetExclude().GetEnd().GetEntity()
		if c.GetCondition().GetOperator() == graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL {
			name = c.GetCondition().GetValue()
		}
		excluded[strings.ToLower(name)] = name != ""
	}
	anchored := func(name string) bool { // by another name
		return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			p := c.GetMatch()
			return p.GetEnd().GetEntity() != "" && strings.ToLower(p.GetEnd().GetEntity()) != name &&
				p.GetSteps()[0].GetRelation() != TypeRelation
		})
	}
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
		is := strings.Join(c.GetValues().GetEntities(), "\n")
		name := strings.ToLower(cmp.Or(c.GetMatch().GetEnd().GetEntity(), is))
		if !excluded[name] || !anchored(name) || strings.Count(r.lower, name) != 1 || strings.Contains(r.lower,
			"but not") &&
			!strings.Contains(r.lower, "not "+name) && strings.Index(r.lower, name) < strings.Index(r.lower,
			"but not") {
			return false
		}
		r.because("the question excludes " + name)
		return true
	})
}

// excludeCompared excludes the thing that others are found to be the same as.
func (r *repairer) excludeCompared() {
	result := r.plan.GetResult()
	if !strings.Contains(r.lower, "the same") || result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS {
		return
	}
	for _, c := range r.plan.GetClauses() {
		cond := c.GetCondition()
		if cond.GetOperator() != equal || cond.GetOtherVariable() == "" {
			continue
		}
		owner := r.ownerOf(cond.GetOtherVariable())
		if r.ownerOf(cond.GetVariable()) != result.GetVariable() || owner == result.GetVariable() {
			continue
		}
		for _, other := range r.plan.GetClauses() {
			if v := other.GetValues(); v.GetVariable() == owner && len(v.GetEntities()) == 1 {
				r.insert(len(r.plan.GetClauses()), "the others are asked for",
					conditionClause(result.GetVariable(), graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL,
						v.GetEntities()[0]))
				return
			}
		}
	}
}
