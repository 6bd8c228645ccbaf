package execute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// patternKind is what a pattern does to the rows.
type patternKind uint8

const (
	matched patternKind = iota
	// counted patterns lead to what a rank counts: a group without any counts 0.
	counted
	excluded
)

// pattern is a pattern of the plan.
type pattern struct {
	*graphv1.QueryPattern
	kind patternKind
	// undirected patterns match a triple whichever of its ends is the subject.
	undirected bool
	rel        string // the variables of its relationships begin so
}

// compiled is a plan that was checked.
type compiled struct {
	plan     *graphv1.QueryPlan
	patterns []*pattern
	byClause map[int]*pattern
	values   []*graphv1.QueryValues
}

// InvalidError says what is wrong with a plan.
type InvalidError struct{ Reason string }

func (e *InvalidError) Error() string { return e.Reason }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// compile checks a plan: every variable that is used is bound before.
func compile(plan *graphv1.QueryPlan) (*compiled, error) {
	c := &compiled{plan: plan, byClause: map[int]*pattern{}}
	bound := map[string]bool{}
	if len(plan.GetClauses()) == 0 {
		return nil, invalid("the plan has no clauses")
	}
	for i, clause := range plan.GetClauses() {
		switch cl := clause.GetClause().(type) {
		case *graphv1.QueryClause_Match:
			c.addPattern(i, cl.Match, matched)
			for _, v := range kgtext.ClauseVariables(clause) {
				bound[v] = true
			}
		case *graphv1.QueryClause_Exclude:
			c.addPattern(i, cl.Exclude, excluded)
			if v := cl.Exclude.GetStart().GetVariable(); v != "" && !bound[v] &&
				!bound[cl.Exclude.GetEnd().GetVariable()] {
				return nil, invalid("clause %d excludes by the variable %q, which nothing binds before", i+1, v)
			}
		case *graphv1.QueryClause_Values:
			c.values = append(c.values, cl.Values)
			bound[cl.Values.GetVariable()] = true
		case *graphv1.QueryClause_Condition:
			for _, v := range []string{cl.Condition.GetVariable(), cl.Condition.GetOtherVariable()} {
				if v != "" && !bound[v] {
					return nil, invalid("clause %d compares the variable %q, which nothing binds before", i+1, v)
				}
			}
		case *graphv1.QueryClause_Rank:
			if err := c.checkRank(i, cl.Rank, bound); err != nil {
				return nil, err
			}
		}
	}
	result := plan.GetResult()
	for _, v := range kgtext.ResultVariables(result) {
		if !bound[v] && result.GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS {
			return nil, invalid("the result is of the variable %q, which nothing binds or a ranking removed", v)
		}
	}
	if result.GetVariable() == "" {
		return nil, invalid("the plan says nothing of its result")
	}
	return c, c.checkGroups()
}

// checkGroups checks a result that is a value for each group.
func (c *compiled) checkGroups() error {
	result := c.plan.GetResult()
	if result.GetGroupBy() == "" {
		return nil
	}
	switch result.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_COUNT:
		c.markCounted(len(c.plan.GetClauses()), c.groups())
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM, graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE,
		graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM, graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM:
	default:
		return invalid("the result has groups by the variable %q, and nothing is computed of each: count, add, or "+
			"take the average, the least or the greatest", result.GetGroupBy())
	}
	if result.GetGroupBy() == result.GetVariable() {
		return invalid("the result has groups by the variable that it is computed of, %q", result.GetVariable())
	}
	return nil
}

// groups are those of the result, as a rank has them.
func (c *compiled) groups() *graphv1.QueryRank {
	return &graphv1.QueryRank{Variable: c.plan.GetResult().GetVariable(), GroupBy: c.plan.GetResult().GetGroupBy()}
}

func (c *compiled) addPattern(clause int, p *graphv1.QueryPattern, kind patternKind) {
	added := &pattern{QueryPattern: p, kind: kind, rel: fmt.Sprintf("r%d", len(c.patterns)+1),
		undirected: len(p.GetSteps()) == 1 && kgtext.IsSymmetric(p.GetSteps()[0].GetRelation())}
	c.patterns = append(c.patterns, added)
	c.byClause[clause] = added
}

