package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// comparative are words that compare and name nothing.
var comparative = regexp.MustCompile(
	`(?i)^(?:(?:the|more|most|less|first|earliest|earlier|early|last|latest|later|recent|` +
		`recently|newest|newer|oldest|older|true|false|film|movie|one|time)\s*)+$`)

// dropComparatives removes facts and names such as "first film", which are words of a comparison.
func (r *repairer) dropComparatives() {
	r.plan.Clauses = slices.DeleteFunc(r.plan.Clauses, func(c *graphv1.QueryClause) bool {
		if v := c.GetValues(); v != nil {
			kind := kindOf(v.GetVariable())
			kept := slices.DeleteFunc(slices.Clone(v.GetEntities()), func(name string) bool {
				return name == strings.ToLower(name) && (comparative.MatchString(name) || superlative.MatchString(name))
			})
			if len(kept) == 0 || len(kept) == len(v.GetEntities()) && r.isNoName(v.GetEntities(), kind) {
				r.because("this names nothing")
				if !isGeneric(kind) {
					c.Clause = matchClause(newPattern(v.GetVariable(), TypeRelation, entityTerm(kind))).GetClause()
					return false
				}
				return len(r.plan.GetClauses()) > 1 || r.lower != r.question
			}
			if len(kept) > 0 && len(kept) < len(v.GetEntities()) {
				v.Entities = kept
				r.because("a word of comparison is no name")
			}
			return false
		}
		name := c.GetMatch().GetEnd().GetEntity()
		if name == "" || name != strings.ToLower(name) || !comparative.MatchString(name) ||
			c.GetMatch().GetSteps()[0].GetRelation() == TypeRelation {
			return false
		}
		r.because("a word of comparison is no name")
		phrase, kind := kgtext.DescribeRelation(c.GetMatch()), kindOf(c.GetMatch().GetStart().GetVariable())
		asks := superlative.ReplaceAllString(r.question, "")
		if kgtext.SharesWord(phrase, asks) && !kgtext.SharesWord(phrase, kind) {
			r.compared = phrase
		}
		return true
	})
}

// isNoName reports whether words of a question in mixed case are no name: they have no capital, nor has the question
// where it says them, behind its first word.
func (r *repairer) isNoName(names []string, kind string) bool {
	if r.question == "" || r.lower == r.question {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		word, isTitled := r.isTitled(firstWord(name))
		isTitled = isTitled && word != strings.ToLower(word) && strings.Contains(r.lower, " "+strings.ToLower(name))
		if noun := kgtext.LastWord(name); kgtext.SameNoun(noun, kind) && noun == strings.ToLower(noun) &&
			superlativeEnd.MatchString(r.readBefore(name)) {
			return false // the newest Moroccan recipe
		}
		return isTitled || name != strings.ToLower(name) || strings.ContainsAny(name, "0123456789") ||
			len(strings.Fields(name)) < 2
	})
}

var (
	// orAtEnd is "Which came out first, A or B?".
	orAtEnd = regexp.MustCompile(`^(.+?)(?:(?:,|:| -|—) |--)(.+?),? or (.+?)\s*\?*$`)
	// orInFront is "Has A or B directed more films?", "Was A or B released first?".
	orInFront = regexp.MustCompile(`(?i)^(?:is|was|are|were|has|have|had|did|does|do) (.+?) or (.+)$`)
	// orBeforeVerb is "did A or B have a larger population".
	orBeforeVerb = regexp.MustCompile(`(?i)^(?:has|have|had|did|does|do) (?:the )?(.+?) or (?:the )?(.+?) ` +
		`((?:have|has|had|get|got|win|won|score|scored|receive|received|earn|earned)\b.+)$`)
	leastWord = regexp.MustCompile(
		`(?i)\b(first|earliest|earlier|oldest|older|least|fewest|fewer|less|smallest|smaller|` +
			`lowest|lower|shortest|shorter|youngest|minimum|cheapest|cheaper|lightest|lighter|shallowest|` +
			`shallower|narrowest|narrower|slowest|worst)\b`)
	mostWord = regexp.MustCompile(
		`(?i)\b(last|latest|later|newest|newer|most|more|largest|larger|highest|higher|biggest|` +
			`bigger|longest|longer|greatest|greater|tallest|taller|maximum|recent|best|heaviest|heavier|deepest|` +
			`deeper|widest|wider|priciest|top)\b`)
	countedNoun = regexp.MustCompile(
		`(?i)\b(?:more|most|fewer|fewest|less)\s+((?:\p{L}+\s)?\p{L}+s|people|spacecraft|aircraft)\b`)
)

