package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	// eachForm is "in each country", "per country" and, where a value is asked for, "by country".
	eachForm = regexp.MustCompile(`(?i)\b(?:each|every|per)\s+(` + groupNoun + `)`)
	byForm   = regexp.MustCompile(
		`(?i)^[^,]*\b(?:number|count|average|mean|total|sum)\b.*\bby\s+(` + groupNoun + `)\W*$`)
	// eachValue is what is computed of each, eachBest a value of which the best is.
	eachValue = regexp.MustCompile(
		`(?i)\b(?:how many|number of|count|average|mean|total|sum)(?:\s+(?:of|the|all))*\s+(` + groupNoun + `)`)
	eachBest = regexp.MustCompile(`(?i)^(?:what|list|show|give|name)\b.*\b(?:\p{L}{3,}est|maximum|minimum)\s+(` +
		groupNoun + `)`)
	// groupEnd ends the noun of a group or of what is computed.
	groupEnd = regexp.MustCompile(
		`(?i)\s+(?:have|has|had|did|does|do|is|are|was|were|there|that|which|who|in|on|at|of|` +
			`for|per|by|each|every|with|from|to|higher|lower|more|less|larger|smaller|after|before)\b.*`)
)

// groupNoun is a noun with what may stand before it.
const groupNoun = `\p{L}[\p{L}\p{N} -]*`

// rates are units behind "per" that make no groups: people per square mile.
const rates = " square capita hour second minute day km kilometre kilometer mile person head "

// groupEach computes a value for each group where the question asks for one each: "how many mountains does each
// country have". Drafts compute one of all, or rank.
func (r *repairer) groupEach() {
	if r.plan.GetResult().GetGroupBy() != "" {
		return
	}
	group, value := r.findGroup()
	isRate := func(c *graphv1.QueryClause) bool { // "visitors per year"
		return c.GetMatch() != nil && strings.Contains(kgtext.DescribeRelation(c.GetMatch()), " per "+group)
	}
	if group == "" || slices.ContainsFunc(r.plan.GetClauses(), isRate) {
		return
	}
	draft := proto.CloneOf(r.plan)
	r.askForGroups(group)
	r.askForValue(value)
	function := r.functionOfEach(value)
	counts := function == graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	groups := r.findVariable(group)
	variable := r.variableOfEach(value, groups, counts)
	if owner := variable; groups == "" && owner != "" {
		if !counts {
			owner = r.ownerOf(variable)
		}
		groups = r.addFact(owner, group)
	}
	if variable == "" || variable == groups {
		r.plan.Clauses = draft.GetClauses()
		return
	}
	r.dropKindOf(groups, group)
	r.plan.Result = &graphv1.QueryResult{Function: function, Variable: variable, GroupBy: groups}
	r.because("the question asks for one of each " + group)
}

// meanForm is "what is the average price of the books", of what the question names nothing of but a place, or what the
// books are of.
var meanForm = regexp.MustCompile(`^(?i:what is|what's|what was) the ` +
	`(?:average|mean|total|combined|sum)(?: of)?(?: all)?(?: the)? (?:number of )?` +
	`(\p{Ll}[\p{Ll} -]*?)(?: (?:of|for) (?:all )?(?:the )?(\p{Ll}+ )??(\p{Ll}+))?` +
	`(?: (?:in|at) (?:the )?(\p{L}.*?)| of (?:the )?(` + properName + `))?\W*$`)

