package execute_test

import (
	"errors"
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
)

// each makes a plan compute a value for each group.
func each(p *graphv1.QueryPlan, group string) *graphv1.QueryPlan {
	p.Result.GroupBy = group
	return p
}

func TestGroupsHaveAValueEach(t *testing.T) {
	t.Parallel()
	const greatest = graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM
	directed, year := match(v("film"), "directed by", v("who")), match(v("film"), "year", v("year"))
	through := match(v("river"), "runs through", v("state"))
	for _, c := range []struct {
		name   string
		plan   *graphv1.QueryPlan
		groups []string
		unit   string
		facts  int // of the first group
		reason string
	}{
		{"a count, the greatest first", each(plan(count, "film", directed), "who"),
			[]string{"Mara Vell 3", "Per Holm 1"},
			"", 3, ""},
		{"a group without any counts 0", each(plan(count, "river", match(v("state"), "type", e("state")), through),
			"state"), []string{"Velmora 2", "Tessen 1", "Elde 0"}, "", 3, ""},
		{"only the groups that clauses leave", each(plan(count, "film", directed, year,
			condition("year", greater, "1990")), "who"), []string{"Mara Vell 1", "Per Holm 1"}, "", 2, ""},
		{"ties stand by name", each(plan(count, "film", match(v("film"), "year", v("year"))), "year"),
			[]string{"1994 2", "1989 1"}, "", 2, ""},
		{"an average", each(plan(average, "year", directed, year), "who"),
			[]string{"Per Holm 1994", "Mara Vell 1991.5"},
			"", 2, ""},
		{"a sum with its unit leaves out what has another", each(plan(sum, "area", through, match(v("state"), "area",
			v("area"))), "river"), []string{"Long 8482.8", "Short 8270.3"}, "kilometre", 4, ""},
		{"the greatest", each(plan(greatest, "year", directed, year), "who"),
			[]string{"Mara Vell 1994", "Per Holm 1994"},
			"", 4, ""},
		{"nothing fits",
			each(plan(count, "film", match(v("film"), "cast", e("Mara Vell")), directed), "who"), nil, "", 0,
			"nothing in the knowledge graph fulfils all of the conditions"},
		{"a sum of texts",
			each(plan(sum, "name", through, match(v("river"), "nickname", v("name"))), "state"), nil, "", 0,
			"?name has no numbers or dates to compute with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := films()
			got, err := execute.Run(t.Context(), g, c.plan, 100, execute.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var groups []string
			for _, r := range got.Rows {
				groups = append(groups, g.EntityName(r.Cells[0])+" "+r.Value)
			}
			if !slices.Equal(groups, c.groups) || got.Value != "" || got.Unit != c.unit || got.Reason != c.reason ||
				got.Total != len(c.groups) {
				t.Errorf("got %q, %+v, want %q\n%s", groups, got, c.groups, got.Cypher)
			}
			if len(got.Rows) > 0 && len(got.Rows[0].Triples) != c.facts {
				t.Errorf("the first group rests on %v, want %d triples", got.Rows[0].Triples, c.facts)
			}
			first, err := execute.Run(t.Context(), g, c.plan, 1, execute.Limits{})
			if err != nil || len(first.Rows) > 1 || first.Total != len(c.groups) {
				t.Errorf("one row at most: %+v, %v", first, err)
			}
		})
	}
}

func TestGroupsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	film := match(v("film"), "directed by", v("who"))
	for name, p := range map[string]*graphv1.QueryPlan{
		"a list for each":       each(plan(list, "film", film), "who"),
		"yes or no for each":    each(plan(exists, "film", film), "who"),
		"a difference for each": each(plan(distance, "film", film), "who"),
		"a count of itself":     each(plan(count, "who", film), "who"),
		"by what nothing binds": each(plan(count, "film", film), "studio"),
		"by what a ranking has taken": each(plan(count, "who", film,
			rank(&graphv1.QueryRank{Variable: "film", Count: true, GroupBy: "who"})), "film"),
	} {
		_, err := execute.Run(t.Context(), films(), p, 10, execute.Limits{})
		if invalid, ok := errors.AsType[*execute.InvalidError](err); !ok || invalid.Reason == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
