package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/explore"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
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

func world() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"Low Tide", "directed by", "Mara Vell"}, [3]string{"Low Tide", "release year", "1989"},
		[3]string{"Low Tide", "genre", "drama"}, [3]string{"Orla", "directed by", "Mara Vell"},
		[3]string{"Orla", "release year", "1994"}, [3]string{"Orla", "starred actors", "Per Holm"},
		[3]string{"Velmora", "type", "province"}, [3]string{"Tessen", "type", "province"},
		[3]string{"Long", "type", "river"}, [3]string{"Long", "crosses", "Velmora"},
		[3]string{"Town", "type", "city"}, [3]string{"Town", "state", "Velmora"},
		[3]string{"Velmora", "area", "8,270"}, [3]string{"Tessen", "area", "212"},
		[3]string{"Springfield, Velmora", "name", "Springfield"}, [3]string{"Springfield, Velmora", "state", "Velmora"},
		[3]string{"Springfield, Tessen", "name", "Springfield"}, [3]string{"Springfield, Tessen", "state", "Tessen"},
	)
}

// show prints the best candidate of a pattern with its direction.
func show(g *storetest.Graph, p explore.Pattern) string {
	if len(p.Candidates) == 0 {
		return ""
	}
	var steps []string
	for _, s := range p.Candidates[0].Steps {
		name := g.RelationName(s.Relation)
		if s.Inverse {
			name = "^" + name
		}
		steps = append(steps, name)
	}
	return strings.Join(steps, " ")
}

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question string
		clauses        []*graphv1.QueryClause
		want           []string // the best candidate of each pattern
	}{
		{"a name anchors its relation", "which films did Mara Vell direct",
			[]*graphv1.QueryClause{match(variable("film"), "directed", entity("Mara Vell"))}, []string{"directed by"}},
		{"the direction is the graph's", "who directed Orla",
			[]*graphv1.QueryClause{match(variable("who"), "directed", entity("Orla"))}, []string{"^directed by"}},
		{"what hangs on an anchored variable", "the year of films directed by Mara Vell", []*graphv1.QueryClause{
			match(variable("film"), "release year", variable("year")),
			match(variable("film"), "directed by", entity("Mara Vell"))}, []string{"release year", "directed by"}},
		{"a ranking needs what can be compared", "the first film directed by Mara Vell", []*graphv1.QueryClause{
			match(variable("film"), "directed by", entity("Mara Vell")), match(variable("film"), "genre",
				variable("g")),
			rank("g")}, []string{"directed by", "release year"}},
		{"a kind binds what nothing else does", "the area of the province", []*graphv1.QueryClause{
			match(variable("state"), "type", entity("province")), match(variable("state"), "area", variable("area"))},
			[]string{"type", "area"}},
		{"the ends are of the kind that the plan says", "how many rivers in state Velmora", []*graphv1.QueryClause{
			match(variable("river"), "type", entity("river")), match(variable("river"), "in state", entity("Velmora"))},
			[]string{"type", "crosses"}},
		{"a role is what its relation leads to", "which director made the most films", []*graphv1.QueryClause{
			match(variable("x"), "type", entity("director")), match(variable("x"), "directed films", variable("y"))},
			[]string{"", "^directed by"}},
		{"what was done to something is no agent", "which company has the most films directed", []*graphv1.QueryClause{
			match(variable("x"), "films directed", variable("y"))}, []string{"^directed by"}},
		{"a name of several things means those that have the relation", "in which state is Springfield",
			[]*graphv1.QueryClause{match(entity("Springfield"), "state", variable("x"))}, []string{"state"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := world()
			plan := &graphv1.QueryPlan{Clauses: c.clauses, Result: &graphv1.QueryResult{Variable: "film"}}
			terms, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range patterns {
				got = append(got, show(g, p))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q; terms %+v", got, c.want, terms)
			}
		})
	}
}

func TestNamesThatAClauseListsAnchorItsRelation(t *testing.T) {
	t.Parallel()
	triples := [][3]string{{"Long Bridge", "crosses", "Orl"}, {"Short Bridge", "crosses", "Tess"},
		{"Long Bridge", "type", "bridge"}, {"Short Bridge", "type", "bridge"}}
	for i := range 1000 { // most bridges say what they carry
		name := fmt.Sprintf("A%03d", i)
		triples = append(triples, [3]string{name, "type", "bridge"}, [3]string{name, "carries", "a road"})
	}
	g := storetest.NewGraph(triples...)
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "bridge"}, Clauses: []*graphv1.QueryClause{
		{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "either",
			Entities: []string{"Orl", "Tess"}}}},
		match(variable("bridge"), "type", entity("bridge")), match(variable("bridge"), "crosses", variable("either"))}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
		"how many bridges cross the Orl and the Tess in all", plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patterns {
		if p.Clause == 2 && show(g, p) != "crosses" {
			t.Errorf("got %q of %+v", show(g, p), p)
		}
	}
}

