package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

// overLoans is a candidate over the loans of a book to something of these.
func overLoans(relation string, change ...func(*graphv1.RelationCandidate)) *graphv1.RelationCandidate {
	c := candidate(relation, 1, .5, change...)
	c.Words, c.TypeMatch = 1, true
	c.Steps = append([]*graphv1.RelationStep{{Relation: "book", Inverse: true}}, c.Steps...)
	return c
}

func TestWhatIsSaidOfEventsIsSaidOfOne(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Ann", Links: []*graphv1.EntityLink{link("Ann", exact, 1)}},
		{Name: "Bob", Links: []*graphv1.EntityLink{link("Bob", exact, 1)}}}
	soil := &graphv1.TermCandidates{Name: "Soil", Links: []*graphv1.EntityLink{link("Soil", exact, 1)}}
	values := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "x",
		Entities: []string{"Soil"}}}}
	member, date := overLoans("member"), overLoans("borrowed_on", numbers)
	for _, c := range []struct {
		name, question       string
		clauses              []*graphv1.QueryClause
		candidates           map[int]*graphv1.RelationCandidate
		terms                []*graphv1.TermCandidates
		result, want, reason string
	}{
		{"when one borrowed it", "When did Ann borrow Soil?", []*graphv1.QueryClause{values,
			match(variable("x"), "borrowed by", entity("Ann")),
			match(variable("x"), "date borrowed", variable("d"))},
			map[int]*graphv1.RelationCandidate{1: member, 2: date}, append(terms, soil), "d",
			"?x is Soil; ?x ← book ?one1; ?one1 member → Ann; ?one1 borrowed_on → ?d; ?d", ""},
		{"nor when anybody did", "When did Ann borrow Soil?", []*graphv1.QueryClause{values,
			match(variable("x"), "date borrowed", variable("d"))},
			map[int]*graphv1.RelationCandidate{1: date}, append(terms, soil), "d",
			"?x is Soil; ?x ← book borrowed_on → ?d; ?d", "the question names Ann and the plan does not"},
		{"not what two have borrowed", "Which book did Ann and Bob borrow?", []*graphv1.QueryClause{
			match(variable("x"), "borrowed by", entity("Ann")),
			match(variable("x"), "borrowed by", entity("Bob"))},
			map[int]*graphv1.RelationCandidate{0: member, 1: member}, terms, "x",
			"?x ← book member → Ann; ?x ← book member → Bob; ?x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var patterns []*graphv1.PatternCandidates
			for i, best := range c.candidates {
				patterns = append(patterns, &graphv1.PatternCandidates{Clause: uint32(i),
					Candidates: []*graphv1.RelationCandidate{best}})
			}
			got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: c.clauses,
				Result: &graphv1.QueryResult{Variable: c.result}}, c.terms, patterns)
			if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want || got.Reason != c.reason {
				t.Errorf("got %q, reason %q\nwant %q, reason %q", text, got.Reason, c.want, c.reason)
			}
		})
	}
}

func TestWhatWasDoneIsWhatThingsHave(t *testing.T) {
	t.Parallel()
	returned := match(variable("x"), "type", entity("returned"))
	not := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Exclude{Exclude: returned.GetMatch()}}
	book := match(variable("x"), "type", entity("book"))
	types := []*graphv1.RelationCandidate{candidate("instance of", .5, .5,
		func(c *graphv1.RelationCandidate) { c.Joins = true })}
	for _, c := range []struct {
		question string
		clause   *graphv1.QueryClause
		want     string
	}{
		{"Which books were returned?", returned, "?x instance of → book; ?x returned_on → ?one1; ?x"},
		{"Which books were not returned?", not, "?x instance of → book; not ?x returned_on → ?one1; ?x"},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{book, c.clause}, Result: &graphv1.QueryResult{Variable: "x"}},
			[]*graphv1.TermCandidates{{Name: "book", Links: []*graphv1.EntityLink{link("book", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: types}, {Clause: 1,
				Candidates: []*graphv1.RelationCandidate{candidate("returned_on", .8, .6)}}})
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want || got.Reason != "" {
			t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
		}
	}
}

func TestWhatIsRankedByIsBoundBefore(t *testing.T) {
	t.Parallel()
	got := query.New(query.DefaultConfig()).Align("Which product has the largest stock?", &graphv1.QueryPlan{
		Clauses: []*graphv1.QueryClause{match(variable("x"), "brand", entity("Lumio")), rank("stock")},
		Result:  &graphv1.QueryResult{Variable: "x"}},
		[]*graphv1.TermCandidates{{Name: "Lumio", Links: []*graphv1.EntityLink{link("Lumio", exact, 1)}}},
		[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("brand", .9, .6)}}})
	if got.Plan != nil || !strings.Contains(got.Reason, "?stock") {
		t.Errorf("got %q, reason %q; want none, since nothing binds ?stock", kgtext.DescribePlan(got.Plan), got.Reason)
	}
}
