package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/explore"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func contest() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"Mara Vell", "Song", "Low Tide"}, [3]string{"Mara Vell", "Points", "43"},
		[3]string{"Mara Vell", "Year", "1989"}, [3]string{"Per Holm", "Song", "The Grey Door"},
		[3]string{"Per Holm", "Points", "17"}, [3]string{"Per Holm", "Year", "1994"},
		[3]string{"Mara Vell", "Remote", "yes"}, [3]string{"Per Holm", "Remote", "no"})
}

func TestAKindThatNamesAColumnOfATableIsThatColumn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, want string }{
		{"by its name", "song", "Song"},
		{"in the plural", "songs", "Song"},
		{"by a word of it, of yes and no", "remote singer", "Remote"},
		{"any column that rows have, for other words", "singer", "Points"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := contest()
			plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
				match(variable("x"), "type", entity(c.kind)), match(variable("x"), "points", variable("p")), rank("p")},
				Result: &graphv1.QueryResult{Variable: "x"}}
			_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
				"which "+c.kind+" earned most points", plan, nil)
			if err != nil || len(patterns[0].Elsewhere) != 1 ||
				len(patterns[0].Elsewhere[0].Examples) == 0 && c.want == "Song" ||
				g.RelationName(patterns[0].Elsewhere[0].Steps[0].Relation) != c.want {
				t.Errorf("got %+v, %v; want %q", patterns[0], err, c.want)
			}
		})
	}
}

func TestRowsOfOneKindAreATable(t *testing.T) {
	t.Parallel()
	rows := [][3]string{{"Orla Peak", "range", "Harn"}, {"Orla Peak", "instance of", "mountain"},
		{"Grey Horn", "range", "Harn"}, {"Grey Horn", "instance of", "mountain"}}
	plan := func(kind string) *graphv1.QueryPlan {
		return &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity(kind))},
			Result: &graphv1.QueryResult{Variable: "x"}}
	}
	explored := func(g *storetest.Graph, kind string) (candidate, elsewhere string) {
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which "+kind+"s are there",
			plan(kind), nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := patterns[0].Candidates; len(all) > 0 {
			candidate = g.RelationName(all[0].Steps[0].Relation)
		}
		if all := patterns[0].Elsewhere; len(all) > 0 {
			elsewhere = g.RelationName(all[0].Steps[0].Relation)
		}
		return candidate, elsewhere
	}
	g := storetest.NewGraph(rows...)
	if own, _ := explored(g, "mountain"); own != "instance of" {
		t.Errorf("mountains are those by %q", own)
	}
	if own, column := explored(g, "range"); own != "" || column != "range" {
		t.Errorf("ranges are those by %q, the column %q", own, column)
	}
	g = storetest.NewGraph(append(rows, [3]string{"Harn", "instance of", "region"})...)
	if own, column := explored(g, "range"); own != "" || column != "" {
		t.Errorf("with things of two kinds, ranges are those by %q, the column %q", own, column)
	}
}

func TestAKindThatACellSaysIsWhatHasIt(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Leek", "Family", "Allium"}, [3]string{"Leek", "Height", "75"},
		[3]string{"Onion", "Family", "Allium"}, [3]string{"Onion", "Height", "45"},
		[3]string{"Kale", "Family", "Brassica"}, [3]string{"Kale", "Height", "70"})
	for _, c := range []struct {
		kind, candidate string
		isMatch         bool
	}{{"allium", "Family", true}, {"alliums", "Family", true}, {"vegetable", "", false}, {"family", "", false}} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(c.kind)), match(variable("x"), "height", variable("h"))},
			Result: &graphv1.QueryResult{Variable: "h", Function: graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
			"What is the average height of the "+c.kind+"?", plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		candidate, isMatch := "", false
		if all := patterns[0].Candidates; len(all) > 0 {
			candidate, isMatch = g.RelationName(all[0].Steps[0].Relation), all[0].TypeMatch
		}
		if candidate != c.candidate || isMatch != c.isMatch {
			t.Errorf("%s are those by %q, %v", c.kind, candidate, isMatch)
		}
	}
}

