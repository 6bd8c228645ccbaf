package sim

import (
	"google.golang.org/grpc/codes"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// modelWrongs are faults of model servers that are up.
func modelWrongs() []wrong {
	var all []wrong
	for _, w := range []struct {
		name  string
		how   func(*testkit.Rule)
		codes []codes.Code
	}{
		{"model-429", func(r *testkit.Rule) { r.Status(429) }, []codes.Code{codes.ResourceExhausted}},
		{"model-500", func(r *testkit.Rule) { r.Status(500) }, nil},
		{"model-hangs", func(r *testkit.Rule) { r.Hang() }, nil},
		{"model-cuts", func(r *testkit.Rule) { r.CutStream("{", "No") }, nil},
		{"model-garbage", func(r *testkit.Rule) { r.Garbage(3000) }, nil},
	} {
		all = append(all, wrong{
			name: w.name, codes: w.codes,
			where: func(stage string) bool { return stage == modelServer },
			do: func(m *mesh, f fault) func() {
				m.net.Logf("%s: %s", f.place, f.name)
				m.models[f.place].misbehave(w.how)
				return m.models[f.place].behave
			},
		})
	}
	return all
}
