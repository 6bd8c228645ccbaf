package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Repair corrects a drafted plan by the words of the question that leave no doubt: "how many",
// "earliest", "but not", "after 1990", "A or B?". Small models draft the shape of most plans well and
// miss such words in one of four. It returns what it changed.
func Repair(question string, plan *graphv1.QueryPlan) []*graphv1.PlanEdit {
	if len(plan.GetClauses()) == 0 {
		return nil
	}
	r := &repairer{question: strings.Join(strings.Fields(question), " "), plan: plan}
	r.lower = strings.ToLower(r.question)
	for _, mend := range []func(){
		r.attributeOf, r.splitNames, r.dropInvented, r.dropComparatives, r.compareNamed, r.readNumbersAsConditions,
		r.compareWithNamed, r.addPeriods, r.excludeNegated, r.dropContradicted,
		r.rankAndGet, r.dropUnasked, r.turnRank, r.turnTime, r.countMost, r.reuseCounted, r.addRank, r.setFunction,
		r.askOfNamed, r.askOfBest,
	} {
		mend()
	}
	return r.edits
}

type repairer struct {
	question, lower string
	plan            *graphv1.QueryPlan
	edits           []*graphv1.PlanEdit
}

func (r *repairer) edit(kind graphv1.EditKind, before, after, reason string) {
	r.edits = append(r.edits, &graphv1.PlanEdit{Kind: kind, Before: before, After: after, Reason: reason})
}

// insert adds clauses at a place.
func (r *repairer) insert(at int, reason string, clauses ...*graphv1.QueryClause) {
	for _, c := range clauses {
		r.edit(graphv1.EditKind_EDIT_KIND_ADD, "", kgtext.DescribeClause(c), reason)
	}
	r.plan.Clauses = slices.Insert(r.plan.Clauses, at, clauses...)
}

// newVariable returns a variable that the plan does not use.
func (r *repairer) newVariable(words string) string {
	b := &builder{used: map[string]int{}}
	for _, c := range r.plan.GetClauses() {
		for _, v := range clauseVariables(c) {
			b.used[v]++
		}
	}
	v := b.variable(words)
	for b.used[v] > 1 {
		v = b.variable(words)
	}
	return v
}

func clauseVariables(c *graphv1.QueryClause) []string {
	var all []string
	for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
		for _, t := range []*graphv1.QueryTerm{p.GetStart(), p.GetEnd()} {
			if v := t.GetVariable(); v != "" {
				all = append(all, v)
			}
		}
	}
	if v := c.GetValues().GetVariable(); v != "" {
		all = append(all, v)
	}
	if v := c.GetRank().GetVariable(); v != "" {
		all = append(all, v)
	}
	return all
}

// root is the variable that the plan selects first for its result.
func (r *repairer) root() string {
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetStart().GetVariable() != "" &&
			p.GetEnd().GetVariable() == r.plan.GetResult().GetVariable() {
			return p.GetStart().GetVariable()
		}
	}
	return r.plan.GetResult().GetVariable()
}