func TestTopicEntitiesDecideWhatANameMeans(t *testing.T) {
	t.Parallel()
	g := world()
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(entity("Springfield"), "state", variable("x"))},
		Result: &graphv1.QueryResult{Variable: "x"}}
	terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "where is Springfield", plan,
		[]store.EntityID{g.ID("Springfield, Tessen")})
	if err != nil || len(terms) != 1 || len(terms[0].Links) != 1 ||
		terms[0].Links[0].Entity != g.ID("Springfield, Tessen") {
		t.Errorf("got %+v, %v", terms, err)
	}
}

func TestTheNearestPlaceAnswersWhereSomethingIs(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Tessen", "located country", "Orlanda"}, [3]string{"Tessen", "state", "Velmora"},
		[3]string{"Salt", "state", "Velmora"}, [3]string{"Salt", "located country", "Orlanda"},
		[3]string{"Velmora", "capital", "Salt"},
		[3]string{"Velmora", "located country", "Orlanda"}, [3]string{"Velmora", "borders", "Brisk"},
		[3]string{"Brisk", "located country", "Orlanda"}, [3]string{"Brisk", "borders", "Velmora"})
	for _, c := range []struct{ question, thing, drafted, want string }{
		{"where is Tessen located", "Tessen", "place", "state"},
		{"where is Velmora located", "Velmora", "place", "located country"},
		{"where is Tessen located", "Tessen", "country", "located country"},
		{"what is Tessen located in", "Tessen", "place", "located country"},
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(entity(c.thing), c.drafted, variable("x"))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
		if err != nil || show(g, patterns[0]) != c.want {
			t.Errorf("%q: %q, %v; want %q", c.question, show(g, patterns[0]), err, c.want)
		}
	}
}

func TestADraftedKindDoesNotHideWhatHasTheRelation(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Orla (state)", "type", "state"}, [3]string{"Orla (state)", "name", "Orla"},
		[3]string{"Orla (state)", "capital", "Tessen"}, [3]string{"Orla (state)", "population", "900"},
		[3]string{"Orla (city)", "type", "city"}, [3]string{"Orla (city)", "name", "Orla"},
		[3]string{"Orla (city)", "population", "80"}, [3]string{"Orla", "type", "word"})
	for relation, want := range map[string]string{"capital": "Orla (state)", "population": "Orla (city)"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			{Clause: &graphv1.QueryClause_Values{Values: &graphv1.QueryValues{Variable: "city",
				Entities: []string{"Orla"}}}},
			match(variable("city"), relation, variable("x"))}}
		question := "the " + relation + " of Orla"
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		if err != nil || len(patterns) != 1 {
			t.Fatal(patterns, err)
		}
		if best := patterns[0].Candidates[0]; !slices.Equal(best.Anchors, []store.EntityID{g.ID(want)}) {
			t.Errorf("%s: %q of %v, want %s", relation, show(g, patterns[0]), best.Anchors, want)
		}
	}
}

func TestWhatJoinsTwoNamesSaysWhatIsAsked(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Tessen", "state", "Velmora"}, [3]string{"Velmora", "capital", "Orla"},
		[3]string{"Low Tide", "directed by", "Mara Vell"}, [3]string{"Low Tide", "starred actors", "Per Holm"},
		[3]string{"High Tide", "directed by", "Mara Vell"}, [3]string{"High Tide", "starred actors", "Per Holm"},
		[3]string{"High Tide", "tags", "Per Holm"}, [3]string{"Orla Rising", "starred actors", "Ada Stam"})
	for _, c := range []struct {
		name, start, relation, end, want string
		joins                            bool
	}{
		{"the end has another one", "Tessen", "capital of", "Velmora", "^capital", false},
		{"a film of both, as most have them", "Mara Vell", "directed", "Per Holm", "^directed by starred actors", true},
		{"… from the other side", "Per Holm", "directed by", "Mara Vell", "^starred actors directed by", true},
		{"no film of both", "Ada Stam", "directed by", "Mara Vell", "^starred actors", false},
		{"a film says who directed it", "Orla Rising", "starred actors", "Per Holm", "starred actors", false},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS},
			Clauses: []*graphv1.QueryClause{match(entity(c.start), c.relation, entity(c.end))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "is it so", plan, nil)
		if err != nil || show(g, patterns[0]) != c.want || patterns[0].Candidates[0].Joins != c.joins {
			t.Errorf("%s: %q, %v; want %q", c.name, show(g, patterns[0]), err, c.want)
		}
	}
}

