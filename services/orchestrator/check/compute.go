package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// minSure, minCount and minBest are the confidence in a plan from which on it decides a claim, a count supports
	// one, as it has the very number, and a ranking decides one. What that measures is implied, and fits less.
	minSure, minCount, minBest = 0.8, 0.7, 0.65
	// computedRows bounds the rows that are compared, computedEvidence the triples shown of them.
	computedRows, computedEvidence = 1000, 12
)

// operation is a claim that no triple states and the knowledge graph can compute: how many things there
// are, which of several is the most of its kind, or on which side of a bound a value is.
type operation struct {
	question, draft string
	word            string // by which a relation states the claim itself: "number", "largest"
	isBound         bool
	isEvent         bool    // one event has all of it
	least, most     float64 // of a count
	best            string  // what a superlative names
	isSubject       bool    // the claim's subject is the best
	never           string  // what is said never to have been something
	links           []*graphv1.EntityLink
}

var (
	countForm = regexp.MustCompile(
		`(?i)^(?:(exactly|only|at least|more than|over|at most|up to|fewer than|less than) )?` +
			`(\d{1,6}|` + strings.Join(numberWords, "|") + `)(?: (\p{L}[\p{L} -]*))?$`)
	numberOf = regexp.MustCompile(`(?i)^(?:total )?number of (\p{L}.*)$`)
	bestForm = regexp.MustCompile(`(?i)^(?:(?:is|was|has|the) )*(largest|biggest|smallest|longest|shortest|highest|` +
		`lowest|oldest|earliest|newest|latest) (\p{L}.*?)(?: (in|of|by|from)(?: (.+))?)?$`)
	// boundForm is a relation, one of the words of "<", ">", "<=" or ">=", and a value. Since when something is so is a
	// value and no bound.
	boundForm = regexp.MustCompile(`(?i)^(.+?) (?:(before|prior to|earlier than|less than|fewer than|under|below)|` +
		`(after|later than|more than|over|above)|(until|at most|up to)|(at least)) (.+)$`)
	placeForm = regexp.MustCompile(`(?i)^(?:in|of|from|by) `)
	beForm    = regexp.MustCompile(`(?i)^(?:is|was|is a|is the|instance of)$`)
	notWord   = regexp.MustCompile(`[^\p{L}\p{N}]+`)
)

// numberWords are the words for the numbers from two on.
var numberWords = []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

// parseNumberWord returns the number that one of numberWords is.
func parseNumberWord(word string) int { return slices.Index(numberWords, word) + 2 }

// readOperations reads a claim as what it may compute; nothing if it is a fact. "Over 300 metres" counts
// metres or is a bound: the knowledge graph decides.
func readOperations(c *verifierv1.ClaimToJudge) (found []operation) {
	for _, read := range []func(*verifierv1.ClaimToJudge) (operation, bool){readCount, readBound, readBest} {
		if o, ok := read(c); ok {
			found = append(found, o)
		}
	}
	return found
}

// readBound reads "A was founded before 1900".
func readBound(c *verifierv1.ClaimToJudge) (operation, bool) {
	t := c.GetTriple()
	m := boundForm.FindStringSubmatch(kgtext.VerbaliseRelation(t.GetRelation()) + " " + t.GetObject())
	if m == nil {
		return operation{}, false
	}
	_, isDate := kgtext.ParseDate(m[6])
	_, isNumber := kgtext.ParseQuantity(m[6])
	o := operation{question: t.GetSubject() + " " + m[0], isBound: true}
	for i, operator := range []string{"<", ">", "<=", ">="} {
		if word := m[i+2]; word != "" {
			o.word = strings.ToLower(word)
			o.draft = fmt.Sprintf("thing(name=%q).where(%q, %q, %q).exists()", t.GetSubject(), m[1], operator, m[6])
		}
	}
	return o, isDate || isNumber
}

