package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

func listed(variable string, names ...string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{
		Variable: variable, Entities: names}}}
}

func examples(objects ...string) func(*graphv1.RelationCandidate) {
	return func(c *graphv1.RelationCandidate) {
		for _, o := range objects {
			c.Examples = append(c.Examples, &graphv1.Triple{Subject: "x", Relation: "y", Object: o})
		}
	}
}

// Plans about the rows of a table, by what its columns are.
func TestPlansAboutTheRowsOfATable(t *testing.T) {
	t.Parallel()
	const (
		less = graphv1.QueryOperator_QUERY_OPERATOR_LESS
		more = graphv1.QueryOperator_QUERY_OPERATOR_GREATER
	)
	orla := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	overRows := func(c *graphv1.RelationCandidate) {
		c.Steps = []*graphv1.RelationStep{{Relation: "club", Inverse: true}, {Relation: "captain"}}
	}
	words := func(c *graphv1.RelationCandidate) { c.Words = 1 }
	found := func(clause uint32, candidates ...*graphv1.RelationCandidate) *graphv1.PatternCandidates {
		return &graphv1.PatternCandidates{Clause: clause, Candidates: candidates}
	}
	result := func(v string) *graphv1.QueryResult { return &graphv1.QueryResult{Variable: v} }
	captain := []*graphv1.QueryClause{listed("club", "Orla"), match(variable("club"), "captain", variable("captain"))}
	goals := []*graphv1.QueryClause{match(variable("thing"), "type", entity("goal")),
		match(variable("thing"), "scored", variable("scored")),
		{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "thing", Count: true, GroupBy: "scored",
			Descending: true}}}}
	column := func(c *graphv1.RelationCandidate) []*graphv1.PatternCandidates {
		return []*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{c}},
			found(1, candidate("position", .6, .6))}
	}
	team := []*graphv1.QueryClause{match(variable("player"), "position", entity("Keeper")),
		match(variable("player"), "team", entity("Orla"))}
	keeper := append(orla, &graphv1.TermCandidates{Name: "Keeper",
		Links: []*graphv1.EntityLink{link("keeper", exact, 1)}})
	position := found(0, candidate("position", .9, .9))
	size := []*graphv1.QueryClause{match(variable("venue"), "size", variable("size")), rank("size")}
	minutes := []*graphv1.QueryClause{match(variable("dish"), "time taken", variable("time")),
		condition("time", less, "30 minutes")}
	for _, c := range []struct {
		name, question string
		clauses        []*graphv1.QueryClause
		result         string
		terms          []*graphv1.TermCandidates
		patterns       []*graphv1.PatternCandidates
		want           string
		isSure         bool
	}{
		{"who is what a column says yes of", "who is the captain of Orla", captain, "captain", orla,
			[]*graphv1.PatternCandidates{found(1, candidate("captain", 1, .8, overRows, examples("yes", "no"), words))},
			"?club is Orla; ?club ← club ?captain; ?captain captain → yes; ?captain", true},
		{"and the value of a column of names", "who is the captain of Orla", captain, "captain", orla,
			[]*graphv1.PatternCandidates{found(1, candidate("captain", 1, .8, overRows, examples("Mara Vell"), words))},
			"?club is Orla; ?club ← club captain → ?captain; ?captain", true},
		{"the most of a column of numbers", "who scored the most goals", goals, "scored", nil,
			column(candidate("goals", .9, .6, numbers, words)), "?scored goals → ?thing; most ?thing; ?scored", true},
		{"and of a column of names the most frequent", "who scored the most goals", goals, "scored", nil,
			column(candidate("goals", .9, .6, examples("header"))),
			"?thing goals → ?one1; ?thing position → ?scored; " +
				"most ?thing for each ?scored; ?scored", true},
		{"the only column that has a name", "which keeper plays for Orla", team, "player", keeper,
			[]*graphv1.PatternCandidates{position, found(1, candidate("club", .3, .1),
				candidate("previous club", .3, .1))},
			"?player position → keeper; ?player club → Orla; ?player", false},
		{"but not one of two", "which keeper plays for Orla", team, "player", keeper,
			[]*graphv1.PatternCandidates{position, found(1, candidate("club", .3, .1), candidate("sponsor", .3, .1))},
			"", false},
		{"a relation in the unit of the question", "which dishes take less than 30 minutes", minutes, "dish", nil,
			[]*graphv1.PatternCandidates{found(0, candidate("prep (min)", .3, .3, numbers))},
			"?dish prep (min) → ?time; ?time < 30 minutes; ?dish", true},
		{"older than a year is before it", "which wines are older than 2016", []*graphv1.QueryClause{
			match(variable("wine"), "age", variable("age")), condition("age", more, "2016")}, "wine", nil,
			[]*graphv1.PatternCandidates{found(0, candidate("vintage", .9, .9, numbers))},
			"?wine vintage → ?age; ?age < 2016; ?wine", true},
		{"a kind that nothing is of is not that of the rows beside one that they are of", "which dry wines are there",
			[]*graphv1.QueryClause{match(variable("wine"), "type", entity("dry")),
				match(variable("wine"), "type", entity("wine"))}, "wine",
			[]*graphv1.TermCandidates{{Name: "wine", Links: []*graphv1.EntityLink{link("wine", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{candidate("price", 0, 0)}},
				found(1, candidate("instance of", .9, .9))}, "?wine instance of → wine; ?wine", false},
		{"and one in another unit", "which dishes take less than 30 minutes", minutes, "dish", nil,
			[]*graphv1.PatternCandidates{found(0, candidate("weight (kg)", .3, .3, numbers))},
			"?dish weight (kg) → ?time; ?time < 30 minutes; ?dish", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: c.clauses,
				Result: result(c.result)}, c.terms, c.patterns)
			text := strings.Join(kgtext.DescribePlan(got.Plan), "; ")
			if isSure := got.Reason == "" && got.Confidence >= .8; text != c.want || isSure != c.isSure {
				t.Errorf("got %q, confidence %v, reason %q\nwant %q", text, got.Confidence, got.Reason, c.want)
			}
		})
	}
	for name, others := range map[string][]*graphv1.RelationCandidate{
		"the only number is the size":        {candidate("opened", .2, .1, numbers)},
		"of two numbers neither is the size": {candidate("staff", .2, .1, numbers)},
	} {
		got := query.New(query.DefaultConfig()).Align("what is the biggest venue", &graphv1.QueryPlan{Clauses: size,
			Result: result("venue")}, nil, []*graphv1.PatternCandidates{found(0,
			append([]*graphv1.RelationCandidate{candidate("capacity", .4, .3, numbers)}, others...)...)})
		if isDoubted := got.Reason != ""; got.Plan == nil || isDoubted != strings.Contains(name, "neither") {
			t.Errorf("%s: %v, reason %q", name, got.Plan, got.Reason)
		}
	}
}

