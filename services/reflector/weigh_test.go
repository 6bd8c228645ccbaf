package reflector_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector"
)

func withScore(score float32, p *graphv1.ReasoningPath) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: p.GetEntities(), Steps: p.GetSteps(), Score: proto.Float32(score)}
}

func TestWeigh(t *testing.T) {
	rivers := []*graphv1.ReasoningPath{withScore(.6, walk("river", "Tessen")), withScore(.6, walk("river", "Orla"))}
	twins := []*graphv1.ReasoningPath{withScore(.5, walk("twin", "Harn"))}
	nearTwins := []*graphv1.ReasoningPath{withScore(.55, walk("twin", "Harn"))}
	for _, c := range []struct {
		name       string
		candidates []string
		paths      []*graphv1.ReasoningPath
		verdicts   map[string]float64
		want       []string
	}{
		{"all ends of the best path are answers", []string{"Tessen"}, slices.Concat(rivers, twins), nil,
			[]string{"Tessen", "Orla"}},
		{"a path that comes near the best answers too", []string{"Tessen"}, slices.Concat(rivers, nearTwins), nil,
			[]string{"Tessen", "Orla", "Harn"}},
		{"a verdict speaks against the path that leads there", []string{"Tessen", "Harn"},
			slices.Concat(rivers, nearTwins), map[string]float64{"Harn": .2}, []string{"Tessen", "Orla"}},
		{"verdicts can turn the order of paths", []string{"Tessen", "Harn"}, slices.Concat(rivers, nearTwins),
			map[string]float64{"Tessen": .12, "Harn": .99}, []string{"Harn"}},
		{"a candidate judged right for sure stays beside the best path", []string{"Harn"},
			slices.Concat(rivers, []*graphv1.ReasoningPath{withScore(.3, walk("twin", "Harn"))}),
			map[string]float64{"Harn": .9}, []string{"Tessen", "Orla", "Harn"}},
		{"a candidate judged wrong for sure goes with its path's best", []string{"Tessen"}, rivers,
			map[string]float64{"Tessen": .05}, []string{"Orla"}},
		{"paths without scores leave it to the verdicts", []string{"Harn", "Tessen"},
			[]*graphv1.ReasoningPath{walk("twin", "Harn"), walk("river", "Tessen")}, map[string]float64{"Harn": .3,
				"Tessen": .6}, []string{"Tessen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := answers("never asked")
			got, err := reflector.NewReflector(m, config).Reflect(t.Context(),
				reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH,
				reflector.Case{
					Question: "what rivers", Candidates: candidates(c.candidates...), Paths: c.paths,
					Verdicts: verdicts(c.verdicts),
				}, llm.NewLedger(nil))
			if err != nil || len(m.asked) > 0 || len(got.Warnings) > 0 {
				t.Fatalf("%v, %d calls, warned of %v", err, len(m.asked), got.Warnings)
			}
			if !slices.Equal(got.Answers, c.want) {
				t.Errorf("answers %q, want %q", got.Answers, c.want)
			}
		})
	}
}