// attributeOf turns a draft round that selects an attribute as if it were a thing: Population(of="A") is
// the population of A.
func (r *repairer) attributeOf() {
	result := r.plan.GetResult()
	r.dropUnaskedAttribute()
	kind, at := "", -1
	var fact *graphv1.QueryPattern
	var others []*graphv1.QueryPattern // attributes of it, which are then its owner's
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		switch {
		case p.GetStart().GetVariable() == "" || p.GetStart().GetVariable() != result.GetVariable():
		case p.GetSteps()[0].GetRelation() == TypeRelation:
			kind = p.GetEnd().GetEntity()
			at = i
		case p.GetEnd().GetVariable() != "" && !r.binds(p.GetEnd().GetVariable(), p):
			others = append(others, p)
		case fact == nil:
			fact = p
		default:
			return
		}
	}
	if kind == "" || fact == nil || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED &&
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		return
	}
	of := strings.Contains(r.lower, "what is the "+kind+" of ") || strings.Contains(r.lower,
		"what was the "+kind+" of ")
	best := leastWord.MatchString(kind) || mostWord.MatchString(kind)
	if !of && !(best && strings.Contains(r.lower, kind)) {
		return
	}
	before := strings.Join(kgtext.DescribePlan(r.plan), "; ")
	owner := fact.GetEnd()
	if name := owner.GetEntity(); name != "" {
		v := r.newVariable("owner")
		r.plan.Clauses[at] = valuesClause(v, []string{name})
		owner = variableTerm(v)
	} else {
		r.plan.Clauses = slices.Delete(r.plan.Clauses, at, at+1)
	}
	for _, p := range others {
		p.Start = owner
	}
	fact.Start, fact.End = owner, fact.GetStart()
	fact.Steps = []*graphv1.RelationStep{{Relation: kind}}
	// It is asked of what the other clauses leave, so it comes last, unless they speak of it.
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
		return c.GetMatch() == fact
	})
	i := len(r.plan.GetClauses())
	for j, c := range slices.Backward(r.plan.GetClauses()) {
		if v := result.GetVariable(); c.GetCondition().GetVariable() == v || slices.Contains(clauseVariables(c), v) {
			i = j
		}
	}
	r.plan.Clauses = slices.Insert(r.plan.Clauses, i, matchClause(fact))
	result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, strings.Join(kgtext.DescribePlan(r.plan), "; "),
		"the question asks for the "+kind+" of something")
}

// binds reports whether a clause besides a pattern binds a variable.
func (r *repairer) binds(variable string, besides *graphv1.QueryPattern) bool {
	return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
		p := c.GetMatch()
		return c.GetValues().GetVariable() == variable || p != nil && p != besides &&
			(p.GetStart().GetVariable() == variable || p.GetEnd().GetVariable() == variable)
	})
}

// dropUnaskedAttribute removes the last step to an attribute that the question does not name, if it names
// what the step starts from: "what is the highest point of A" asks for no height.
func (r *repairer) dropUnaskedAttribute() {
	result := r.plan.GetResult()
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		if p.GetEnd().GetVariable() != result.GetVariable() || p.GetStart().GetVariable() == "" {
			continue
		}
		kind := strings.ReplaceAll(strings.TrimRight(p.GetStart().GetVariable(), "0123456789"), "_", " ")
		best := leastWord.MatchString(kind) || mostWord.MatchString(kind)
		if !best || !strings.Contains(r.lower, "what is the "+kind) ||
			kgtext.SharesWord(p.GetSteps()[0].GetRelation(), r.question) || r.binds(result.GetVariable(), p) {
			continue
		}
		r.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(c), "", "the question asks for the "+kind)
		result.Variable = p.GetStart().GetVariable()
		r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
		return
	}
}

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
		before := kgtext.DescribePattern(p)
		var clauses []*graphv1.QueryClause
		for _, part := range parts {
			c := matchClause(newPattern(p.GetStart().GetVariable(), p.GetSteps()[0].GetRelation(),
				entityTerm(strings.TrimSpace(part))))
			r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c),
				"the question names each by itself")
			clauses = append(clauses, c)
		}
		r.plan.Clauses = slices.Replace(r.plan.Clauses, i, i+1, clauses...)
		i += len(clauses) - 1
	}
}

// comparative are words that compare and name nothing.
var comparative = regexp.MustCompile(
	`(?i)^(?:(?:the|more|most|less|first|earliest|earlier|early|last|latest|later|recent|` +
		`recently|newest|newer|oldest|older|true|false|film|movie|one|time)\s*)+$`)