func TestWhatTwoDoTogetherIsByOneRelation(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Low Tide", "directed by", "Mara Vell"}, [3]string{"Low Tide", "starred actors", "Per Holm"},
		[3]string{"Low Tide", "starred actors", "Ada Stam"}, [3]string{"Low Tide", "tags", "per holm"},
		[3]string{"High Tide", "tags", "per holm"}, [3]string{"High Tide", "directed by", "Mara Vell"})
	for _, c := range []struct{ question, start, relation, end, want string }{
		{"did Ada Stam and Per Holm act together", "Ada Stam", "starred", "Per Holm", "^starred actors starred actors"},
		{"did Mara Vell direct Per Holm", "Mara Vell", "directed", "Per Holm", "^directed by starred actors"},
		{"did mara vell direct per holm", "mara vell", "directed", "per holm", "^directed by tags"},
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS},
			Clauses: []*graphv1.QueryClause{match(entity(c.start), c.relation, entity(c.end))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
		if err != nil || show(g, patterns[0]) != c.want || !patterns[0].Candidates[0].Joins {
			t.Errorf("%s: %q, %v; want %q", c.question, show(g, patterns[0]), err, c.want)
		}
	}
}

func TestTheVoiceOfAVerbDecidesTheDirection(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "influenced by", "Per Holm"},
		[3]string{"Ada Stam", "influenced by", "Mara Vell"})
	for drafted, want := range map[string]string{"influenced": "^influenced by", "influenced by": "influenced by"} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), drafted, entity("Mara Vell"))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "who "+drafted+" Mara Vell", plan,
			nil)
		if err != nil || show(g, patterns[0]) != want {
			t.Errorf("%s: %q, %v; want %q", drafted, show(g, patterns[0]), err, want)
		}
	}
	for name, joins := range map[string]bool{"Per Holm": true, "Ada Stam": false} { // who influenced her, whom she did
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{
			match(entity(name), "influenced", entity("Mara Vell"))},
			Result: &graphv1.QueryResult{Function: graphv1.QueryFunction_QUERY_FUNCTION_EXISTS}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "did it", plan, nil)
		joined := len(patterns[0].Candidates) > 0 && patterns[0].Candidates[0].Joins
		if err != nil || joined != joins {
			t.Errorf("%s influenced: %q joins %v, %v", name, show(g, patterns[0]), joined, err)
		}
	}
}

func TestWhatIsDoneByAThingIsWhatItDoes(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "cites", "Salt Road"}, [3]string{"Orla", "cites", "Low Tide"})
	for drafted, want := range map[string]string{"cites": "cites", "cited by": "^cites"} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), drafted, entity("Low Tide"))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which papers", plan, nil)
		if err != nil || show(g, patterns[0]) != want {
			t.Errorf("%s: %q, %v; want %q", drafted, show(g, patterns[0]), err, want)
		}
	}
}

func TestANamesakeOfAKindIsNoKind(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Velmora", "shares border with", "Tessen"}, [3]string{"Velmora", "type", "state"},
		[3]string{"Tessen", "twin", "Orla"}, [3]string{"Ada Stam", "genre", "Country"},
		[3]string{"Orla", "type", "city"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("country")), match(variable("x"), "borders", entity("Tessen"))}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which countries border Tessen", plan,
		nil)
	if best := patterns[1].Candidates[0]; err != nil || show(g, patterns[1]) != "shares border with" || best.TypeMiss {
		t.Errorf("%q, %v, %v; a genre is no country", show(g, patterns[1]), best.TypeMiss, err)
	}
}

