package execute_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
)

// Any plan ends, within its limits, in a result with a value, rows or a reason, or in an error that says
// what is wrong with the plan.
func FuzzRun(f *testing.F) {
	for _, p := range []*graphv1.QueryPlan{
		plan(count, "film", match(v("film"), "directed by", e("Mara Vell"))),
		plan(list, "a", match(v("a"), "cast", v("b")), match(v("c"), "cast", v("d")), exclude(v("a"), "cast", v("d"))),
		plan(sum, "y", match(v("x"), "year", v("y")), condition("y", greater, "1e309"), rank(&graphv1.QueryRank{
			Variable: "x", Count: true, GroupBy: "y", Descending: true, Limit: 3})),
		each(plan(count, "film", match(v("film"), "directed by", v("who"))), "who"),
		each(plan(average, "y", match(v("x"), "year", v("y")), match(v("x"), "cast", v("who"))), "who"),
		plan(distance, "a", values("a", "Orla", "Velmora"), condition("a", less, "?a")),
	} {
		seed, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	g := films()
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &graphv1.QueryPlan{}
		if proto.Unmarshal(data, p) != nil || len(p.GetClauses()) > 12 || protovalidate.Validate(p) != nil {
			return // servers refuse what breaks the contract
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got, err := execute.Run(ctx, g, p, 10, execute.Limits{Rows: 2000, Steps: 200_000, Memory: 4 << 20})
		var invalid *execute.InvalidError
		switch {
		case errors.As(err, &invalid):
		case err != nil:
			t.Errorf("%v: %v", p, err)
		case got.Value == "" && got.Total == 0 && got.Reason == "" && len(got.Limits) == 0:
			t.Errorf("%v: no value, no row and no reason", p)
		}
	})
}
