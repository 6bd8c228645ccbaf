package explore_test

import (
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/explore"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func library() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"The Salt Road", "instance of", "book"}, [3]string{"The Salt Road", "genre", "novel"},
		[3]string{"Soil", "instance of", "book"}, [3]string{"Soil", "genre", "science"},
		[3]string{"Petra Simko", "instance of", "member"}, [3]string{"Petra Simko", "town", "Lund"},
		[3]string{"Olu Adeyemi", "instance of", "member"}, [3]string{"Olu Adeyemi", "town", "Malmo"},
		[3]string{"loan 1", "instance of", "loan"}, [3]string{"loan 1", "book", "The Salt Road"},
		[3]string{"loan 1", "member", "Petra Simko"}, [3]string{"loan 1", "borrowed_on", "2023-01-10"},
		[3]string{"loan 2", "instance of", "loan"}, [3]string{"loan 2", "book", "Soil"},
		[3]string{"loan 1", "desk", "North Desk"}, [3]string{"Petra Simko", "loan card", "5"},
		[3]string{"loan 2", "member", "Olu Adeyemi"}, [3]string{"loan 2", "borrowed_on", "2023-01-15"},
		[3]string{"fee 1", "instance of", "fee"}, [3]string{"fee 1", "loan", "loan 2"},
		[3]string{"fee 1", "cashier", "Ann Berg"}, [3]string{"Ann Berg", "instance of", "clerk"})
}

func TestEventsJoinThings(t *testing.T) {
	t.Parallel()
	kind := func(v, name string) *graphv1.QueryClause { return match(variable(v), "type", entity(name)) }
	for _, c := range []struct {
		name, question string
		clauses        []*graphv1.QueryClause
		want           []string
	}{
		{"of the kind that the plan asks for", "Which members borrowed Soil?",
			[]*graphv1.QueryClause{kind("x", "member"), match(variable("x"), "borrowed", entity("Soil"))},
			[]string{"^member", "book"}},
		{"from either end", "Which books did Petra Simko borrow?",
			[]*graphv1.QueryClause{kind("x", "book"), match(variable("x"), "borrowed by", entity("Petra Simko"))},
			[]string{"^book", "member"}},
		{"of any kind, if they are things and no events", "Who borrowed Soil?",
			[]*graphv1.QueryClause{match(entity("Soil"), "borrowed by", variable("x"))},
			[]string{"^book", "member"}},
		{"by the name of the event in other words", "Who lent Soil?",
			[]*graphv1.QueryClause{match(entity("Soil"), "lent to", variable("x"))},
			[]string{"^book", "member"}},
		{"two of them, if one does not lead there", "Which clerks took fees for Soil?",
			[]*graphv1.QueryClause{kind("x", "clerk"), match(variable("x"), "fees for", entity("Soil"))},
			[]string{"^cashier", "loan", "book"}},
		{"and two names", "Did Petra Simko borrow Soil?",
			[]*graphv1.QueryClause{match(entity("Soil"), "borrowed by", entity("Petra Simko"))},
			[]string{"^book", "member"}},
		{"and a name and what is no more than that", "Did Petra Simko borrow at North Desk?",
			[]*graphv1.QueryClause{match(entity("Petra Simko"), "borrowed at", entity("North Desk"))},
			[]string{"^member", "desk"}},
		{"whatever else the name has by these words", "Did Petra Simko loan Soil?",
			[]*graphv1.QueryClause{match(entity("Petra Simko"), "loan", entity("Soil"))}, []string{"^member", "book"}},
		{"and a date of theirs", "When was Soil borrowed?",
			[]*graphv1.QueryClause{match(entity("Soil"), "date borrowed", variable("x"))},
			[]string{"^book", "borrowed_on"}},
		{"which are counted where the plan asks how often", "How many times was Soil borrowed?",
			[]*graphv1.QueryClause{match(entity("Soil"), "times borrowed", variable("x"))}, []string{"^book"}},
		{"which what was done has", "Which members have borrowed?",
			[]*graphv1.QueryClause{kind("x", "member"), match(variable("x"), "type", entity("borrowed"))},
			[]string{"^member"}},
		{"with who made them", "Who made fee 1?",
			[]*graphv1.QueryClause{match(entity("fee 1"), "made by", variable("x"))}, []string{"cashier"}},
		{"not by words that say none of them", "Which members recommended Soil?",
			[]*graphv1.QueryClause{kind("x", "member"), match(variable("x"), "recommended", entity("Soil"))}, nil},
		{"not where a relation says it", "What is the genre of Soil?",
			[]*graphv1.QueryClause{match(entity("Soil"), "genre", variable("x"))}, []string{"genre"}},
		{"not where the events are asked for", "Which loans of Soil were there?",
			[]*graphv1.QueryClause{match(entity("Soil"), "loans", variable("x"))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := library()
			plan := &graphv1.QueryPlan{Clauses: c.clauses, Result: &graphv1.QueryResult{Variable: "x"}}
			_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			all := patterns[len(patterns)-1].Candidates
			at := slices.IndexFunc(all, func(c explore.Candidate) bool { return len(c.Steps) > 1 || c.Words == 1 })
			if at >= 0 {
				got = stepsOf(g, all[at])
			}
			if at > 0 || !slices.Equal(got, c.want) {
				t.Errorf("got %q as candidate %d, want %q as the first", got, at, c.want)
			}
		})
	}
}