// dropComparatives removes facts and names such as "first film", which are words of a comparison.
func (r *repairer) dropComparatives() {
	r.plan.Clauses = slices.DeleteFunc(r.plan.Clauses, func(c *graphv1.QueryClause) bool {
		before := kgtext.DescribeClause(c)
		if v := c.GetValues(); v != nil {
			kept := slices.DeleteFunc(slices.Clone(v.GetEntities()), func(name string) bool {
				return name == strings.ToLower(name) && (comparative.MatchString(name) || superlative.MatchString(name))
			})
			if len(kept) == 0 || len(kept) == len(v.GetEntities()) && r.isNoName(v.GetEntities()) {
				r.edit(graphv1.EditKind_EDIT_KIND_DELETE, before, "", "this names nothing")
				return len(r.plan.GetClauses()) > 1 || r.lower != r.question
			}
			if len(kept) > 0 && len(kept) < len(v.GetEntities()) {
				v.Entities = kept
				r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c),
					"a word of comparison is no name")
			}
			return false
		}
		name := c.GetMatch().GetEnd().GetEntity()
		if name == "" || name != strings.ToLower(name) || !comparative.MatchString(name) ||
			c.GetMatch().GetSteps()[0].GetRelation() == TypeRelation {
			return false
		}
		r.edit(graphv1.EditKind_EDIT_KIND_DELETE, before, "", "a word of comparison is no name")
		return true
	})
}

var (
	earlierWord = regexp.MustCompile(`(?i)\b(older|earlier|before|sooner)\b`)
	laterWord   = regexp.MustCompile(`(?i)\b(newer|later|after|younger|more recent(?:ly)?)\b`)
)

// isNoName reports whether words of a question in mixed case are no name: they have no capital.
func (r *repairer) isNoName(names []string) bool {
	if r.question == "" || r.lower == r.question {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return name != strings.ToLower(name) || strings.ContainsAny(name, "0123456789") || len(strings.Fields(name)) < 2
	})
}

// turnTime turns a comparison of two times that is the other way round in the question.
func (r *repairer) turnTime() {
	earlier, later := earlierWord.MatchString(r.question), laterWord.MatchString(r.question)
	if earlier == later {
		return
	}
	for _, c := range r.plan.GetClauses() {
		cond := c.GetCondition()
		if cond.GetOtherVariable() == "" || !looksLikeTime(r.phraseOf(cond.GetVariable())) {
			continue
		}
		before, want := kgtext.DescribeClause(c), less
		if later {
			want = greater
		}
		if (cond.GetOperator() == less || cond.GetOperator() == greater) && cond.GetOperator() != want {
			cond.Operator = want
			r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), "by the words of the question")
		}
	}
}

// mostThings is "which year saw the most films": what most things have is asked for.
var mostThings = regexp.MustCompile(`(?i)\b(?:which|what)\s+(\p{L}+)\b.*\bmost\s+(?:of the\s+)?(\p{L}+s|\p{L}+craft)\b`)

// countMost makes a ranking by an attribute that the question asks for a ranking by how many have it.
func (r *repairer) countMost() {
	m := mostThings.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	asked := strings.TrimSuffix(strings.ToLower(m[1]), "s")
	for _, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || rank.GetCount() || !strings.Contains(r.phraseOf(rank.GetVariable()), asked) {
			continue
		}
		before := kgtext.DescribeClause(c)
		owner := ""
		for _, other := range r.plan.GetClauses() {
			if p := other.GetMatch(); p.GetEnd().GetVariable() == rank.GetVariable() {
				owner = p.GetStart().GetVariable()
			}
		}
		if owner == "" || r.plan.GetResult().GetVariable() != owner {
			return
		}
		rank.GroupBy, rank.Variable, rank.Count, rank.Descending = rank.GetVariable(), owner, true, true
		r.plan.Result.Variable = rank.GetGroupBy()
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), "the question asks what most have")
		return
	}
}

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
				singular(p.GetEnd().GetVariable()) == singular(counted):
				known = p.GetEnd().GetVariable()
			}
		}
		if at < 0 || known == "" {
			continue
		}
		before := kgtext.DescribeClause(c)
		rank.Variable = known
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), "the plan has these already")
		r.plan.Clauses = slices.Delete(r.plan.Clauses, at, at+1)
		return
	}
}

