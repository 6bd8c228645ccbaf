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

// makeRanked makes the reasoning paths of a relation path with a probability.
func makeRanked(probability float32, topic, relation string, ends ...string) []*graphv1.ReasoningPath {
	var paths []*graphv1.ReasoningPath
	for _, end := range ends {
		paths = append(paths, &graphv1.ReasoningPath{Entities: []string{topic, end},
			Steps: []*graphv1.RelationStep{{Relation: relation}}, Score: proto.Float32(probability),
			Probability: proto.Float32(probability)})
	}
	return paths
}

// makeInverse turns the first step of paths round.
func makeInverse(paths []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	for _, p := range paths {
		p.Steps[0].Inverse = true
	}
	return paths
}

func TestAnswersHaveTheHighestExpectedF1(t *testing.T) {
	weak, strong := config, config
	weak.ReadingWeight, weak.ReadingShare = 1, 0.2
	strong.ReadingWeight, strong.ReadingShare = 1, 0.85
	rivers := makeRanked(.7, "Velmora", "river", "Tessen", "Orla")
	lakes := makeRanked(.2, "Velmora", "lake", "Harn")
	for _, c := range []struct {
		name     string
		cfg      reflector.ReflectionConfig
		read     []string
		paths    []*graphv1.ReasoningPath
		verdicts map[string]float64
		want     []string
	}{
		{"all ends of a likely path", weak, []string{"Tessen"}, slices.Concat(rivers, lakes), nil,
			[]string{"Tessen", "Orla"}},
		{"a weak reader does not turn a sure path", weak, []string{"Harn"},
			slices.Concat(makeRanked(.9, "Velmora", "river", "Tessen"), makeRanked(.05, "Velmora", "lake", "Harn")),
			nil,
			[]string{"Tessen"}},
		{"what was read decides between like paths", weak, []string{"Harn"},
			slices.Concat(makeRanked(.4, "Velmora", "river", "Tessen"), makeRanked(.35, "Velmora", "lake", "Harn")),
			nil,
			[]string{"Harn"}},
		{"a verdict decides between like paths", weak, []string{"Harn", "Tessen"},
			slices.Concat(makeRanked(.4, "Velmora", "river", "Tessen"), makeRanked(.35, "Velmora", "lake", "Harn")),
			map[string]float64{"Harn": .95, "Tessen": .05}, []string{"Harn"}},
		{"a strong reader's part of a list stays a part", strong, []string{"Orla"}, slices.Concat(rivers, lakes), nil,
			[]string{"Orla"}},
		{"a strong reader may say what no path leads to", strong, []string{"Ister"}, slices.Concat(rivers, lakes), nil,
			[]string{"Ister"}},
		{"what two topic entities have in common", weak, nil, slices.Concat(
			makeRanked(.4, "Velmora", "river", "Tessen", "Orla", "Harn", "Ister", "Lomm"),
			makeRanked(.35, "Arden", "river", "Orla", "Sarn", "Tiel", "Veil")), nil, []string{"Orla"}},
		{"a list that the graph holds partly in the other direction", weak, nil, slices.Concat(
			makeRanked(.3, "Velmora", "river", "Tessen"), makeRanked(.4, "Velmora", "lake", "Harn"),
			makeInverse(makeRanked(.28, "Velmora", "river", "Orla"))), nil, []string{"Tessen", "Orla"}},
		{"an unlikely direction stays out", weak, nil, slices.Concat(makeRanked(.9, "Velmora", "child", "Tessen"),
			makeInverse(makeRanked(.03, "Velmora", "child", "Orla"))), nil, []string{"Tessen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := answers("never asked")
			got, err := reflector.NewReflector(m, c.cfg).Reflect(t.Context(),
				reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH, reflector.Case{Question: "what rivers",
					Candidates: candidates(c.read...), Paths: c.paths, Verdicts: verdicts(c.verdicts)},
				llm.NewLedger(nil))
			if err != nil || len(m.asked) > 0 {
				t.Fatalf("%v, %d calls", err, len(m.asked))
			}
			if !slices.Equal(got.Answers, c.want) {
				t.Errorf("answers %q, want %q", got.Answers, c.want)
			}
			if len(got.Probabilities) != len(got.Answers) {
				t.Fatalf("%d probabilities of %d answers", len(got.Probabilities), len(got.Answers))
			}
			for _, p := range got.Probabilities {
				if p <= 0 || p > 1.0001 {
					t.Errorf("probabilities %v", got.Probabilities)
				}
			}
		})
	}
}
