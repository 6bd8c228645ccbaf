// Package query aligns drafted query plans: it puts the entities and relations that the knowledge
// graph holds in the place of a draft's words, and says why. It calls no model.
package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// impliedFrom is the cosine from which on a relation implies what a thing is: a record label's is an
// artist.
const impliedFrom = 0.25

// typeRelation is the relation of drafted clauses that say what a variable is.
const typeRelation = "type"

// Config holds the thresholds of an alignment. docs/results.md says how they were measured.
type Config struct {
	// MinRelation is the least fit of a relation, 0 to 1, to take it.
	MinRelation float64 `koanf:"min_relation"`
	// MaxGap is by how much a relation that the entities lack may fit the words better than the one
	// that is taken.
	MaxGap float64 `koanf:"max_gap"`
	// MinFuzzy is the least score of an entity whose name differs in spelling.
	MinFuzzy float64 `koanf:"min_fuzzy"`
	// MinType is the least share of what a variable can be that must have a type for a clause on it
	// to be kept.
	MinType float64 `koanf:"min_type"`
}

// DefaultConfig returns the calibrated thresholds.
func DefaultConfig() Config {
	return Config{MinRelation: 0.3, MaxGap: 0.15, MinFuzzy: 0.3, MinType: 0.5}
}

// Aligned is an aligned plan.
type Aligned struct {
	// Plan is nil if it cannot do without what of the draft is not in the knowledge graph, by Reason.
	Plan       *graphv1.QueryPlan
	Edits      []*graphv1.PlanEdit
	Confidence float64
	Reason     string
}

// Aligner aligns plans.
type Aligner struct{ cfg Config }

// New returns an Aligner.
func New(cfg Config) *Aligner { return &Aligner{cfg} }

// alignment is one plan under way.
type alignment struct {
	Config
	question   string
	draft      *graphv1.QueryPlan
	terms      map[string]*graphv1.TermCandidates
	patterns   map[int]*graphv1.PatternCandidates
	plan       *graphv1.QueryPlan
	edits      []*graphv1.PlanEdit
	confidence float64
	doubted    string // the first reason to doubt the plan
	valued     map[string]bool
	ends       map[string]*graphv1.RelationCandidate // what binds each variable
	literals   map[string]bool                       // variables that are a number or a date by the relation to them
	columns    map[string]string                     // of a table: the variable for the column of a row's kind
	dropped    map[int]bool                          // clauses of the draft that others say already
	turned     map[string]bool                       // variables that are a date where the plan says an age
	chosen     map[int]*graphv1.RelationCandidate    // what was taken for each pattern of the draft
}

// Align aligns a plan with what was found of its names and relations.
func (a *Aligner) Align(question string, draft *graphv1.QueryPlan, terms []*graphv1.TermCandidates,
	patterns []*graphv1.PatternCandidates) Aligned {
	x := &alignment{Config: a.cfg, question: question, draft: draft, terms: map[string]*graphv1.TermCandidates{},
		patterns: map[int]*graphv1.PatternCandidates{}, confidence: 1,
		plan: &graphv1.QueryPlan{Result: proto.CloneOf(draft.GetResult())}, valued: kgtext.ValuedVariables(draft),
		ends: map[string]*graphv1.RelationCandidate{}, literals: map[string]bool{}, columns: map[string]string{},
		dropped: map[int]bool{}, turned: map[string]bool{}, chosen: map[int]*graphv1.RelationCandidate{}}
	x.draft = proto.CloneOf(draft)
	for _, t := range terms {
		x.terms[t.GetName()] = t
	}
	lacksSteps := func(c *graphv1.RelationCandidate) bool { return len(c.GetSteps()) == 0 } // against the contract
	for _, p := range patterns {
		p.Candidates = slices.DeleteFunc(p.GetCandidates(), lacksSteps)
		p.Elsewhere = slices.DeleteFunc(p.GetElsewhere(), lacksSteps)
		x.patterns[int(p.GetClause())] = p
	}
	if reason := x.align(); reason != "" {
		return Aligned{Edits: x.edits, Reason: reason}
	}
	x.checkAcross()
	x.checkAgent()
	x.checkVoice()
	x.checkWho()
	x.checkRoles()
	x.checkTopic()
	x.checkTimes()
	x.checkAnchored()
	x.checkNames()
	x.checkSort()
	x.checkCounted()
	x.checkClaim()
	x.checkSaid()
	x.checkKin()
	x.checkAlike()
	x.checkPeriods()
	return Aligned{Plan: x.plan, Edits: x.edits, Confidence: x.confidence, Reason: x.doubted}
}