func singular(variable string) string {
	return strings.TrimSuffix(strings.TrimRight(variable, "0123456789"), "s")
}

var (
	// orAtEnd is "Which came out first, A or B?".
	orAtEnd = regexp.MustCompile(`^(.+?)(?:,|:| -|—) (.+?),? or (.+?)\s*\?*$`)
	// orInFront is "Has A or B directed more films?", "Was A or B released first?".
	orInFront = regexp.MustCompile(`(?i)^(?:is|was|are|were|has|have|had|did|does|do) (.+?) or (.+)$`)
	leastWord = regexp.MustCompile(
		`(?i)\b(first|earliest|earlier|oldest|older|least|fewest|fewer|less|smallest|smaller|` +
			`lowest|lower|shortest|shorter|youngest|minimum|cheapest|cheaper|lightest|slowest|worst)\b`)
	mostWord = regexp.MustCompile(
		`(?i)\b(last|latest|later|newest|newer|most|more|largest|larger|highest|higher|biggest|` +
			`bigger|longest|longer|greatest|greater|tallest|taller|maximum|recent|best|heaviest|top)\b`)
	countedNoun = regexp.MustCompile(
		`(?i)\b(?:more|most|fewer|fewest|less)\s+((?:\p{L}+\s)?\p{L}+s|people|spacecraft|aircraft)\b`)
)

// compareNamed makes a plan of a comparison of two names that the question gives as "A or B".
func (r *repairer) compareNamed() {
	m := orAtEnd.FindStringSubmatch(r.question)
	if m == nil || orInFront.MatchString(r.question) {
		m = r.findChoice()
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
	if phrase == "" || ranked && !listed {
		phrase = cmp.Or(phrase, strings.TrimSpace(interrogative.ReplaceAllString(m[1], "")))
	}
	if noun := countedNoun.FindStringSubmatch(m[1]); noun != nil && !count {
		phrase, count = strings.TrimSpace(interrogative.ReplaceAllString(m[1], "")), true
	}
	before := strings.Join(kgtext.DescribePlan(r.plan), "; ")
	b := &builder{plan: &graphv1.QueryPlan{Result: &graphv1.QueryResult{}}, used: map[string]int{}}
	v := b.variable("thing")
	b.add(valuesClause(v, names))
	if count {
		attribute := b.attribute(v, phrase)
		b.add(rankClause(&graphv1.QueryRank{Variable: attribute, Count: true, GroupBy: v, Descending: descending}))
	} else {
		b.rank(v, phrase, descending)
	}
	b.plan.Result.Variable = v
	r.plan.Clauses, r.plan.Result = b.plan.Clauses, b.plan.Result
	r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, strings.Join(kgtext.DescribePlan(r.plan), "; "),
		"the question compares "+names[0]+" with "+names[1])
}

var (
	auxiliary = `(?:Is|Was|Are|Were|Has|Have|Had|Did|Does|Do|Which|What|Who|is|was|are|were|has|have|had|did|does|do)`
	// properName is a name in capitals with small words between.
	properName = `[\p{Lu}\d][\p{L}\d'’.\-–&!]*(?:\s+(?:(?:of|the|and|de|la|for|to|in|on|a|` +
		`an)\s+){0,2}[\p{Lu}\d][\p{L}\d'’.\-–&!]*)*`
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
		isType := c.GetMatch() != nil && c.GetMatch().GetSteps()[0].GetRelation() == TypeRelation
		if isType {
			r.takeWord(c.GetMatch())
		}
		if name == "" {
			name = c.GetExclude().GetEnd().GetEntity()
		}
		if name != "" && !isType && !inQuestion(name) {
			r.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(c), "", "the question does not name "+name)
			continue
		}
		kept = append(kept, c)
	}
	if len(kept) > 0 {
		r.plan.Clauses = kept
	}
}

