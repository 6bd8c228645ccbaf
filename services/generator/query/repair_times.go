package query

import (
	"regexp"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

var (
	earlierWord = regexp.MustCompile(`(?i)\b(older|earlier|before|sooner)\b`)
	laterWord   = regexp.MustCompile(`(?i)\b(newer|later|after|younger|more recent(?:ly)?)\b`)
)

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
		want := less
		if later {
			want = greater
		}
		if (cond.GetOperator() == less || cond.GetOperator() == greater) && cond.GetOperator() != want {
			cond.Operator = want
			r.because("by the words of the question")
		}
	}
}

// asksWhen is a question for a time.
var asksWhen = regexp.MustCompile(`(?i)^(?:when|(?:in )?(?:which|what) year)\b`)

// askWhen asks for the time of the first or the last, where the plan ends with what that is: "when was the first
// spacecraft launched".
func (r *repairer) askWhen() {
	result := r.plan.GetResult()
	rank := r.plan.GetClauses()[len(r.plan.GetClauses())-1].GetRank()
	if rank == nil || rank.GetCount() || !asksWhen.MatchString(r.question) ||
		!looksLikeTime(r.phraseOf(rank.GetVariable())) || r.ownerOf(rank.GetVariable()) != result.GetVariable() ||
		result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED {
		return
	}
	result.Variable = rank.GetVariable()
	r.because("the question asks when")
}

// tenureAsked is "who has been with the company the longest".
var tenureAsked = regexp.MustCompile(`^[Ww]ho has (?:been|worked|played|served) (?:with|in|at|for|on) (?:the )?` +
	`((?:\p{L}+ ){1,3})(?:for )?the longest\W*$`)

// readTenure reads who has been somewhere the longest as who joined first.
func (r *repairer) readTenure() {
	m := tenureAsked.FindStringSubmatch(r.question)
	if m == nil {
		return
	}
	b := newBuilder()
	v := b.variable("person")
	b.pattern(v, TypeRelation, entityTerm("person"), false)
	if place := strings.TrimSpace(m[1]); place != strings.ToLower(place) {
		b.pattern(v, "in", entityTerm(place), false)
	}
	b.rank(v, "joined", false)
	b.plan.Result = &graphv1.QueryResult{Variable: v}
	r.replan(b, "the question asks who joined first")
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
	` (?:\d{1,2}, )?\d{4}|\d{4}(?:-\d\d){0,2})`

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

// openDecade makes a condition of a fact whose end is a decade: born_in="1930s".
func (r *repairer) openDecade() {
	for i, c := range r.plan.GetClauses() {
		p := c.GetMatch()
		value := p.GetEnd().GetEntity()
		if !decadeForm.MatchString(value) || p.GetStart().GetVariable() == "" {
			continue
		}
		phrase := strings.TrimSuffix(strings.TrimSuffix(kgtext.DescribeRelation(p), " in"), " during")
		v := r.newVariable(phrase)
		p.Steps, p.End = []*graphv1.RelationStep{{Relation: phrase}}, variableTerm(v)
		r.plan.Clauses = slices.Insert(r.plan.GetClauses(), i+1, conditionClause(v, equal, value))
		return
	}
}

// addPeriods sets the conditions on the time that the question bounds.
func (r *repairer) addPeriods() {
	p, ok := r.findPeriod()
	if !ok {
		return
	}
	r.openDecade()
	// A condition of the draft on one of these values, or on any year, is on the right attribute.
	variable, at := "", -1
	for i := len(r.plan.GetClauses()) - 1; i >= 0; i-- {
		c := r.plan.GetClauses()[i].GetCondition()
		if c == nil || c.GetValue() == "" {
			continue
		}
		_, isDate := kgtext.ParseDate(c.GetValue())
		if isDate || decadeForm.MatchString(c.GetValue()) || slices.ContainsFunc(p.ends, func(b bound) bool {
			return strings.Contains(b.value, c.GetValue())
		}) {
			variable, at = c.GetVariable(), i
			if len(p.ends) == 1 && c.GetOperator() == p.ends[0].operator && c.GetValue() == p.ends[0].value {
				return // as the question says
			}
			r.because("the question says " + p.text)
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
	return slices.ContainsFunc([]string{"date", "year", "time", "when", "release", "birth", "born"},
		func(word string) bool { return strings.Contains(phrase, word) })
}