// align makes the clauses of the plan; it returns why it cannot.
func (x *alignment) align() string {
	x.dropDated()
	x.rankColumn()
	for i, c := range x.draft.GetClauses() {
		var reason string
		if x.dropped[i] {
			continue
		}
		switch c := c.GetClause().(type) {
		case *graphv1.QueryClause_Values:
			reason = x.values(c.Values)
		case *graphv1.QueryClause_Match:
			reason = x.pattern(i, c.Match, false)
		case *graphv1.QueryClause_Exclude:
			reason = x.pattern(i, c.Exclude, true)
		default:
			x.plan.Clauses = append(x.plan.Clauses, proto.CloneOf(x.draft.GetClauses()[i]))
		}
		if reason != "" {
			return reason
		}
	}
	x.askColumn()
	if reason := x.checkBound(); reason != "" {
		return reason
	}
	if x.claimsNothing() && !x.askFlag() {
		return "the plan claims nothing that the knowledge graph could confirm"
	}
	x.joinThrough()
	x.shareEvents()
	x.compareValues()
	x.rankByValue()
	x.turnAges()
	x.scale()
	if reason := x.setFunction(); reason != "" {
		return reason
	}
	x.measureSpan()
	if !x.hears() {
		x.certain(unheard)
	}
	return ""
}

// joinThrough says a fact of the things that the plan asks for, where the draft has it of others that are found by the
// same relation: who made the drugs that treat A is asked of these, and not of any that treats A.
func (x *alignment) joinThrough() {
	for _, c := range x.plan.GetClauses() {
		p := c.GetMatch()
		for _, other := range x.plan.GetClauses() {
			o := other.GetMatch()
			if len(p.GetSteps()) != 2 || len(o.GetSteps()) != 1 || p.GetEnd().GetEntity() == "" ||
				o.GetEnd().GetVariable() != x.plan.GetResult().GetVariable() ||
				!proto.Equal(p.GetStart(), o.GetStart()) ||
				kgtext.StepsKey(p.GetSteps()[:1]) != kgtext.StepsKey(o.GetSteps()) {
				continue
			}
			before := kgtext.DescribeClause(c)
			p.Start, p.Steps = o.GetEnd(), p.GetSteps()[1:]
			x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c),
				"both are found by one relation", nil)
			break
		}
	}
}

// shareEvents says of one event what the plan says of two that the same steps lead back to: when A borrowed B is when
// the loan of B to A was.
func (x *alignment) shareEvents() {
	var clauses []*graphv1.QueryClause
	shared := map[*graphv1.QueryPattern]bool{}
	for i, c := range x.plan.GetClauses() {
		p := c.GetMatch()
		last := len(p.GetSteps()) - 1
		if last < 1 || shared[p] || !p.GetSteps()[0].GetInverse() {
			clauses = append(clauses, c)
			continue
		}
		same := []*graphv1.QueryPattern{p}
		for _, other := range x.plan.GetClauses()[i+1:] {
			o := other.GetMatch()
			if len(o.GetSteps()) == last+1 && proto.Equal(p.GetStart(), o.GetStart()) &&
				kgtext.StepsKey(o.GetSteps()[:last]) == kgtext.StepsKey(p.GetSteps()[:last]) &&
				!proto.Equal(o.GetSteps()[last], p.GetSteps()[last]) {
				same = append(same, o)
			}
		}
		if len(same) > 1 {
			event := &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: x.newVariable()}}
			joined := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{
				Match: &graphv1.QueryPattern{Start: p.GetStart(), Steps: p.GetSteps()[:last], End: event}}}
			x.edit(graphv1.EditKind_EDIT_KIND_ADD, "", kgtext.DescribeClause(joined), "both are of one of them", nil)
			clauses = append(clauses, joined)
			for _, o := range same {
				o.Start, o.Steps, shared[o] = event, o.GetSteps()[last:], true
			}
		}
		clauses = append(clauses, c)
	}
	x.plan.Clauses = clauses
}

// compareValues compares numbers that the knowledge graph has, where the plan compares how many there are: who has more
// inhabitants has a greater number of them.
func (x *alignment) compareValues() {
	result := x.plan.GetResult()
	isNumber := func(variable string) bool {
		bound := x.ends[variable]
		return bound.GetComparable() > 0.5 && !kgtext.IsTime(relationOf(bound))
	}
	if !kgtext.ComparesCounts(result) || !isNumber(result.GetVariable()) || !isNumber(result.GetOtherVariable()) {
		return
	}
	before := kgtext.DescribeResult(result)
	if result.GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT {
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE
	} else {
		x.plan.Clauses = append(x.plan.Clauses, &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{
			Condition: &graphv1.QueryCondition{Variable: result.GetVariable(),
				Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
				Operand:  &graphv1.QueryCondition_OtherVariable{OtherVariable: result.GetOtherVariable()}}}})
		result.OtherVariable = ""
	}
	after := strings.Join(kgtext.DescribePlan(x.plan), "; ")
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, after, "they are numbers of their own", nil)
}

