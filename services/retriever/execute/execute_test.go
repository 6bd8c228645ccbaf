package execute_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// films is a graph with numbers, dates of several precisions, units, ties and gaps.
func films() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"The Grey Door", "directed by", "Mara Vell"}, [3]string{"The Grey Door", "year", "1994"},
		[3]string{"Low Tide", "directed by", "Mara Vell"}, [3]string{"Low Tide", "year", "1989"},
		[3]string{"Lost Reel", "directed by", "Mara Vell"},
		[3]string{"Orla", "directed by", "Per Holm"}, [3]string{"Orla", "year", "1994"},
		[3]string{"The Grey Door", "written by", "Mara Vell"}, [3]string{"Orla", "written by", "Mara Vell"},
		[3]string{"The Grey Door", "cast", "Per Holm"}, [3]string{"Low Tide", "cast", "Per Holm"},
		[3]string{"The Grey Door", "cast", "Anna Lind"},
		[3]string{"Per Holm", "born", "15 October 1956"}, [3]string{"Anna Lind", "born", "1956-10-20"},
		[3]string{"Mara Vell", "born", "1950"}, [3]string{"Per Holm", "died", "2001-03-22"},
		[3]string{"Mara Vell", "died", "2010"},
		[3]string{"Velmora", "type", "state"}, [3]string{"Tessen", "type", "state"}, [3]string{"Elde", "type", "state"},
		[3]string{"Velmora", "area", "8,270.3 km"}, [3]string{"Tessen", "area", "212.5 km"},
		[3]string{"Elde", "area", "90 acres"},
		[3]string{"Velmora", "borders", "Tessen"}, [3]string{"Tessen", "borders", "Velmora"},
		[3]string{"Per Holm", "spouse", "Anna Lind"}, [3]string{"Mara Vell", "brother", "Per Holm"},
		[3]string{"Long", "runs through", "Velmora"}, [3]string{"Long", "runs through", "Tessen"},
		[3]string{"Short", "runs through", "Velmora"}, [3]string{"Long", "nickname", "the old one"},
		[3]string{"Short", "nickname", "the new one"},
		[3]string{"Low Door", "height", "185 (centimetres)"}, [3]string{"Mid Door", "height", "175 cm"},
		[3]string{"Great Door", "height", "12 metres"}, [3]string{"Old Door", "height", "3 hours"},
	)
}

// v and e are terms, m, x, c, is and rank clauses.
func v(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: name}}
}

func e(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: name}}
}

func newPattern(start *graphv1.QueryTerm, relation string, end *graphv1.QueryTerm) *graphv1.QueryPattern {
	relation, isInverse := strings.CutPrefix(relation, "^")
	relations := strings.Split(relation, "|")
	return &graphv1.QueryPattern{Start: start, End: end,
		Steps: []*graphv1.RelationStep{{Relation: relations[0], Alternatives: relations[1:], Inverse: isInverse}}}
}

func match(start *graphv1.QueryTerm, relation string, end *graphv1.QueryTerm) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: newPattern(start, relation, end)}}
}

func exclude(start *graphv1.QueryTerm, relation string, end *graphv1.QueryTerm) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Exclude{Exclude: newPattern(start, relation, end)}}
}

func condition(variable string, op graphv1.QueryOperator, value string) *graphv1.QueryClause {
	c := &graphv1.QueryCondition{Variable: variable, Operator: op, Operand: &graphv1.QueryCondition_Value{Value: value}}
	if other, ok := strings.CutPrefix(value, "?"); ok {
		c.Operand = &graphv1.QueryCondition_OtherVariable{OtherVariable: other}
	}
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{Condition: c}}
}

func values(variable string, names ...string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{
		Values: &graphv1.QueryValues{Variable: variable, Entities: names}}}
}

func rank(r *graphv1.QueryRank) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: r}}
}

func plan(function graphv1.QueryFunction, variable string, clauses ...*graphv1.QueryClause) *graphv1.QueryPlan {
	return &graphv1.QueryPlan{Clauses: clauses, Result: &graphv1.QueryResult{Function: function, Variable: variable}}
}