// takeWord puts the word of the question in the place of a kind that begins like it: dancer for dance.
func (r *repairer) takeWord(p *graphv1.QueryPattern) {
	name := p.GetEnd().GetEntity()
	words := strings.Fields(kgtext.Fold(r.question))
	if len(strings.Fields(name)) != 1 || slices.Contains(words, kgtext.Fold(name)) || len(name) < 3 {
		return
	}
	for _, w := range words {
		if strings.HasPrefix(w, name) && len(w) <= len(name)+3 && strings.TrimSuffix(w, "s") != name &&
			strings.TrimSuffix(w, "es") != name {
			before := kgtext.DescribePattern(p)
			p.End = entityTerm(w)
			r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribePattern(p), "the question says "+w)
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
		before := kgtext.DescribeClause(c)
		if p.GetEnd().GetVariable() == "" {
			p.End = variableTerm(r.newVariable(p.GetSteps()[0].GetRelation()))
		}
		result.Variable = p.GetEnd().GetVariable()
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c),
			"the answer is not what the question names")
		return
	}
	// The kind of the named thing is what is asked for: Director("A").
	phrase := strings.ReplaceAll(strings.TrimRight(named, "0123456789"), "_", " ")
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
	before := strings.Join(kgtext.DescribePlan(r.plan), "; ")
	v := asked.GetStart().GetVariable()
	r.plan.Clauses = []*graphv1.QueryClause{valuesClause(v, []string{fact.GetEnd().GetEntity()}), matchClause(asked)}
	r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, strings.Join(kgtext.DescribePlan(r.plan), "; "),
		"a thing is not what its own relation leads to")
}

// bestOf is "who directed the earliest film …": what is asked of the best.
var bestOf = regexp.MustCompile(
	`(?i)^who\s+(?:is|was|are|were)?\s*(?:the\s+)?(.+?)\s+(?:of\s+)?(?:the\s+|\S+\s\S+['’]s\s+)(?:first|earliest|` +
		`oldest|last|latest|newest)\b`)

// askOfBest asks for what the question wants to know of the best, if the plan ends with the best.
func (r *repairer) askOfBest() {
	m := bestOf.FindStringSubmatch(r.question)
	result := r.plan.GetResult()
	if m == nil || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	ranked := ""
	for i, c := range r.plan.GetClauses() {
		if rank := c.GetRank(); rank != nil && i == len(r.plan.GetClauses())-1 && !rank.GetCount() {
			ranked = rank.GetVariable()
		}
	}
	if ranked == "" || ranked == result.GetVariable() {
		return
	}
	v := r.newVariable("answer")
	r.insert(len(r.plan.GetClauses()), "the question asks for more than the best",
		matchClause(newPattern(result.GetVariable(), clean(strings.TrimSuffix(m[1], " of")), variableTerm(v))))
	result.Variable = v
}

var interrogative = regexp.MustCompile(
	`(?i)^(?:which|what|who|whose)(?: of (?:the|these)(?: two)?)?\s+(?:is|was|are|were|has|had|have|did|does)?\s*`)

func trimArticle(name string) string {
	name = strings.Trim(strings.TrimSpace(name), "?.!\"'“”")
	for _, article := range []string{"the ", "The "} {
		if rest, ok := strings.CutPrefix(name, article); ok && article == "the " {
			return rest
		}
	}
	return name
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

// phraseOf returns the words by which a variable is bound.
func (r *repairer) phraseOf(variable string) string {
	for _, c := range r.plan.GetClauses() {
		if p := c.GetMatch(); p.GetEnd().GetVariable() == variable {
			return p.GetSteps()[0].GetRelation()
		}
	}
	return ""
}

// readNumbersAsConditions makes conditions of facts that end in a number or a date of the question.
func (r *repairer) readNumbersAsConditions() {
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		value := p.GetEnd().GetEntity()
		if value == "" || !yearOrNumber.MatchString(value) && !isDate(value) || p.GetStart().GetVariable() == "" {
			continue
		}
		before := kgtext.DescribeClause(c)
		v := r.newVariable(p.GetSteps()[0].GetRelation())
		p.End = variableTerm(v)
		added := conditionClause(v, graphv1.QueryOperator_QUERY_OPERATOR_EQUAL, value)
		r.plan.Clauses = slices.Insert(r.plan.Clauses, i+1, added)
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before,
			kgtext.DescribeClause(c)+"; "+kgtext.DescribeClause(added), "a number or a date is compared by value")
		return
	}
}