// readBest reads "the largest city in A is B" and "B is the largest city in A".
func readBest(c *verifierv1.ClaimToJudge) (operation, bool) {
	t := c.GetTriple()
	relation := kgtext.VerbaliseRelation(t.GetRelation())
	o := operation{best: t.GetObject(), links: c.GetObjects()}
	m, place := bestForm.FindStringSubmatch(relation), t.GetSubject()
	if beForm.MatchString(relation) {
		if m = bestForm.FindStringSubmatch(t.GetObject()); m != nil {
			place, o.isSubject = m[4], true
		}
	} else if m != nil && m[3] != "" {
		place, o.isSubject = t.GetObject(), true
	}
	if m == nil || placeForm.MatchString(m[2]) { // "the largest in A" does not say of what
		return o, false
	}
	if o.isSubject {
		o.best, o.links = t.GetSubject(), c.GetSubjects()
	}
	o.word = strings.ToLower(m[1])
	o.question = "what is the " + o.word + " " + m[2]
	within := ""
	if place != "" {
		o.question += " in " + place
		within = fmt.Sprintf("in=%q", place)
	}
	ranking := o.word + "()"
	if isCity := m[2] == "city" || m[2] == "town"; isCity && o.word == "smallest" {
		ranking = `least("population")`
	} else if isCity && (o.word == "largest" || o.word == "biggest") {
		ranking = `most("population")` // which is what makes a city large
	}
	o.draft = fmt.Sprintf("%s(%s).%s", notWord.ReplaceAllString(m[2], "_"), within, ranking)
	return o, true
}

// readCount reads "A directed five films".
func readCount(c *verifierv1.ClaimToJudge) (operation, bool) {
	subject, relation := c.GetTriple().GetSubject(), kgtext.VerbaliseRelation(c.GetTriple().GetRelation())
	m := countForm.FindStringSubmatch(c.GetTriple().GetObject())
	if m == nil {
		return operation{}, false
	}
	if of := numberOf.FindStringSubmatch(relation); of != nil && m[3] == "" {
		relation, m[3] = "in", of[1]
	}
	o := operation{question: "how many " + m[3] + " " + relation + " " + subject, word: "number"}
	o.draft = fmt.Sprintf("%s(%s=%q).count()", notWord.ReplaceAllString(kgtext.Singular(m[3]), "_"),
		notWord.ReplaceAllString(relation, "_"), subject)
	o.least, o.most = readBounds(m[1], m[2])
	return o, m[3] != "" && !strings.HasPrefix(m[3], "of ")
}

// readBounds reads a number in digits or as one of numberWords, and the words before it, as the least and the most
// that may be counted.
func readBounds(words, number string) (least, most float64) {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		n = float64(parseNumberWord(strings.ToLower(number)))
	}
	least, most = math.Inf(-1), math.Inf(1)
	switch strings.ToLower(words) {
	case "at least":
		least = n
	case "more than", "over":
		least = n + 1
	case "at most", "up to":
		most = n
	case "fewer than", "less than":
		most = n - 1
	default:
		least, most = n, n
	}
	return least, most
}

