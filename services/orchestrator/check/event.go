package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// mostInEvent is how many names and values a sentence may have for all of it to be said of one event.
const mostInEvent = 4

var (
	// carried are the words around a verb that say nothing of the event.
	carried = regexp.MustCompile(
		`(?i)^(?:(?:is|are|was|were|be|been|has|have|had|the|an?)\b\s*)+|(?:^|\s+)(?:the|an?)$`)
	// kindAfter is the kind of the name before it, or nothing: "sponsors the databases track".
	kindAfter = regexp.MustCompile(`^\W*(?:\p{Ll}+)?\W*$`)
)

// judgeEventOf judges what a sentence claims of several names, if an event joins them: rows of loans say that Ann
// borrowed a book, and when. It is read without a model, and returns nil of others, and where no event is like that.
func (c *Checker) judgeEventOf(ctx context.Context, q *question.Question, s kgtext.Sentence,
	named []mention) (*Finding, error) {
	drafts, triple := readEvent(s.Text, named)
	f := &Finding{Extracted: &generatorv1.ExtractedClaim{Triple: triple, Span: spanOf(s, mention{text: s.Text})}}
	for _, draft := range drafts {
		err := q.Stage(ctx, orchestratorv1.Stage_STAGE_EXECUTE, func(ctx context.Context) (_ question.Cost, err error) {
			f.Judgement, err = c.judgeOperation(ctx, q, operation{question: s.Text, draft: draft, isEvent: true})
			return question.NoCost, err
		})
		if err == nil && (f.isDecided() || len(f.Judgement.GetEvidence()) > 0) {
			return f, nil
		}
		if err != nil && status.Code(err) != codes.InvalidArgument { // else names that make no plan
			return nil, err
		}
	}
	return nil, nil
}

// readEvent reads a sentence of a name, a verb, other names, and values behind these, as plans of an event: with the
// date as the words before it say, and as any date of the event. It returns none if the sentence says more, or denies
// it.
func readEvent(text string, named []mention) (drafts []string, claimed *graphv1.Triple) {
	if len(named) < 2 || len(named) > mostInEvent || denied.MatchString(text) {
		return nil, nil
	}
	if !beginsWith(text, named[0]) || !kindAfter.MatchString(text[named[len(named)-1].end:]) {
		return nil, nil
	}
	verb, conditions, isJoined := "", "", false
	var dated []string
	draft := fmt.Sprintf("thing(name=%q", named[0].text)
	for i, m := range named[1:] {
		words := carried.ReplaceAllString(strings.TrimSpace(text[named[i].end:m.start]), "")
		words = strings.TrimSpace(carried.ReplaceAllString(words, ""))
		if words == "" || notWord.MatchString(strings.ReplaceAll(words, " ", "")) {
			return nil, nil
		}
		if i == 0 {
			verb = words
		} else {
			words = verb + " " + words
		}
		_, isNumber := kgtext.ParseQuantity(m.text)
		switch isLiteral := literals.FindString(m.text) == m.text; {
		case isLiteral && isNumber && (i == 0 || words == verb):
			conditions += fmt.Sprintf(".where(%q, \"=\", %q)", verb+" amount", m.text)
		case isLiteral:
			dated = []string{fmt.Sprintf(".where(%q, \"=\", %q)", words, m.text),
				fmt.Sprintf(".where(\"date\", \"=\", %q)", m.text)}
		default:
			draft += fmt.Sprintf(", %s=%q", notWord.ReplaceAllString(words, "_"), m.text)
			isJoined = true
		}
	}
	if !isJoined {
		return nil, nil
	}
	for _, date := range append(dated, "")[:max(1, len(dated))] {
		drafts = append(drafts, draft+")"+conditions+date+".exists()")
	}
	object := text[named[1].start:named[len(named)-1].end]
	return drafts, &graphv1.Triple{Subject: named[0].text, Relation: verb, Object: object}
}

// beginsWith reports whether a statement, or a question of yes or no, begins with a name.
func beginsWith(text string, name mention) bool {
	before := opening.ReplaceAllString(strings.TrimSpace(text[:name.start]), "")
	return carried.ReplaceAllString(strings.TrimSpace(before), "") == ""
}

// judgeEvent judges whether one event has all that a plan says. If one event alone has the names, and the value is
// another one, that contradicts it; other events are listed.
func (c *Checker) judgeEvent(ctx context.Context, q *question.Question, drafted, plan *graphv1.QueryPlan,
	j *verifierv1.Judgement) error {
	j.Reason = "the knowledge graph has no events of this kind"
	if !overEvent(drafted, plan) {
		return nil
	}
	table, err := c.execute(ctx, q, plan, j)
	if err != nil || j.Reason != "" {
		return err
	}
	if table.GetValue() == "yes" {
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_SUPPORTED, "facts that belong together say it"
		addEvidence(j, table.GetRows()...)
		return nil
	}
	others := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "other"}}
	var values []string
	for _, clause := range plan.GetClauses() {
		if cond := clause.GetCondition(); cond != nil {
			others.Result.Variable, values = cond.GetVariable(), append(values, cond.GetValue())
			continue
		}
		others.Clauses = append(others.Clauses, clause)
	}
	if len(values) == 0 {
		for _, clause := range others.GetClauses() {
			if p := clause.GetMatch(); p.GetEnd().GetEntity() != "" {
				p.End = &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: "other"}}
			}
		}
	}
	table, err = c.execute(ctx, q, others, j)
	if err != nil || j.Reason != "" || len(table.GetRows()) == 0 {
		return err
	}
	var names []string
	for _, row := range table.GetRows()[:min(len(table.GetRows()), 3)] {
		names = append(names, row.GetCells()[0].GetName())
	}
	addEvidence(j, table.GetRows()...)
	if listed := strings.Join(names, "; "); len(values) == 1 && len(table.GetRows()) == 1 &&
		!mayAgree(values[0], names[0]) {
		j.Verdict, j.Reason = verifierv1.Verdict_VERDICT_CONTRADICTED, "the knowledge graph has "+listed+" in its place"
	} else {
		j.Reason = "the knowledge graph lists " + listed + ", and there may be more than it lists"
	}
	return nil
}

// mayAgree reports whether two values are dates that may be the same, of which one is less precise.
func mayAgree(value, other string) bool {
	date, isDate := kgtext.ParseDate(value)
	held, isHeld := kgtext.ParseDate(other)
	return isDate && isHeld && date.Agrees(held)
}

// overEvent reports whether a plan leads over an event that its draft does not have.
func overEvent(drafted, plan *graphv1.QueryPlan) bool {
	isLong := func(clause *graphv1.QueryClause) bool { return len(clause.GetMatch().GetSteps()) > 1 }
	return len(plan.GetClauses()) > len(drafted.GetClauses()) || slices.ContainsFunc(plan.GetClauses(), isLong)
}
