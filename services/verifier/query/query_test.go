package query_test

import (
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/verifier/query"
)

func variable(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: name}}
}

func entity(name string) *graphv1.QueryTerm {
	return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: name}}
}

func match(start *graphv1.QueryTerm, relation string, end *graphv1.QueryTerm) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: &graphv1.QueryPattern{Start: start, End: end,
		Steps: []*graphv1.RelationStep{{Relation: relation}}}}}
}

func rank(variable string) *graphv1.QueryClause {
	return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: variable}}}
}

func candidate(relation string, phrase, question float32,
	change ...func(*graphv1.RelationCandidate)) *graphv1.RelationCandidate {
	c := &graphv1.RelationCandidate{Steps: []*graphv1.RelationStep{{Relation: relation}}, PhraseScore: phrase,
		QuestionScore: question, Coverage: 1}
	for _, f := range change {
		f(c)
	}
	return c
}

func numbers(c *graphv1.RelationCandidate) { c.Comparable = 1 }

func link(name string, match graphv1.LinkMatch, score float32) *graphv1.EntityLink {
	return &graphv1.EntityLink{Entity: name, Match: match, Score: score}
}

const (
	exact = graphv1.LinkMatch_LINK_MATCH_EXACT
	fuzzy = graphv1.LinkMatch_LINK_MATCH_FUZZY
	alias = graphv1.LinkMatch_LINK_MATCH_ALIAS
)

func TestAlign(t *testing.T) {
	t.Parallel()
	films := []*graphv1.QueryClause{match(variable("film"), "directed", entity("Mara Vell"))}
	vell := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}}}
	plan := func(v string, clauses ...*graphv1.QueryClause) *graphv1.QueryPlan {
		return &graphv1.QueryPlan{Clauses: clauses, Result: &graphv1.QueryResult{Variable: v}}
	}
	patterns := func(lists ...[]*graphv1.RelationCandidate) []*graphv1.PatternCandidates {
		var all []*graphv1.PatternCandidates
		for i, list := range lists {
			all = append(all, &graphv1.PatternCandidates{Clause: uint32(i), Candidates: list})
		}
		return all
	}
	directedBy := []*graphv1.RelationCandidate{candidate("directed_by", .8, .5)}
	for _, c := range []struct {
		name     string
		plan     *graphv1.QueryPlan
		terms    []*graphv1.TermCandidates
		patterns []*graphv1.PatternCandidates
		want     string
		reason   string
	}{
		{"the relation of the graph", plan("film", films...), vell, patterns(directedBy),
			"?film directed_by → Mara Vell; ?film", ""},
		{"a name that the graph lacks", plan("film", films...), nil, patterns(directedBy), "", `no entity "Mara Vell"`},
		{"a misspelt name", plan("film", match(variable("film"), "directed", entity("Mara Vel"))),
			[]*graphv1.TermCandidates{{Name: "Mara Vel", Links: []*graphv1.EntityLink{link("Mara Vell", fuzzy, .6)}}},
			patterns(directedBy), "?film directed_by → Mara Vell; ?film", ""},
		{"a name that only resembles another", plan("film", match(variable("film"), "directed",
			entity("Emeric Stolbrook"))),
			[]*graphv1.TermCandidates{{Name: "Emeric Stolbrook",
				Links: []*graphv1.EntityLink{link("Emeric Pressburger", fuzzy,
					.6)}}}, patterns(directedBy), "", `no entity "Emeric Stolbrook"`},
		{"a relation that does not fit", plan("film", films...), vell,
			patterns([]*graphv1.RelationCandidate{candidate("has_tags", .1, .1)}), "", "no relation"},
		{"no relation", plan("film", films...), vell, nil, "", "no relation"},
		{"a relation that only others have", plan("film", films...), vell, []*graphv1.PatternCandidates{{
			Candidates: []*graphv1.RelationCandidate{candidate("starred_actors", .4, .4)},
			Elsewhere:  []*graphv1.RelationCandidate{candidate("directed_by", .9, .6)}}}, "",
			"of what the question names"},
		{"a ranking takes what can be compared", plan("film", films[0], match(variable("film"), "date",
			variable("date")),
			rank("date")), vell, patterns(directedBy, []*graphv1.RelationCandidate{candidate("genre", .9, .6),
			candidate("release_year", .5, .4, numbers)}),
			"?film directed_by → Mara Vell; ?film release_year → ?date; least ?date; ?film", ""},
		{"a ranking by what cannot be compared", plan("film", films[0], match(variable("film"), "budget",
			variable("budget")), rank("budget")), vell, patterns(directedBy,
			[]*graphv1.RelationCandidate{candidate("genre", .9, .6)}), "", "no number or date"},
		{"a type that the graph does not tell is left out", plan("film", match(variable("film"), "type",
			entity("film")),
			films[0]), vell, []*graphv1.PatternCandidates{{Clause: 1, Candidates: directedBy}},
			"?film directed_by → Mara Vell; ?film", "does not say what is a film"},
		{"a yes/no question whose fact was lost", &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{{
			Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "film",
				Entities: []string{"Mara Vell"}}}}}, Result: &graphv1.QueryResult{Variable: "film",
			Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}, vell, nil, "", "claims nothing"},
		{"a type that alone binds a variable is needed", plan("film", match(variable("film"), "type",
			entity("film"))), nil,
			nil, "", "does not say what ?film is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align("which films did mara vell direct", c.plan, c.terms,
				c.patterns)
			text := strings.Join(kgtext.DescribePlan(got.Plan), "; ")
			if text != c.want || (got.Reason == "") != (c.reason == "") || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
			}
			if got.Plan != nil && (got.Confidence <= 0 || got.Confidence > 1 || len(got.Edits) == 0) {
				t.Errorf("confidence %v, %d edits", got.Confidence, len(got.Edits))
			}
		})
	}
}

func TestAClaimIsAnsweredByAFlagOrSaidByItsRelation(t *testing.T) {
	t.Parallel()
	exists := graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	leek := []*graphv1.TermCandidates{{Name: "leek", Links: []*graphv1.EntityLink{link("Leek", exact, 1)}}}
	values := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "thing",
		Entities: []string{"leek"}}}}
	flag := func(objects ...string) func(*graphv1.RelationCandidate) {
		return func(c *graphv1.RelationCandidate) {
			for _, o := range objects {
				c.Examples = append(c.Examples, &graphv1.Triple{Subject: "x", Relation: "Hardy", Object: o})
			}
		}
	}
	asked := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{values,
		match(variable("thing"), "hardiness", variable("hardiness"))},
		Result: &graphv1.QueryResult{Variable: "thing", Function: exists}}
	kind := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("plant"), "type", entity("leek"))},
		Result: &graphv1.QueryResult{Variable: "plant", Function: exists}}
	for _, c := range []struct {
		name      string
		plan      *graphv1.QueryPlan
		candidate *graphv1.RelationCandidate
		want      string
		reason    string
	}{
		{"a relation to yes and no", asked, candidate("Hardy", .4, .8, flag("yes", "No")),
			"?thing is Leek; ?thing Hardy → ?hardiness; ?hardiness", ""},
		{"a relation to other things", asked, candidate("Hardy", .4, .8, flag("yes", "half")), "", "claims nothing"},
		{"a relation without examples", asked, candidate("Hardy", .4, .8), "", "claims nothing"},
		{"a kind by a relation of which the question has no word", kind, candidate("Bad neighbours", .2, .2),
			"?plant Bad neighbours → Leek; is there any", "where the question asks whether it is leek"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := uint32(len(c.plan.GetClauses()) - 1)
			got := query.New(query.DefaultConfig()).Align("Is the leek hardy?", c.plan, leek,
				[]*graphv1.PatternCandidates{{Clause: at, Candidates: []*graphv1.RelationCandidate{c.candidate}}})
			text := strings.Join(kgtext.DescribePlan(got.Plan), "; ")
			if text != c.want || (got.Reason == "") != (c.reason == "") || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
			}
		})
	}
}

func TestAKindInTheNamesOfThingsNeedsNoType(t *testing.T) {
	t.Parallel()
	unknown := &graphv1.TermCandidates{Name: "office"}
	for _, c := range []struct {
		name    string
		things  []string
		term    *graphv1.TermCandidates
		doubted bool
	}{
		{"which all have it", []string{"Orla office", "Tessen Office"}, unknown, false},
		{"which one lacks", []string{"Orla office", "Tessen"}, unknown, true},
		{"of one thing alone", []string{"Orla office"}, unknown, true},
		{"unless these are all of that kind", []string{"Orla"}, &graphv1.TermCandidates{Name: "office", OfKind: true,
			Links: []*graphv1.EntityLink{link("Orla office", fuzzy, 0), link("Tessen Office", fuzzy, 0)}}, false},
		{"and not what its name may mean", []string{"Orla"}, &graphv1.TermCandidates{Name: "office",
			Links: []*graphv1.EntityLink{link("Orla office", fuzzy, 0.6), link("Tessen Office", fuzzy, 0.6)}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			desks := candidate("desks", .9, .8, numbers)
			for _, name := range c.things {
				desks.Examples = append(desks.Examples, &graphv1.Triple{Subject: name, Relation: "desks", Object: "7"})
			}
			got := query.New(query.DefaultConfig()).Align("which office has the most desks",
				&graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("office"), "type", entity("office")),
					match(variable("office"), "desks", variable("desks")), rank("desks")},
					Result: &graphv1.QueryResult{Variable: "office"}},
				[]*graphv1.TermCandidates{c.term},
				[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{desks}}})
			if got.Plan == nil || (got.Reason != "") != c.doubted {
				t.Errorf("got %v, reason %q", got.Plan, got.Reason)
			}
		})
	}
}

func TestACountIsNotWhatOthersHaveANumberOf(t *testing.T) {
	t.Parallel()
	employer := candidate("employer", .75, .48, func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse = true })
	for _, c := range []struct {
		elsewhere string
		doubted   bool
	}{
		{"number of employees", true}, {"employeeCount", true}, {"employer", false}, {"number of floors", false},
	} {
		got := query.New(query.DefaultConfig()).Align("How many employees does Corvus have?", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(entity("Corvus"), "employees", variable("employees"))},
			Result: &graphv1.QueryResult{Variable: "employees",
				Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}},
			[]*graphv1.TermCandidates{{Name: "Corvus", Links: []*graphv1.EntityLink{link("Corvus", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{employer},
				Elsewhere: []*graphv1.RelationCandidate{candidate(c.elsewhere, .8, .5)}}})
		if got.Plan == nil || (got.Reason != "") != c.doubted {
			t.Errorf("%s: got %v, reason %q", c.elsewhere, got.Plan, got.Reason)
		}
	}
}

