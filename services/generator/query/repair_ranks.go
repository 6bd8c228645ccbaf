package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// reuseCounted counts the variable that the plan has for what is counted, not another one.
func (r *repairer) reuseCounted() {
	for i, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || !rank.GetCount() {
			continue
		}
		counted, group := rank.GetVariable(), rank.GetGroupBy()
		at := -1
		known := ""
		for j, other := range r.plan.GetClauses()[:i] {
			p := other.GetMatch()
			switch {
			case p.GetEnd().GetVariable() == counted:
				at = j
			case p.GetStart().GetVariable() == group && p.GetEnd().GetVariable() != "" &&
				kgtext.SameNoun(kindOf(p.GetEnd().GetVariable()), kindOf(counted)):
				known = p.GetEnd().GetVariable()
			}
		}
		if at < 0 || known == "" {
			continue
		}
		rank.Variable = known
		r.because("the plan has these already")
		r.plan.Clauses = slices.Delete(r.plan.Clauses, at, at+1)
		return
	}
}

// byAdjective is "which hatchback is the most powerful", "the oldest child".
var byAdjective = regexp.MustCompile(`\bthe (?:most (\p{L}+(?:ful|ive|ous|[ai]ble|[ae]nt|ic|ed))|(\p{L}{2,}est))\b`)

// rankByValue ranks by the attribute whose most frequent value the draft takes, where the question asks for the thing
// with the most of it: "which hatchback is the most powerful" of Hatchback().most_common("power").
func (r *repairer) rankByValue() {
	m, result := byAdjective.FindStringSubmatch(r.lower), r.plan.GetResult()
	if m == nil || oftenForm.MatchString(m[1]+m[2]) {
		return
	}
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if !rank.GetCount() || rank.GetGroupBy() != result.GetVariable() ||
			r.ownerOf(rank.GetGroupBy()) != rank.GetVariable() ||
			r.sharesWord(r.phraseOf(rank.GetGroupBy())) && m[1] == "" {
			continue
		}
		result.Variable = rank.GetVariable()
		rank.Variable, rank.GroupBy, rank.Count = rank.GetGroupBy(), "", false
		rank.Descending = m[2] == "" || isMost(m[2])
		r.because("the question says " + m[0])
		return
	}
}

// oftenForm are words that ask for what is most frequent.
var oftenForm = regexp.MustCompile(`^(?:common|commonly|frequent|frequently|often|popular|used|widespread|\p{L}+ed)$`)

// bestOf is "who directed the earliest film …": what is asked of the best.
var bestOf = regexp.MustCompile(
	`(?i)^who\s+(?:is|was|are|were)?\s*(?:the\s+)?(.+?)\s+(?:of\s+)?(?:the\s+|\S+\s\S+['’]s\s+)(?:first|earliest|` +
		`oldest|last|latest|newest)\b`)

// beForm is a verb that asks for nothing but the best itself: "who was the first president".
var beForm = regexp.MustCompile(`(?i)^(?:is|was|are|were)$`)

// askOfBest asks for what the question wants to know of the best, if the plan ends with the best.
func (r *repairer) askOfBest() {
	m := bestOf.FindStringSubmatch(r.question)
	result := r.plan.GetResult()
	if m == nil || beForm.MatchString(m[1]) ||
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	ranked := ""
	for i, c := range r.plan.GetClauses() {
		if rank := c.GetRank(); rank != nil && i == len(r.plan.GetClauses())-1 && !rank.GetCount() {
			ranked = rank.GetVariable()
		}
	}
	if ranked == "" || r.ownerOf(ranked) != result.GetVariable() {
		return
	}
	v := r.newVariable("answer")
	r.insert(len(r.plan.GetClauses()), "the question asks for more than the best",
		matchClause(newPattern(result.GetVariable(), clean(strings.TrimSuffix(m[1], " of")), variableTerm(v))))
	result.Variable = v
}