// readMean computes over all things, or those in a place, what the question has the words of, where the draft takes a
// word for a name or a kind: "what is the average ticket price" of Ticket(price).average(), the average salary in A
// of Salary(department="A").average(), and the average price of the red wines of Wine(price="average").
func (r *repairer) readMean() {
	m := meanForm.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	whole := m[4] + m[5]
	isName := func(c *graphv1.QueryClause) bool { return c.GetValues() != nil }
	first := r.plan.GetClauses()[0]
	kind := cmp.Or(typeOf(first), kindOf(first.GetValues().GetVariable()))
	isKind := kgtext.SameNoun(m[1], kind) // Salary().average()
	isDrafted := isKind || whole == "" && slices.ContainsFunc(r.plan.GetClauses(), isName)
	if m[3] != "" && m[2]+whole != "" {
		isDrafted = r.plan.GetResult().GetFunction() == 0 && kgtext.SameNoun(kind, m[3])
	}
	isOwn := isDrafted && m[3] == "" && m[5] != "" && !strings.Contains(r.lower, " number of ") // the cost of A
	if group, _ := r.findGroup(); group != "" || !isDrafted || isOwn {
		return
	}
	b := newBuilder()
	v := b.variable(cmp.Or(kgtext.Singular(m[3]), "thing"))
	for _, said := range []string{kgtext.Singular(m[3]), strings.TrimSpace(m[2])} {
		if said != "" {
			b.pattern(v, TypeRelation, entityTerm(said), false)
		}
	}
	if whole != "" {
		b.pattern(v, "in", entityTerm(whole), false)
	}
	function := graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	if !meanQuestion.MatchString(r.question) {
		function = graphv1.QueryFunction_QUERY_FUNCTION_SUM
	}
	b.plan.Result = &graphv1.QueryResult{Variable: b.get(v, kgtext.Singular(m[1])), Function: function}
	r.replan(b, "the question computes it of all that have it")
}

// askThings asks for the things, where the draft has the mean or the sum of all: those that a bound on it leaves, or
// the one with the most of it.
func (r *repairer) askThings() {
	result, best := r.plan.GetResult(), bestMean.FindStringSubmatch(r.lower)
	root, value := r.root(), result.GetVariable()
	isBound := slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		return c.GetCondition().GetVariable() == value
	})
	kinds := kgtext.AskedKinds(r.question)
	asks := kgtext.AsksWho(r.question) || len(kinds) > 0 && kgtext.SameNoun(kinds[0], kindOf(root))
	adds := result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE ||
		result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_SUM
	if !adds || !asks || root == value || best == nil && !isBound {
		return
	}
	result.Variable, result.Function = root, graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	if fact := factOf(r.plan, value); best != nil && !isBound {
		fact.Steps = []*graphv1.RelationStep{{Relation: best[2] + " " + kgtext.DescribeRelation(fact)}}
		r.plan.Clauses = append(r.plan.Clauses,
			rankClause(&graphv1.QueryRank{Variable: value, Descending: isMost(best[1])}))
	}
	r.because("the question asks for the " + kindOf(root))
}

// bestMean is "the highest average mark".
var bestMean = regexp.MustCompile(`\bthe (\p{L}{2,}est) (average|mean|total) `)

// functionOfEach returns what the question wants computed of each group.
func (r *repairer) functionOfEach(value string) graphv1.QueryFunction {
	switch best := r.bestOf(value); {
	case best != 0:
		return best
	case meanQuestion.MatchString(r.question):
		return graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	case !countQuestion.MatchString(r.question) && sumQuestion.MatchString(r.question):
		return graphv1.QueryFunction_QUERY_FUNCTION_SUM
	}
	return graphv1.QueryFunction_QUERY_FUNCTION_COUNT
}

// variableOfEach returns the variable that is counted, or computed with. The plan gets a fact for it if it has
// none. It is empty if there is nothing that could have it.
func (r *repairer) variableOfEach(value, groups string, counts bool) string {
	ranked := r.takeRanked(groups)
	owner := cmp.Or(r.ownerOf(groups), groups)
	for _, variable := range []string{r.findVariable(value), ranked, r.plan.GetResult().GetVariable()} {
		switch {
		case variable == "" || variable == groups:
		case counts || r.ownerOf(variable) != "":
			return variable
		default:
			owner = variable
		}
	}
	if owner == "" {
		return ""
	}
	return r.addFact(owner, value)
}

// addFact adds a pattern at the end of the plan and returns the variable that it leads to.
func (r *repairer) addFact(owner, relation string) string {
	variable := r.newVariable(relation)
	r.plan.Clauses = append(r.plan.Clauses, matchClause(newPattern(owner, relation, variableTerm(variable))))
	return variable
}