func TestTheOldestIsWhatBeganFirst(t *testing.T) {
	t.Parallel()
	opened, closed := candidate("opened", .3, .1, numbers), candidate("closed", .3, .1, numbers)
	built, rooms := candidate("built", .2, .1, numbers), candidate("rooms", .2, .4, numbers)
	founded, born := candidate("founded", .3, .1, numbers), candidate("date of birth", .2, .1, numbers)
	installed := candidate("installedOn", .2, .1, numbers)
	checked := candidate("checkedOn", .2, .1, numbers, func(c *graphv1.RelationCandidate) {
		c.Examples = []*graphv1.Triple{{Subject: "A", Relation: "checkedOn", Object: "2016-06-30"}}
	})
	for _, c := range []struct {
		name, phrase string
		candidates   []*graphv1.RelationCandidate
		sure         bool
	}{
		{"by the only beginning", "date", []*graphv1.RelationCandidate{opened, closed}, true},
		{"not by one of two", "date", []*graphv1.RelationCandidate{opened, founded}, false},
		{"although something else is nearer", "date", []*graphv1.RelationCandidate{rooms, opened}, true},
		{"by a beginning in other words", "date opened",
			[]*graphv1.RelationCandidate{rooms, built}, true},
		{"not by one of something else", "year joined",
			[]*graphv1.RelationCandidate{born}, false},
		{"although an end is nearer", "date", []*graphv1.RelationCandidate{closed, opened}, true},
		{"of an age by the birth", "age", []*graphv1.RelationCandidate{rooms, born}, true},
		{"by when it was installed", "date created", []*graphv1.RelationCandidate{rooms, installed}, true},
		{"whoever made it", "date", []*graphv1.RelationCandidate{candidate("published by", .4, .3), founded}, true},
		{"not surely by the only date", "date created", []*graphv1.RelationCandidate{rooms, checked}, false},
	} {
		got := query.New(query.DefaultConfig()).Align("which line is the oldest", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("line"), c.phrase, variable("date")), rank("date")},
			Result:  &graphv1.QueryResult{Variable: "line"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: c.candidates}})
		if sure := got.Confidence >= 0.8; sure != c.sure {
			t.Errorf("%s: confidence %v, reason %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestWithoutABeginningTheOldestIsByTheOnlyDate(t *testing.T) {
	t.Parallel()
	dated := func(relation, object string) *graphv1.RelationCandidate {
		return candidate(relation, .1, .1, numbers, func(c *graphv1.RelationCandidate) {
			c.Examples = []*graphv1.Triple{{Subject: "A", Relation: relation, Object: object}}
		})
	}
	rooms, checked, seen := dated("rooms", "1952"), dated("checkedOn", "2016-06-30"), dated("seen on", "2016-06-30")
	for _, c := range []struct {
		name       string
		candidates []*graphv1.RelationCandidate
		want       string
	}{
		{"the only date", []*graphv1.RelationCandidate{rooms, checked}, "checkedOn"},
		{"one of two dates", []*graphv1.RelationCandidate{rooms, checked, seen}, ""},
		{"a number that might be a year", []*graphv1.RelationCandidate{rooms}, ""},
	} {
		got := query.New(query.DefaultConfig()).Align("which line is the oldest", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("line"), "date created", variable("date")), rank("date")},
			Result:  &graphv1.QueryResult{Variable: "line"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: c.candidates}})
		relation := ""
		if len(got.Plan.GetClauses()) > 0 {
			relation = got.Plan.GetClauses()[0].GetMatch().GetSteps()[0].GetRelation()
		}
		if relation != c.want {
			t.Errorf("%s: by %q, reason %q; want %q", c.name, relation, got.Reason, c.want)
		}
	}
}

func TestNamesAreNotComparedWithEachOther(t *testing.T) {
	t.Parallel()
	listed := func(v, name string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: v,
			Entities: []string{name}}}}
	}
	got := query.New(query.DefaultConfig()).Align("is Low Tide more than Orla", &graphv1.QueryPlan{
		Clauses: []*graphv1.QueryClause{listed("x", "Low Tide"), listed("y", "Orla"),
			{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "x",
				Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
				Operand:  &graphv1.QueryCondition_OtherVariable{OtherVariable: "y"}}}}},
		Result: &graphv1.QueryResult{Variable: "x", Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}},
		[]*graphv1.TermCandidates{{Name: "Low Tide", Links: []*graphv1.EntityLink{link("Low Tide", exact, 1)}},
			{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}, nil)
	if !strings.Contains(got.Reason, "compares names") {
		t.Errorf("confidence %v, reason %q", got.Confidence, got.Reason)
	}
}

func TestARelationThatTheQuestionSaysIsSure(t *testing.T) {
	t.Parallel()
	for question, sure := range map[string]bool{"which services run on web-02": true,
		"which services use web-02": false, "which relays run on web-02": false} {
		got := query.New(query.DefaultConfig()).Align(question, &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(entity("web-02"), "services", variable("services"))},
			Result:  &graphv1.QueryResult{Variable: "services"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("runsOn", .3, .35,
				func(c *graphv1.RelationCandidate) { c.TypeMatch, c.Steps[0].Inverse = true, true })}}})
		if isSure := got.Reason == "" && got.Confidence >= 0.8; isSure != sure {
			t.Errorf("%s: confidence %v, reason %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestKindsWithTheWordOfAKindAreThat(t *testing.T) {
	t.Parallel()
	event := &graphv1.TermCandidates{Name: "event", Links: []*graphv1.EntityLink{link("MusicEvent", alias, 1),
		link("SportsEvent", alias, 1)}}
	joins := func(c *graphv1.RelationCandidate) { c.Joins = true }
	typed := &graphv1.PatternCandidates{Candidates: []*graphv1.RelationCandidate{candidate("type", 1, .1, joins)}}
	for _, c := range []struct {
		name    string
		clauses []*graphv1.QueryClause
		want    string
	}{
		{"of which all are meant", []*graphv1.QueryClause{match(variable("x"), "type", entity("event"))},
			"?one1 is MusicEvent or SportsEvent; ?x type → ?one1; ?x"},
		{"unless something else says which", []*graphv1.QueryClause{match(variable("x"), "type", entity("event")),
			match(variable("x"), "price", variable("price"))}, "?x price → ?price; ?x"},
		{"or the question names one", []*graphv1.QueryClause{match(variable("x"), "type", entity("event")),
			match(variable("x"), "seats", variable("seats"))}, "?x type → MusicEvent; ?x seats → ?seats; ?x"},
	} {
		patterns := []*graphv1.PatternCandidates{typed, {Clause: 1, Candidates: []*graphv1.RelationCandidate{
			candidate("price", 1, .9, numbers)}}}
		question := "which events are there"
		if strings.HasPrefix(c.name, "or") {
			question, patterns[1].Candidates[0] = "which music events are there", candidate("seats", 1, .9, numbers)
		}
		got := query.New(query.DefaultConfig()).Align(question, &graphv1.QueryPlan{Clauses: c.clauses,
			Result: &graphv1.QueryResult{Variable: "x"}}, []*graphv1.TermCandidates{event},
			patterns[:len(c.clauses)])
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want || got.Reason != "" {
			t.Errorf("%s: got %q, reason %q", c.name, text, got.Reason)
		}
	}
}

func TestWhereSomethingIsIsAPlaceOfAKindThatNothingIs(t *testing.T) {
	t.Parallel()
	for relation, doubted := range map[string]bool{"location": false, "owner": true} {
		got := query.New(query.DefaultConfig()).Align("in which hamlet is Low Tide", &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(entity("Low Tide"), relation, variable("x")),
				match(variable("x"), "type", entity("hamlet"))}, Result: &graphv1.QueryResult{Variable: "x"}},
			[]*graphv1.TermCandidates{{Name: "Low Tide", Links: []*graphv1.EntityLink{link("Low Tide", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate(relation, .9, .8)}}})
		if (got.Reason != "") != doubted {
			t.Errorf("%s: confidence %v, reason %q", relation, got.Confidence, got.Reason)
		}
	}
}

func TestTheNameOfAThingDoesNotSayItsRelation(t *testing.T) {
	t.Parallel()
	for question, sure := range map[string]bool{"who placed order 7": false, "what is an order of order 7": true} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "placed by", entity("7"))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		got := query.New(query.DefaultConfig()).Align(question, plan,
			[]*graphv1.TermCandidates{{Name: "7", Links: []*graphv1.EntityLink{link("order 7", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("order", .51, .69),
				candidate("customer", .4, .3)}}})
		if isSure := got.Reason == "" && got.Confidence >= 0.8; isSure != sure {
			t.Errorf("%s: confidence %v, reason %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestANumberBeforeTheNameOfARelationIsItsValue(t *testing.T) {
	t.Parallel()
	for question, sure := range map[string]bool{"which courses are worth 8 credits": true, "what is worth 8": false} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "worth", variable("worth")),
			{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "worth",
				Operator: graphv1.QueryOperator_QUERY_OPERATOR_EQUAL,
				Operand:  &graphv1.QueryCondition_Value{Value: "8"}}}}}, Result: &graphv1.QueryResult{Variable: "x"}}
		got := query.New(query.DefaultConfig()).Align(question, plan, nil, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("credits", .34, .47, numbers)}}})
		if isSure := got.Reason == "" && got.Confidence >= 0.8; isSure != sure {
			t.Errorf("%s: confidence %v, reason %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestTheValueOfANamedThingIsItself(t *testing.T) {
	t.Parallel()
	credits := candidate("credits", .4, .7, numbers)
	credits.Steps[0].Inverse = true
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
		{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "thing",
			Entities: []string{"Logic"}}}},
		match(variable("credit"), "in", variable("thing")), match(variable("credit"), "value", variable("value"))},
		Result: &graphv1.QueryResult{Variable: "value"}}
	got := query.New(query.DefaultConfig()).Align("how many credits is Logic worth", plan,
		[]*graphv1.TermCandidates{{Name: "Logic", Links: []*graphv1.EntityLink{link("Logic", exact, 1)}}},
		[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{credits}},
			{Clause: 2, Candidates: []*graphv1.RelationCandidate{credits}}})
	want := "?thing is Logic; ?credit ← credits ?thing; ?credit"
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != want {
		t.Errorf("got %q, reason %q; want %q", text, got.Reason, want)
	}
}