var yearOrNumber = regexp.MustCompile(`^-?[\d.,]+$`)

// thanName is "larger than Kilifi".
var thanName = regexp.MustCompile(
	`(?i)\bthan\s+(?:the\s+|that of\s+)?([^\d\s?.,][^?.,]*?)(?:['’]s)?(?:\s+(?:has|have|had|did|does|do|is|` +
		`was))?\s*[?.]*$`)

// compareWithNamed compares with a name of the question instead of a number that it does not have.
func (r *repairer) compareWithNamed() {
	m := thanName.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	digits := strings.ReplaceAll(r.question, ",", "")
	for i, c := range r.plan.GetClauses() {
		cond := c.GetCondition()
		value := strings.ReplaceAll(cond.GetValue(), ",", "")
		if !isNumber(value) || strings.Contains(digits, value) {
			continue
		}
		before := kgtext.DescribeClause(c)
		other := r.newVariable("other")
		compared := r.newVariable(cond.GetVariable() + "_other")
		phrase := r.phraseOf(cond.GetVariable())
		if phrase == "" {
			return
		}
		cond.Operand = &graphv1.QueryCondition_OtherVariable{OtherVariable: compared}
		r.plan.Clauses = slices.Insert(r.plan.Clauses, i, valuesClause(other, []string{clean(m[1])}),
			matchClause(newPattern(other, phrase, variableTerm(compared))))
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), "the question compares with "+m[1])
		return
	}
}

// period is a bound that the question sets, and where in it.
type period struct {
	text string
	ends []bound
}

type bound struct {
	operator graphv1.QueryOperator
	value    string
}

const date = `((?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)` +
	` (?:\d{1,2}, )?\d{4}|\d{4})`

const (
	equal        = graphv1.QueryOperator_QUERY_OPERATOR_EQUAL
	less         = graphv1.QueryOperator_QUERY_OPERATOR_LESS
	lessEqual    = graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL
	greater      = graphv1.QueryOperator_QUERY_OPERATOR_GREATER
	greaterEqual = graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL
)

// periodForms are the ways in which a question bounds a time, the most specific first.
var periodForms = []struct {
	form      *regexp.Regexp
	operators []graphv1.QueryOperator
}{
	{regexp.MustCompile(`(?i)\b(?:between|from) (?:the (?:start|beginning) of )?` + date +
		` (?:and|to|until|through) ` + date),
		[]graphv1.QueryOperator{greaterEqual, lessEqual}},
	{regexp.MustCompile(`(?i)\b(?:after|later than|more recently than|past)(?: the year)? ` + date),
		[]graphv1.QueryOperator{greater}},
	{regexp.MustCompile(`(?i)\bsince(?: the year)? ` + date), []graphv1.QueryOperator{greaterEqual}},
	{regexp.MustCompile(`(?i)\b(?:before|earlier than|prior to)(?: the year)? ` + date), []graphv1.QueryOperator{less}},
	{regexp.MustCompile(`(?i)\b(?:until|up to|by)(?: the year)? ` + date), []graphv1.QueryOperator{lessEqual}},
	{regexp.MustCompile(`(?i)\b(?:in|on|of|during)(?: the year)? ` + date), []graphv1.QueryOperator{equal}},
}

var decadeForm = regexp.MustCompile(`(?i)\b(?:the )?(\d{3})0['’]?s\b`)