func TestAKindThatTheQuestionSaysInTwoWordsIsTheCellOfBoth(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Leek Pie", "Served as", "main course"}, [3]string{"Leek Pie", "type", "Recipe"},
		[3]string{"Miso Stew", "Served as", "main course"}, [3]string{"Miso Stew", "type", "Recipe"},
		[3]string{"Black Torte", "Served as", "dessert"}, [3]string{"Black Torte", "type", "Recipe"})
	for question, want := range map[string]string{"Which vegan main courses are there?": "Served as",
		"Which courses are there?": "", "Which main meals and courses are there?": ""} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("course"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if all := patterns[0].Candidates; len(all) > 0 {
			got = g.RelationName(all[0].Steps[0].Relation)
		}
		if got != want {
			t.Errorf("%s: by %q, want %q", question, got, want)
		}
	}
}

func TestOfTwoSpellingsThatOfTheQuestionIsMeant(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "skill", "finance"}, [3]string{"Per Holm", "team", "Finance"},
		[3]string{"Finance", "budget", "45000"})
	for question, want := range map[string]string{"Who is in Finance?": "Finance",
		"Who knows finance?": "Finance, finance",
		"WHO IS IN FINANCE?": "Finance, finance"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "in", entity("Finance"))}}
		terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range terms[0].Links {
			names = append(names, g.EntityName(l.Entity))
		}
		slices.Sort(names)
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

func TestAKindThatNoTypeSaysIsWhatHasItInItsName(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Red Line", "length", "14"}, [3]string{"Blue Line", "length", "22"},
		[3]string{"Red Line", "line type", "metro"}, [3]string{"Castle", "on line", "Red Line"},
		[3]string{"Castle", "on line", "Blue Line"}, [3]string{"Harbour", "on line", "Blue Line"},
		[3]string{"Harbour", "stop", "Castle"}, [3]string{"Castle", "zone", "2"}, [3]string{"Harbour", "zone", "3"})
	ofKind := match(variable("x"), "type", entity("line"))
	for _, c := range []struct {
		name      string
		clause    *graphv1.QueryClause
		want      string
		isImplied bool
	}{
		{"a number of theirs", match(variable("x"), "extent", variable("y")), "length", false},
		{"what leads to them", match(variable("x"), "stop", entity("Castle")), "^on line", true},
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{ofKind, c.clause},
			Result: &graphv1.QueryResult{Variable: "x"}}
		if !c.isImplied {
			plan.Clauses = append(plan.Clauses, rank("y"))
		}
		terms, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which line is it", plan, nil)
		if err != nil || !terms[0].OfKind || len(terms[0].Links) != 2 ||
			len(patterns[0].Candidates)+len(patterns[0].Elsewhere) > 0 || show(g, patterns[1]) != c.want ||
			patterns[1].Candidates[0].Implied == 1 != c.isImplied {
			t.Errorf("%s: %+v, %v", c.name, patterns, err)
		}
	}
}

func TestARelationThatEndsInTheWordComesBeforeOneOfAnAttribute(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Red Line", "line type", "metro"}, [3]string{"Castle", "on line", "Red Line"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "line", entity("Red Line"))},
		Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which stations are there", plan, nil)
	if err != nil || show(g, patterns[0]) != "on line" {
		t.Errorf("%q, %v", show(g, patterns[0]), err)
	}
}

func TestAKindThatACellSaysKeepsFewOfTheThingsOfANameToo(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Leek", "Family", "Allium"}, [3]string{"Leek", "Harvest", "May"},
		[3]string{"Kale", "Family", "Brassica"}, [3]string{"Kale", "Harvest", "May"},
		[3]string{"Turnip", "Family", "Brassica"}, [3]string{"Turnip", "Harvest", "May"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity("alliums")),
		match(variable("x"), "harvested in", entity("May"))}, Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which alliums are harvested in May?",
		plan, nil)
	if err != nil || show(g, patterns[0]) != "Family" || !patterns[0].Candidates[0].TypeMatch {
		t.Errorf("got %q, %v, %+v", show(g, patterns[0]), err, patterns[0].Candidates)
	}
}

func TestAKindThatIsNoTypeIsAnyRelationInALargeGraphToo(t *testing.T) {
	t.Parallel()
	facts := [][3]string{{"Low Tide", "genre", "drama"}, {"Low Tide", "directed by", "Mara Vell"}}
	for i := range 80 { // more relations than a table has
		facts = append(facts, [3]string{"Low Tide", fmt.Sprintf("relation %d", i), "x"})
	}
	g := storetest.NewGraph(facts...)
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("film"), "type", entity("film")),
		match(variable("film"), "type", entity("drama"))}, Result: &graphv1.QueryResult{Variable: "film"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which films are drama", plan, nil)
	if err != nil || show(g, patterns[1]) != "genre" {
		t.Errorf("dramas are those by %q, %v", show(g, patterns[1]), err)
	}
}