func TestANameInThePluralIsSure(t *testing.T) {
	t.Parallel()
	for name, sure := range map[string]bool{"slugs": true, "slugg": false} {
		got := query.New(query.DefaultConfig()).Align("which plants get "+name, &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("plant"), "pests", entity(name))},
			Result:  &graphv1.QueryResult{Variable: "plant"}},
			[]*graphv1.TermCandidates{{Name: name, Links: []*graphv1.EntityLink{{Entity: "Slug", Mention: name,
				Match: graphv1.LinkMatch_LINK_MATCH_FUZZY, Score: .9}}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("Pests", .9, .8)}}})
		if got.Plan == nil || got.Confidence > .7 != sure {
			t.Errorf("%s: confidence %v, reason %q", name, got.Confidence, got.Reason)
		}
	}
}

func TestAYearBoundsATimeInOtherWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		function graphv1.QueryFunction
		relation string
		want     string
	}{
		{"of a list", 0, "start date", "?person start date → ?joined; ?joined < 2017; ?person"},
		{"but no other number", 0, "salary", ""},
		{"nor of a count", graphv1.QueryFunction_QUERY_FUNCTION_COUNT, "start date", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
				match(variable("person"), "joined", variable("joined")),
				{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "joined",
					Operator: graphv1.QueryOperator_QUERY_OPERATOR_LESS,
					Operand:  &graphv1.QueryCondition_Value{Value: "2017"}}}}},
				Result: &graphv1.QueryResult{Variable: "person", Function: c.function}}
			got := query.New(query.DefaultConfig()).Align("who joined before 2017", plan, nil,
				[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
					candidate(c.relation, .2, .2, numbers)}}})
			if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want || got.Confidence >= .7 {
				t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
			}
		})
	}
}

func TestAKindThatAColumnSaysYesAndNoOf(t *testing.T) {
	t.Parallel()
	kind := &graphv1.QueryPattern{Start: variable("plant"), Steps: []*graphv1.RelationStep{{Relation: "type"}},
		End: entity("hardy")}
	column := candidate("Hardy", .4, .8, func(c *graphv1.RelationCandidate) {
		c.Examples = []*graphv1.Triple{{Subject: "x", Relation: "Hardy", Object: "No"},
			{Subject: "y", Relation: "Hardy", Object: "Yes"}}
	})
	for _, c := range []struct {
		name   string
		clause *graphv1.QueryClause
		want   string
	}{
		{"those of which it says yes", &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: kind}},
			"?plant Pests → Slug; ?plant Hardy → Yes; ?plant"},
		{"those of which it does not", &graphv1.QueryClause{Clause: &graphv1.QueryClause_Exclude{Exclude: kind}},
			"?plant Pests → Slug; not ?plant Hardy → Yes; ?plant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align("which hardy plants get slugs", &graphv1.QueryPlan{
				Clauses: []*graphv1.QueryClause{match(variable("plant"), "pests", entity("slug")), c.clause},
				Result:  &graphv1.QueryResult{Variable: "plant"}},
				[]*graphv1.TermCandidates{{Name: "slug", Links: []*graphv1.EntityLink{link("Slug", exact, 1)}}},
				[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("Pests", .9, .6)}},
					{Clause: 1, Elsewhere: []*graphv1.RelationCandidate{column}}})
			if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want {
				t.Errorf("got %q, reason %q\nwant %q", text, got.Reason, c.want)
			}
		})
	}
}

func TestAResultOfAnotherKindThanAskedIsNotSure(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "city"}, Clauses: []*graphv1.QueryClause{
		match(variable("city"), "type", entity("city")), match(variable("state"), "type", entity("state")),
		match(variable("city"), "state", variable("state"))}}
	joins := func(c *graphv1.RelationCandidate) { c.Joins = true }
	types := []*graphv1.RelationCandidate{candidate("type", 1, .1, joins)}
	patterns := []*graphv1.PatternCandidates{{Candidates: types}, {Clause: 1, Candidates: types},
		{Clause: 2, Candidates: []*graphv1.RelationCandidate{candidate("state", 1, .9)}}}
	terms := []*graphv1.TermCandidates{{Name: "city", Links: []*graphv1.EntityLink{link("city", exact, 1)}},
		{Name: "state", Links: []*graphv1.EntityLink{link("state", exact, 1)}}}
	align := func(question string) query.Aligned {
		return query.New(query.DefaultConfig()).Align(question, plan, terms, patterns)
	}
	if got := align("which state is the town of Orla in"); got.Plan == nil || got.Confidence >= 0.8 {
		t.Errorf("a city in place of a state: confidence %v, %q", got.Confidence, got.Reason)
	}
	if got := align("by which city state is it ruled"); got.Plan == nil || got.Confidence >= 0.8 {
		t.Errorf("a city in place of a state of two words: confidence %v, %q", got.Confidence, got.Reason)
	}
	if got := align("which cities are in a state"); got.Plan == nil || got.Confidence < 0.8 {
		t.Errorf("cities that the question asks for: confidence %v, %q", got.Confidence, got.Reason)
	}
}

func TestAnAnswerOfAnotherKindIsNotSureWhateverItsPlural(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "director"}, Clauses: []*graphv1.QueryClause{
		match(variable("movie"), "type", entity("movie")), match(variable("movie"), "director", variable("director"))}}
	patterns := []*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{candidate("directed_by", 0, 0,
		func(c *graphv1.RelationCandidate) { c.Implied = .4 })}},
		{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("directed_by", 1, .9)}}}
	if got := query.New(query.DefaultConfig()).Align("which movies have the same director", plan, nil,
		patterns); got.Confidence >= .8 {
		t.Errorf("a director in place of movies: confidence %v, %q", got.Confidence, got.Reason)
	}
}

func TestYesOrNoNeedsTheBoundThatTheQuestionSets(t *testing.T) {
	t.Parallel()
	film := match(variable("film"), "directed", entity("Mara Vell"))
	many := &graphv1.QueryClause{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "film",
		Count: true, GroupBy: "film", Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER, Amount: 2}}}
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}}}
	directed := candidate("directed_by", .9, .9)
	patterns := []*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{directed}}}
	for _, c := range []struct {
		question string
		clauses  []*graphv1.QueryClause
		isSure   bool
	}{
		{"did mara vell direct more than 2 films", []*graphv1.QueryClause{film}, false},
		{"did mara vell direct more than 2 films", []*graphv1.QueryClause{film, many}, true},
		{"did mara vell direct films", []*graphv1.QueryClause{film}, true},
	} {
		plan := &graphv1.QueryPlan{Clauses: c.clauses, Result: &graphv1.QueryResult{Variable: "film",
			Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms, patterns)
		if got.Plan == nil || (got.Confidence >= .8) != c.isSure {
			t.Errorf("%q: confidence %v, %q", c.question, got.Confidence, got.Reason)
		}
	}
}

func TestWhatIsComputedOfEverythingNeedsARelationOfItsWords(t *testing.T) {
	t.Parallel()
	words := func(c *graphv1.RelationCandidate) { c.Words = 1 }
	typed := func(c *graphv1.RelationCandidate) { c.TypeMatch = true }
	for _, c := range []struct {
		name   string
		found  *graphv1.RelationCandidate
		isSure bool
	}{
		{"a relation in other words", candidate("basin country", .5, .5), false},
		{"one in these words", candidate("tributary", .5, .5, words), true},
		{"one that says what is asked for", candidate("flows from", .5, .5, typed), true},
		{"one in other words that fits well", candidate("tributary", .8, .8), true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "river"}, Clauses: []*graphv1.QueryClause{
			match(variable("river"), "tributaries", variable("tributaries")), {Clause: &graphv1.QueryClause_Rank{
				Rank: &graphv1.QueryRank{Variable: "tributaries", Count: true, GroupBy: "river", Descending: true}}}}}
		got := query.New(query.DefaultConfig()).Align("which river has the most tributaries", plan, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{c.found}}})
		if got.Plan == nil || (got.Reason == "") != c.isSure {
			t.Errorf("%s: %q", c.name, got.Reason)
		}
	}
}

func TestTheLargestHasTheLargestOfTheOnlyNumber(t *testing.T) {
	t.Parallel()
	seats, stars := candidate("seats", .4, .3, numbers), candidate("stars", .3, .2, numbers)
	for _, c := range []struct {
		question string
		found    []*graphv1.RelationCandidate
		isSure   bool
	}{
		{"which venue is the largest", []*graphv1.RelationCandidate{seats, candidate("opened", .3, .2, numbers)}, true},
		{"which venue is the largest", []*graphv1.RelationCandidate{seats, stars}, false},
		{"which venue is the largest in orla", []*graphv1.RelationCandidate{seats}, false},
	} {
		largest := rank("size")
		largest.GetRank().Descending = true
		got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("venue"), "size", variable("size")), largest},
			Result:  &graphv1.QueryResult{Variable: "venue"}}, nil,
			[]*graphv1.PatternCandidates{{Candidates: c.found}})
		if got.Plan == nil || (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s of %d: confidence %v, %q", c.question, len(c.found), got.Confidence, got.Reason)
		}
	}
}

func TestYesIsNotCountedNorWhatIsNamed(t *testing.T) {
	t.Parallel()
	orla := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	inverse := func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse, c.Words = true, 1 }
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "isotope",
		Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT},
		Clauses: []*graphv1.QueryClause{match(variable("isotope"), "radioactive isotope", entity("Orla"))}}
	for name, c := range map[string]*graphv1.RelationCandidate{
		"yes": candidate("radioactive", .8, .8, inverse, examples("yes", "no")),
		"":    candidate("radioactive", .8, .8, inverse, examples("Orla-1", "Orla-2")),
	} {
		got := query.New(query.DefaultConfig()).Align("how many isotopes does Orla have", plan, orla,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{c}}})
		if got.Plan == nil || strings.Contains(got.Reason, "yes or no") != (name == "yes") {
			t.Errorf("%q: %q", name, got.Reason)
		}
	}
	for relation, isSure := range map[string]bool{"head ranger": false, "ranger": true} {
		rangers := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "ranger", Function: plan.Result.Function},
			Clauses: []*graphv1.QueryClause{listed("park", "Orla"),
				match(variable("park"), "rangers", variable("ranger"))}}
		got := query.New(query.DefaultConfig()).Align("how many rangers does Orla have", rangers, orla,
			[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{
				candidate(relation, .8, .8)}}})
		if got.Plan == nil || (got.Reason == "") != isSure {
			t.Errorf("%s: %q", relation, got.Reason)
		}
	}
	plan.Clauses = []*graphv1.QueryClause{listed("isotope", "Orla")}
	got := query.New(query.DefaultConfig()).Align("how many isotopes does Orla have", plan, orla, nil)
	if got.Plan != nil {
		t.Errorf("Orla is counted: %v", kgtext.DescribePlan(got.Plan))
	}
}