var (
	anySuperlative = regexp.MustCompile(
		`(?i)\b(\p{L}+est|most|least|first|last|fewest|best|worst|top|maximum|minimum|more|` +
			`fewer|less|\p{L}+er)\b`)
	// superlativeEnd ends with a superlative.
	superlativeEnd = regexp.MustCompile(`(?i)\b(?:\p{L}{2,}est|most \p{L}+|best|worst|first|last) $`)
	onlyForm       = regexp.MustCompile(`(?i)\bthe only\b`)
	// thanForm is "later than", which is no superlative, and words that only end as one.
	thanForm = regexp.MustCompile(`(?i)\b(?:more|fewer|less|\p{L}+er)\s+than\b|` +
		`\b(?:after|other|another|under|over|ever|never|either|whether|together|number|member)\b`)
)

// ofTheBest is "what is the population of the smallest state".
var ofTheBest = regexp.MustCompile(
	`(?i)^(?:what|how)\b.*?\bthe (.+?) of the (largest|biggest|smallest|longest|shortest|` +
		`highest|tallest|lowest|oldest|newest) \p{L}+`)

// rankAndGet asks for an attribute of the best, where the plan ranks by that attribute itself.
func (r *repairer) rankAndGet() {
	m := ofTheBest.FindStringSubmatch(r.question)
	result := r.plan.GetResult()
	if m == nil || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	asked, word := strings.ToLower(m[1]), strings.ToLower(m[2])
	last := len(r.plan.GetClauses()) - 1
	rank := r.plan.GetClauses()[last].GetRank()
	if rank == nil || rank.GetCount() || r.phraseOf(rank.GetVariable()) != asked ||
		result.GetVariable() == rank.GetVariable() {
		return
	}
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetEnd().GetVariable() == rank.GetVariable() {
			p.Steps = []*graphv1.RelationStep{{Relation: bestWord(word)}}
		}
	}
	rank.Descending = isMost(word)
	v := r.newVariable(asked)
	r.insert(last+1, "the question asks for the "+asked+" of the "+word,
		matchClause(newPattern(result.GetVariable(), asked, variableTerm(v))))
	result.Variable = v
}

// dropUnasked removes a ranking that the question has no word for. The only one is often drafted as the best.
func (r *repairer) dropUnasked() {
	if anySuperlative.MatchString(thanForm.ReplaceAllString(r.question, "")) || onlyForm.MatchString(r.question) {
		return
	}
	for i, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || rank.GetOperator() != 0 || i == 0 || r.plan.GetResult().GetVariable() == rank.GetVariable() ||
			rank.GetCount() && r.plan.GetResult().GetVariable() != rank.GetGroupBy() {
			continue
		}
		p := r.plan.GetClauses()[i-1].GetMatch()
		if p.GetEnd().GetVariable() != rank.GetVariable() {
			continue
		}
		r.because("the question asks for no best")
		r.plan.Clauses = slices.Delete(r.plan.Clauses, i-1, i+1)
		return
	}
}

// turnRank turns the direction of the only ranking if the question has words of the other one only.
func (r *repairer) turnRank() {
	var rank *graphv1.QueryRank
	for _, c := range r.plan.GetClauses() {
		if c.GetRank() != nil && c.GetRank().GetOperator() == 0 {
			if rank != nil {
				return
			}
			rank = c.GetRank()
		}
	}
	if rank == nil {
		return
	}
	least, most := leastWord.MatchString(r.question), mostWord.MatchString(r.question)
	isYoungest, isOldest := youngest.MatchString(r.question), oldest.MatchString(r.question)
	switch phrase := r.phraseOf(rank.GetVariable()); {
	case isYoungest == isOldest:
	case phrase == "age":
		least, most = isYoungest, isOldest
	case looksLikeTime(phrase):
		least, most = isOldest, isYoungest
	}
	if least == most || least != rank.GetDescending() {
		return
	}
	rank.Descending = most
	r.because("the question asks for the other end")
}