func (c *compiled) checkRank(at int, r *graphv1.QueryRank, bound map[string]bool) error {
	for _, v := range []string{r.GetVariable(), r.GetGroupBy()} {
		if v != "" && !bound[v] {
			return invalid("clause %d ranks by the variable %q, which nothing binds before", at+1, v)
		}
	}
	if !r.GetCount() {
		if r.GetOperator() != 0 {
			return invalid("clause %d compares an amount of ?%s without counting", at+1, r.GetVariable())
		}
		return nil
	}
	if r.GetGroupBy() == "" || r.GetGroupBy() == r.GetVariable() {
		return invalid("clause %d counts ?%s for no group", at+1, r.GetVariable())
	}
	c.markCounted(at, r)
	clear(bound)
	bound[r.GetGroupBy()] = true
	return nil
}

// markCounted makes the patterns of what is counted optional, if something else binds the groups.
func (c *compiled) markCounted(at int, r *graphv1.QueryRank) {
	var optional []*pattern
	otherwise := false
	for i, clause := range c.plan.GetClauses()[:at] {
		if v := clause.GetValues(); v.GetVariable() == r.GetGroupBy() {
			otherwise = true
		}
		p := c.byClause[i]
		if p == nil || p.kind != matched {
			continue
		}
		terms := []string{p.GetStart().GetVariable(), p.GetEnd().GetVariable()}
		switch {
		case slices.Contains(terms, r.GetVariable()):
			optional = append(optional, p)
		case slices.Contains(terms, r.GetGroupBy()):
			otherwise = true
		}
	}
	// A condition on what is counted would remove the groups without any.
	for _, clause := range c.plan.GetClauses()[:at] {
		if cond := clause.GetCondition(); cond.GetVariable() == r.GetVariable() ||
			cond != nil && cond.GetOtherVariable() == r.GetVariable() {
			return
		}
		if p := clause.GetExclude(); p.GetStart().GetVariable() == r.GetVariable() {
			return
		}
	}
	if !otherwise {
		return
	}
	for _, p := range optional {
		for _, t := range []*graphv1.QueryTerm{p.GetStart(), p.GetEnd()} {
			if v := t.GetVariable(); v != "" && v != r.GetVariable() && v != r.GetGroupBy() {
				return // further variables hang on it
			}
		}
	}
	for _, p := range optional {
		p.kind = counted
	}
}

// reserved are words that Cypher does not take as names.
var reserved = strings.Fields("all and any as asc ascending by call case contains count create delete desc " +
	"descending detach distinct else end ends exists extract false filter in is limit match merge none not null on " +
	"optional or order reduce remove return set single skip starts then true union unwind when where with xor yield")

// identifier returns a variable as Cypher has it.
func identifier(variable string) string {
	if slices.Contains(reserved, variable) {
		return "`" + variable + "`"
	}
	return variable
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoteText(text string) string {
	return `'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `'`
}

func node(t *graphv1.QueryTerm, names map[string]string) string {
	if v := t.GetVariable(); v != "" {
		return "(" + identifier(v) + ")"
	}
	return "({name: " + quoteText(names[t.GetEntity()]) + "})"
}

// path returns a pattern in Cypher. Relationships have variables if facts are wanted.
func (p *pattern) path(facts bool, names map[string]string) string {
	var b strings.Builder
	b.WriteString(node(p.GetStart(), names))
	for i, s := range p.GetSteps() {
		rel := ""
		if facts {
			rel = p.relVariable(i)
		}
		left, right := "-[", "]->"
		switch {
		case p.undirected:
			right = "]-"
		case s.GetInverse():
			left, right = "<-[", "]-"
		}
		b.WriteString(left + rel + ":" + quoteName(s.GetRelation()))
		for _, other := range s.GetAlternatives() {
			b.WriteString("|" + quoteName(other))
		}
		b.WriteString(right)
		if i < len(p.GetSteps())-1 {
			b.WriteString("()")
		}
	}
	b.WriteString(node(p.GetEnd(), names))
	return b.String()
}

func (p *pattern) relVariable(i int) string { return fmt.Sprintf("%s_%d", p.rel, i+1) }

// relVariables returns the variables of its relationships.
func (p *pattern) relVariables() []string {
	all := make([]string, len(p.GetSteps()))
	for i := range all {
		all[i] = p.relVariable(i)
	}
	return all
}
