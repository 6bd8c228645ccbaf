package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

func condition(variable string, op graphv1.QueryOperator, value string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{
		Variable: variable, Operator: op, Operand: &graphv1.QueryCondition_Value{Value: value}}}}
}

func TestAlignValues(t *testing.T) {
	t.Parallel()
	const (
		equal   = graphv1.QueryOperator_QUERY_OPERATOR_EQUAL
		atLeast = graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL
		count   = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	)
	inverse := func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse = true }
	orla := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}},
		{Name: "Tessen", Links: []*graphv1.EntityLink{link("Tessen", exact, 1)}},
		{Name: "model", Links: []*graphv1.EntityLink{link("model", exact, 1)}}}
	for _, c := range []struct {
		name, question string
		clauses        []*graphv1.QueryClause
		result         *graphv1.QueryResult
		patterns       []*graphv1.PatternCandidates
		want           string
	}{
		{"a kind that is a column of a table is the answer", "which song earned most points", []*graphv1.QueryClause{
			match(variable("song"), "type", entity("song")), match(variable("song"), "points", variable("points")),
			rank("points")}, &graphv1.QueryResult{Variable: "song"}, []*graphv1.PatternCandidates{
			{Elsewhere: []*graphv1.RelationCandidate{candidate("Song", 0, 0)}},
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("Points", .9, .6, numbers)}}},
			"?song Song → ?one1; ?song Points → ?points; least ?points; ?one1"},
		{"rows that are asked for by their kind are not the column", "which models are discontinued",
			[]*graphv1.QueryClause{match(variable("model"), "type", entity("model")),
				match(variable("model"), "type", entity("discontinued"))}, &graphv1.QueryResult{Variable: "model"},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("instance of", .9, .9)}},
				{Clause: 1, Elsewhere: []*graphv1.RelationCandidate{candidate("discontinued", 0, 0)}}},
			"?model instance of → model; ?model discontinued → ?one1; ?model"},
		{"the column of a named row is its cell", "which jockey rode Orla", []*graphv1.QueryClause{
			match(variable("jockey"), "type", entity("jockey")), match(variable("jockey"), "rode", entity("Orla"))},
			&graphv1.QueryResult{Variable: "jockey"}, []*graphv1.PatternCandidates{
				{Elsewhere: []*graphv1.RelationCandidate{candidate("Jockey", 0, 0)}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("Jockey", .7, .9, inverse)}}},
			"?jockey ← Jockey Orla; ?jockey"},
		{"the column that a row leads to is the cell", "which song crosses the most owners", []*graphv1.QueryClause{
			match(variable("owner"), "type", entity("owner")), match(variable("song"), "of", variable("owner"))},
			&graphv1.QueryResult{Variable: "song"}, []*graphv1.PatternCandidates{
				{Elsewhere: []*graphv1.RelationCandidate{candidate("Owner", 0, 0)}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("Owner", .7, .9)}}},
			"?song Owner → ?owner; ?song"},
		{"of a column of numbers the total", "what is the total number of titles", []*graphv1.QueryClause{
			match(variable("title"), "type", entity("title"))},
			&graphv1.QueryResult{Variable: "title", Function: count},
			[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{candidate("Titles", 0, 0, numbers)}}},
			"?title Titles → ?one1; sum of ?one1"},
		{"years are counted", "how many years are there", []*graphv1.QueryClause{
			match(variable("year"), "type", entity("year"))}, &graphv1.QueryResult{Variable: "year", Function: count},
			[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{candidate("Year", 0, 0, numbers)}}},
			"?year Year → ?one1; count ?one1"},
		{"rows are counted for each value of a column", "which owner has the most stations", []*graphv1.QueryClause{
			match(variable("owner"), "type", entity("owner")),
			match(variable("owner"), "stations", variable("stations")),
			{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "stations", GroupBy: "owner",
				Count:      true,
				Descending: true}}}}, &graphv1.QueryResult{Variable: "owner"}, []*graphv1.PatternCandidates{
			{Elsewhere: []*graphv1.RelationCandidate{candidate("Owner", 0, 0)}}},
			"?owner Owner → ?one1; most ?owner for each ?one1; ?one1"},
		{"how often two names share something", "how many times did Tessen direct Orla", []*graphv1.QueryClause{
			{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "who",
				Entities: []string{"Tessen"}}}}, match(variable("who"), "directed", entity("Orla"))},
			&graphv1.QueryResult{Variable: "who", Function: count}, []*graphv1.PatternCandidates{{Clause: 1,
				Candidates: []*graphv1.RelationCandidate{candidate("directed_by", .9, .8, inverse,
					func(c *graphv1.RelationCandidate) {
						c.Steps = append(c.Steps, &graphv1.RelationStep{Relation: "starred_actors"})
					})}}},
			"?who is Tessen; ?who ← directed_by ?one1; ?one1 starred_actors → Orla; count ?one1"},
		{"hours are minutes of a relation in minutes", "which films are longer than two hours",
			[]*graphv1.QueryClause{match(variable("film"), "length", variable("length")),
				{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "length",
					Operator: atLeast, Operand: &graphv1.QueryCondition_Value{Value: "2"}}}}},
			&graphv1.QueryResult{Variable: "film"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("running time (min)", .3, .3, numbers)}}},
			"?film running time (min) → ?length; ?length ≥ 120; ?film"},
		{"minutes stay as they are", "which films are longer than two hours",
			[]*graphv1.QueryClause{match(variable("film"), "length", variable("length")),
				{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "length",
					Operator: atLeast, Operand: &graphv1.QueryCondition_Value{Value: "120"}}}}},
			&graphv1.QueryResult{Variable: "film"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("running time (min)", .3, .3, numbers)}}},
			"?film running time (min) → ?length; ?length ≥ 120; ?film"},
		{"an amount that is a number of its own", "which towns have more than 5 halls", []*graphv1.QueryClause{
			match(variable("town"), "halls", variable("halls")),
			{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "halls", GroupBy: "town", Count: true,
				Operator: atLeast, Amount: 5}}}}, &graphv1.QueryResult{Variable: "town"},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
				candidate("Halls", .9, .8, numbers)}}},
			"?town Halls → ?halls; ?halls ≥ 5; ?town"},
		{"a column is counted by its cells", "how many songs have points", []*graphv1.QueryClause{
			match(variable("song"), "type", entity("song"))}, &graphv1.QueryResult{Variable: "song", Function: count},
			[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{candidate("Song", 0, 0)}}},
			"?song Song → ?one1; count ?one1"},
		{"rows are counted where the counted relation names them", "how many are in the team Orla",
			[]*graphv1.QueryClause{match(variable("team"), "in", entity("Orla")),
				match(variable("team"), "members", variable("members"))},
			&graphv1.QueryResult{Variable: "members", Function: count}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("Team", .8, .8)}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("Team", .8, .8)}}},
			"?team Team → Orla; count ?team"},
		{"a year that a relation has in its name", "the population of Orla in 2005", []*graphv1.QueryClause{
			match(variable("value"), "population", entity("Orla")), match(variable("value"), "year", variable("year")),
			condition("year", equal, "2005")}, &graphv1.QueryResult{Variable: "value"}, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("Population (2005)", .9, .8, numbers, inverse)}}},
			"?value ← Population (2005) Orla; ?value"},
		{"a relation in millions", "which fees are at least 8 million", []*graphv1.QueryClause{
			match(variable("player"), "fee", variable("fee")), condition("fee", atLeast, "8,000,000")},
			&graphv1.QueryResult{Variable: "player"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("Fee (€ million)", .9, .8, numbers)}}},
			"?player Fee (€ million) → ?fee; ?fee ≥ 8; ?player"},
		{"kilowatts that the draft has as watts", "which stations have 5kw", []*graphv1.QueryClause{
			match(variable("station"), "power", variable("power")), condition("power", equal, "5000")},
			&graphv1.QueryResult{Variable: "station"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("Power (kW)", .9, .8, numbers)}}},
			"?station Power (kW) → ?power; ?power = 5; ?station"},
		{"thousands of metres that the question has", "which roads are over 5000 long", []*graphv1.QueryClause{
			match(variable("road"), "length", variable("length")), condition("length", atLeast, "5000")},
			&graphv1.QueryResult{Variable: "road"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("length (km)", .9, .8, numbers)}}},
			"?road length (km) → ?length; ?length ≥ 5000; ?road"},
		{"the greatest age is the earliest birth", "who is older", []*graphv1.QueryClause{
			match(variable("who"), "age", variable("age")), {Clause: &graphv1.QueryClause_Rank{
				Rank: &graphv1.QueryRank{Variable: "age", Descending: true}}}}, &graphv1.QueryResult{Variable: "who"},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("date of birth", .9, .8,
				numbers)}}}, "?who date of birth → ?age; least ?age; ?who"},
		{"the top has rank 1", "who is the top ranked nation", []*graphv1.QueryClause{
			match(variable("who"), "rank", variable("rank")), {Clause: &graphv1.QueryClause_Rank{
				Rank: &graphv1.QueryRank{Variable: "rank", Descending: true}}}}, &graphv1.QueryResult{Variable: "who"},
			[]*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("Rank", .9, .8, numbers)}}},
			"?who Rank → ?rank; least ?rank; ?who"},
		{"the height of an elevation is itself", "the highest elevation of Orla", []*graphv1.QueryClause{
			match(variable("elevation"), "of", entity("Orla")),
			match(variable("elevation"), "height", variable("height")),
			rank("height")}, &graphv1.QueryResult{Variable: "elevation"}, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("highest elevation", .9, .8, numbers, inverse)}}},
			"?elevation ← highest elevation Orla; least ?elevation; ?elevation"},
		{"two values of one thing that are compared", "is the height of Orla over its elevation",
			[]*graphv1.QueryClause{
				match(variable("e"), "of", entity("Orla")), match(variable("e"), "height", variable("height")),
				match(entity("Orla"), "depth", variable("depth")), {Clause: &graphv1.QueryClause_Condition{
					Condition: &graphv1.QueryCondition{Variable: "depth", Operator: atLeast,
						Operand: &graphv1.QueryCondition_OtherVariable{OtherVariable: "height"}}}}},
			&graphv1.QueryResult{Variable: "depth"}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("elevation", .9, .8, numbers, inverse)}},
				{Clause: 2, Candidates: []*graphv1.RelationCandidate{candidate("depth", .9, .8, numbers)}}},
			"?e ← elevation Orla; Orla depth → ?depth; ?depth ≥ ?e; ?depth"},
		{"a lowest point is the lowest by its relation", "what is the lowest point in Orla", []*graphv1.QueryClause{
			match(variable("point"), "in", entity("Orla")), match(variable("point"), "height", variable("height")),
			rank("height")}, &graphv1.QueryResult{Variable: "point"}, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("lowest point", .9, .8, inverse)}}},
			"?point ← lowest point Orla; ?point"},
		{"an amount of a named thing is told and not counted", "what is the number of losses of Orla",
			[]*graphv1.QueryClause{match(variable("loss"), "of", entity("Orla"))},
			&graphv1.QueryResult{Variable: "loss", Function: count}, []*graphv1.PatternCandidates{
				{Candidates: []*graphv1.RelationCandidate{candidate("losses", .9, .8, numbers, inverse)}}},
			"?loss ← losses Orla; ?loss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: c.clauses,
				Result: c.result}, orla, c.patterns)
			if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want {
				t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
			}
		})
	}
}
