package execute_test

import (
	"strings"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
)

func TestCountsAreCompared(t *testing.T) {
	t.Parallel()
	by := func(variable, name string) *graphv1.QueryClause { return match(v(variable), "directed by", e(name)) }
	for _, c := range []struct {
		name     string
		function graphv1.QueryFunction
		clauses  []*graphv1.QueryClause
		value    string
		rows     int
	}{
		{"there are more", exists, []*graphv1.QueryClause{by("one", "Mara Vell"), by("other", "Per Holm")}, "yes", 4},
		{"there are fewer", exists, []*graphv1.QueryClause{by("one", "Per Holm"), by("other", "Mara Vell")}, "no", 4},
		{"as many are not more", exists, []*graphv1.QueryClause{by("one", "Per Holm"),
			by("other", "Per Holm")}, "no", 2},
		{"none are fewer than some", exists, []*graphv1.QueryClause{by("one", "Per Holm"),
			by("other", "Anna Lind")}, "yes", 1},
		{"how many more", count, []*graphv1.QueryClause{by("one", "Mara Vell"), by("other", "Per Holm")}, "2", 4},
		{"how many more of what is fewer", count, []*graphv1.QueryClause{by("one", "Per Holm"),
			by("other", "Mara Vell")}, "-2", 4},
		{"of what clauses leave", count, []*graphv1.QueryClause{by("one", "Mara Vell"),
			match(v("one"), "year", v("year")), condition("year", greater, "1990"), by("other", "Per Holm")}, "0", 2},
		{"of what two have", count, []*graphv1.QueryClause{values("state", "Velmora"),
			match(v("one"), "runs through", v("state")), values("elsewhere", "Elde"),
			match(v("other"), "runs through", v("elsewhere"))}, "2", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := plan(c.function, "one", c.clauses...)
			p.Result.OtherVariable = "other"
			got, err := execute.Run(t.Context(), films(), p, 100, execute.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != c.value || len(got.Rows) != c.rows || got.Total != c.rows || got.Unit != "" ||
				strings.Count(got.Cypher, "count(DISTINCT ") != 2 {
				t.Errorf("got %q of %d rows, %d in all, by %s; want %q of %d", got.Value, len(got.Rows), got.Total,
					got.Cypher, c.value, c.rows)
			}
		})
	}
}