func TestARelationInOtherWordsToANameHasToFit(t *testing.T) {
	t.Parallel()
	words := func(c *graphv1.RelationCandidate) { c.Words = 1 }
	only := func(c *graphv1.RelationCandidate) { c.TypeMatch, c.Implied = true, 1 }
	for _, c := range []struct {
		name, question, phrase string
		found                  *graphv1.RelationCandidate
		isSure                 bool
	}{
		{"one that hardly does", "who founded Orla", "founder", candidate("brand", .5, .45), false},
		{"one that does", "who founded Orla", "founder", candidate("brand", .7, .7), true},
		{"one in these words", "who founded Orla", "founder", candidate("founder", .5, .45, words), true},
		{"a synonym", "who makes Orla", "founder", candidate("manufacturer", .5, .45), true},
		{"how many are no price", "how much is a room at Orla", "price", candidate("rooms", .9, .9, words), false},
		{"a price is one", "how much is a room at Orla", "price", candidate("price", .9, .9, words), true},
		{"the only one to such things", "who founded Orla", "founder", candidate("brand", .5, .45, only), true},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			listed("thing", "Orla"), match(variable("thing"), c.phrase, variable("answer"))},
			Result: &graphv1.QueryResult{Variable: "answer"}},
			[]*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{c.found}}})
		if got.Plan == nil || got.Reason != "" || (got.Confidence >= .8) != c.isSure || got.Confidence < .75 {
			t.Errorf("%s: %v, %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestWhatHasThingsIsNotCountedForThem(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Desk lamp", Links: []*graphv1.EntityLink{link("Desk lamp", exact, 1)}}}
	for _, c := range []struct {
		relation, question string
		isSure             bool
	}{
		{"product", "How many desk lamps were ordered?", false},
		{"product", "How many orders have desk lamps?", true},
		{"type", "How many desk lamps are there?", true},
	} {
		plan := &graphv1.QueryPlan{
			Clauses: []*graphv1.QueryClause{match(variable("x"), c.relation, entity("Desk lamp"))},
			Result:  &graphv1.QueryResult{Variable: "x", Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate(c.relation, 1, .6, func(c *graphv1.RelationCandidate) {
				c.Joins = true
			})}}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", c.question, got.Confidence, got.Reason)
		}
	}
}

func TestTheStateThatTheQuestionAsksForIsInThePlan(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("order"), "customer", entity("Orla"))},
		Result: &graphv1.QueryResult{Variable: "order"}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for question, isSure := range map[string]bool{
		"Which orders are open?": false, "Which customer orders are there?": true, "What orders has Orla?": true} {
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("customer", 1, .6)}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestAKindThatAWordTellsApartIsNotImplied(t *testing.T) {
	t.Parallel()
	implied := candidate("directed_by", .5, .5, func(c *graphv1.RelationCandidate) { c.Implied = .5 })
	for question, kind := range map[string]string{
		"Who directed the most films?": "film", "Who directed the most horror films?": "horror film"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "who"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind)), match(variable("x"), "directed", variable("who")),
			{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "x", Count: true, GroupBy: "who",
				Descending: true}}}}}
		got := query.New(query.DefaultConfig()).Align(question, plan, nil, []*graphv1.PatternCandidates{
			{Elsewhere: []*graphv1.RelationCandidate{implied}},
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("directed_by", 1, .6,
				func(c *graphv1.RelationCandidate) { c.Words = 1 })}}})
		if isSure := kind == "film"; (got.Reason == "") != isSure {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestByANameMaySayWhoDirectedOrWhoWrote(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "film"}, Clauses: []*graphv1.QueryClause{
		match(variable("film"), "written by", entity("Mara Vell"))}}
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}}}
	written, directed := candidate("written_by", 1, .6), candidate("directed_by", .7, .6)
	for _, c := range []struct {
		question string
		found    []*graphv1.RelationCandidate
		isSure   bool
	}{
		{"Which films by Mara Vell are comedies?", []*graphv1.RelationCandidate{written, directed}, false},
		{"Which films by Mara Vell are comedies?", []*graphv1.RelationCandidate{written}, true},
		{"Which films written by Mara Vell are comedies?", []*graphv1.RelationCandidate{written, directed}, true},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: c.found}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", c.question, got.Confidence, got.Reason)
		}
	}
}

func TestAYearAloneIsWhenThingsCameOut(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "release date", variable("y")), rank("y")}}
	for relation, isSure := range map[string]bool{"year": true, "death date": false} {
		got := query.New(query.DefaultConfig()).Align("which came out first", plan, nil, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate(relation, .5, .2, numbers)}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", relation, got.Confidence, got.Reason)
		}
	}
}

func TestABoundOfTheQuestionIsHeard(t *testing.T) {
	t.Parallel()
	bounded := func(op graphv1.QueryOperator, value string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{
			Variable: "y", Operator: op, Operand: &graphv1.QueryCondition_Value{Value: value}}}}
	}
	const (
		equal   = graphv1.QueryOperator_QUERY_OPERATOR_EQUAL
		atLeast = graphv1.QueryOperator_QUERY_OPERATOR_GREATER_OR_EQUAL
		earlier = graphv1.QueryOperator_QUERY_OPERATOR_LESS
	)
	for _, c := range []struct {
		question, phrase, relation string
		bound                      *graphv1.QueryClause
		isSure                     bool
	}{
		{"which clubs had no losses", "losses", "Losses", bounded(equal, "0"), true},
		{"which clubs had no losses", "losses", "Losses", bounded(equal, "3"), false},
		{"which courses have at least 8 credits", "credits", "Credits", bounded(atLeast, "8"), true},
		{"which were born before 1850", "born", "Date of birth", bounded(earlier, "1850"), true},
		{"which were born before 1850", "born", "Date of death", bounded(earlier, "1850"), false},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), c.phrase, variable("y")), c.bound}}
		words := float32(1)
		if c.phrase == "born" {
			words = 0
		}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, nil, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate(c.relation, .5, .4, numbers,
				func(c *graphv1.RelationCandidate) { c.Words = words })}}})
		if (got.Confidence >= .72) != c.isSure {
			t.Errorf("%s by %s: confidence %v, %q", c.question, c.relation, got.Confidence, got.Reason)
		}
	}
}

func TestWhatIsSaidOfARowIsNotSureOfItsCell(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("winner")), match(variable("x"), "country", entity("Orla"))}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	place := candidate("Location", .4, .1)
	place.TypeMatch, place.Implied = true, 1
	for column, isSure := range map[string]bool{"Winner": false, "winner (number)": true, "": true} {
		kind := &graphv1.PatternCandidates{Elsewhere: []*graphv1.RelationCandidate{candidate(column, 0, 0)}}
		switch column {
		case "":
			kind.Elsewhere[0] = candidate("any", 0, 0)
			kind.Elsewhere[0].Implied = 1
		case "winner (number)":
			kind.Elsewhere[0] = candidate("winners", 0, 0, numbers)
		}
		got := query.New(query.DefaultConfig()).Align("which winners are from Orla", plan, terms,
			[]*graphv1.PatternCandidates{kind, {Clause: 1, Candidates: []*graphv1.RelationCandidate{place}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("column %q: confidence %v, %q", column, got.Confidence, got.Reason)
		}
	}
}

func TestTheOldestBeganFirst(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "age", variable("y")), rank("y")}}
	for relation, isSure := range map[string]bool{"date founded": true, "date of death": false} {
		got := query.New(query.DefaultConfig()).Align("which team is the oldest", plan, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
				candidate(relation, .5, .4, numbers)}}})
		if (got.Reason == "") != isSure {
			t.Errorf("%s: confidence %v, %q", relation, got.Confidence, got.Reason)
		}
	}
}

func TestWhatHasNoneIsNotAllOfThem(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "city", entity("Orla"))}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for question, isSure := range map[string]bool{
		"which teams of the city Orla have won no titles": false, "which teams of the city Orla have won": true} {
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("city", 1, .9)}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestAnotherColumnOfTheRowsIsAskedFor(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "y"}, Clauses: []*graphv1.QueryClause{
		{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "x", Entities: []string{"Orla"}}}},
		match(variable("x"), "profession", variable("y"))}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for question, isSure := range map[string]bool{"Who works in Orla?": false, "Who is a manager in Orla?": true} {
		across := candidate("manager", .5, .5)
		across.Steps = append([]*graphv1.RelationStep{{Relation: "city", Inverse: true}}, across.Steps...)
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, []*graphv1.PatternCandidates{
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{across}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestALengthMayBeARunningTime(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "length", variable("y")), rank("y")}}
	longer := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "length", variable("y")), {Clause: &graphv1.QueryClause_Condition{
			Condition: &graphv1.QueryCondition{Variable: "y", Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
				Operand: &graphv1.QueryCondition_Value{Value: "2"}}}}}}
	for _, c := range []struct {
		relation, question string
		plan               *graphv1.QueryPlan
		isSure             bool
	}{
		{"running time", "what is the longest film", plan, true},
		{"budget", "what is the longest film", plan, false},
		{"running time", "which films are longer than two hours", longer, false}, // of which unit?
		{"running time (min)", "which films are longer than two hours", longer, true},
	} {
		got := query.New(query.DefaultConfig()).Align(c.question, c.plan, nil, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate(c.relation, .35, .3, numbers)}}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s by %s: confidence %v, %q", c.question, c.relation, got.Confidence, got.Reason)
		}
	}
}

func TestWhatHasNoNumberIsRankedByItsCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, want string
		found          *graphv1.RelationCandidate
	}{
		{"which state has the most languages", "?x languages → ?n; most ?n for each ?x; ?x",
			candidate("languages", .9, .9)},
		{"which state has the most languages", "?x languages → ?n; most ?n; ?x",
			candidate("languages", .9, .9, numbers)},
		{"which state is the largest by languages", "", candidate("languages", .9, .9)},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "languages", variable("n")), {Clause: &graphv1.QueryClause_Rank{
				Rank: &graphv1.QueryRank{Variable: "n", Descending: true}}}}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{c.found}}})
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want {
			t.Errorf("%q: %q, %q; want %q", c.question, text, got.Reason, c.want)
		}
	}
}