func TestNamesThatBeginWithAKindDoNotHideIt(t *testing.T) {
	t.Parallel()
	var facts [][3]string
	for i := range 20 {
		facts = append(facts, [3]string{fmt.Sprint("order ", i), "instance of", "order"})
	}
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("order"))}}
	g := storetest.NewGraph(facts...)
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "how many orders are there", plan, nil)
	if err != nil || show(g, patterns[0]) != "instance of" {
		t.Errorf("%q, %v; want instance of", show(g, patterns[0]), err)
	}
}

func TestAKindIsWhereARelationOfItsNameLeads(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Low Tide", "in language", "Sel"},
		[3]string{"Low Tide", "directed by", "Mara Vell"},
		[3]string{"Orla", "in language", "Elde"}, [3]string{"Low Tide", "type", "film"},
		[3]string{"Mara Vell", "type", "person"}, [3]string{"Orla", "language list", "Tessen"})
	for phrase, want := range map[string]string{"films": "^in language", "language list": "language list"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("language")), match(variable("x"), phrase, variable("y"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which language has the most", plan,
			nil)
		if err != nil || len(patterns) < 2 || show(g, patterns[1]) != want {
			t.Errorf("%s: %v, %v; want %s", phrase, patterns, err, want)
		}
	}
}

func TestAnotherRelationDoesNotImplyWhatARelationNames(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Velmora", "island", "Longland"}, [3]string{"Tessen", "type", "state"},
		[3]string{"Orla", "type", "city"},
		[3]string{"Tessen", "island state", "Velmora"})
	for relation, want := range map[string]bool{"island": true, "island state": false} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("island")), match(variable("x"), relation, variable("y"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which are there", plan, nil)
		implied := len(patterns[0].Elsewhere) > 0 && patterns[0].Elsewhere[0].Implied > .25
		if err != nil || implied != want {
			t.Errorf("%s: %+v, %v", relation, patterns[0].Elsewhere, err)
		}
	}
}

func TestNamesThatThePlanLacksAreTerms(t *testing.T) {
	t.Parallel()
	g := world()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "film"}, Clauses: []*graphv1.QueryClause{
		match(variable("film"), "directed by", entity("Mara Vell"))}}
	for question, want := range map[string]string{
		"which films by Mara Vell star Per Holm":         "Mara Vell, Per Holm",
		"which films of Mara Vell are set in Velmora":    "Mara Vell, Velmora",
		"which drama films did Mara Vell make":           "Mara Vell", // a common noun where names have capitals
		"the area of velmora":                            "Mara Vell, velmora",
		"which films of Mara Vell are there":             "Mara Vell",
		"which films by Mara Vell are set in Sprinfield": "Mara Vell", // misspelt
	} {
		terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		var names []string
		for _, term := range terms {
			names = append(names, term.Name)
		}
		if got := strings.Join(names, ", "); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", question, got, err, want)
		}
	}
}

func TestARelationThatTheQuestionNamesComesFirst(t *testing.T) {
	g := storetest.NewGraph(
		[3]string{"Velmora", "highest point", "Mount A"}, [3]string{"Velmora", "lowest point", "Bay B"},
		[3]string{"Velmora", "capital", "Orla"}, [3]string{"Velmora", "population", "12"},
		[3]string{"Velmora", "area", "8"})
	for _, c := range []struct{ question, drafted, want string }{
		{"what is the lowest point of Velmora", "highest point", "lowest point"},
		{"what is the highest point of Velmora", "highest point", "highest point"},
		{"what is the capital of Velmora", "lowest point", "capital"},
		{"how large is the area of Velmora", "population", "area"},
		{"how many people live in Velmora", "population", "population"},
		{"count what is in Velmora", "population", "population"},
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(entity("Velmora"), c.drafted, variable("x"))},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, storetest.Encoder(), c.question, plan, nil)
		if err != nil || show(g, patterns[0]) != c.want {
			t.Errorf("%q drafted as %q: %q, %v; want %q", c.question, c.drafted, show(g, patterns[0]), err, c.want)
		}
	}
}

