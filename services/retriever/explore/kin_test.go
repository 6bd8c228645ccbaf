package explore_test

import (
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/explore"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// family has Ann and Bo, their parents Cara and Dag, Dag's sister Eva with her son Finn, and Dag's parents.
func family() *storetest.Graph {
	return storetest.NewGraph(
		[3]string{"Ann", "mother", "Cara"}, [3]string{"Ann", "father", "Dag"},
		[3]string{"Bo", "mother", "Cara"}, [3]string{"Bo", "father", "Dag"},
		[3]string{"Dag", "mother", "Gro"}, [3]string{"Dag", "father", "Hans"},
		[3]string{"Eva", "mother", "Gro"}, [3]string{"Eva", "father", "Hans"},
		[3]string{"Finn", "mother", "Eva"}, [3]string{"Cara", "spouse", "Dag"}, [3]string{"Cara", "son count", "1"})
}

func TestRelativesAreFoundOverOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		clause *graphv1.QueryClause
		want   []string
	}{
		{"children", match(entity("Hans"), "children", variable("x")), []string{"^father"}},
		{"whose child", match(variable("x"), "child of", entity("Hans")), []string{"father"}},
		{"both parents", match(entity("Ann"), "parents", variable("x")), []string{"father|mother"}},
		{"siblings", match(entity("Ann"), "siblings", variable("x")), []string{"father|mother", "^father|mother"}},
		{"whose brother", match(variable("x"), "brother of", entity("Ann")),
			[]string{"father|mother", "^father|mother"}},
		{"a grandmother", match(entity("Ann"), "grandmother", variable("x")), []string{"father|mother", "mother"}},
		{"grandparents", match(entity("Ann"), "grandparents", variable("x")),
			[]string{"father|mother", "father|mother"}},
		{"grandchildren", match(entity("Gro"), "grandchildren", variable("x")), []string{"^mother", "^father|mother"}},
		{"whose grandfather", match(variable("x"), "grandfather", entity("Hans")), []string{"father|mother", "father"}},
		{"an aunt", match(entity("Ann"), "aunt", variable("x")),
			[]string{"father|mother", "father|mother", "^father|mother"}},
		{"cousins", match(entity("Finn"), "cousins", variable("x")),
			[]string{"mother", "father|mother", "^father|mother", "^father|mother"}},
		{"of two names", match(entity("Gro"), "grandmother of", entity("Bo")), []string{"^mother", "^father|mother"}},
		{"not one who is none", match(entity("Cara"), "grandmother of", entity("Finn")), nil},
		{"not parents of one alone", match(entity("Finn"), "parents", variable("x")), nil},
		{"nor who is not there", match(entity("Hans"), "grandfather", variable("x")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := family()
			plan := &graphv1.QueryPlan{Clauses: []*graphv1.QueryClause{c.clause},
				Result: &graphv1.QueryResult{Variable: "x"}}
			_, patterns, err := explore.Plan(t.Context(), g, &storetest.WordEncoder{}, "Who is it?", plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if all := patterns[0].Candidates; len(all) > 0 && all[0].Words == 1 {
				got = stepsOf(g, all[0])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