// The oldest has the greatest age and the earliest date of birth.
var (
	youngest = regexp.MustCompile(`(?i)\b(?:younge(?:r|st)|newe(?:r|st))\b`)
	oldest   = regexp.MustCompile(`(?i)\b(?:old|eld)e(?:r|st)\b`)
)

var superlative = regexp.MustCompile(`(?i)\b(first|earliest|oldest|last|latest|newest|most recent)\b`)

// lastsForm is a verb and no superlative: "which talks last 60 minutes".
var lastsForm = regexp.MustCompile(`(?i)\blasts? (?:\d|(?:for|longer|more|less|at least|under|over)\b)`)

// addRank adds the ranking by time that the question asks for, if the plan has none.
func (r *repairer) addRank() {
	word := superlative.FindString(r.question)
	result := r.plan.GetResult()
	if word == "" || lastsForm.MatchString(r.question) ||
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	word = strings.ToLower(word)
	for i, c := range r.plan.GetClauses() {
		kind := typeOf(c)
		if phrase, isFlag := strings.CutPrefix(kind, word+" "); isFlag && !strings.Contains(r.lower, kind) &&
			r.sharesWord(phrase) { // Product(first_launch=True) of "the first product to be launched"
			r.plan.Clauses, r.compared = slices.Delete(r.plan.GetClauses(), i, i+1), phrase
			break
		}
		if c.GetRank() != nil || strings.Contains(strings.ToLower(c.GetMatch().GetEnd().GetEntity()), word) {
			return
		}
	}
	ranked := result.GetVariable()
	if phrase := r.phraseOf(ranked); strings.Contains(phrase, word) && looksLikeTime(phrase) {
		return // the date of the first launch
	}
	if root := r.root(); root != ranked && !strings.Contains(r.phraseOf(ranked), word) {
		_, behind, _ := strings.Cut(r.lower, word+" ")
		if !kgtext.SameNoun(firstWord(strings.TrimRight(behind, "?. ")), kindOf(root)) {
			return
		}
		ranked = root // who directed the oldest film
	}
	v := r.newVariable("date")
	r.insert(len(r.plan.GetClauses()), "the question asks for the "+word,
		matchClause(newPattern(ranked, cmp.Or(r.compared, "date"), variableTerm(v))),
		rankClause(&graphv1.QueryRank{Variable: v, Descending: mostWord.MatchString(word)}))
}

var (
	countQuestion = regexp.MustCompile(`(?i)\b(how many|number of|count (?:the|of)|how often|how much)\b`)
	sumQuestion   = regexp.MustCompile(`(?i)\b(total|combined|in all|altogether|sum)\b`)
	meanQuestion  = regexp.MustCompile(`(?i)\b(average|mean)\b`)
)

// sameNumber is "which states have the same number of", which counts nothing.
var sameNumber = regexp.MustCompile(`(?i)^(?:which|what|who)\b.*\bthe same (?:total )?(?:number|amount) of\b`)

// setFunction sets what is computed by the form of the question.
func (r *repairer) setFunction() {
	result := r.plan.GetResult()
	was := result.GetFunction()
	yesNo := kgtext.IsYesNo(r.question) && orInFront.FindString(r.question) == ""
	switch counts := countQuestion.MatchString(r.question); {
	case yesNo:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case was == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS && counts:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	case was == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	case was == graphv1.QueryFunction_QUERY_FUNCTION_COUNT && (!counts || sameNumber.MatchString(r.question)):
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	case was == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && meanQuestion.MatchString(r.question) &&
		r.root() != result.GetVariable():
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	case was == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && sumQuestion.MatchString(r.question) &&
		r.root() != result.GetVariable():
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_SUM
	case was == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && counts && r.root() == result.GetVariable() &&
		strings.HasPrefix(r.lower, "how many"):
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	}
	if result.GetFunction() != was {
		result.OtherVariable = "" // of a difference
		r.because("by the form of the question")
	}
}