func TestOnlyWhatEventsJoinLeadsToThem(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph([3]string{"Ann Berg", "instance of", "patient"}, [3]string{"Ann Berg", "room", "Room 302"},
		[3]string{"Room 302", "instance of", "room"}, [3]string{"Room 302", "floor", "3"},
		[3]string{"visit 1", "instance of", "visit"}, [3]string{"visit 1", "patient", "Ann Berg"},
		[3]string{"Ann Berg", "doctor", "Per Holm"}, [3]string{"Per Holm", "instance of", "doctor"})
	plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{match(entity("Ann Berg"), "location", variable("x"))},
		Result: &graphv1.QueryResult{Variable: "x"}}
	_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Where is Ann Berg?", plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range patterns[0].Candidates {
		order = append(order, stepsOf(g, c)...)
	}
	if last := order[len(order)-1]; last != "^patient" {
		t.Errorf("the order is %q, want the visits last", order)
	}
}

func TestEventsOfTwoKindsAreToldApart(t *testing.T) {
	t.Parallel()
	g := storetest.NewGraph(
		[3]string{"Van", "instance of", "vehicle"}, [3]string{"Van", "fuel", "diesel"},
		[3]string{"Ann Berg", "instance of", "driver"}, [3]string{"Ann Berg", "depot", "Orla"},
		[3]string{"trip 1", "instance of", "trip"}, [3]string{"trip 1", "vehicle", "Van"},
		[3]string{"trip 1", "driver", "Ann Berg"}, [3]string{"trip 1", "destination", "Tessen"},
		[3]string{"repair 1", "instance of", "repair"}, [3]string{"repair 1", "vehicle", "Van"},
		[3]string{"repair 1", "garage", "Weber"})
	for _, c := range []struct {
		name, question string
		clauses        []*graphv1.QueryClause
		steps          []string
		ends           string
	}{
		{"by the words of the pattern", "Which garage repaired the Van?", []*graphv1.QueryClause{
			match(variable("x"), "type", entity("garage")), match(variable("x"), "repaired", entity("Van"))},
			[]string{"^garage", "vehicle"}, ""},
		{"and counted apart", "How many times was the Van repaired?", []*graphv1.QueryClause{
			match(entity("Van"), "times repaired", variable("x"))}, []string{"^vehicle"}, "repair"},
		{"from a cell", "Who made a trip to Tessen?", []*graphv1.QueryClause{
			match(variable("x"), "made trip to", entity("Tessen"))}, []string{"^driver", "destination"}, "driver"},
	} {
		plan := &graphv1.QueryPlan{Clauses: c.clauses, Result: &graphv1.QueryResult{Variable: "x"}}
		_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, c.question, plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		best := patterns[len(patterns)-1].Candidates[0]
		if got := stepsOf(g, best); !slices.Equal(got, c.steps) ||
			c.ends != "" && (len(best.EndTypes) == 0 || best.EndTypes[0] != c.ends) {
			t.Errorf("%s: got %q to %q, want %q to %q", c.name, got, best.EndTypes, c.steps, c.ends)
		}
	}
}

// stepsOf returns the relations of a candidate, inverse ones marked.
func stepsOf(g *storetest.Graph, c explore.Candidate) (names []string) {
	for i, s := range c.Steps {
		name := g.RelationName(s.Relation)
		if c.Alternatives != nil {
			for _, other := range c.Alternatives[i] {
				name += "|" + g.RelationName(other)
			}
		}
		if s.Inverse {
			name = "^" + name
		}
		names = append(names, name)
	}
	return names
}