func TestRelationsSayWhatAKindIsThatNoTypeSays(t *testing.T) {
	t.Parallel()
	g := world()
	for _, c := range []struct {
		kind, relation string
		implied        bool
	}{
		{"directed", "directed by", true}, {"spacecraft", "directed by", false},
		{"release", "release year", true}, // which is explored after the kind
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(c.kind)), match(variable("x"), "directed by", entity("Mara Vell")),
			match(variable("x"), "release year", variable("year"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "what is it", plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := patterns[0].Elsewhere
		if !c.implied {
			if len(elsewhere) > 0 && elsewhere[0].Implied > .25 {
				t.Errorf("%s is implied: %+v", c.kind, elsewhere)
			}
			continue
		}
		if len(elsewhere) != 1 || g.RelationName(elsewhere[0].Steps[0].Relation) != c.relation ||
			elsewhere[0].Implied < .25 {
			t.Errorf("%s: %+v", c.kind, elsewhere)
		}
	}
}

func TestARelationOfOtherThingsImpliesNoKind(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Tides", "software developer", "Globex"}, [3]string{"Tides", "type", "program"},
		[3]string{"Orla", "type", "city"})
	for kind, want := range map[string]bool{"software company": false, "software program": true} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind)), match(variable("x"), "software developer", variable("y"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which are there", plan, nil)
		implied := len(patterns[0].Elsewhere) > 0 && patterns[0].Elsewhere[0].Implied > .25
		if err != nil || implied != want {
			t.Errorf("%s: %+v, %v", kind, patterns[0].Elsewhere, err)
		}
	}
}

func TestAGenreSaysWhatAWorkIsWhereNoTypeDoes(t *testing.T) {
	t.Parallel()
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("western")), match(variable("x"), "year", variable("y"))}}
	for relation, want := range map[string]string{"type": "type", "other type": "genre"} {
		g := storetest.NewGraph([3]string{"Tides", "genre", "Western"}, [3]string{"Tides", "year", "1960"},
			[3]string{"Orla", relation, "Western"}, [3]string{"Orla", "mayor", "Mara Vell"})
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "westerns", plan, nil)
		found := patterns[0].Candidates
		if err != nil || len(found) != 1 || g.RelationName(found[0].Steps[0].Relation) != want {
			t.Errorf("beside %s: %+v, %v", relation, found, err)
		}
	}
}

func TestTheGenreOfAKindIsTheWordBeforeItsNoun(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Tides", "genre", "Horror"}, [3]string{"Tides", "year", "1960"},
		[3]string{"Tides", "based on", "Orla"}, [3]string{"Orla", "author", "Mara Vell"})
	for kind, want := range map[string]string{"horror film": "Horror", "war film": ""} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind)), match(variable("x"), "year", variable("y"))}}
		terms, _, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "the most "+kind+"s", plan, nil)
		got := ""
		for _, l := range terms[0].Links {
			got += g.EntityName(l.Entity)
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", kind, got, err, want)
		}
	}
}

func TestTypesAreReadInAnySpelling(t *testing.T) {
	t.Parallel()
	for _, relation := range []string{"instance_of", "instanceOf", "Instance of", "INSTANCE_OF", "isA", "rdf:type"} {
		g := storetest.NewGraph([3]string{"Acme", "seat", "Orla"}, [3]string{"Vell Group", "daughter", "Acme"},
			[3]string{"Vell Group", relation, "company"}, [3]string{"Acme", relation, "company"},
			[3]string{"Orla", relation, "city"})
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("company")), match(variable("x"), "owns", entity("Acme"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which company owns Acme", plan, nil)
		if err != nil || show(g, patterns[1]) != "daughter" {
			t.Errorf("%s: got %q, %v; a city owns nothing", relation, show(g, patterns[1]), err)
		}
	}
}

func TestAPlaceOfAKindIsBeyondThePlaceOfAThing(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"web-01", "located in", "Rack 3"}, [3]string{"Rack 3", "located in", "Hall 2"},
		[3]string{"Hall 2", "situated in town", "Tessen"}, [3]string{"Hall 2", "type", "hall"},
		[3]string{"Tessen", "type", "town"}, [3]string{"web-01", "type", "server"})
	for kind, want := range map[string]string{"hall": "located in located in",
		"town": "located in located in situated in town", "server": "located in"} {
		for _, isTyped := range []bool{true, false} {
			plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
				match(entity("web-01"), "location", variable("x")), match(variable("x"), "type", entity(kind))}}
			if !isTyped {
				plan.Clauses = []*graphv1.QueryClause{match(entity("web-01"), kind, variable("x"))}
			}
			_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
				"in which "+kind+" is web-01", plan, nil)
			if got := show(g, patterns[0]); err != nil || got != want && (isTyped || kind != "server") {
				t.Errorf("%s, typed %v: got %q, %v; want %s", kind, isTyped, got, err, want)
			}
		}
	}
}