// findPeriod returns the time that the question bounds.
func (r *repairer) findPeriod() (period, bool) {
	if m := decadeForm.FindStringSubmatch(r.question); m != nil {
		return period{m[0], []bound{{greaterEqual, m[1] + "0"}, {lessEqual, m[1] + "9"}}}, true
	}
	for _, f := range periodForms {
		m := f.form.FindStringSubmatch(r.question)
		if m == nil {
			continue
		}
		p := period{text: m[0]}
		for i, op := range f.operators {
			p.ends = append(p.ends, bound{op, m[i+1]})
		}
		return p, true
	}
	return period{}, false
}

// addPeriods sets the conditions on the time that the question bounds.
func (r *repairer) addPeriods() {
	p, ok := r.findPeriod()
	if !ok {
		return
	}
	// A condition of the draft on one of these values, or on any year, is on the right attribute.
	variable, at := "", -1
	for i := len(r.plan.GetClauses()) - 1; i >= 0; i-- {
		c := r.plan.GetClauses()[i].GetCondition()
		if c == nil || c.GetValue() == "" {
			continue
		}
		_, isDate := kgtext.ParseDate(c.GetValue())
		if isDate || slices.ContainsFunc(p.ends, func(b bound) bool {
			return strings.Contains(b.value,
				c.GetValue())
		}) {
			variable, at = c.GetVariable(), i
			if len(p.ends) == 1 && c.GetOperator() == p.ends[0].operator && c.GetValue() == p.ends[0].value {
				return // as the question says
			}
			r.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(r.plan.GetClauses()[i]), "",
				"the question says "+p.text)
			r.plan.Clauses = slices.Delete(r.plan.Clauses, i, i+1)
		}
	}
	var clauses []*graphv1.QueryClause
	if variable == "" {
		root, phrase := r.root(), "date"
		at = len(r.plan.GetClauses())
		for i, c := range r.plan.GetClauses() {
			if rank := c.GetRank(); rank != nil {
				at = i
				if !rank.GetCount() && looksLikeTime(r.phraseOf(rank.GetVariable())) {
					variable = rank.GetVariable()
				}
				break
			}
		}
		if g := r.plan.GetResult().GetVariable(); variable == "" && looksLikeTime(r.phraseOf(g)) {
			variable = g
		}
		if variable == "" {
			variable = r.newVariable(phrase)
			clauses = append(clauses, matchClause(newPattern(root, phrase, variableTerm(variable))))
		}
	}
	for _, b := range p.ends {
		clauses = append(clauses, conditionClause(variable, b.operator, b.value))
	}
	r.insert(at, "the question says "+p.text, clauses...)
}

func looksLikeTime(phrase string) bool {
	for _, word := range []string{"date", "year", "time", "when", "released", "release"} {
		if strings.Contains(phrase, word) {
			return true
		}
	}
	return false
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
		return
	}
	before := r.plan.GetClauses()[last]
	after := excludeClause(before.GetMatch())
	r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, kgtext.DescribeClause(before), kgtext.DescribeClause(after),
		"the question says "+r.question[at[0]:at[1]])
	r.plan.Clauses[last] = after
}

// dropContradicted removes a fact about a name that the question gives once and the plan excludes.
func (r *repairer) dropContradicted() {
	excluded := map[string]bool{}
	for _, c := range r.plan.GetClauses() {
		if name := strings.ToLower(c.GetExclude().GetEnd().GetEntity()); name != "" {
			excluded[name] = true
		}
	}
	anchored := func(name string) bool { // by another name
		return slices.ContainsFunc(r.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			p := c.GetMatch()
			return p.GetEnd().GetEntity() != "" && strings.ToLower(p.GetEnd().GetEntity()) != name &&
				p.GetSteps()[0].GetRelation() != TypeRelation
		})
	}
	r.plan.Clauses = slices.DeleteFunc(slices.Clone(r.plan.Clauses), func(c *graphv1.QueryClause) bool {
		name := strings.ToLower(c.GetMatch().GetEnd().GetEntity())
		if !excluded[name] || !anchored(name) || strings.Count(r.lower, name) != 1 || strings.Contains(r.lower,
			"but not") &&
			!strings.Contains(r.lower, "not "+name) && strings.Index(r.lower, name) < strings.Index(r.lower,
			"but not") {
			return false
		}
		r.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(c), "", "the question excludes "+name)
		return true
	})
}