func TestACountForEachDayIsNoneForEachYear(t *testing.T) {
	t.Parallel()
	for date, isSure := range map[string]bool{"3 May 1990": false, "1990": true} {
		found := candidate("launch year", .9, .9, func(c *graphv1.RelationCandidate) {
			c.Words, c.Examples = 1, []*graphv1.Triple{{Subject: "Orla", Relation: "launch year", Object: date}}
		})
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "year"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "launch year", variable("year")), {Clause: &graphv1.QueryClause_Rank{
				Rank: &graphv1.QueryRank{Variable: "x", Count: true, GroupBy: "year", Descending: true}}}}}
		got := query.New(query.DefaultConfig()).Align("in which year were the most launches", plan, nil,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{found}}})
		if got.Plan == nil || (got.Reason == "") != isSure {
			t.Errorf("%s: %q", date, got.Reason)
		}
	}
}

func TestTheMeanOfATimeIsOneOfTimes(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}}}
	for phrase, isThere := range map[string]bool{"release year": true, "budget": false} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			match(variable("film"), "directed", entity("Mara Vell")),
			match(variable("film"), phrase, variable("n"))}, Result: &graphv1.QueryResult{Variable: "n",
			Function: graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE}}
		question := "the average " + phrase + " of films that mara vell directed"
		got := query.New(query.DefaultConfig()).Align(question, plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("directed_by", .9, .9)}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("release_year", .9, .9, numbers)}}})
		if (got.Plan != nil) != isThere {
			t.Errorf("%s: %q", phrase, got.Reason)
		}
	}
}

func TestARelationThatTheQuestionHasIsTakenAlthoughAnotherFitsTheDraft(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "in state", entity("Orla"))}}
	patterns := []*graphv1.PatternCandidates{{
		Candidates: []*graphv1.RelationCandidate{candidate("lowest point", .2, .9)},
		Elsewhere:  []*graphv1.RelationCandidate{candidate("state", 1, .5)}}}
	for question, isThere := range map[string]bool{"what is the lowest point in state Orla": true,
		"what is in state Orla": false} {
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, patterns)
		if (got.Plan != nil) != isThere {
			t.Errorf("%q: %q", question, got.Reason)
		}
	}
}

func TestOneNumberIsNotOneForEach(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "town",
		Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}, Clauses: []*graphv1.QueryClause{
		match(variable("town"), "type", entity("town")), match(variable("town"), "state", entity("Orla"))}}
	joins := func(c *graphv1.RelationCandidate) { c.Joins = true }
	patterns := []*graphv1.PatternCandidates{
		{Candidates: []*graphv1.RelationCandidate{candidate("type", 1, .5, joins)}},
		{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("state", 1, .9)}}}
	terms := []*graphv1.TermCandidates{{Name: "town", Links: []*graphv1.EntityLink{link("town", exact, 1)}},
		{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for question, isSure := range map[string]bool{"how many towns has the state Orla": true,
		"how many towns does each state have": false} {
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, patterns)
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%q: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestTheOnlyRelationOfAPlaceIsWhereThingsAre(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "in", entity("Orla"))}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	country, twin := candidate("country", .34, .23), candidate("twin town", .3, .2)
	for name, c := range map[string]struct {
		candidates []*graphv1.RelationCandidate
		isSure     bool
	}{"one": {[]*graphv1.RelationCandidate{country}, true},
		"of several": {[]*graphv1.RelationCandidate{country, twin}, false}} {
		got := query.New(query.DefaultConfig()).Align("what is in Orla", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: c.candidates}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", name, got.Confidence, got.Reason)
		}
	}
}

func TestTheOnlyRelationToAPlaceIsThatOfWhatHasAValue(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "in", entity("Orla")),
		match(variable("x"), "salary", variable("n"))},
		Result: &graphv1.QueryResult{Variable: "n", Function: graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	team, home, leader := candidate("team", .34, .23), candidate("home", .3, .2), candidate("leader", .3, .2)
	leader.Steps[0].Inverse = true
	for name, c := range map[string]struct {
		candidates []*graphv1.RelationCandidate
		isSure     bool
	}{
		"beside those of the place": {[]*graphv1.RelationCandidate{team, leader}, true},
		"of several to it":          {[]*graphv1.RelationCandidate{team, home}, false},
		"one of the place":          {[]*graphv1.RelationCandidate{leader, team}, false},
	} {
		got := query.New(query.DefaultConfig()).Align("what is the average salary in Orla", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: c.candidates},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("salary", 1, .9, numbers)}}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", name, got.Confidence, got.Reason)
		}
	}
}

func TestTheOnlyRelationThatTheWordsFitIsSure(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "marked as", entity("Orla"))}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	column, other := candidate("department", .1, .2), candidate("city", .1, .2)
	column.TypeMatch, column.Implied, other.TypeMatch = true, 1, true
	for name, c := range map[string]struct {
		candidates []*graphv1.RelationCandidate
		isSure     bool
	}{"the only column of a cell": {[]*graphv1.RelationCandidate{column}, true},
		"one that ends in such things": {[]*graphv1.RelationCandidate{other}, false}} {
		got := query.New(query.DefaultConfig()).Align("who is in Orla", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: c.candidates}})
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", name, got.Confidence, got.Reason)
		}
	}
}

func TestWhoAsksForNoKindThatTheDraftInvents(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "plays", entity("the lute")), match(variable("x"), "type", entity("actor"))}}
	terms := []*graphv1.TermCandidates{{Name: "the lute", Links: []*graphv1.EntityLink{link("the lute", exact, 1)}}}
	patterns := []*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("plays", .9, .9)}},
		{Clause: 1}}
	for question, isSure := range map[string]bool{
		"who plays the lute": true, "who is an actor and plays the lute": false, "which plays the lute": false} {
		got := query.New(query.DefaultConfig()).Align(question, plan, terms, patterns)
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestWhatIsTheSameOfTwoNeedsNoNumber(t *testing.T) {
	t.Parallel()
	values := func(v, name string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: v,
			Entities: []string{name}}}}
	}
	compared := func(op graphv1.QueryOperator) *graphv1.QueryPlan {
		return &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{values("x", "Orla"), match(variable("x"), "owner",
			variable("a")), values("y", "Velmora"), match(variable("y"), "owner", variable("b")), {
			Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "a", Operator: op,
				Operand: &graphv1.QueryCondition_OtherVariable{OtherVariable: "b"}}}}},
			Result: &graphv1.QueryResult{Variable: "x", Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}
	}
	joined := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "owned", entity("Orla")),
		match(variable("x"), "owned", entity("Velmora"))}, Result: &graphv1.QueryResult{Variable: "x",
		Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}
	shared := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{values("x", "Orla"), match(variable("x"), "owner",
		variable("a")), values("y", "Velmora"), match(variable("y"), "owner", variable("a"))},
		Result: joined.GetResult()}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}},
		{Name: "Velmora", Links: []*graphv1.EntityLink{link("Velmora", exact, 1)}}}
	for _, c := range []struct {
		name   string
		plan   *graphv1.QueryPlan
		isSure bool
	}{
		{"names that are equal", compared(graphv1.QueryOperator_QUERY_OPERATOR_EQUAL), true},
		{"names have no order", compared(graphv1.QueryOperator_QUERY_OPERATOR_LESS), false},
		{"one that has to do with both", joined, true},
		{"one that both lead to", shared, true},
	} {
		var patterns []*graphv1.PatternCandidates
		for i, clause := range c.plan.GetClauses() {
			if clause.GetMatch() != nil {
				patterns = append(patterns, &graphv1.PatternCandidates{Clause: uint32(i),
					Candidates: []*graphv1.RelationCandidate{candidate("owner", .9, .9)}})
			}
		}
		got := query.New(query.DefaultConfig()).Align("do Orla and Velmora have the same owner", c.plan, terms,
			patterns)
		if (got.Plan != nil && got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestTwoThingsAreComparedByOneRelation(t *testing.T) {
	t.Parallel()
	values := func(v, name string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: v,
			Entities: []string{name}}}}
	}
	terms := []*graphv1.TermCandidates{{Name: "Aula", Links: []*graphv1.EntityLink{link("Aula", exact, 1)}},
		{Name: "Helix", Links: []*graphv1.EntityLink{link("Helix", exact, 1)}}}
	for _, c := range []struct {
		name, one, other, of, ofOther string
		isSure                        bool
	}{
		{"of both the same", "size", "size", "size", "size", true},
		{"not one of each for the same words", "size", "size", "size", "amount", false},
		{"unless the words are others too", "size", "amount", "size", "amount", true},
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{values("x", "Aula"),
			match(variable("x"), c.one, variable("a")), values("y", "Helix"),
			match(variable("y"), c.other, variable("b")), {
				Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "a",
					Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
					Operand:  &graphv1.QueryCondition_OtherVariable{OtherVariable: "b"}}}}},
			Result: &graphv1.QueryResult{Variable: "x", Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}
		patterns := []*graphv1.PatternCandidates{
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate(c.of, .9, .9, numbers)}},
			{Clause: 3, Candidates: []*graphv1.RelationCandidate{candidate(c.ofOther, .9, .9, numbers)}}}
		got := query.New(query.DefaultConfig()).Align("Is the Aula bigger than Helix?", plan, terms, patterns)
		if (got.Plan != nil && got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestAKindThatNothingSaysIsDoubted(t *testing.T) {
	t.Parallel()
	implying := func(near float32) []*graphv1.RelationCandidate {
		return []*graphv1.RelationCandidate{candidate("directed_by", 0, 0,
			func(c *graphv1.RelationCandidate) { c.Implied = near })}
	}
	rare := func(c *graphv1.RelationCandidate) { c.Coverage, c.Joins = .1, true }
	for _, c := range []struct {
		name, kind      string
		kinds           *graphv1.PatternCandidates
		links           []*graphv1.EntityLink
		isSure, isGiven bool
	}{
		{"nothing says it", "spacecraft", &graphv1.PatternCandidates{}, nil, false, false},
		{"the relation says it", "film", &graphv1.PatternCandidates{Elsewhere: implying(.4)}, nil, true, false},
		{"the relation says something else", "spacecraft", &graphv1.PatternCandidates{Elsewhere: implying(.1)}, nil,
			false, false},
		{"the relation has its name, and no row does", "directed by", &graphv1.PatternCandidates{
			Elsewhere: implying(.9)}, nil, true, false},
		{"it restricts nothing", "people", &graphv1.PatternCandidates{}, nil, true, false},
		{"others are it", "people", &graphv1.PatternCandidates{Candidates: implying(0)},
			[]*graphv1.EntityLink{link("people", exact, 1)}, false, false},
		{"few are it", "spacecraft", &graphv1.PatternCandidates{
			Candidates: []*graphv1.RelationCandidate{candidate("made as", .2, .2, rare)}},
			[]*graphv1.EntityLink{link("spacecraft", exact, 1)}, false, false},
		{"most are it", "spacecraft", &graphv1.PatternCandidates{Candidates: []*graphv1.RelationCandidate{
			candidate("type", .2, .2, func(c *graphv1.RelationCandidate) { c.Joins = true })}},
			[]*graphv1.EntityLink{link("spacecraft", exact, 1)}, true, true},
	} {
		c.kinds.Clause = 1
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "directed", entity("Mara Vell")), match(variable("x"), "type", entity(c.kind))}}
		vell := []*graphv1.EntityLink{link("Mara Vell", exact, 1)}
		terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: vell}, {Name: c.kind, Links: c.links}}
		got := query.New(query.DefaultConfig()).Align("what did Mara Vell direct", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("directed_by", .8, .8)}},
				c.kinds})
		if (got.Confidence >= .8) != c.isSure || (got.Reason == "") != c.isSure {
			t.Errorf("%s: confidence %v, reason %q", c.name, got.Confidence, got.Reason)
		}
		if (len(got.Plan.GetClauses()) == 2) != c.isGiven {
			t.Errorf("%s: %q", c.name, kgtext.DescribePlan(got.Plan))
		}
	}
}