func TestTwoWordsAreARelationOfWhatTheOtherLeadsTo(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"SK720", "origin", "Samarra Airport"}, [3]string{"SK720", "type", "flight"},
		[3]string{"SK720", "airline", "Skarn"}, [3]string{"Samarra Airport", "type", "airport"},
		[3]string{"Samarra Airport", "country", "Russia"}, [3]string{"Skarn", "type", "airline"})
	for phrase, want := range map[string]string{"origin country": "origin country", "airline country": "airline",
		"origin": "origin"} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(entity("SK720"), phrase, variable("x"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{},
			"in which country does SK720 start", plan, nil)
		if got := show(g, patterns[0]); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %s", phrase, got, err, want)
		}
	}
}

func TestByWhomThingsAreMadeIsAMaker(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"maker": true, "town": false} {
		g := storetest.NewGraph([3]string{"Cortavex", "made_by", "Acme"}, [3]string{"Acme", "staff", "126"},
			[3]string{"Acme", "type", "company"})
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "n"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind)), match(entity("Cortavex"), kind, variable("x")),
			match(variable("x"), "staff", variable("n"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "how much staff has it", plan, nil)
		if implied := len(patterns[0].Elsewhere) > 0 && patterns[0].Elsewhere[0].Implied == 1; err != nil ||
			implied != want {
			t.Errorf("%s: %+v, %v", kind, patterns[0].Elsewhere, err)
		}
	}
}

func TestWhatWasFilmedIsNoFilmer(t *testing.T) {
	t.Parallel()
	for relation, want := range map[string]bool{"filmed by": false, "made in": true} {
		g := storetest.NewGraph([3]string{"Tides", "movie language", "Norse"},
			[3]string{"Tides", relation, "Mara Vell"}, [3]string{"Tides", "type", "short movie"},
			[3]string{"Orla", "type", "city"})
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("movie filmer")),
			match(variable("x"), "movie language", variable("y"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which are there", plan, nil)
		implied := len(patterns[0].Elsewhere) > 0 && patterns[0].Elsewhere[0].Implied > .25
		if err != nil || implied != want {
			t.Errorf("beside %s: %+v, %v", relation, patterns[0].Elsewhere, err)
		}
	}
}

func TestARowOfATableIsWhateverTheTableIsOf(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Tessen", "country", "Velmora"}, [3]string{"Orla", "country", "Brisk"})
	for kind, want := range map[string]bool{"country peak": true, "country": false} {
		pattern := match(variable("x"), "country", entity("Velmora"))
		if !want { // the cell of a row
			pattern = match(entity("Tessen"), "country", variable("x"))
		}
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(kind)), pattern}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which are there", plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e := patterns[0].Elsewhere; (len(e) == 1 && e[0].Implied == 1) != want {
			t.Errorf("%s: %+v", kind, e)
		}
	}
}

func TestAMeasureOfThingsDoesNotCountThem(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Orla Hall", "floorArea", "90"}, [3]string{"Orla Hall", "floorCount", "3"},
		[3]string{"Tessen Hall", "floorArea", "80"}, [3]string{"Tessen Hall", "floorCount", "4"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "floors", variable("n")), {Clause: &graphv1.QueryClause_Rank{
			Rank: &graphv1.QueryRank{Variable: "n", Count: true, GroupBy: "x"}}}}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "what has the fewest floors", plan, nil)
	if err != nil || show(g, patterns[0]) != "floorCount" {
		t.Errorf("got %q, %v", show(g, patterns[0]), err)
	}
}

func TestAPlaceImpliesNoKindButWhatAllHaveThereDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		relation, kind, own string
		implied             bool
	}{
		{"hall country", "hall", "", true}, {"hall crossed", "hall", "", true}, {"locationCountry", "hall", "", false},
		{"locationCountry", "hall", "Orla Hall", false}, {"locationCountry", "hall", "Orla Hall, Tessen", true},
	} {
		facts := [][3]string{{"Orla Hall", c.relation, "Velmora"}, {"Tessen", c.relation, "Velmora"},
			{"Per Holm", "type", "person"}, {"Velmora", "type", "province"}}
		for name := range strings.SplitSeq(c.own, ", ") {
			facts = append(facts, [3]string{name, "hall height", "12"})
		}
		g := storetest.NewGraph(facts...)
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity(c.kind)), match(variable("x"), c.relation, entity("Velmora"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "which halls are there", plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := append(patterns[0].Candidates, patterns[0].Elsewhere...)
		if got := len(all) > 0 && all[0].Implied > .25; got != c.implied {
			t.Errorf("%s by %s, %q with one: implied %v, %+v", c.kind, c.relation, c.own, got, all)
		}
	}
}