// rankByValue ranks by a number that the knowledge graph has, where the plan counts it: the number of
// employees is a number of its own.
func (x *alignment) rankByValue() {
	for _, c := range x.plan.GetClauses() {
		rank := c.GetRank()
		bound := x.ends[rank.GetVariable()]
		if !rank.GetCount() || bound == nil || bound.GetComparable() < 0.8 ||
			kgtext.IsTime(relationOf(bound)) || ordinalForm.MatchString(relationOf(bound)) {
			continue
		}
		before := kgtext.DescribeClause(c)
		if op := rank.GetOperator(); op != 0 {
			c.Clause = &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: rank.GetVariable(),
				Operator: op, Operand: &graphv1.QueryCondition_Value{Value: fmt.Sprint(rank.GetAmount())}}}
		} else {
			rank.Count, rank.GroupBy = false, ""
		}
		x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeClause(c), "it is a number of its own", nil)
	}
}

func (x *alignment) edit(kind graphv1.EditKind, before, after, reason string, evidence []*graphv1.Triple) {
	x.edits = append(x.edits, &graphv1.PlanEdit{Kind: kind, Before: before, After: after, Reason: reason,
		Evidence: evidence})
}

// certain lowers the confidence of the plan to that of one of its parts.
func (x *alignment) certain(p float64) { x.confidence = min(x.confidence, max(0, min(1, p))) }

// doubt makes the plan one that may ask for something else than the draft.
func (x *alignment) doubt(reason string) {
	x.certain(unheard)
	x.doubted = cmp.Or(x.doubted, reason)
}

func (x *alignment) replaced(before, after *graphv1.QueryClause, reason string, evidence []*graphv1.Triple) {
	was, is := kgtext.DescribeClause(before), kgtext.DescribeClause(after)
	kind := graphv1.EditKind_EDIT_KIND_REPLACE
	if was == is {
		kind = graphv1.EditKind_EDIT_KIND_KEEP
	}
	x.edit(kind, was, is, reason, evidence)
}

func (x *alignment) newVariable() string {
	for i := 1; ; i++ {
		v := fmt.Sprintf("one%d", i)
		if !slices.ContainsFunc(x.plan.GetClauses(), func(c *graphv1.QueryClause) bool {
			return c.GetValues().GetVariable() == v || c.GetMatch().GetEnd().GetVariable() == v
		}) {
			return v
		}
	}
}

// checkBound returns why a variable of the plan is bound by nothing that is left, or by nothing before it is compared
// or ranked by.
func (x *alignment) checkBound() string {
	bound := map[string]bool{}
	lacks := func(variables ...string) string {
		for _, v := range variables {
			if v != "" && !bound[v] {
				return fmt.Sprintf("the knowledge graph does not say what ?%s is", v)
			}
		}
		return ""
	}
	for _, c := range x.plan.GetClauses() {
		cond, rank := c.GetCondition(), c.GetRank()
		if reason := lacks(cond.GetVariable(), cond.GetOtherVariable(), rank.GetVariable()); reason != "" {
			return reason
		}
		if c.GetMatch() != nil || c.GetValues() != nil {
			for _, v := range kgtext.ClauseVariables(c) {
				bound[v] = true
			}
		}
	}
	return lacks(kgtext.ResultVariables(x.plan.GetResult())...)
}

// setFunction makes the function fit what its variable is: things are counted, numbers are told. It returns why there
// is neither.
func (x *alignment) setFunction() string {
	result := x.plan.GetResult()
	bound := x.ends[result.GetVariable()]
	if bound == nil {
		return ""
	}
	before := kgtext.DescribeResult(result)
	was := result.GetFunction()
	isNumber := bound.GetComparable() > 0.5
	switch {
	case was == graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED && asksAmount.MatchString(x.question) && !isNumber &&
		!strings.HasPrefix(strings.ToLower(x.question), "wh"):
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
		isAsked := func(kind string) bool { return kgtext.SharesWord(kind, x.question) }
		if r := relationOf(bound); !isInverse(bound) && !kgtext.IsSaid(r, x.question) &&
			!slices.ContainsFunc(bound.GetEndTypes(), isAsked) {
			return fmt.Sprintf("the knowledge graph has no number that is asked for, and the question no word of %q, "+
				"which could be counted", r)
		}
	case was == graphv1.QueryFunction_QUERY_FUNCTION_COUNT && isNumber &&
		!kgtext.IsTime(bound.GetSteps()[0].GetRelation()):
		result.Function = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	default:
		return ""
	}
	x.edit(graphv1.EditKind_EDIT_KIND_REPLACE, before, kgtext.DescribeResult(result), "by what the values are", nil)
	return ""
}