func TestAnAnswerByAnotherRelationThanTheKindAskedForIsNotSure(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "director"}, Clauses: []*graphv1.QueryClause{
		match(variable("film"), "type", entity("film")), match(variable("film"), "director", variable("director"))}}
	patterns := []*graphv1.PatternCandidates{
		{Elsewhere: []*graphv1.RelationCandidate{candidate("directed_by", 0, 0,
			func(c *graphv1.RelationCandidate) { c.Implied = .4 })}},
		{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("directed_by", 1, .9)}}}
	for question, want := range map[string]bool{"in which films is there another director": false,
		"which director made films": true} {
		got := query.New(query.DefaultConfig()).Align(question, plan, nil, patterns)
		if got.Plan == nil || (got.Confidence >= .8) != want {
			t.Errorf("%s: confidence %v, %q", question, got.Confidence, got.Reason)
		}
	}
}

func TestASortOfThingsThatTheQuestionAsksForIsInThePlan(t *testing.T) {
	t.Parallel()
	vell := match(variable("film"), "directed", entity("Mara Vell"))
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}},
		{Name: "horror", Links: []*graphv1.EntityLink{link("Horror", exact, 1)}}}
	directed, genre := candidate("directed_by", 1, .9), candidate("has_genre", 1, .9)
	patterns := []*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{directed}},
		{Clause: 1, Candidates: []*graphv1.RelationCandidate{genre}}}
	for _, c := range []struct {
		question string
		clauses  []*graphv1.QueryClause
		isSure   bool
	}{
		{"How many horror films did Mara Vell direct?", []*graphv1.QueryClause{vell}, false},
		{"How many horror films did Mara Vell direct?",
			[]*graphv1.QueryClause{vell, match(variable("film"), "genre", entity("horror"))}, true},
		{"How many films did Mara Vell direct?", []*graphv1.QueryClause{vell}, true},
		{"How many different films did Mara Vell direct?", []*graphv1.QueryClause{vell}, true},
	} {
		plan := &graphv1.QueryPlan{Clauses: c.clauses, Result: &graphv1.QueryResult{Variable: "film",
			Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms[:len(c.clauses)], patterns)
		if got.Plan == nil || (got.Confidence >= .8) != c.isSure {
			t.Errorf("%q by %q: confidence %v, %q", c.question, kgtext.DescribePlan(got.Plan), got.Confidence,
				got.Reason)
		}
	}
}

func TestAGenreIsAKindThatTheQuestionAsksFor(t *testing.T) {
	t.Parallel()
	rare := func(c *graphv1.RelationCandidate) { c.Coverage, c.Joins, c.Implied = .2, true, .4 }
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "directed", entity("Mara Vell")), match(variable("x"), "type", entity("western"))}}
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}},
		{Name: "western", Links: []*graphv1.EntityLink{link("Western", exact, 1)}}}
	for relation, isGiven := range map[string]bool{"has_genre": true, "has_tags": false} {
		got := query.New(query.DefaultConfig()).Align("how many westerns did Mara Vell direct", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("directed_by", 1, .9)}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate(relation, .3, .3, rare)}}})
		if (len(got.Plan.GetClauses()) == 2) != isGiven {
			t.Errorf("%s: %q", relation, kgtext.DescribePlan(got.Plan))
		}
	}
}

func TestWhatIsOnTheWrongSideOfItsRoleIsNotSure(t *testing.T) {
	t.Parallel()
	inverse := func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse = true }
	values := func(variable string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: variable,
			Entities: []string{"Orla"}}}}
	}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for _, c := range []struct {
		name    string
		clauses []*graphv1.QueryClause
		found   *graphv1.RelationCandidate
		isSure  bool
	}{
		{"a film that is to have directed films", []*graphv1.QueryClause{
			values("director"), match(variable("film"), "director", variable("director"))},
			candidate("directed_by", .9, .9, inverse), false},
		{"its director", []*graphv1.QueryClause{
			values("film"), match(variable("film"), "director", variable("director"))},
			candidate("directed_by", .9, .9), true},
		{"films that somebody directed", []*graphv1.QueryClause{
			match(variable("director"), "films directed", variable("film"))}, candidate("directed_by", .9, .9, inverse),
			true},
		{"writers of a writer", []*graphv1.QueryClause{match(variable("film"), "writers", variable("writers"))},
			candidate("film.written_by", .9, .9, inverse), false},
		{"actors as the films of an actor", []*graphv1.QueryClause{
			values("actor"), match(variable("actor"), "co stars", variable("film"))},
			candidate("starred_actors", .9, .9), false},
		{"what has such a thing", []*graphv1.QueryClause{
			match(variable("film"), "type", entity("film")), match(variable("film"), "years", variable("year"))},
			candidate("film", .9, .9), false},
		{"what is called as what it has, which is asked for", []*graphv1.QueryClause{
			match(variable("genre"), "type", entity("genre")), match(variable("genre"), "genre", variable("film"))},
			candidate("has_genre", .9, .9), true},
		{"films as an actor", []*graphv1.QueryClause{
			match(variable("person"), "films as an actor", variable("film"))}, candidate("starred_actors", .9, .9,
			inverse), true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "film"}, Clauses: c.clauses}
		implied := candidate("type", 0, 0, func(c *graphv1.RelationCandidate) { c.Implied = 1 })
		got := query.New(query.DefaultConfig()).Align("which ones", plan, terms,
			[]*graphv1.PatternCandidates{{Elsewhere: []*graphv1.RelationCandidate{implied}},
				{Clause: uint32(len(c.clauses) - 1), Candidates: []*graphv1.RelationCandidate{c.found}}})
		isDoubted := strings.Contains(got.Reason, "starts from it")
		if got.Plan == nil || isDoubted == c.isSure || isDoubted && got.Confidence >= .8 {
			t.Errorf("%s: confidence %v, %q, %q", c.name, got.Confidence, got.Reason, kgtext.DescribePlan(got.Plan))
		}
	}
}

func TestTheRoleOfWhoHasThatRole(t *testing.T) {
	t.Parallel()
	found := func(clause uint32, relation string) *graphv1.PatternCandidates {
		return &graphv1.PatternCandidates{Clause: clause,
			Candidates: []*graphv1.RelationCandidate{candidate(relation, .9, .9)}}
	}
	for _, c := range []struct {
		first  string
		isSure bool
	}{{"supervisor", true}, {"employer", false}} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "answer"}, Clauses: []*graphv1.QueryClause{
			{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "person",
				Entities: []string{"Orla"}}}},
			match(variable("person"), "supervisor", variable("supervisor")),
			match(variable("supervisor"), "supervisor", variable("answer")),
		}}
		got := query.New(query.DefaultConfig()).Align("who supervises them", plan,
			[]*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}},
			[]*graphv1.PatternCandidates{found(1, c.first), found(2, "supervisor")})
		if got.Plan == nil || strings.Contains(got.Reason, "starts from it") == c.isSure {
			t.Errorf("%s: %v, reason %q", c.first, kgtext.DescribePlan(got.Plan), got.Reason)
		}
	}
}

func TestWhatSomethingMadeIsNotWhoMadeIt(t *testing.T) {
	t.Parallel()
	inverse := func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse = true }
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "thing"}, Clauses: []*graphv1.QueryClause{
		match(variable("thing"), "made by", entity("Robot 4"))}}
	for _, c := range []struct {
		name   string
		found  *graphv1.RelationCandidate
		isSure bool
	}{
		{"its manufacturer", candidate("manufacturer", .9, .9, inverse), false},
		{"by whom it is made", candidate("made by", .9, .9, inverse), false},
		{"what has it as the manufacturer", candidate("manufacturer", .9, .9), true},
		{"what it makes", candidate("produces", .9, .9, inverse), true},
	} {
		got := query.New(query.DefaultConfig()).Align("What is made by Robot 4?", plan,
			[]*graphv1.TermCandidates{{Name: "Robot 4", Links: []*graphv1.EntityLink{link("Robot 4", exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{c.found}}})
		if got.Plan == nil || strings.Contains(got.Reason, "says who did it") == c.isSure {
			t.Errorf("%s: %v, reason %q", c.name, kgtext.DescribePlan(got.Plan), got.Reason)
		}
	}
}

func TestWhoHasARoleIsNotSaidByAnotherOne(t *testing.T) {
	t.Parallel()
	inverse := func(c *graphv1.RelationCandidate) { c.Steps[0].Inverse = true }
	for _, c := range []struct {
		name, question, phrase string
		found                  *graphv1.RelationCandidate
		isSure                 bool
	}{
		{"what somebody administers", "who is the manager of Orla", "manager",
			candidate("administrator", .9, .9, inverse), false},
		{"who administers something", "who is the manager of Orla", "manager", candidate("administrator", .9, .9),
			true},
		{"what is asked for is nobody", "what are the orders of Orla", "order", candidate("customer", .9, .9, inverse),
			true},
		{"who succeeded somebody", "who succeeded Orla", "successor", candidate("successor", .9, .9), true},
		{"whom somebody succeeded", "who succeeded Orla", "successor", candidate("successor", .9, .9, inverse), false},
		{"no relative", "who is the uncle of Orla", "uncle", candidate("dynasty", .9, .9), false},
		{"what is no role", "who belongs to Orla", "members", candidate("member of", .9, .9, inverse), true},
		{"a language", "who translated Orla", "translator", candidate("Language", .9, .9), false},
		{"whose language it is", "who speaks Orla", "speakers", candidate("native language", .9, .9, inverse), true},
		{"a language, where one is asked for", "which language is Orla in", "language", candidate("Language", .9, .9),
			true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := query.New(query.DefaultConfig()).Align(c.question, &graphv1.QueryPlan{
				Clauses: []*graphv1.QueryClause{
					{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "thing",
						Entities: []string{"Orla"}}}},
					match(variable("thing"), c.phrase, variable("answer"))},
				Result: &graphv1.QueryResult{Variable: "answer"}},
				[]*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}},
				[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{c.found}}})
			if got.Plan == nil || (got.Reason == "") != c.isSure {
				t.Errorf("got %v, reason %q", kgtext.DescribePlan(got.Plan), got.Reason)
			}
		})
	}
}