func TestWhatARelationIsByItsNameAndItsValues(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Orla", "discovered", "1868-11-17"}, [3]string{"Orla", "discoverer", "Mara Vell"},
		[3]string{"Orla", "areaCode", "404"}, [3]string{"Orla", "areaTotal", "82 (square kilometres)"},
		[3]string{"Orla", "1st runway LengthMetre", "3800"}, [3]string{"Orla", "runwayLength", "4100"},
		[3]string{"Tessen", "runwayLength", "4300"}, [3]string{"Orla", "departure time", "11:20"},
		[3]string{"Orla", "origin", "Velmora"}, [3]string{"Orla", "destination", "Tessen"},
		[3]string{"Orla", "mother", "Mara Vell"}, [3]string{"Per Holm", "mother", "Orla"},
		[3]string{"Tessen", "father", "Velmora"})
	for _, c := range []struct {
		question   string
		start, end *graphv1.QueryTerm
		relation   string
		want       string
	}{
		{"Who discovered Orla?", variable("x"), entity("Orla"), "discovered", "^discoverer"},
		{"When was Orla discovered?", variable("x"), entity("Orla"), "discovered", "^discovered"},
		{"What is the area of Orla?", entity("Orla"), variable("x"), "area", "areaTotal"},
		{"What is the area code of Orla?", entity("Orla"), variable("x"), "area code", "areaCode"},
		{"When does Orla depart?", entity("Orla"), variable("x"), "departure", "departure time"},
		{"Where does Orla depart from?", entity("Orla"), variable("x"), "departure", "origin"},
		{"Where does Orla arrive?", entity("Orla"), variable("x"), "arrival", "destination"},
		{"How many children does Orla have?", entity("Orla"), variable("x"), "children", "^mother"},
		{"Who is the mother of Orla?", entity("Orla"), variable("x"), "mother", "mother"},
		{"Who is the father of Tessen?", variable("x"), entity("Tessen"), "father", "^father"},
		{"How long is the runway of Orla?", entity("Orla"), variable("x"), "length of runway", "runwayLength"},
	} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(c.start, c.relation, c.end)},
			Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
		if err != nil || show(g, patterns[0]) != c.want {
			t.Errorf("%q: %q, %v; want %q", c.question, show(g, patterns[0]), err, c.want)
		}
	}
}

func TestWhoHasTheLeastOfANumberIsFoundByTheNumber(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "salary (EUR)", "82"}, [3]string{"Per Holm", "salary (EUR)", "71"},
		[3]string{"Mara Vell", "salary account", "Orla Bank"}, [3]string{"Orla Bank", "type", "bank"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "salary", variable("n")), rank("n")}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Who earns the least?", plan, nil)
	if err != nil || show(g, patterns[0]) != "salary (EUR)" {
		t.Errorf("got %q, %v", show(g, patterns[0]), err)
	}
}

func TestWhatIsOfAKindIsNoNumber(t *testing.T) {
	t.Parallel()
	for relation, want := range map[string]float32{"type": 0, "room": 1} {
		g := storetest.NewGraph([3]string{"Mara Vell", "visit", "9001"}, [3]string{"9001", relation, "check-up"})
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
			match(entity("Mara Vell"), "visit", variable("x"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "What visit had Mara Vell?",
			plan, nil)
		if err != nil || patterns[0].Candidates[0].Comparable != want {
			t.Errorf("9001 with a %s: %v, %v; want %v", relation, patterns, err, want)
		}
	}
}

func TestWhatHasAValueIsNoValueOfAnother(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Research", "in use since", "2014"}, [3]string{"Mara Vell", "team", "Research"},
		[3]string{"Mara Vell", "salary", "82"}, [3]string{"Per Holm", "salary", "71"},
		[3]string{"Per Holm", "team", "Sales"})
	for function, want := range map[graphv1.QueryFunction]string{
		graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE:     "team",
		graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED: "^in use since",
	} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "n", Function: function},
			Clauses: []*graphv1.QueryClause{match(variable("x"), "in", entity("Research")),
				match(variable("x"), "salary", variable("n"))}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "What is the salary in Research?",
			plan, nil)
		if err != nil || show(g, patterns[0]) != want {
			t.Errorf("%v: got %q, %v; want %q", function, show(g, patterns[0]), err, want)
		}
	}
}