// entities returns what a name means, or nothing if the knowledge graph does not hold it. Several
// entities of the same name are all meant until a relation tells them apart.
func (x *alignment) entities(name string) []*graphv1.EntityLink {
	links := x.terms[name].GetLinks()
	if len(links) == 0 {
		return nil
	}
	var same []*graphv1.EntityLink
	for _, l := range links {
		if l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY {
			same = append(same, l)
		}
	}
	if len(same) > 0 {
		return same
	}
	if at := slices.IndexFunc(links, func(l *graphv1.EntityLink) bool {
		return isFormOf(name, l.GetEntity())
	}); at > 0 {
		return links[at : at+1]
	}
	best := links[0]
	isNear := float64(best.GetScore()) >= x.MinFuzzy && spellsAlike(name, best.GetEntity())
	if !isNear && !isFormOf(name, best.GetEntity()) {
		return nil
	}
	return links[:1]
}

// isFormOf reports whether a word is a name in the plural, or its adjective: French of France.
func isFormOf(word, name string) bool {
	word, name = kgtext.Fold(word), kgtext.Fold(name)
	return kgtext.SameNoun(word, name) || slices.Contains(kgtext.AdjectiveBases(word), name)
}

// selectMeant returns which of several things of one name a variable stands for: those that have the
// relations of its patterns, and of these, if there are such, those whose own name it is.
func (x *alignment) selectMeant(variable string, links []*graphv1.EntityLink) []*graphv1.EntityLink {
	if len(links) < 2 {
		return links
	}
	for i, c := range x.draft.GetClauses() {
		p := c.GetMatch()
		if p.GetStart().GetVariable() != variable && p.GetEnd().GetVariable() != variable {
			continue
		}
		best := x.choose(kgtext.DescribeRelation(p), x.patterns[i].GetCandidates(), p.GetEnd().GetVariable())
		links = anchored(links, best)
	}
	return links
}

// maxSpelled is the length in bytes up to which the spelling of names is compared.
const maxSpelled = 1024

// spellsAlike reports whether two names differ in a few letters or in the words around them only.
func spellsAlike(a, b string) bool {
	a, b = kgtext.Fold(a), kgtext.Fold(b)
	if a == "" || b == "" {
		return false
	}
	return strings.HasPrefix(b, a+" ") || strings.HasSuffix(b, " "+a) ||
		strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") ||
		max(len(a), len(b)) <= maxSpelled && edlib.LevenshteinDistance(a, b) <= max(1, len([]rune(a))/7)
}

func (x *alignment) values(v *graphv1.QueryValues) string {
	out := &graphv1.QueryValues{Variable: v.GetVariable()}
	for _, name := range v.GetEntities() {
		links := x.entities(name)
		if len(links) == 0 {
			return fmt.Sprintf("the knowledge graph has no entity %q", name)
		}
		for _, l := range x.selectMeant(v.GetVariable(), links) {
			if !slices.Contains(out.Entities, l.GetEntity()) && len(out.Entities) < 256 {
				out.Entities = append(out.Entities, l.GetEntity())
			}
		}
		x.certainLink(links[0])
	}
	after := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: out}}
	before := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: v}}
	x.replaced(before, after, "what the names mean in the knowledge graph", nil)
	x.plan.Clauses = append(x.plan.Clauses, after)
	return ""
}

func (x *alignment) certainLink(l *graphv1.EntityLink) {
	switch l.GetMatch() {
	case graphv1.LinkMatch_LINK_MATCH_FUZZY:
		if isFormOf(l.GetMention(), l.GetEntity()) {
			return
		}
		x.certain(0.7)
	case graphv1.LinkMatch_LINK_MATCH_ALIAS:
		x.certain(0.9)
	}
}

// anchored returns the links of a name that have the relation, or all if that is not known; of these,
// those whose own name it is rather than a short form of theirs.
func anchored(links []*graphv1.EntityLink, best *graphv1.RelationCandidate) []*graphv1.EntityLink {
	keep := func(fits func(*graphv1.EntityLink) bool) {
		var have []*graphv1.EntityLink
		for _, l := range links {
			if fits(l) {
				have = append(have, l)
			}
		}
		if len(have) > 0 {
			links = have
		}
	}
	keep(func(l *graphv1.EntityLink) bool { return slices.Contains(best.GetAnchors(), l.GetEntity()) })
	keep(func(l *graphv1.EntityLink) bool { return l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_ALIAS })
	return links
}