func TestAColumnWhoseCellsAreRowsIsARelationOfAGraph(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "spouse", "Per Holm"}, [3]string{"Per Holm", "spouse", "Mara Vell"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity("spouse")),
		match(variable("x"), "spouse", entity("Per Holm"))}, Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
		"who is the spouse of Per Holm", plan, nil)
	// A column implies nothing.
	if err != nil || len(patterns[0].Elsewhere) > 0 && patterns[0].Elsewhere[0].Implied == 0 {
		t.Errorf("got %+v, %v", patterns[0], err)
	}
}

func TestACellLeadsOverItsRowToOtherColumns(t *testing.T) {
	t.Parallel()
	g := contest()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(entity("Low Tide"), "points", variable("p"))},
		Result: &graphv1.QueryResult{Variable: "p"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
		"how many points for Low Tide", plan, nil)
	if err != nil || show(g, patterns[0]) != "^Song Points" {
		t.Errorf("got %q, %v", show(g, patterns[0]), err)
	}
}

func TestABoundThatTheQuestionSetsByAYearIsATime(t *testing.T) {
	t.Parallel()
	g := contest()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "sang", variable("v")),
		{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "v",
			Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
			Operand:  &graphv1.QueryCondition_Value{Value: "1990"}}}}},
		Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "who sang points after 1990", plan, nil)
	if err != nil || show(g, patterns[0]) != "Year" {
		t.Errorf("got %q, %v", show(g, patterns[0]), err)
	}
}

func TestANameIsFoundInCellsThatListSeveral(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "Written by", "Mara Vell & Per Holm"},
		[3]string{"Orla", "Written by", "Mara Vell"},
		[3]string{"The Grey Door", "Written by", "Mara Vellmann, Anna Lind"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "written by", entity("Mara Vell"))},
		Result: &graphv1.QueryResult{Variable: "x"}}
	terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "what is written by mara vell", plan, nil)
	var got []string
	for _, l := range terms[0].Links {
		if l.Match == link.Exact {
			got = append(got, g.EntityName(l.Entity))
		}
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, []string{"Mara Vell", "Mara Vell & Per Holm"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestANameThatEndsInItsColumnIsTheCell(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "department", "Sales"}, [3]string{"Mara Vell", "salary", "43"},
		[3]string{"Per Holm", "department", "Support"}, [3]string{"Per Holm", "city", "Sales"})
	for _, kind := range []string{"sales department", "Support Department", "art department", "sales"} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity("employee")),
			match(variable("x"), "type", entity(kind)), match(variable("x"), "salary", variable("y"))},
			Result: &graphv1.QueryResult{Variable: "y"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "what do they earn", plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, want := patterns[1].Candidates, kind != "art department"
		isOne := len(found) == 1 && show(g, patterns[1]) == "department"
		if (len(found) > 0) != want || want && kind != "sales" && !isOne {
			t.Errorf("%s: %+v", kind, found)
		}
		if e := patterns[1].Elsewhere; !want && len(e) > 0 && e[0].Implied == 1 {
			t.Errorf("%s: a row is taken for one: %+v", kind, e)
		}
	}
}

func TestACellOfOneColumnIsMeantWhateverTheDraftSaysOfIt(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "department", "Sales"}, [3]string{"Mara Vell", "salary", "43"},
		[3]string{"Per Holm", "department", "Support"}, [3]string{"Per Holm", "city", "Support"})
	for _, c := range []struct {
		phrase, cell string
		want         bool
	}{
		{"marked as", "Sales", true},
		{"salary type", "Sales", true},
		{"born in", "Sales", false},     // the question has it
		{"marked as", "Support", false}, // of two columns
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), c.phrase, entity(c.cell))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
			"which salary has who was born in "+c.cell, plan, nil)
		if err != nil || len(patterns[0].Candidates) == 0 || patterns[0].Candidates[0].TypeMatch != c.want {
			t.Errorf("%s %s: %+v, %v", c.phrase, c.cell, patterns[0], err)
		}
	}
}