// compareNamed makes a plan of a comparison of two names that the question gives as "A or B".
func (r *repairer) compareNamed() {
	m := orAtEnd.FindStringSubmatch(r.question)
	if m == nil || orInFront.MatchString(r.question) {
		m = r.findChoice()
	}
	if c := orBeforeVerb.FindStringSubmatch(r.question); m == nil && c != nil {
		m = []string{c[0], c[3], c[1], c[2]}
	}
	if m == nil || leastWord.FindString(m[1]) == "" && mostWord.FindString(m[1]) == "" {
		return
	}
	names := []string{trimArticle(m[2]), trimArticle(m[3])}
	ranked, listed := false, false
	for _, c := range r.plan.GetClauses() {
		ranked = ranked || c.GetRank() != nil
		listed = listed || len(c.GetValues().GetEntities()) == 2 && sameNames(c.GetValues().GetEntities(), names)
	}
	if ranked && listed {
		return
	}
	// The attribute is what the draft compares, or the question's own words.
	phrase, count := "", false
	for _, c := range r.plan.GetClauses() {
		if rank := c.GetRank(); rank != nil {
			phrase, count = r.phraseOf(rank.GetVariable()), rank.GetCount()
		} else if c.GetCondition() != nil && phrase == "" {
			phrase = r.phraseOf(c.GetCondition().GetVariable())
		}
	}
	if phrase == "" {
		phrase = strings.TrimSpace(interrogative.ReplaceAllString(m[1], ""))
	}
	descending := leastWord.FindString(m[1]) == ""
	if phrase == "age" {
		descending = !youngest.MatchString(m[1])
	}
	if phrase == "" || ranked && !listed {
		phrase = cmp.Or(phrase, strings.TrimSpace(interrogative.ReplaceAllString(m[1], "")))
	}
	if noun := countedNoun.FindStringSubmatch(m[1]); noun != nil && !count {
		phrase, count = strings.TrimSpace(interrogative.ReplaceAllString(m[1], "")), true
	}
	b := newBuilder()
	v := b.variable("thing")
	b.add(valuesClause(v, names))
	if count {
		attribute := b.attribute(v, phrase)
		b.add(rankClause(&graphv1.QueryRank{Variable: attribute, Count: true, GroupBy: v, Descending: descending}))
	} else {
		b.rank(v, phrase, descending)
	}
	b.plan.Result.Variable = v
	r.replan(b, "the question compares "+names[0]+" with "+names[1])
}

var (
	// hasMore is "did A direct more films than B", howManyMore "how many more films did A direct than B".
	hasMore = regexp.MustCompile(asksOfName + `((?:\p{Ll}+ ){0,2}?)(more|fewer) ((?:\p{L}+ )?\p{Ll}+) than ` +
		`(?:the )?(.+?)` + atEnd)
	howManyMore = regexp.MustCompile(`^[Hh]ow many (more|fewer) (\p{Ll}+(?: \p{Ll}+)?) ` + strings.ToLower(auxiliary) +
		` (?:the )?(` + properName + `) ((?:\p{Ll}+ ){0,2}?)than (?:the )?(.+?)` + atEnd)
	atEnd = `(?: (?:has|have|had|did|does|do))?\W*$`
)