// compute judges the claims that are operations by what the knowledge graph computes. A triple that states
// the number or the superlative itself has decided before.
func (c *Checker) compute(ctx context.Context, q *question.Question, claims []*verifierv1.ClaimToJudge,
	found []*Finding) error {
	if len(q.OtherKGs()) > 0 {
		return nil // a plan reads one knowledge graph, and what is the most may be in another
	}
	for i, f := range found {
		operations := slices.DeleteFunc(readOperations(claims[i]), func(o operation) bool {
			return slices.ContainsFunc(f.Judgement.GetEvidence(), func(t *graphv1.ScoredTriple) bool {
				_, isNumber := kgtext.ParseQuantity(t.GetTriple().GetObject())
				return o.word == "number" && isNumber ||
					strings.Contains(strings.ToLower(t.GetTriple().GetRelation()), o.word)
			})
		})
		if len(operations) == 0 {
			continue
		}
		err := q.Stage(ctx, orchestratorv1.Stage_STAGE_EXECUTE, func(ctx context.Context) (question.Cost, error) {
			for _, o := range operations {
				j, err := c.judgeOperation(ctx, q, o)
				if status.Code(err) == codes.InvalidArgument {
					continue // names that make no plan
				}
				if err != nil {
					return question.NoCost, err
				}
				if claims[i].GetNegated() {
					j.Verdict, j.Correction = negate(j.GetVerdict()), ""
				}
				if f.Judgement = j; j.Verdict != verifierv1.Verdict_VERDICT_NOT_IN_KG {
					break
				}
			}
			return question.NoCost, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func negate(v verifierv1.Verdict) verifierv1.Verdict {
	switch v {
	case verifierv1.Verdict_VERDICT_SUPPORTED:
		return verifierv1.Verdict_VERDICT_CONTRADICTED
	case verifierv1.Verdict_VERDICT_CONTRADICTED:
		return verifierv1.Verdict_VERDICT_SUPPORTED
	}
	return v
}

// judgeOperation takes an operation through the stages of Query, without a model, and compares the result.
func (c *Checker) judgeOperation(ctx context.Context, q *question.Question, o operation) (*verifierv1.Judgement,
	error) {
	drafted, err := c.Generator.GenerateQueryPlan(ctx, &generatorv1.GenerateQueryPlanRequest{Question: o.question,
		Draft: o.draft})
	if err != nil {
		return nil, err
	}
	return c.judgePlan(ctx, q, o, drafted.GetPlan())
}

// judgePlan takes a drafted plan through the other stages of Query, and compares the result with what an operation
// claims.
func (c *Checker) judgePlan(ctx context.Context, q *question.Question, o operation,
	drafted *graphv1.QueryPlan) (*verifierv1.Judgement, error) {
	for _, clause := range drafted.GetClauses() {
		if clause.GetRank() != nil {
			clause.GetRank().Limit = computedRows // all are compared with what the claim names
		}
	}
	aligned, err := c.AlignPlan(ctx, &retrieverv1.ExploreQueryPlanRequest{Kg: q.KG(), Question: o.question,
		Plan: drafted})
	if err != nil {
		return nil, err
	}
	j := &verifierv1.Judgement{Verdict: verifierv1.Verdict_VERDICT_NOT_IN_KG, Confidence: 0.8,
		Reason: aligned.GetReason()}
	isSure := aligned.GetConfidence() >= minSure
	if j.Reason == "" && aligned.GetConfidence() < o.leastConfidence() {
		j.Reason = "the relations of the knowledge graph do not fit the claim well enough"
	}
	if j.Reason != "" {
		return j, nil
	}
	plan := aligned.GetPlan()
	if o.never != "" {
		err = c.judgeNever(ctx, q, o.never, plan, j)
	} else if o.isEvent {
		err = c.judgeEvent(ctx, q, drafted, plan, j)
	} else if table, failed := c.execute(ctx, q, plan, j); failed != nil || j.Reason != "" {
		return j, failed
	} else if o.isBound {
		err = c.judgeBound(ctx, q, plan, table, j)
	} else if o.best != "" {
		o.compareBest(j, table)
	} else {
		isList := plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_COUNT
		o.compareCount(j, table, isList, len(plan.GetClauses()) < len(drafted.GetClauses()))
		if j.Verdict != verifierv1.Verdict_VERDICT_SUPPORTED && !isSure {
			j.Verdict, j.Evidence = verifierv1.Verdict_VERDICT_NOT_IN_KG, nil // another number may be of something else
		}
	}
	if j.Verdict != verifierv1.Verdict_VERDICT_NOT_IN_KG {
		j.Confidence = min(float32(aligned.GetConfidence()), 0.95)
	}
	return j, err
}

// leastConfidence is the confidence in a plan from which on it decides an operation.
func (o operation) leastConfidence() float32 {
	switch {
	case o.best != "":
		return minBest
	case o.isBound, o.isEvent, o.never != "":
		return minSure
	}
	return minCount
}

// execute computes a plan; j has the reason if the table decides nothing.
func (c *Checker) execute(ctx context.Context, q *question.Question, plan *graphv1.QueryPlan,
	j *verifierv1.Judgement) (*graphv1.QueryTable, error) {
	executed, err := c.Retriever.ExecuteQuery(ctx, &retrieverv1.ExecuteQueryRequest{Kg: q.KG(), Plan: plan,
		MaxRows: computedRows})
	// What a part of the triples says is no total, and its best not the best.
	j.Reason = cmp.Or(executed.GetTable().GetReason(), strings.Join(executed.GetTable().GetLimits(), " and "))
	return executed.GetTable(), err
}

// opposites are the operators of bounds with what holds where they do not.
var opposites = map[graphv1.QueryOperator]graphv1.QueryOperator{
	graphv1.QueryOperator_QUERY_OPERATOR_LESS:             graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL,
	graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL:    graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
	graphv1.QueryOperator_QUERY_OPERATOR_GREATER:          graphv1.QueryOperator_QUERY_OPERATOR_LESS_OR_EQUAL,
	graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL: graphv1.QueryOperator_QUERY_OPERATOR_LESS,
}

// judgeBound judges a bound by whether the opposite has a row as well. A value that fulfils neither cannot be
// compared, and of several on both sides each may be meant.
func (c *Checker) judgeBound(ctx context.Context, q *question.Question, plan *graphv1.QueryPlan,
	table *graphv1.QueryTable, j *verifierv1.Judgement) error {
	bounds := 0
	for _, clause := range plan.GetClauses() {
		if cond := clause.GetCondition(); cond != nil {
			cond.Operator = opposites[cond.GetOperator()]
			bounds++
		}
	}
	if bounds == 0 || plan.GetResult().GetFunction() != graphv1.QueryFunction_QUERY_FUNCTION_EXISTS {
		j.Reason = "the knowledge graph has nothing to compare"
		return nil
	}
	opposite, err := c.execute(ctx, q, plan, j)
	switch within := table.GetValue() == "yes"; {
	case err != nil || j.Reason != "":
	case table.GetValue() == opposite.GetValue():
		j.Reason = "the knowledge graph has no value that decides this"
	case within:
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "the knowledge graph has a value within the bound"
		addEvidence(j, table.GetRows()...)
	default:
		j.Verdict = verifierv1.Verdict_VERDICT_CONTRADICTED
		j.Reason = "the knowledge graph has a value beyond the bound"
		addEvidence(j, opposite.GetRows()...)
	}
	return err
}

// compareCount compares a count. More than the claim says contradicts it; fewer do not, since a list may be
// incomplete, nor does a list of more kinds than the claim has.
func (o operation) compareCount(j *verifierv1.Judgement, table *graphv1.QueryTable, isList, isWider bool) {
	addEvidence(j, table.GetRows()...)
	n, err := strconv.ParseFloat(table.GetValue(), 64)
	lists := "the knowledge graph has " + table.GetValue()
	switch {
	case err != nil:
		j.Reason = "the knowledge graph has no number for this"
	case isList && (n < o.least || math.IsInf(o.least, -1) && n <= o.most):
		j.Reason = lists + ", and there may be more than it lists"
	case isWider && n > o.most:
		j.Reason = lists + ", and does not say which of them are meant"
	case n < o.least || n > o.most:
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_CONTRADICTED, lists
	default:
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, lists
	}
}

// compareBest compares what a superlative names with the best of those that have a value.
func (o operation) compareBest(j *verifierv1.Judgement, table *graphv1.QueryTable) {
	rows := table.GetRows()
	if len(rows) < 2 || len(rows[0].GetCells()) < 2 {
		j.Reason = "the knowledge graph has no others to compare"
		return
	}
	at := slices.IndexFunc(rows, func(r *graphv1.QueryRow) bool { return o.names(r.GetCells()[0]) })
	first, over := rows[0].GetCells(), fmt.Sprintf("of the %d that the knowledge graph compares", len(rows))
	switch {
	case at < 0:
		j.Reason = fmt.Sprintf("%s is none %s", o.best, over)
	case rows[at].GetCells()[1].GetName() == first[1].GetName():
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "it is the "+o.word+" "+over
		addEvidence(j, rows[at], rows[1])
	default:
		j.Verdict = verifierv1.Verdict_VERDICT_CONTRADICTED
		j.Correction, j.CorrectsSubject = first[0].GetName(), o.isSubject
		j.Reason = fmt.Sprintf("%s, with %s, is the %s %s", first[0].GetName(), first[1].GetName(), o.word, over)
		if rows[1].GetCells()[1].GetName() == first[1].GetName() {
			j.Correction = "" // a tie
		}
		addEvidence(j, rows[0], rows[at])
	}
}

// names reports whether a claim names an entity.
func (o operation) names(e *graphv1.Entity) bool {
	return kgtext.Fold(e.GetName()) == kgtext.Fold(o.best) || slices.ContainsFunc(o.links,
		func(l *graphv1.EntityLink) bool { return l.GetEntity() == e.GetName() || l.GetEntity() == e.GetId() })
}

func addEvidence(j *verifierv1.Judgement, rows ...*graphv1.QueryRow) {
	for _, r := range rows {
		for _, t := range r.GetTriples() {
			if len(j.Evidence) < computedEvidence {
				j.Evidence = append(j.Evidence, &graphv1.ScoredTriple{Triple: t, Score: 1})
			}
		}
	}
}