func TestARowThatIsOfASortIsWhateverTheTableIsOf(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "genre", "thriller"}, [3]string{"Low Tide", "director", "Mara Vell"},
		[3]string{"Orla", "genre", "drama"})
	for kind, want := range map[string]float32{"film": 1, "main director": 0} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity(kind)),
			match(variable("x"), "type", entity("thriller"))}, Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which are there", plan, nil)
		implied := float32(0)
		if e := patterns[0].Elsewhere; len(e) > 0 {
			implied = e[0].Implied
		}
		if err != nil || implied != want {
			t.Errorf("%s: %+v, %v", kind, patterns[0], err)
		}
	}
}

func TestWhatIsRankedInATableIsARow(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity("singer")),
		match(variable("x"), "points", variable("p")), rank("p")}, Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), contest(), &storetest.WordEncoder{}, "which singer is best", plan,
		nil)
	if err != nil || len(patterns[0].Elsewhere) != 1 || patterns[0].Elsewhere[0].Implied != 1 {
		t.Errorf("got %+v, %v", patterns[0], err)
	}
}

func TestARelationThatTwoClausesNameIsThatOfBoth(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Orla", "Rank", "1"}, [3]string{"Orla", "Passengers handled", "105"},
		[3]string{"Tessen", "Rank", "2"}, [3]string{"Tessen", "Passengers handled", "92"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
		match(entity("Orla"), "passengers handled", variable("a")),
		match(entity("Tessen"), "passengers handled", variable("b"))}, Result: &graphv1.QueryResult{Variable: "a"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
		"between the top ranked Orla and Tessen, what is the difference in passengers handled", plan, nil)
	if err != nil || show(g, patterns[0]) != "Passengers handled" || show(g, patterns[1]) != "Passengers handled" {
		t.Errorf("got %q and %q, %v", show(g, patterns[0]), show(g, patterns[1]), err)
	}
}

// Each row has a kind beside that of all rows, and a code.
func homes(columns ...string) (triples [][3]string) {
	for row, kind := range map[string]string{"Old Mill": "house", "Lake View": "flat", "Park Loft": "loft"} {
		for i, column := range columns {
			triples = append(triples, [3]string{row, column, fmt.Sprint(len(row) * (i + 3))})
		}
		triples = append(triples, [3]string{row, "type", kind}, [3]string{row, "instance of", "home"},
			[3]string{row, "garden", "lawn"})
	}
	slices.SortFunc(triples, func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	return triples
}

func TestATableMayHaveAColumnOfKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		columns []string
		others  [][3]string
		isTable bool
	}{
		{"rows that have all columns", []string{"price", "area"}, nil, true},
		{"things of different sorts", []string{"price", "area"}, [][3]string{{"Orla", "type", "town"},
			{"Orla", "mayor", "Mara Vell"}, {"Mara Vell", "type", "person"}, {"Mara Vell", "born", "1961"},
			{"Mara Vell", "spouse", "Per Holm"}, {"Per Holm", "type", "person"}, {"Per Holm", "employer", "Globex"},
			{"Globex", "type", "company"}, {"Globex", "founded", "1990"}, {"Globex", "owner", "Orla"},
			{"Globex", "staff", "40"}}, false},
		{"few columns", nil, nil, false},
	} {
		g := storetest.NewGraph(append(c.others, homes(c.columns...)...)...)
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("garden"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which have a garden", plan, nil)
		if isTable := err == nil && len(patterns[0].Elsewhere) > 0; isTable != c.isTable {
			t.Errorf("%s: %+v, %v", c.name, patterns, err)
		}
	}
}

func TestWhatIdentifiesMeasuresNothing(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(homes("isbn", "size")...)
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "isbn books", variable("n")), rank("n")}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "what is the biggest home", plan, nil)
	if err != nil || show(g, patterns[0]) == "isbn" {
		t.Errorf("ranked by %q, %v", show(g, patterns[0]), err)
	}
}

func TestWhatWasSoBeforeIsAskedFor(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Per Holm", "club", "Orla"}, [3]string{"Per Holm", "previous club", "Tessen"},
		[3]string{"Mara Vell", "club", "Tessen"}, [3]string{"Mara Vell", "previous club", "Orla"})
	for question, want := range map[string]string{"Which club does Per Holm play for?": "club",
		"Which club did Per Holm play for before?": "previous club"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(entity("Per Holm"), "plays club for", variable("x"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		if err != nil || show(g, patterns[0]) != want {
			t.Errorf("%s: by %q, %v", question, show(g, patterns[0]), err)
		}
	}
}

func TestAKindMayBeACommonWordAndIsNoInstance(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "type", "play"}, [3]string{"Orla Agency", "type", "space agency"},
		[3]string{"Low Tide", "price", "12"}, [3]string{"Orla Agency", "founded", "1971"})
	for kind, want := range map[string]string{"play": "play", "agency": "space agency"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind))}}
		terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which "+kind+" is it?", plan, nil)
		if err != nil || len(terms[0].Links) != 1 || g.EntityName(terms[0].Links[0].Entity) != want {
			t.Errorf("%s: %+v, %v", kind, terms, err)
		}
	}
}