// findGroup returns what a question makes groups of, and what it computes of each; empty if it makes none.
func (r *repairer) findGroup() (group, value string) {
	m := eachForm.FindStringSubmatch(r.lower)
	if m == nil {
		m = byForm.FindStringSubmatch(r.lower)
	}
	v := eachValue.FindStringSubmatch(r.lower)
	if v == nil {
		if v = eachBest.FindStringSubmatch(r.lower); v != nil && r.bestOf(groupEnd.ReplaceAllString(v[1], "")) == 0 {
			v = nil
		}
	}
	if m == nil || v == nil {
		return "", ""
	}
	group, value = groupEnd.ReplaceAllString(m[1], ""), groupEnd.ReplaceAllString(v[1], "")
	isName := slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool { // or the first words of one
		name := strings.ToLower(c.GetMatch().GetEnd().GetEntity()) + " "
		return strings.HasPrefix(name, strings.TrimPrefix(group, "the ")+" ") && typeOf(c) == ""
	})
	if isName || strings.Contains(rates, " "+firstWord(group)+" ") || kgtext.SameNoun(group, value) {
		return "", ""
	}
	return group, value
}

// bestOf returns the function that computes the value that the plan ranks by; 0 if it ranks by another.
func (r *repairer) bestOf(value string) graphv1.QueryFunction {
	rank := r.plan.GetClauses()[len(r.plan.GetClauses())-1].GetRank()
	switch {
	case rank == nil || rank.GetCount() || !kgtext.SameNoun(r.phraseOf(rank.GetVariable()), value):
		return 0
	case rank.GetDescending():
		return graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM
	}
	return graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM
}

// askForGroups makes a variable of groups that the draft takes for a name: Tower(country="each country").
func (r *repairer) askForGroups(group string) {
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		word, noun, _ := strings.Cut(strings.ToLower(p.GetEnd().GetEntity()), " ")
		if strings.Contains(" each every all per ", " "+word+" ") && word != "" && kgtext.SameNoun(noun, group) {
			p.End = variableTerm(r.newVariable(group))
		}
	}
}

// askForValue makes a variable of a value that the draft takes for a name: Tower(height) and
// Country(towers="number").
func (r *repairer) askForValue(value string) {
	clauses := r.plan.GetClauses()
	for i, c := range clauses {
		if p := c.GetMatch(); typeOf(c) == "" && p.GetStart().GetVariable() != "" &&
			kgtext.SameNoun(p.GetSteps()[0].GetRelation(), value) && strings.Contains(" number count average total ",
			" "+strings.ToLower(p.GetEnd().GetEntity())+" ") && p.GetEnd().GetEntity() != "" {
			p.End = variableTerm(r.newVariable(value))
		}
		if names := c.GetValues(); len(names.GetEntities()) == 1 && kgtext.SameNoun(names.GetEntities()[0], value) {
			kind := newPattern(names.GetVariable(), TypeRelation, entityTerm(kindOf(names.GetVariable())))
			clauses[i] = matchClause(kind)
		}
	}
}

// takeRanked removes the last ranking of a plan, and returns what it ranks or counts for each group.
func (r *repairer) takeRanked(group string) string {
	last := len(r.plan.GetClauses()) - 1
	rank := r.plan.GetClauses()[last].GetRank()
	if rank == nil || group == "" || rank.GetVariable() == group {
		return ""
	}
	r.plan.Clauses = slices.Delete(slices.Clone(r.plan.GetClauses()), last, last+1)
	return rank.GetVariable()
}

// dropKindOf removes what kind a variable is, if a relation of that name leads to it.
func (r *repairer) dropKindOf(variable, noun string) {
	if r.ownerOf(variable) == "" || !kgtext.SameNoun(r.phraseOf(variable), noun) {
		return
	}
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.GetClauses()), func(c *graphv1.QueryClause) bool {
		return c.GetMatch().GetStart().GetVariable() == variable && kgtext.SameNoun(typeOf(c), noun)
	})
}

// findVariable returns the variable that a plan has for a noun: by a relation to it, or by its kind.
func (r *repairer) findVariable(noun string) string {
	kind := ""
	for _, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		switch {
		case p == nil || noun == "":
		case typeOf(c) != "" && kgtext.SameNoun(typeOf(c), noun):
			kind = p.GetStart().GetVariable()
		case typeOf(c) == "" && kgtext.SameNoun(p.GetSteps()[0].GetRelation(), noun) && p.GetEnd().GetVariable() != "":
			return p.GetEnd().GetVariable()
		}
	}
	return kind
}
