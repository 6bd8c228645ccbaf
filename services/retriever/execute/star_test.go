package execute

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

func TestStarsAreAnsweredAsTheEngineAnswers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	name := func() string { return fmt.Sprintf("e%d", random.IntN(12)) }
	relation := func() string { return fmt.Sprintf("r%d", random.IntN(3)) }
	triples := make([][3]string, 80)
	for i := range triples {
		triples[i] = [3]string{name(), relation(), name()}
	}
	g := storetest.NewGraph(triples...)
	variable := func(v string) *graphv1.QueryTerm {
		return &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Variable{Variable: v}}
	}
	answered := 0
	for range 300 {
		function := graphv1.QueryFunction_QUERY_FUNCTION_UNSPECIFIED
		if random.IntN(2) == 0 {
			function = graphv1.QueryFunction_QUERY_FUNCTION_COUNT
		}
		plan := &graphv1.QueryPlan{Result: &graphv1.QueryResult{Function: function, Variable: "x"}}
		for i := range 1 + random.IntN(3) {
			p := &graphv1.QueryPattern{Start: variable("x"), Steps: []*graphv1.RelationStep{{Relation: relation(),
				Inverse: random.IntN(2) == 0}},
				End: &graphv1.QueryTerm{Term: &graphv1.QueryTerm_Entity{Entity: name()}}}
			if random.IntN(3) == 0 {
				p.End = variable(fmt.Sprintf("y%d", i))
			}
			if random.IntN(2) == 0 {
				p.Start, p.End = p.End, p.Start
			}
			plan.Clauses = append(plan.Clauses, &graphv1.QueryClause{Clause: &graphv1.QueryClause_Match{Match: p}})
		}
		got, err := Run(t.Context(), g, plan, 100, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := compile(plan)
		if err != nil || !c.isStar() {
			t.Fatalf("%v is no star: %v", plan, err)
		}
		p := newPart(t.Context(), g, Limits{}.orDefault())
		if err := p.gather(c); err != nil {
			if got.Reason == "" {
				t.Errorf("%v: got %+v, the engine %v", plan, got, err)
			}
			continue
		}
		engine := &runner{part: p, compiled: c, result: &Result{}}
		engine.build()
		if err := engine.run(100); err != nil {
			t.Fatal(err)
		}
		want := engine.result
		if got.Value != want.Value || got.Total != want.Total || got.Reason != want.Reason ||
			!slices.Equal(rowTexts(got), rowTexts(want)) {
			t.Errorf("%v:\n got %+v\nwant %+v", plan, got, want)
		}
		if want.Total > 0 {
			answered++
		}
	}
	if answered < 50 {
		t.Errorf("only %d of the plans have an answer", answered)
	}
}

// rowTexts are the rows with their triples, in one order.
func rowTexts(r *Result) []string {
	texts := make([]string, len(r.Rows))
	for i, row := range r.Rows {
		slices.Sort(row.Triples)
		texts[i] = fmt.Sprint(row)
	}
	slices.Sort(texts)
	return texts
}