func TestAKindIsWhatKindsWithItsWordAre(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "type", "MusicEvent"}, [3]string{"Orla", "type", "sports event"},
		[3]string{"Tessen", "type", "Lecture"}, [3]string{"Tessen", "price", "12"}, [3]string{"Orla", "price", "7"})
	for kind, want := range map[string]int{"event": 2, "lecture": 1, "concert": 0} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind))}}
		terms, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "how many "+kind+"s are there",
			plan, nil)
		named := slices.DeleteFunc(terms[0].Links, func(l link.Link) bool { return l.Match == link.Fuzzy })
		if err != nil || len(named) != want || (show(g, patterns[0]) == "type") != (want > 0) {
			t.Errorf("%s: %+v by %q, %v", kind, terms, show(g, patterns[0]), err)
		}
	}
}

func TestAKindThatARelationLeadsToIsItsEnds(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "party", "Greens"}, [3]string{"Mara Vell", "born", "1961"},
		[3]string{"Per Holm", "born", "1970"}, [3]string{"Per Holm", "party", "Reds"},
		[3]string{"Greens", "founded", "1989"}, [3]string{"Reds", "founded", "1904"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("party")), match(variable("x"), "age", variable("n")), rank("n")}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which party is the oldest?", plan, nil)
	if err != nil || len(patterns[0].Elsewhere) != 1 || !patterns[0].Elsewhere[0].Steps[0].Inverse ||
		show(g, patterns[1]) != "founded" {
		t.Errorf("%+v, %v", patterns, err)
	}
}

func TestRowsAreWhatHasWhatTheQuestionAsksFor(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "born", "1961"}, [3]string{"Per Holm", "born", "1970"},
		[3]string{"Ana Lind", "born", "1980"}, [3]string{"Orlin", "daily dose", "20"},
		[3]string{"Tessin", "daily dose", "5"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("drug")), match(variable("x"), "daily dose", variable("n")), rank("n")}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which drug has the least daily dose?",
		plan, nil)
	if err != nil || show(g, patterns[1]) != "daily dose" {
		t.Errorf("%+v, %v", patterns, err)
	}
}

func TestARowThatANameIsTheCodeOfIsAmongItsAnchors(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Slow backup", "type", "ticket"},
		[3]string{"Slow backup", "ticket code", "BUG-1"}, [3]string{"Slow backup", "component", "storage"},
		[3]string{"storage", "type", "component"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "y"}, Clauses: []*graphv1.QueryClause{
		match(variable("y"), "type", entity("component")),
		{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "x", Entities: []string{"BUG-1"}}}},
		match(variable("x"), "component", variable("y"))}}
	terms, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which component has BUG-1?",
		plan, nil)
	row := func(l link.Link) bool { return g.EntityName(l.Entity) == "Slow backup" }
	at := slices.IndexFunc(terms[1].Links, row)
	if err != nil || at < 0 || !slices.ContainsFunc(patterns, func(p explore.Pattern) bool {
		return p.Clause == 2 && slices.Contains(p.Candidates[0].Anchors, terms[1].Links[at].Entity)
	}) {
		t.Errorf("%+v, %+v, %v", terms, patterns, err)
	}
}

func TestWhatThingsHaveByYesAndNoIsAColumnBesideOtherKindsToo(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Aurora", "type", "hotel"}, [3]string{"Aurora", "pool", "yes"},
		[3]string{"Miramar", "type", "hotel"}, [3]string{"Miramar", "pool", "no"}, [3]string{"Ida", "type", "guest"},
		[3]string{"Ida", "age", "31"}, [3]string{"Miramar", "city", "Orla"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("hotel")), match(variable("x"), "type", entity("pool"))}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which hotels have a pool?", plan, nil)
	if err != nil || len(patterns[1].Elsewhere) != 1 ||
		g.RelationName(patterns[1].Elsewhere[0].Steps[0].Relation) != "pool" {
		t.Errorf("%+v, %v", patterns, err)
	}
}