func TestAPlanWithoutANameOfTheQuestionIsNotSure(t *testing.T) {
	t.Parallel()
	named := match(variable("film"), "directed", entity("Mara Vell"))
	unnamed := match(variable("film"), "directed", variable("director"))
	for _, c := range []struct {
		name, missing string
		clause        *graphv1.QueryClause
		function      graphv1.QueryFunction
		isSure        bool
	}{
		{"the only name", "Per Holm", unnamed, 0, false},
		{"a name that a relation has", "director", unnamed, 0, true},
		{"one of two that are counted with", "Per Holm", named, graphv1.QueryFunction_QUERY_FUNCTION_COUNT, false},
		{"where something named is", "Per Holm", named, 0, true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "film", Function: c.function},
			Clauses: []*graphv1.QueryClause{c.clause}}
		var terms []*graphv1.TermCandidates
		for _, name := range []string{"Mara Vell", c.missing} {
			links := []*graphv1.EntityLink{link(name, exact, 1)}
			if name == c.missing || c.clause == named {
				terms = append(terms, &graphv1.TermCandidates{Name: name, Links: links})
			}
		}
		got := query.New(query.DefaultConfig()).Align("how many films are there", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("directed_by", .8, .8)}}})
		if isDoubted := strings.Contains(got.Reason, "the plan does not"); got.Plan == nil || isDoubted == c.isSure {
			t.Errorf("%s: confidence %v, reason %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestAnotherRelationBetweenTwoNamesDoesNotSayYes(t *testing.T) {
	t.Parallel()
	joins := func(c *graphv1.RelationCandidate) { c.Joins = true }
	says := func(c *graphv1.RelationCandidate) { c.Words = 1 }
	terms := []*graphv1.TermCandidates{{Name: "Tessen", Links: []*graphv1.EntityLink{link("Tessen", exact, 1)}},
		{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	for _, c := range []struct {
		name   string
		found  *graphv1.RelationCandidate
		isSure bool
	}{
		{"the state of a town is not its governor", candidate("state", .5, .45, joins), false},
		{"the same in other words", candidate("head of government", .8, .7, joins), true},
		{"the same word", candidate("governor", .5, .4, joins, says), true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS},
			Clauses: []*graphv1.QueryClause{match(entity("Tessen"), "governor of", entity("Orla"))}}
		got := query.New(query.DefaultConfig()).Align("is Tessen the governor of Orla", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{c.found}}})
		if got.Plan == nil || (got.Reason == "") != c.isSure || (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, reason %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestAPlanThatNamesNothingIsNotSure(t *testing.T) {
	t.Parallel()
	parents := match(variable("person"), "parents", variable("person2"))
	patterns := []*graphv1.PatternCandidates{
		{Candidates: []*graphv1.RelationCandidate{candidate("parents", .9, .9)}},
		{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("parents", .9, .9)}}}
	for _, c := range []struct {
		name   string
		second *graphv1.QueryClause
		count  graphv1.QueryFunction
		isSure bool
	}{
		{"of anybody", match(variable("person2"), "parents", variable("person3")), 0, false},
		{"of somebody", match(variable("person2"), "parents", entity("Orla")), 0, true},
		{"how many there are", match(variable("person2"), "parents", variable("person3")),
			graphv1.QueryFunction_QUERY_FUNCTION_COUNT, true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "person", Function: c.count},
			Clauses: []*graphv1.QueryClause{parents, c.second}}
		var terms []*graphv1.TermCandidates
		for _, name := range kgtext.PlanNames(plan) {
			links := []*graphv1.EntityLink{link(name, exact, 1)}
			terms = append(terms, &graphv1.TermCandidates{Name: name, Links: links})
		}
		got := query.New(query.DefaultConfig()).Align("how many parents", plan, terms, patterns)
		if isDoubted := got.Reason != ""; got.Plan == nil || isDoubted == c.isSure {
			t.Errorf("%s: confidence %v, %q", c.name, got.Confidence, got.Reason)
		}
	}
}

func TestAnotherKindThanAskedForIsNotSure(t *testing.T) {
	t.Parallel()
	const count = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
	for _, c := range []struct {
		question, kind string
		function       graphv1.QueryFunction
		isSure         bool
	}{
		{"in which continent are the most lakes", "country", 0, false},
		{"in which country are the most lakes", "country", 0, true},
		{"which border country has the most lakes", "country", 0, true},
		{"which people have the most lakes", "country", 0, true},
		{"what has the most lakes", "country", 0, true},
		{"which owner has the most lakes", "country", 0, true}, // by the relation to them, if any
		{"in which continent are the most lakes", "country", count, true},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "place", Function: c.function},
			Clauses: []*graphv1.QueryClause{match(variable("place"), "type", entity(c.kind)),
				match(variable("place"), "lakes", variable("lakes")), {Clause: &graphv1.QueryClause_Rank{
					Rank: &graphv1.QueryRank{Variable: "lakes", Count: true, GroupBy: "place", Descending: true}}}}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan,
			[]*graphv1.TermCandidates{{Name: c.kind, Links: []*graphv1.EntityLink{link(c.kind, exact, 1)}}},
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{candidate("type", 1, .5,
				func(c *graphv1.RelationCandidate) { c.Joins, c.Coverage = true, 1 })}},
				{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("lakes", .9, .9)}}})
		if got.Plan == nil || (got.Confidence >= .8) != c.isSure {
			t.Errorf("%s: confidence %v, %q", c.question, got.Confidence, got.Reason)
		}
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	t.Parallel()
	values := func(variable, name string) *graphv1.QueryClause {
		return &graphv1.QueryClause{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: variable,
			Entities: []string{name}}}}
	}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}},
		{Name: "Sel", Links: []*graphv1.EntityLink{link("Sel", exact, 1)}}}
	const (
		count  = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
		exists = graphv1.QueryFunction_QUERY_FUNCTION_EXISTS
	)
	names := func(c *graphv1.RelationCandidate) { c.Comparable = 0 }
	for _, c := range []struct {
		name, question string
		function       graphv1.QueryFunction
		of             func(*graphv1.RelationCandidate)
		want           string
	}{
		{"whether a number is greater", "does Orla have more inhabitants than Sel", exists, numbers,
			"?y > ?y2; is there any"},
		{"by how much", "how many more inhabitants does Orla have than Sel", count, numbers,
			"difference of ?y and ?y2"},
		{"names are counted", "does Orla have more inhabitants than Sel", exists, names, "are there more ?y than ?y2"},
	} {
		result := &graphv1.QueryResult{Variable: "y", OtherVariable: "y2", Function: c.function}
		plan := &graphv1.QueryPlan{Result: result, Clauses: []*graphv1.QueryClause{
			values("x", "Orla"), match(variable("x"), "inhabitants", variable("y")),
			values("x2", "Sel"), match(variable("x2"), "inhabitants", variable("y2"))}}
		var patterns []*graphv1.PatternCandidates
		for _, clause := range []uint32{1, 3} {
			patterns = append(patterns, &graphv1.PatternCandidates{Clause: clause,
				Candidates: []*graphv1.RelationCandidate{candidate("inhabitants", 1, .9, c.of)}})
		}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms, patterns)
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); !strings.HasSuffix(text, c.want) ||
			got.Confidence < .8 {
			t.Errorf("%s: %s, confidence %v, %q", c.name, text, got.Confidence, got.Reason)
		}
	}
}

func TestARelationThatIsHereTooIsNotMissing(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "discovered", entity("Orla"))}}
	here := []*graphv1.RelationCandidate{candidate("found by", .6, .5), candidate("discovered", 1, .8, numbers)}
	for n, isThere := range map[int]bool{1: false, 2: true} {
		got := query.New(query.DefaultConfig()).Align("Who discovered Orla?", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: here[:n],
				Elsewhere: []*graphv1.RelationCandidate{candidate("discovered", 1, .8)}}})
		if (got.Plan != nil) != isThere {
			t.Errorf("%d relations here: %q", n, got.Reason)
		}
	}
}

func TestARelationWithTheWordsOfThePlanIsNotMissing(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Mara Vell", Links: []*graphv1.EntityLink{link("Mara Vell", exact, 1)}}}
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "discovered by", entity("Mara Vell"))}}
	for words, isThere := range map[float32]bool{1: true, 0: false} {
		here := candidate("finder", .6, .5, func(c *graphv1.RelationCandidate) { c.Words = words })
		got := query.New(query.DefaultConfig()).Align("What did Mara Vell discover?", plan, terms,
			[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{here},
				Elsewhere: []*graphv1.RelationCandidate{candidate("discovered", 1, .8)}}})
		if (got.Plan != nil) != isThere {
			t.Errorf("%v of the words: %q", words, got.Reason)
		}
	}
}

