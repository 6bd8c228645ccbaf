package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

func TestHowLongIsFromABeginningToAnEnd(t *testing.T) {
	t.Parallel()
	const start, years = "?thing is Orla; ", " in years"
	moment := func(relation, example string, score float32) *graphv1.RelationCandidate {
		return candidate(relation, score, score, numbers, examples(example))
	}
	end, began := moment("reignEnd", "1172", .8), moment("reignStart", "1140", .7)
	for _, c := range []struct {
		name, question string
		found          []*graphv1.RelationCandidate
		want           string
		isSure         bool
	}{
		{"from its start", "how long did Orla reign", []*graphv1.RelationCandidate{end, began},
			start + "?thing reignEnd → ?span; ?thing reignStart → ?one1; difference of ?span and ?one1" + years, true},
		{"whichever fits better", "how long did Orla reign",
			[]*graphv1.RelationCandidate{began, moment("reignEnd", "1172", .6)},
			start + "?thing reignEnd → ?span; ?thing reignStart → ?one1; difference of ?span and ?one1" + years, true},
		{"whatever fits better", "how long did Orla reign",
			[]*graphv1.RelationCandidate{candidate("seasons", .5, .5), moment("reignEnd", "1172", .2),
				moment("reignStart", "1140", .1)},
			start + "?thing reignEnd → ?span; ?thing reignStart → ?one1; difference of ?span and ?one1" + years, true},
		{"of two pairs the one that fits", "how long did Orla reign",
			[]*graphv1.RelationCandidate{began, end, moment("careerStart", "1130", .2),
				moment("careerEnd", "1180", .2)},
			start + "?thing reignStart → ?span; ?thing reignEnd → ?one1; difference of ?span and ?one1" + years, true},
		{"in days, if it is said to the day", "how long did Orla run",
			[]*graphv1.RelationCandidate{moment("closed", "2004-05-02", .8), moment("opened", "2001-02-03", .7)},
			start + "?thing closed → ?span; ?thing opened → ?one1; difference of ?span and ?one1", true},
		{"in the unit of the question", "how many months did Orla run",
			[]*graphv1.RelationCandidate{moment("closed", "2004-05-02", .8), moment("opened", "2001-02-03", .7)},
			start + "?thing closed → ?span; ?thing opened → ?one1; difference of ?span and ?one1 in months", true},
		{"not from the start of something else", "how long did Orla reign",
			[]*graphv1.RelationCandidate{end, moment("career start", "1130", .7)},
			start + "?thing reignEnd → ?span; ?span", false},
		{"nor from an end alone", "how long did Orla reign", []*graphv1.RelationCandidate{end},
			start + "?thing reignEnd → ?span; ?span", false},
		{"an age from birth to death", "how old was Orla when she died",
			[]*graphv1.RelationCandidate{moment("birth date", "1939-08-08", .7),
				moment("death date", "2015-11-30", .8)},
			start + "?thing death date → ?span; ?thing birth date → ?one1; difference of ?span and ?one1" + years,
			true},
		{"a death alone is no age", "how old was Orla when she died",
			[]*graphv1.RelationCandidate{moment("death date", "2015-11-30", .8)},
			start + "?thing death date → ?span; ?span", false},
		{"a length is one", "how long is Orla", []*graphv1.RelationCandidate{moment("duration to end", "32", .8)},
			start + "?thing duration to end → ?span; ?span", true},
		{"when is no span", "when did Orla end", []*graphv1.RelationCandidate{end, began},
			start + "?thing reignEnd → ?span; ?span", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{
				Clauses: []*graphv1.QueryClause{listed("thing", "Orla"),
					match(variable("thing"), "reign length", variable("span"))},
				Result: &graphv1.QueryResult{Variable: "span"}},
				[]*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}},
				[]*graphv1.PatternCandidates{{Clause: 1, Candidates: c.found}})
			if plan := strings.Join(kgtext.DescribePlan(got.Plan), "; "); plan != c.want ||
				(got.Confidence >= .8) != c.isSure {
				t.Errorf("confidence %v, %q: %s\nwant %s", got.Confidence, got.Reason, plan, c.want)
			}
		})
	}
}

func TestTheLongestIsNotWhatEndedLast(t *testing.T) {
	t.Parallel()
	for relation, isSure := range map[string]bool{"reignEnd": false, "duration": true} {
		longest := rank("span")
		longest.GetRank().Descending = true
		got := query.New(query.DefaultConfig()).Align("which king reigned the longest", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("king"), "reigned for", variable("span")), longest},
			Result:  &graphv1.QueryResult{Variable: "king"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
				candidate(relation, .9, .9, numbers)}}})
		if got.Plan == nil || (got.Reason == "") != isSure {
			t.Errorf("by %s: %q", relation, got.Reason)
		}
	}
}

func TestABoundInDigitsIsHeard(t *testing.T) {
	t.Parallel()
	for operator, isSure := range map[graphv1.QueryOperator]bool{
		graphv1.QueryOperator_QUERY_OPERATOR_EQUAL: false, graphv1.QueryOperator_QUERY_OPERATOR_LESS: true} {
		got := query.New(query.DefaultConfig()).Align("which films are rated below 4", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("film"), "rating", variable("rating")),
				condition("rating", operator, "4")},
			Result: &graphv1.QueryResult{Variable: "film"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
				candidate("rating", .9, .9, numbers)}}})
		if got.Plan == nil || (got.Confidence >= .8) != isSure {
			t.Errorf("%v: %v", operator, got.Confidence)
		}
	}
}

func TestADateIsNoAge(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{listed("x", "Mara"),
		match(variable("x"), "age", variable("n"))}, Result: &graphv1.QueryResult{Variable: "n"}}
	terms := []*graphv1.TermCandidates{{Name: "Mara", Links: []*graphv1.EntityLink{link("Mara", exact, 1)}}}
	for relation, isSure := range map[string]bool{"birthday": false, "age": true} {
		got := query.New(query.DefaultConfig()).Align("how old is Mara", plan, terms, []*graphv1.PatternCandidates{
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate(relation, .9, .9, numbers)}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", relation, got.Confidence, got.Reason)
		}
	}
}