// readCounts reads the comparison of how many of something two names have, where the draft does not make it.
func (r *repairer) readCounts() {
	var verb, more, things, first, second string
	function := graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	if m := hasMore.FindStringSubmatch(r.question); m != nil {
		first, verb, more, things, second = m[1], m[2], m[3], m[4], m[5]
	} else if m := howManyMore.FindStringSubmatch(r.question); m != nil {
		more, things, first, verb, second = m[1], m[2], m[3], m[4], m[5]
		function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	}
	verb = strings.TrimSpace(verb)
	owns := verb == "" || lightVerb.MatchString(verb)
	if result := r.plan.GetResult(); things == "" || !owns && kgtext.ComparesCounts(result) &&
		result.GetFunction() == function && !kgtext.IsListed(r.plan, result.GetVariable()) {
		return
	}
	b := newBuilder()
	var counted []string
	for _, name := range []string{first, second} {
		if owns {
			owner := b.variable("thing")
			b.add(valuesClause(owner, []string{clean(name)}))
			counted = append(counted, b.attribute(owner, things))
			continue
		}
		v := b.variable(kgtext.Singular(things))
		b.add(matchClause(newPattern(v, TypeRelation, entityTerm(kgtext.Singular(things)))))
		b.add(matchClause(newPattern(v, verb, entityTerm(clean(name)))))
		counted = append(counted, v)
	}
	if more == "fewer" {
		slices.Reverse(counted)
	}
	b.plan.Result = &graphv1.QueryResult{Variable: counted[0], OtherVariable: counted[1], Function: function}
	r.replan(b, "the question compares how many "+things+" there are")
}

// comparisons are "is A older than B", "is the weight of A lower than that of B" and "does A have a lower weight than
// B", with both names, the comparative and what is measured, unless the comparative says that.
var comparisons = []*regexp.Regexp{
	regexp.MustCompile(asksOfName + `(?P<more>\p{Ll}{2,}er)\s+than\s+(?:the\s+)?(?P<other>` + properName +
		`)\s*\?*$`),
	regexp.MustCompile(`^` + auxiliary + ` the (?P<measure>(?:\p{Ll}+ ){0,2}\p{Ll}+) of (?:the )?(?P<one>` +
		properName + `) (?P<more>\p{Ll}{2,}er) than (?:that|the one) of (?:the )?(?P<other>` + properName + `)\s*\?*$`),
	regexp.MustCompile(asksOfName + `have an? (?P<more>\p{Ll}{2,}er) (?P<measure>(?:\p{Ll}+ ){0,2}\p{Ll}+) than ` +
		`(?:the )?(?P<other>` + properName + `)\s*\?*$`),
}

// findCompared returns two names that a question compares, by what, and how; phrase is empty if it compares none.
func (r *repairer) findCompared() (first, second, phrase string, operator graphv1.QueryOperator) {
	for _, form := range comparisons {
		m := form.FindStringSubmatch(r.question)
		if m == nil {
			continue
		}
		phrase, operator = comparesBy(m[form.SubexpIndex("more")])
		if i := form.SubexpIndex("measure"); i >= 0 {
			phrase = m[i]
		}
		return m[form.SubexpIndex("one")], m[form.SubexpIndex("other")], phrase, operator
	}
	return "", "", "", 0
}

// compareTwo compares two names by what an adjective measures, where the draft compares nothing.
func (r *repairer) compareTwo() {
	one, other, phrase, operator := r.findCompared()
	isOfBoth := func(name string) bool {
		return kgtext.Fold(name) == kgtext.Fold(clean(one)) || kgtext.Fold(name) == kgtext.Fold(clean(other))
	}
	isNamed := slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return slices.ContainsFunc(c.GetValues().GetEntities(), isOfBoth) // and not in the place of a value
	})
	if phrase == "" || isNamed && slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetCondition() != nil || c.GetRank() != nil && !c.GetRank().GetCount()
	}) {
		return
	}
	b := newBuilder()
	first, second := b.variable("thing"), b.variable("thing")
	b.add(valuesClause(first, []string{clean(one)}))
	of := b.attribute(first, phrase)
	b.add(valuesClause(second, []string{clean(other)}))
	b.add(compareClause(of, operator, b.attribute(second, phrase)))
	b.plan.Result = &graphv1.QueryResult{Variable: first, Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}
	r.replan(b, "the question compares both by their "+phrase)
}

// comparesBy returns what a comparative measures, empty if that is not known, and which operator it is.
func comparesBy(comparative string) (phrase string, operator graphv1.QueryOperator) {
	switch comparative {
	case "younger":
		comparative = "newer"
	case "elder":
		comparative = "older"
	}
	superlative := strings.TrimSuffix(comparative, "r") + "st"
	if isMost(superlative) {
		return bestWord(superlative), greater
	}
	return bestWord(superlative), less
}