const (
	list     = graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
	count    = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	sum      = graphv1.QueryFunction_QUERY_FUNCTION_SUM
	average  = graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE
	distance = graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE
	exists   = graphv1.QueryFunction_QUERY_FUNCTION_EXISTS

	equal   = graphv1.QueryOperator_QUERY_OPERATOR_EQUAL
	unequal = graphv1.QueryOperator_QUERY_OPERATOR_NOT_EQUAL
	less    = graphv1.QueryOperator_QUERY_OPERATOR_LESS
	greater = graphv1.QueryOperator_QUERY_OPERATOR_GREATER
)

func TestPlans(t *testing.T) {
	t.Parallel()
	byVell := match(v("film"), "directed by", e("Mara Vell"))
	year := match(v("film"), "year", v("year"))
	age := func(name string) *graphv1.QueryPlan {
		return &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(e(name), "born", v("a")),
			match(e(name), "died", v("b"))},
			Result: &graphv1.QueryResult{Function: distance, Variable: "a", OtherVariable: "b", Unit: "years"}}
	}
	for _, c := range []struct {
		name              string
		plan              *graphv1.QueryPlan
		value, unit       string
		rows              []string // the first cell of each
		compared, lacking int
		reason            string
	}{
		{"a list", plan(list, "film", byVell), "", "", []string{"Lost Reel", "Low Tide", "The Grey Door"}, 0, 0, ""},
		{"by any of several relations", plan(list, "film",
			match(v("film"), "directed by|written by", e("Mara Vell"))), "", "",
			[]string{"Lost Reel", "Low Tide", "Orla", "The Grey Door"}, 0, 0, ""},
		{"over any of several relations", plan(list, "person", match(e("Per Holm"), "^directed by|cast", v("film")),
			match(v("film"), "directed by|written by", v("person"))), "", "",
			[]string{"Mara Vell", "Per Holm"}, 0, 0, ""},
		{"a count", plan(count, "film", byVell), "3", "", []string{"Lost Reel", "Low Tide", "The Grey Door"}, 0, 0, ""},
		{"a count of nothing is zero", plan(count, "film", byVell, match(v("film"), "cast", e("Mara Vell"))), "0", "",
			nil,
			0, 0, ""},
		{"a filter by number", plan(list, "film", byVell, year, condition("year", greater, "1990")), "", "",
			[]string{"The Grey Door"}, 3, 1, ""},
		{"a bound beyond 64 bits", plan(list, "film", byVell, year, condition("year", less, "1e200")), "", "",
			[]string{"Low Tide", "The Grey Door"}, 3, 1, ""},
		{"a bound in the unit of most", plan(list, "state", match(v("state"), "area", v("area")),
			condition("area", greater, "300 km")), "", "", []string{"Velmora"}, 0, 1, ""},
		{"a bound in another unit", plan(list, "state", match(v("state"), "area", v("area")),
			condition("area", greater, "1,000,000 feet")), "", "", []string{"Velmora"}, 0, 1, ""},
		{"a bound of another measure", plan(list, "state", match(v("state"), "area", v("area")),
			condition("area", greater, "100 hours")), "", "", nil, 0, 1, "nothing in the knowledge graph fulfils"},
		{"the best of values in several units", plan(list, "door", match(v("door"), "height", v("height")),
			rank(&graphv1.QueryRank{Variable: "height", Descending: true})), "", "", []string{"Great Door"}, 0, 1, ""},
		{"a sum of values in several units", plan(sum, "height", match(v("door"), "height", v("height"))),
			"1560", "centimetre", []string{"Great Door", "Low Door", "Mid Door", "Old Door"}, 0, 1, ""},
		{"the earliest, over those with a year", plan(list, "film", byVell, year,
			rank(&graphv1.QueryRank{Variable: "year"})), "", "", []string{"Low Tide"}, 3, 1, ""},
		{"ties are kept", plan(list, "film", match(v("film"), "year", v("year")),
			rank(&graphv1.QueryRank{Variable: "year", Descending: true})), "", "", []string{"Orla", "The Grey Door"},
			0, 0, ""},
		{"several ranks", plan(list, "film", year,
			rank(&graphv1.QueryRank{Variable: "year", Limit: 2})), "", "", []string{"Low Tide", "Orla"}, 0, 0, ""},
		{"what hangs on the best", plan(list, "actor", byVell, year, rank(&graphv1.QueryRank{Variable: "year"}),
			match(v("film"), "cast", v("actor"))), "", "", []string{"Per Holm"}, 3, 1, ""},
		{"a symmetric relation from its object", plan(list, "who", match(e("Anna Lind"), "spouse", v("who"))), "", "",
			[]string{"Per Holm"}, 0, 0, ""},
		{"a symmetric relation to its subject", plan(list, "who", match(v("who"), "spouse", e("Per Holm"))), "", "",
			[]string{"Anna Lind"}, 0, 0, ""},
		{"a symmetric relation among others", plan(list, "film", match(v("film"), "cast", v("who")),
			match(v("who"), "spouse", e("Per Holm"))), "", "", []string{"The Grey Door"}, 0, 0, ""},
		{"a symmetric relation of anything", plan(list, "who", match(v("who"), "spouse", v("other"))), "", "",
			[]string{"Anna Lind", "Per Holm"}, 0, 0, ""},
		{"the most of a symmetric relation with both triples", plan(list, "state",
			match(v("state"), "borders", v("other")), rank(&graphv1.QueryRank{Variable: "other", GroupBy: "state",
				Count: true, Descending: true})), "", "", []string{"Tessen", "Velmora"}, 0, 0, ""},
		{"who has a brother is no brother", plan(list, "who", match(e("Per Holm"), "brother", v("who"))), "", "",
			nil, 0, 0, "nothing in the knowledge graph fulfils"},
		{"an exclusion of a symmetric relation", plan(list, "film", match(v("film"), "directed by", v("who")),
			exclude(v("who"), "spouse", e("Anna Lind"))), "", "", []string{"Lost Reel", "Low Tide", "The Grey Door"},
			0, 0, ""},
		{"an exclusion", plan(list, "film", match(v("film"), "written by", e("Mara Vell")),
			exclude(v("film"), "directed by", e("Mara Vell"))), "", "", []string{"Orla"}, 0, 0, ""},
		{"an exclusion of anything", plan(list, "film", byVell, exclude(v("film"), "cast", v("who"))), "", "",
			[]string{"Lost Reel"}, 0, 0, ""},
		{"an intersection", plan(list, "film", match(v("film"), "cast", e("Per Holm")),
			match(v("film"), "cast", e("Anna Lind"))), "", "", []string{"The Grey Door"}, 0, 0, ""},
		{"an inverse step", plan(list, "film", match(e("Per Holm"), "^cast", v("film"))), "", "",
			[]string{"Low Tide", "The Grey Door"}, 0, 0, ""},
		{"the most, counted", plan(list, "state", match(v("state"), "type", e("state")),
			match(v("river"), "runs through", v("state")),
			rank(&graphv1.QueryRank{Variable: "river", Count: true, GroupBy: "state", Descending: true})), "", "",
			[]string{"Velmora"}, 0, 0, ""},
		{"the least, counted, may be none", plan(list, "state", match(v("state"), "type", e("state")),
			match(v("river"), "runs through", v("state")),
			rank(&graphv1.QueryRank{Variable: "river", Count: true, GroupBy: "state"})), "", "", []string{"Elde"}, 0,
			0, ""},
		{"groups with so many", plan(list, "state", match(v("state"), "type", e("state")),
			match(v("river"), "runs through", v("state")), rank(&graphv1.QueryRank{Variable: "river", Count: true,
				GroupBy: "state", Operator: less, Amount: 2})), "", "", []string{"Elde", "Tessen"}, 0, 0, ""},
		{"how many groups have so many", plan(count, "state", match(v("river"), "runs through", v("state")),
			rank(&graphv1.QueryRank{Variable: "river", Count: true, GroupBy: "state", Operator: greater, Amount: 1})),
			"1", "", []string{"Velmora"}, 0, 0, ""},
		{"the most frequent", plan(list, "actor", match(v("film"), "cast", v("actor")),
			rank(&graphv1.QueryRank{Variable: "film", Count: true, GroupBy: "actor", Descending: true})), "", "",
			[]string{"Per Holm"}, 0, 0, ""},
		{"one of two", plan(list, "who", values("who", "Per Holm", "Mara Vell"), match(v("who"), "born", v("day")),
			rank(&graphv1.QueryRank{Variable: "day"})), "", "", []string{"Mara Vell"}, 2, 0, ""},
		{"a sum of numbers with units leaves others out", plan(sum, "area", match(v("state"), "type", e("state")),
			match(v("state"), "area", v("area"))), "8482.8", "kilometre", []string{"Elde", "Tessen", "Velmora"}, 3, 1,
			""},
		{"an average", plan(average, "year", match(v("film"), "cast", e("Per Holm")), year), "1991.5", "",
			[]string{"Low Tide", "The Grey Door"}, 2, 0, ""},
		{"an average has six digits", plan(average, "year", match(v("film"), "directed by", v("who")), year), "1992.33",
			"", []string{"Low Tide", "Orla", "The Grey Door"}, 4, 1, ""},
		{"days between dates in two notations", &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			match(e("Per Holm"), "born", v("a")), match(e("Anna Lind"), "born", v("b"))},
			Result: &graphv1.QueryResult{Function: distance, Variable: "a", OtherVariable: "b", Unit: "days"}}, "5",
			"days",
			[]string{"15 October 1956"}, 1, 0, ""},
		{"an age in whole years", age("Per Holm"), "44", "years", []string{"15 October 1956"}, 1, 0, ""},
		{"of years alone", age("Mara Vell"), "60", "", []string{"1950"}, 1, 0, ""},
		{"years between the first and the last", plan(distance, "year", byVell, year), "5", "",
			[]string{"Low Tide", "The Grey Door"}, 3, 1, ""},
		{"no difference of one value", plan(distance, "year", match(e("Orla"), "year", v("year"))), "", "",
			nil, 1, 0, "between two"},
		{"a date within a month", plan(list, "who", match(v("who"), "born", v("day")),
			condition("day", equal, "October 1956")), "", "", []string{"Anna Lind", "Per Holm"}, 0, 0, ""},
		{"a date before a day", plan(list, "who", match(v("who"), "born", v("day")),
			condition("day", less, "16 October 1956")), "", "", []string{"Mara Vell", "Per Holm"}, 0, 0, ""},
		{"a comparison of two variables", plan(exists, "a", match(e("Per Holm"), "born", v("a")),
			match(e("Anna Lind"), "born", v("b")), condition("a", less, "?b")), "yes", "",
			[]string{"15 October 1956"}, 1, 0,
			""},
		{"no row is no", plan(exists, "film", values("film", "Orla"), match(v("film"), "cast", e("Per Holm"))), "no",
			"",
			nil, 0, 0, ""},
		{"a name is not another", plan(list, "film", byVell, condition("film", unequal, "low tide")), "", "",
			[]string{"Lost Reel", "The Grey Door"}, 0, 0, ""},
		{"texts have no order", plan(list, "river", match(v("river"), "nickname", v("name")),
			rank(&graphv1.QueryRank{Variable: "name"})), "", "", nil, 0, 0, "no order"},
		{"texts are not compared with numbers", plan(list, "river", match(v("river"), "nickname", v("name")),
			condition("name", greater, "5")), "", "", nil, 0, 0, "fulfils"},
		{"a sum of texts", plan(sum, "name", match(v("river"), "nickname", v("name"))), "", "", nil, 0, 0, "number"},
		{"no such entity", plan(list, "film", match(v("film"), "cast", e("Nobody"))), "", "", nil, 0, 0,
			`no entity "Nobody"`},
		{"no such relation", plan(list, "film", match(v("film"), "budget", v("x"))), "", "", nil, 0, 0,
			`no relation "budget"`},
		{"dates are not compared with names", plan(list, "who", match(v("who"), "born", v("day")),
			condition("day", less, "Orla")), "", "", nil, 0, 0, "fulfils"},
		{"an average of nothing", plan(average, "year", match(v("film"), "cast", e("Mara Vell")), year), "", "", nil,
			0, 0, "fulfils"},
		{"numbers and names are not ordered together", plan(list, "thing", match(v("thing"), "year", v("of")),
			rank(&graphv1.QueryRank{Variable: "thing"})), "", "", nil, 0, 0, "no order"},
		{"nothing fits", plan(list, "film", match(v("film"), "cast", e("Mara Vell"))), "", "", nil, 0, 0, "fulfils"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := films()
			got, err := execute.Run(t.Context(), g, c.plan, 100, execute.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, r := range got.Rows {
				rows = append(rows, g.EntityName(r.Cells[0]))
				if len(r.Triples) == 0 && len(c.plan.GetClauses()) > 0 && c.plan.GetClauses()[0].GetMatch() != nil {
					t.Errorf("the row %v has no triples", g.EntityName(r.Cells[0]))
				}
			}
			slices.Sort(rows)
			if got.Value != c.value || got.Unit != c.unit || !slices.Equal(rows, c.rows) ||
				got.Compared != c.compared || got.Lacking != c.lacking || (got.Reason == "") != (c.reason == "") ||
				!strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %q %q %v, %d compared, %d lacking, reason %q\n%s", got.Value, got.Unit, rows,
					got.Compared,
					got.Lacking, got.Reason, got.Cypher)
			}
		})
	}
}

func TestPlansThatMakeNoSenseAreRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		plan *graphv1.QueryPlan
		want string
	}{
		{"no clauses", plan(list, "x"), "no clauses"},
		{"no result", plan(list, "", match(v("x"), "cast", e("Per Holm"))), "nothing of its result"},
		{"an unknown result", plan(list, "y", match(v("x"), "cast", e("Per Holm"))), `variable "y"`},
		{"an unknown condition", plan(list, "x", match(v("x"), "cast", e("Per Holm")), condition("z", less, "5")),
			`variable "z"`},
		{"a count for no group", plan(list, "x", match(v("x"), "cast", e("Per Holm")),
			rank(&graphv1.QueryRank{Variable: "x", Count: true})), "no group"},
		{"an amount of nothing that is counted", plan(list, "x", match(v("x"), "cast", v("y")),
			rank(&graphv1.QueryRank{Variable: "x", Operator: less, Amount: 2})), "without counting"},
		{"a variable that a count removed", plan(list, "x", match(v("x"), "cast", v("y")),
			rank(&graphv1.QueryRank{Variable: "x", Count: true, GroupBy: "y"})), `variable "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := execute.Run(t.Context(), films(), c.plan, 100, execute.Limits{})
			var invalid *execute.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLimitsAreReported(t *testing.T) {
	t.Parallel()
	everything := plan(count, "a", match(v("a"), "cast", v("x")), match(v("b"), "cast", v("y")),
		match(v("c"), "directed by", v("z")))
	for _, c := range []struct {
		name   string
		limits execute.Limits
		want   string
	}{
		{"triples", execute.Limits{Triples: 2}, "2 triples"},
		{"entities", execute.Limits{Entities: 3}, "3 entities"},
		{"rows", execute.Limits{Rows: 4}, "4 rows"},
		{"memory", execute.Limits{Memory: 64}, "64 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := execute.Run(t.Context(), films(), everything, 100, c.limits)
			if err != nil || !strings.Contains(strings.Join(got.Limits, ";"), c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestClausesAreJoinedWhateverTheirOrder(t *testing.T) {
	var triples [][3]string
	for i := range 120 {
		state, river := fmt.Sprintf("state %d", i), fmt.Sprintf("river %d", i)
		triples = append(triples, [3]string{state, "type", "state"}, [3]string{river, "type", "river"},
			[3]string{river, "traverses", state}, [3]string{state, "supplies", fmt.Sprintf("state %d", (i+1)%120)},
			[3]string{river, "length", fmt.Sprint(i)})
	}
	triples = append(triples, [3]string{"state 7", "supplies", "state 50"})
	p := plan(graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED, "river",
		match(v("river"), "type", e("river")), match(v("state"), "type", e("state")),
		match(v("most"), "type", e("state")), match(v("most"), "supplies", v("other")),
		&graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "other", Count: true,
			GroupBy: "most", Descending: true, Limit: 1}}},
		match(v("state"), "supplies", v("most")), match(v("river"), "traverses", v("state")))
	g := storetest.NewGraph(triples...)
	got, err := execute.Run(t.Context(), g, p, 100, execute.Limits{})
	if err != nil || got.Total != 1 || len(got.Rows) != 1 || g.EntityName(got.Rows[0].Cells[0]) != "river 6" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestValuesWithoutAUnitAreLeftOutAmongSeveralUnits(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Door", "height", "185 (centimetres)"},
		[3]string{"Great Door", "height", "12 metres"}, [3]string{"Old Door", "height", "1.9"},
		[3]string{"Tall Door", "height", "400"})
	p := plan(list, "door", match(v("door"), "height", v("height")),
		rank(&graphv1.QueryRank{Variable: "height", Descending: true}))
	got, err := execute.Run(t.Context(), g, p, 100, execute.Limits{})
	if err != nil || len(got.Rows) != 1 || g.EntityName(got.Rows[0].Cells[0]) != "Great Door" ||
		!slices.Equal(got.Limits, []string{"2 values without a unit were left out"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