var (
	anySuperlative = regexp.MustCompile(
		`(?i)\b(\p{L}+est|most|least|first|last|fewest|best|worst|top|maximum|minimum|more|` +
			`fewer|less|\p{L}+er)\b`)
	// thanForm is "later than", which is no superlative.
	thanForm = regexp.MustCompile(`(?i)\b(?:more|fewer|less|\p{L}+er)\s+than\b`)
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

// dropUnasked removes a ranking that the question has no word for.
func (r *repairer) dropUnasked() {
	if anySuperlative.MatchString(thanForm.ReplaceAllString(r.question, "")) {
		return
	}
	for i, c := range r.plan.GetClauses() {
		rank := c.GetRank()
		if rank == nil || rank.GetCount() || i == 0 || r.plan.GetResult().GetVariable() == rank.GetVariable() {
			continue
		}
		p := r.plan.GetClauses()[i-1].GetMatch()
		if p.GetEnd().GetVariable() != rank.GetVariable() {
			continue
		}
		r.edit(graphv1.EditKind_EDIT_KIND_DELETE, kgtext.DescribeClause(c), "", "the question asks for no best")
		r.plan.Clauses = slices.Delete(r.plan.Clauses, i-1, i+1)
		return
	}
}

// turnRank turns the direction of the only ranking if the question has words of the other one only.
func (r *repairer) turnRank() {
	var rank *graphv1.QueryRank
	for _, c := range r.plan.GetClauses() {
		if c.GetRank() != nil {
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
	if least == most || least != rank.GetDescending() {
		return
	}
	before := describeRankOf(rank)
	rank.Descending = most
	r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, describeRankOf(rank), "the question asks for the other end")
}

func describeRankOf(rank *graphv1.QueryRank) string { return kgtext.DescribeClause(rankClause(rank)) }

var superlative = regexp.MustCompile(`(?i)\b(first|earliest|oldest|last|latest|newest|most recent)\b`)

// addRank adds the ranking by time that the question asks for, if the plan has none.
func (r *repairer) addRank() {
	word := superlative.FindString(r.question)
	result := r.plan.GetResult()
	if word == "" || result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	for _, c := range r.plan.GetClauses() {
		if c.GetRank() != nil || strings.Contains(strings.ToLower(c.GetMatch().GetEnd().GetEntity()),
			strings.ToLower(word)) {
			return
		}
	}
	root := r.root()
	phrase := r.phraseOf(result.GetVariable())
	if root != result.GetVariable() && !strings.Contains(phrase, strings.ToLower(word)) {
		return
	}
	v := r.newVariable("date")
	r.insert(len(r.plan.GetClauses()), "the question asks for the "+strings.ToLower(word),
		matchClause(newPattern(result.GetVariable(), "date", variableTerm(v))),
		rankClause(&graphv1.QueryRank{Variable: v, Descending: mostWord.MatchString(word)}))
}

var (
	countQuestion = regexp.MustCompile(`(?i)\b(how many|number of|count (?:the|of)|how often|how much)\b`)
	sumQuestion   = regexp.MustCompile(`(?i)\b(total|combined|in all|altogether|sum)\b`)
	meanQuestion  = regexp.MustCompile(`(?i)\b(average|mean)\b`)
)

// setFunction sets what is computed by the form of the question.
func (r *repairer) setFunction() {
	result := r.plan.GetResult()
	before := kgtext.DescribeResult(result)
	was := result.GetFunction()
	yesNo := kgtext.IsYesNo(r.question) && orInFront.FindString(r.question) == ""
	switch counts := countQuestion.MatchString(r.question); {
	case yesNo:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	case was == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS && counts:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	case was == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS:
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	case was == graphv1.QueryFunction_QUERY_FUNCTION_COUNT && !counts:
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
		r.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result), "by the form of the question")
	}
}