var (
	auxiliary = `(?:Is|Was|Are|Were|Has|Have|Had|Did|Does|Do|Which|What|Who|is|was|are|were|has|have|had|did|does|do)`
	// properName is a name in capitals with small words between, or a number such as web-01.
	properName = `(?:\p{Ll}+[-_]?\d[\p{L}\d_-]*|` +
		`\p{Ll}{0,2}[\p{Lu}\d][\p{L}\d'’.\-–&!]*(?:\s+(?:(?:of|the|and|de|la|for|to|in|on|a|` +
		`an)\s+){0,2}[\p{Lu}\d][\p{L}\d'’.\-–&!]*)*)`
	// asksOfName begins a question of yes or no about a name.
	asksOfName = `^` + auxiliary + `\s+(?:the\s+)?(?P<one>` + properName + `)\s+`
	// choice is "A or B" in capitals.
	choice = regexp.MustCompile(`(?:^` + auxiliary + `\s+)?(?:the\s+)?(` + properName + `)\s+or\s+(?:the\s+)?(` +
		properName + `)`)
)

// findChoice finds "A or B" within a question: what is asked, A and B.
func (r *repairer) findChoice() []string {
	at := choice.FindStringSubmatchIndex(r.question)
	if at == nil {
		return nil
	}
	asked := r.question[:at[0]] + " " + r.question[at[1]:]
	asked = strings.Trim(regexp.MustCompile(`^\s*`+auxiliary+`\b`).ReplaceAllString(asked, ""), " ?")
	first := regexp.MustCompile(`^`+auxiliary+`\s+(?:the\s+)?`).ReplaceAllString(r.question[at[2]:at[3]], "")
	return []string{r.question, asked, first, r.question[at[4]:at[5]]}
}

// readNumbersAsConditions makes conditions of facts that end in a number or a date of the question.
func (r *repairer) readNumbersAsConditions() {
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		value := p.GetEnd().GetEntity()
		if value == "" || !yearOrNumber.MatchString(value) && !isDate(value) || p.GetStart().GetVariable() == "" {
			continue
		}
		v := r.newVariable(p.GetSteps()[0].GetRelation())
		p.End = variableTerm(v)
		added := conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, value)
		r.plan.Clauses = slices.Insert(r.plan.Clauses, i+1, added)
		r.because("a number or a date is compared by value")
		return
	}
}

var yearOrNumber = regexp.MustCompile(`^-?[\d.,]+$`)

// thanName is "larger than Kilifi".
var thanName = regexp.MustCompile(
	`(?i)\bthan\s+(?:the\s+|that of\s+)?([^\d\s?.,][^?.,]*?)(?:['’]s)?(?:\s+(?:has|have|had|did|does|do|is|` +
		`was))?\s*[?.]*$`)

// smallNumbers are numbers in words.
const smallNumbers = `one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty`

// spelledNumber begins "two hours", which is no name.
var spelledNumber = regexp.MustCompile(`(?i)^(?:` + smallNumbers + `|a|an)\b`)

// compareWithNamed compares with a name of the question instead of a number that it does not have.
func (r *repairer) compareWithNamed() {
	m := thanName.FindStringSubmatch(r.question)
	if m == nil || spelledNumber.MatchString(m[1]) {
		return
	}
	digits := strings.ReplaceAll(r.question, ",", "")
	for i, c := range r.plan.GetClauses() {
		cond := c.GetCondition()
		value := strings.ReplaceAll(cond.GetValue(), ",", "")
		if !isNumber(value) || strings.Contains(digits, value) {
			continue
		}
		other := r.newVariable("other")
		compared := r.newVariable(cond.GetVariable() + "_other")
		phrase := r.phraseOf(cond.GetVariable())
		if phrase == "" {
			return
		}
		cond.Operand = &graphv1.QueryCondition_OtherVariable{OtherVariable: compared}
		r.plan.Clauses = slices.Insert(r.plan.Clauses, i, valuesClause(other, []string{clean(m[1])}),
			matchClause(newPattern(other, phrase, variableTerm(compared))))
		r.because("the question compares with " + m[1])
		return
	}
}