func TestWhatHasTheOccupationOfAKindIsMeant(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "occupation", "politician"},
		[3]string{"Mara Vell", "group", "Greens"},
		[3]string{"Per Holm", "occupation", "politician"}, [3]string{"Per Holm", "group", "Greens"},
		[3]string{"Greens", "alliance with", "Liberals"}, [3]string{"Liberals", "alliance with", "Centre"})
	for kind, want := range map[string]string{"politician": "group", "thing": "^alliance with"} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity(kind)),
			match(variable("x"), "alliance", entity("Greens"))}, Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which of them are in the Greens?",
			plan, nil)
		if err != nil || len(patterns) != 2 || show(g, patterns[1]) != want {
			t.Errorf("%s: got %v, %v, want %s", kind, patterns, err, want)
		}
	}
}

func TestAWordBeforeAKindTellsItsThingsApart(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Nova", "type", "car"}, [3]string{"Nova", "fuel", "electric"},
		[3]string{"Duna", "type", "car"}, [3]string{"Duna", "fuel", "petrol"}, [3]string{"Lind", "type", "maker"},
		[3]string{"Nova", "maker", "Lind"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("car")), match(variable("x"), "type", entity("electric car"))}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which electric cars are there?",
		plan, nil)
	if err != nil || show(g, patterns[1]) != "fuel" || !patterns[1].Candidates[0].TypeMatch {
		t.Errorf("%+v, %v", patterns, err)
	}
}

func TestWomenAreOfASex(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Mara Vell", "type", "person"}, [3]string{"Mara Vell", "sex", "female"},
		[3]string{"Per Holm", "type", "person"}, [3]string{"Per Holm", "sex", "male"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("woman"))}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which women are there?", plan, nil)
	if err != nil || show(g, patterns[0]) != "sex" {
		t.Errorf("%+v, %v", patterns, err)
	}
}

func TestAKindThatIsANumberIsTheRelationToIt(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Ward A", "type", "ward"}, [3]string{"Ward A", "beds", "12"},
		[3]string{"Ward B", "type", "ward"}, [3]string{"Ward B", "beds", "30"}, [3]string{"Ida", "type", "nurse"},
		[3]string{"Ida", "shift", "night"})
	for kind, want := range map[string]int{"bed": 1, "shift": 0} {
		plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(variable("x"), "type", entity(kind))},
			Result: &graphv1.QueryResult{Variable: "x", Function: graphv1.QueryFunction_QUERY_FUNCTION_COUNT}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "How many "+kind+"s are there?",
			plan, nil)
		if err != nil || len(patterns[0].Elsewhere) != want {
			t.Errorf("%s: %+v, %v", kind, patterns, err)
		}
	}
}

func TestAKindWithTheArticleIsTheThingOfThatName(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"choir", "type", "club"}, [3]string{"choir", "day", "Monday"},
		[3]string{"Ida", "type", "student"}, [3]string{"Ida", "member of", "choir"})
	for question, want := range map[string]bool{"Who is in the choir?": true, "Which choir is it?": false} {
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "y"}, Clauses: []*graphv1.QueryClause{
			match(variable("x"), "type", entity("choir")), match(variable("x"), "members", variable("y"))}}
		terms, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, question, plan, nil)
		if err != nil || terms[0].OfKind != want || want && show(g, patterns[1]) != "^member of" {
			t.Errorf("%s: %+v, %q, %v", question, terms, show(g, patterns[1]), err)
		}
	}
}

func TestARelationToDatesIsATimeWhateverItIsCalled(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Ida", "type", "nurse"}, [3]string{"Ida", "joined", "2015-04-01"},
		[3]string{"Ida", "born", "1990-02-14"})
	plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Variable: "x"}, Clauses: []*graphv1.QueryClause{
		match(variable("x"), "type", entity("nurse")), match(variable("x"), "joined", variable("n")),
		{Clause: &graphv1.QueryClause_Condition{Condition: &graphv1.QueryCondition{Variable: "n",
			Operator: graphv1.QueryOperator_QUERY_OPERATOR_GREATER,
			Operand:  &graphv1.QueryCondition_Value{Value: "2010"}}}}}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Which nurses joined after 2010?",
		plan, nil)
	if err != nil || show(g, patterns[1]) != "joined" {
		t.Errorf("%+v, %v", patterns, err)
	}
}