func TestANumberOfOtherThingsIsNotSure(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for _, c := range []struct {
		question, relation string
		isSure             bool
	}{
		{"how many bathrooms does Orla have", "bedrooms", false},
		{"how many bedrooms does Orla have", "bedrooms", true},
		{"how many inhabitants does Orla have", "population", true},
		{"how many seats does Orla have", "seatingCapacity", true},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			listed("thing", "Orla"), match(variable("thing"), "number", variable("n"))},
			Result: &graphv1.QueryResult{Variable: "n"}}, terms, []*graphv1.PatternCandidates{{Clause: 1,
			Candidates: []*graphv1.RelationCandidate{candidate(c.relation, .9, .9, numbers)}}})
		if got.Plan == nil || got.Confidence >= .8 != c.isSure {
			t.Errorf("%s by %q: confidence %v, reason %q", c.question, c.relation, got.Confidence, got.Reason)
		}
	}
}

func TestAnAdjectiveOfANameMeansIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		links   []*graphv1.EntityLink
		want    string
		isKnown bool
	}{
		{"french", []*graphv1.EntityLink{{Entity: "France", Mention: "french", Match: fuzzy, Score: .1}}, "France",
			true},
		{"houses", []*graphv1.EntityLink{{Entity: "Orla House", Mention: "houses", Match: fuzzy, Score: .8},
			{Entity: "house", Mention: "houses", Match: fuzzy, Score: .1}}, "house", true},
		{"trench", []*graphv1.EntityLink{{Entity: "France", Mention: "trench", Match: fuzzy, Score: .9}}, "", false},
	} {
		got := query.New(query.DefaultConfig()).Align("which players are "+c.name, &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("player"), "nationality", entity(c.name))},
			Result:  &graphv1.QueryResult{Variable: "player"}},
			[]*graphv1.TermCandidates{{Name: c.name, Links: c.links}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("nationality", 1, .9)}}})
		text := strings.Join(kgtext.DescribePlan(got.Plan), "; ")
		isSure := got.Confidence >= .8 && got.Reason == "" && text == "?player nationality → "+c.want+"; ?player"
		if isSure != c.isKnown || !c.isKnown && got.Plan != nil {
			t.Errorf("%s: %q, confidence %v, reason %q", c.name, text, got.Confidence, got.Reason)
		}
	}
}

func TestARelationInOtherWordsIsNotSure(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for _, c := range []struct {
		question, phrase, relation string
		options                    []func(*graphv1.RelationCandidate)
		isSure, isRefused          bool
	}{
		{"what is the nationality of Orla", "nationality", "born", []func(*graphv1.RelationCandidate){numbers}, false,
			false},
		{"what is the birthday of Orla", "birthday", "born", []func(*graphv1.RelationCandidate){numbers}, true, false},
		{"when was Orla born", "birth", "born", []func(*graphv1.RelationCandidate){numbers}, true, false},
		{"how many passengers does Orla carry", "passengers", "airline", nil, false, true},
		{"how many airlines does Orla have", "airlines", "airline", nil, true, false},
		{"how many books did Orla write", "books", "author of", nil, true, false},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			listed("thing", "Orla"), match(variable("thing"), c.phrase, variable("x"))},
			Result: &graphv1.QueryResult{Variable: "x"}}, terms, []*graphv1.PatternCandidates{{Clause: 1,
			Candidates: []*graphv1.RelationCandidate{candidate(c.relation, .9, .9, c.options...)}}})
		if (got.Plan == nil) != c.isRefused || (got.Reason == "") != c.isSure {
			t.Errorf("%s by %q: %v, reason %q", c.question, c.relation, got.Plan, got.Reason)
		}
	}
}

func TestAFlagMayHaveAWordOfAKind(t *testing.T) {
	t.Parallel()
	flag := candidate("remote", .6, .6)
	flag.Examples = []*graphv1.Triple{{Subject: "Orla", Relation: "remote", Object: "no"},
		{Subject: "Tessen", Relation: "remote", Object: "yes"}}
	got := query.New(query.DefaultConfig()).Align("which of them work remotely", &graphv1.QueryPlan{
		Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity("work remotely"))},
		Result:  &graphv1.QueryResult{Variable: "x"}}, nil,
		[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{flag}}})
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != "?x remote → yes; ?x" {
		t.Errorf("got %q, reason %q", text, got.Reason)
	}
}