func TestWhatMeasuresThingsIsNotHowManyThereAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, relation string
		isSure             bool
	}{
		{"How many runways does Orla have?", "runwayLength", false},
		{"How many runways does Orla have?", "runways", true},
		{"How many metres of length does Orla have?", "lengthMetres", true},
		{"How many inhabitants does Orla have?", "population", true},
	} {
		terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "town",
				Entities: []string{"Orla"}}}}, match(variable("town"), "number", variable("x"))}}
		patterns := []*graphv1.PatternCandidates{{Clause: 1,
			Candidates: []*graphv1.RelationCandidate{candidate(c.relation, 1, 1, numbers)}}}
		got := query.New(query.DefaultConfig()).Align(c.question, plan, terms, patterns)
		if (got.Confidence >= .8) != c.isSure {
			t.Errorf("%q by %q: confidence %v, %q", c.question, c.relation, got.Confidence, got.Reason)
		}
	}
}

func TestWhatIsDoneToPeopleIsNotByTheRelationToWhoDoesIt(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{listed("x", "Mara"),
		match(variable("x"), "people managed", variable("n"))},
		Result: &graphv1.QueryResult{Variable: "n", Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
	terms := []*graphv1.TermCandidates{{Name: "Mara", Links: []*graphv1.EntityLink{link("Mara", exact, 1)}}}
	managed := candidate("manager", .5, .5)
	managed.Steps[0].Inverse = true
	got := query.New(query.DefaultConfig()).Align("how many people does Mara manage", plan, terms,
		[]*graphv1.PatternCandidates{{Clause: 1, Candidates: []*graphv1.RelationCandidate{
			candidate("manager", .5, .5), managed}}})
	want := "?x is Mara; ?x ← manager ?n; count ?n"
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != want {
		t.Errorf("got %q, reason %q; want %q", text, got.Reason, want)
	}
}

func TestPeopleWhoWorkSomewhereAreThoseOfTheOnlyRelationToIt(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{listed("x", "Orla"),
		match(variable("x"), "people work", variable("n"))},
		Result: &graphv1.QueryResult{Variable: "n", Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	have := func(relation string, kinds ...string) *graphv1.RelationCandidate {
		c := candidate(relation, .1, .1)
		c.Steps[0].Inverse, c.EndTypes = true, kinds
		return c
	}
	budget := candidate("budget", .2, .3, numbers)
	for name, c := range map[string]struct {
		candidates []*graphv1.RelationCandidate
		want       string
	}{
		"the only one of people": {[]*graphv1.RelationCandidate{budget, have("department", "employee")},
			"?x is Orla; ?x ← department ?n; count ?n"},
		"of other things": {[]*graphv1.RelationCandidate{budget, have("supplier", "company")}, ""},
		"two of people":   {[]*graphv1.RelationCandidate{budget, have("city", "person"), have("team", "person")}, ""},
	} {
		got := query.New(query.DefaultConfig()).Align("how many people work in Orla", plan, terms,
			[]*graphv1.PatternCandidates{{Clause: 1, Candidates: c.candidates}})
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != c.want {
			t.Errorf("%s: got %q, reason %q; want %q", name, text, got.Reason, c.want)
		}
	}
}

func TestANumberOfAPlaceIsNotInIt(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "in", entity("Orla")),
		match(variable("x"), "salary", variable("n"))},
		Result: &graphv1.QueryResult{Variable: "n", Function: graphv1.QueryFunction_QUERY_FUNCTION_SUM}}
	terms := []*graphv1.TermCandidates{{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}
	budget := candidate("budget", .4, .4, numbers)
	budget.Steps[0].Inverse = true
	got := query.New(query.DefaultConfig()).Align("what is the total salary in Orla", plan, terms,
		[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{budget, candidate("team", .34, .23)}},
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{candidate("salary", 1, .9, numbers)}}})
	want := "?x team → Orla; ?x salary → ?n; sum of ?n"
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != want {
		t.Errorf("got %q, reason %q; want %q", text, got.Reason, want)
	}
}

func TestAKindThatIsANameOfTheQuestionIsIt(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"Who heads the Sales department?":   "?x is Sales; ?x head → ?y; ?y",
		"Who heads the sales department?":   "?x head → ?y; ?y",
		"Sales have which head department?": "?x head → ?y; ?y",
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "y"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("sales")), match(variable("x"), "head", variable("y"))}}
		got := query.New(query.DefaultConfig()).Align(question, plan, []*graphv1.TermCandidates{
			{Name: "sales", Links: []*graphv1.EntityLink{link("Head of Sales", exact, 1), link("Sales", exact, 1)}}},
			[]*graphv1.PatternCandidates{{}, {Clause: 1, Candidates: []*graphv1.RelationCandidate{
				candidate("head", 1, .8)}}})
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != want {
			t.Errorf("%s: got %q, reason %q; want %q", question, text, got.Reason, want)
		}
	}
}

func TestARelationSaysTheKindOfItsNoun(t *testing.T) {
	t.Parallel()
	terms := []*graphv1.TermCandidates{{Name: "Mara", Links: []*graphv1.EntityLink{link("Mara", exact, 1)}}}
	for kind, isSure := range map[string]bool{"manager": true, "pilot": false} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "y"}, Clauses: []*graphv1.QueryClause{
			match(variable("y"), "type", entity(kind)), match(entity("Mara"), "manager", variable("y"))}}
		got := query.New(query.DefaultConfig()).Align("which manager and "+kind+" has Mara", plan, terms,
			[]*graphv1.PatternCandidates{{}, {Clause: 1, Candidates: []*graphv1.RelationCandidate{
				candidate("manager", 1, .8)}}})
		if (got.Confidence >= .8) != isSure {
			t.Errorf("%s: confidence %v, %q", kind, got.Confidence, got.Reason)
		}
	}
}

func TestWhereSomethingGoesIsItsDestination(t *testing.T) {
	t.Parallel()
	for phrase, want := range map[string]string{"from": "?x origin → Orla; ?x", "to": "?x destination → Orla; ?x",
		"go to": "?x destination → Orla; ?x", "belongs": "?x line → Orla; ?x"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), phrase, entity("Orla"))}}
		got := query.New(query.DefaultConfig()).Align("which flights go there", plan, []*graphv1.TermCandidates{
			{Name: "Orla", Links: []*graphv1.EntityLink{link("Orla", exact, 1)}}}, []*graphv1.PatternCandidates{
			{Candidates: []*graphv1.RelationCandidate{candidate("line", .5, .6), candidate("destination", .4, .5),
				candidate("origin", .4, .4)}}})
		if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text != want {
			t.Errorf("%s: got %q, reason %q; want %q", phrase, text, got.Reason, want)
		}
	}
}

func TestAKindWithAWordBeforeItSaysTheKind(t *testing.T) {
	t.Parallel()
	kinds := func(fuel *graphv1.PatternCandidates) query.Aligned {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "car"}, Clauses: []*graphv1.QueryClause{
			match(variable("car"), "type", entity("car")), match(variable("car"), "type", entity("electric car")),
			match(variable("car"), "maker", entity("Orla"))}}
		links := func(name, entity string) *graphv1.TermCandidates {
			return &graphv1.TermCandidates{Name: name, Links: []*graphv1.EntityLink{{Entity: entity, Mention: name,
				Match: graphv1.LinkMatch_LINK_MATCH_EXACT, Score: 1}}}
		}
		maker := candidate("maker", 1, .6)
		maker.Joins = true
		return query.New(query.DefaultConfig()).Align("Which electric cars does Orla make?", plan,
			[]*graphv1.TermCandidates{links("electric car", "electric"), links("Orla", "Orla")},
			[]*graphv1.PatternCandidates{{}, fuel, {Clause: 2, Candidates: []*graphv1.RelationCandidate{maker}}})
	}
	fuel := candidate("fuel", .4, .3)
	fuel.Joins, fuel.TypeMatch = true, true
	got := kinds(&graphv1.PatternCandidates{Clause: 1, Candidates: []*graphv1.RelationCandidate{fuel}})
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); got.Reason != "" ||
		text != "?car fuel → electric; ?car maker → Orla; ?car" {
		t.Errorf("%q, reason %q", text, got.Reason)
	}
	implied := &graphv1.RelationCandidate{Steps: []*graphv1.RelationStep{{Relation: "maker"}}, Implied: .5}
	got = kinds(&graphv1.PatternCandidates{Clause: 1, Elsewhere: []*graphv1.RelationCandidate{implied}})
	if got.Reason == "" {
		t.Errorf("a word that nothing says is implied by a relation: %v", got.Plan)
	}
}

func TestWhoMadeThingsIsAskedOfThoseThatAreAskedFor(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "drug"}, Clauses: []*graphv1.QueryClause{
		{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "illness",
			Entities: []string{"gout"}}}},
		match(variable("illness"), "made by", entity("Orla")), match(variable("illness"), "drugs", variable("drug"))}}
	treats, made := candidate("treats", .6, .6), candidate("treats", .6, .6)
	treats.Steps[0].Inverse, made.Steps[0].Inverse, made.Joins = true, true, true
	made.Steps = append(made.Steps, &graphv1.RelationStep{Relation: "maker"})
	links := func(name string) *graphv1.TermCandidates {
		return &graphv1.TermCandidates{Name: name, Links: []*graphv1.EntityLink{{Entity: name, Mention: name,
			Match: graphv1.LinkMatch_LINK_MATCH_EXACT, Score: 1}}}
	}
	got := query.New(query.DefaultConfig()).Align("Which drugs by Orla treat gout?", plan,
		[]*graphv1.TermCandidates{links("gout"), links("Orla")}, []*graphv1.PatternCandidates{
			{Clause: 1, Candidates: []*graphv1.RelationCandidate{made}},
			{Clause: 2, Candidates: []*graphv1.RelationCandidate{treats}}})
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text !=
		"?illness is gout; ?drug maker → Orla; ?illness ← treats ?drug; ?drug" {
		t.Errorf("%q, reason %q", text, got.Reason)
	}
}

func TestWhereSomethingWasInstalledIsNoBeginning(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "machine"}, Clauses: []*graphv1.QueryClause{
		match(variable("machine"), "date", variable("date")),
		{Clause: &graphv1.QueryClause_Rank{Rank: &graphv1.QueryRank{Variable: "date"}}}}}
	place := candidate("installed in", .2, .2)
	place.Comparable = 0
	got := query.New(query.DefaultConfig()).Align("What is the oldest machine?", plan, nil,
		[]*graphv1.PatternCandidates{{Candidates: []*graphv1.RelationCandidate{
			candidate("commissioned", .2, .2, numbers), place}}})
	if text := strings.Join(kgtext.DescribePlan(got.Plan), "; "); text !=
		"?machine commissioned → ?date; least ?date; ?machine" || got.Confidence < .8 {
		t.Errorf("%q with %v, reason %q", text, got.Confidence, got.Reason)
	}
}
