package reflector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	"github.com/triplemesh/triplemesh/services/reflector"
)

var config = reflector.ReflectionConfig{Margin: .08, VerdictWeight: .2, MaxGroups: 4, MaxEnds: 4,
	MaxOthers: 2, MaxTokens: 64,
	KeepAbove: .8, DropBelow: .1}

const byModel = reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL

// model answers with a text, or with the answers given as JSON.
type model struct {
	text  string
	err   error
	asked []llm.Request
}

func (m *model) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	m.asked = append(m.asked, req)
	return llm.Response{Text: m.text}, m.err
}

func answers(names ...string) *model {
	text, _ := json.Marshal(map[string]any{"answers": names})
	return &model{text: string(text)}
}

func walk(relation, to string) *graphv1.ReasoningPath {
	return &graphv1.ReasoningPath{Entities: []string{"Velmora", to},
		Steps: []*graphv1.RelationStep{{Relation: relation}}}
}

var paths = []*graphv1.ReasoningPath{
	walk("river", "Tessen"), walk("river", "Orla"), walk("twin", "Harn"), walk("twin", "Oster"), walk("mayor", "Reik"),
}

func candidates(names ...string) (out []*graphv1.CandidateAnswer) {
	for _, n := range names {
		c := &graphv1.CandidateAnswer{Answer: n}
		for _, p := range paths {
			if p.GetEntities()[1] == n {
				c.Paths = append(c.Paths, p)
			}
		}
		out = append(out, c)
	}
	return out
}

// verdicts are given as "Tessen": .93; below 0 stands for a verdict of no
// probability that says wrong, above 1 for one that says right.
func verdicts(of map[string]float64) map[string]*graphv1.AnswerVerdict {
	out := map[string]*graphv1.AnswerVerdict{}
	for name, p := range of {
		v := &graphv1.AnswerVerdict{Answer: name, Correct: p >= .5}
		if !(p < 0 || p > 1) {
			v.Probability = new(float32(p))
		}
		out[name] = v
	}
	return out
}

func decided(s reflector.Outcome) (out []string) {
	for _, r := range s.Reflections {
		out = append(out, strings.ToLower(strings.TrimPrefix(r.GetDecision().String(), "DECISION_"))+" "+r.GetAnswer())
	}
	return out
}

func TestReflect(t *testing.T) {
	for _, c := range []struct {
		name       string
		candidates []*graphv1.CandidateAnswer
		verdicts   map[string]float64
		model      *model
		answers    []string
		decided    []string
		warned     bool
	}{
		{"the model drops, keeps and adds", candidates("Harn", "Tessen"), nil, answers("Tessen", "Orla"),
			[]string{"Tessen", "Orla"}, []string{"drop Harn", "keep Tessen", "add Orla"}, false},
		{"a candidate that is surely right stays", candidates("Harn", "Tessen"), map[string]float64{"Harn": .8},
			answers("Tessen"),
			[]string{"Tessen", "Harn"}, []string{"keep Harn", "keep Tessen"}, false},
		{"a candidate that is surely wrong goes", candidates("Harn", "Tessen"), map[string]float64{"Harn": .09},
			answers("Harn", "Tessen"),
			[]string{"Tessen"}, []string{"drop Harn", "keep Tessen"}, false},
		{"a verdict that is not sure leaves it to the model", candidates("Harn", "Tessen"),
			map[string]float64{"Harn": .11, "Tessen": .79}, answers("Harn"),
			[]string{"Harn"}, []string{"keep Harn", "drop Tessen"}, false},
		{"a verdict without a probability leaves it to the model", candidates("Harn", "Tessen"),
			map[string]float64{"Harn": -1, "Tessen": 2}, answers("Harn"),
			[]string{"Harn"}, []string{"keep Harn", "drop Tessen"}, false},
		{"where all that the model wants is surely wrong the nearest stays", candidates("Harn", "Tessen"),
			map[string]float64{"Harn": .02, "Tessen": .05}, answers("Harn"),
			[]string{"Tessen"}, []string{"drop Harn", "keep Tessen"}, false},
		{"output that cannot be read leaves it to the verdicts", candidates("Harn", "Tessen", "Orla"),
			map[string]float64{"Harn": .3, "Tessen": .6, "Orla": 2}, &model{text: "Tessen, I think."},
			[]string{"Tessen", "Orla"}, []string{"drop Harn", "keep Tessen", "keep Orla"}, true},
		{"where none was judged right the nearest stays", candidates("Harn", "Tessen"), map[string]float64{"Harn": .3,
			"Tessen": .4}, &model{text: "?"},
			[]string{"Tessen"}, []string{"drop Harn", "keep Tessen"}, true},
		{"with no verdict at all the first candidate stays", candidates("Harn", "Tessen"), nil, &model{text: "?"},
			[]string{"Harn"}, []string{"keep Harn", "drop Tessen"}, true},
		{"a probability that is no number is no reason to answer nothing", candidates("Harn"),
			map[string]float64{"Harn": math.NaN()}, &model{text: "?"},
			[]string{"Harn"}, []string{"keep Harn"}, true},
		{"with no candidate an end of a path may be added", nil, nil, answers("Tessen"), []string{"Tessen"},
			[]string{"add Tessen"}, false},
		{"what is neither candidate nor end is asked for again", candidates("Tessen"), nil, answers("Atlantis"),
			[]string{"Tessen"}, []string{"keep Tessen"}, true},
		{"a candidate that came twice is decided once", candidates("Tessen", "Tessen"), nil, answers("Tessen"),
			[]string{"Tessen"}, []string{"keep Tessen", "keep Tessen"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := reflector.NewReflector(c.model, config).Reflect(t.Context(), byModel, reflector.Case{
				Question: "what rivers", Candidates: c.candidates, Paths: paths, Verdicts: verdicts(c.verdicts),
			}, llm.NewLedger(nil))
			if err != nil || (len(got.Warnings) > 0) != c.warned {
				t.Fatalf("warned of %v, %v", got.Warnings, err)
			}
			if !slices.Equal(got.Answers, c.answers) {
				t.Errorf("answers %q, want %q", got.Answers, c.answers)
			}
			if d := decided(got); !slices.Equal(d, c.decided) {
				t.Errorf("decided %q, want %q", d, c.decided)
			}
			for _, r := range got.Reflections {
				if len(r.GetPaths()) == 0 {
					t.Errorf("the decision on %s names no path", r.GetAnswer())
				}
			}
		})
	}
}

func TestWithNothingToWeighNoModelIsAsked(t *testing.T) {
	m := answers("x")
	got, err := reflector.NewReflector(m, config).Reflect(t.Context(), byModel, reflector.Case{Question: "q"},
		llm.NewLedger(nil))
	if err != nil || len(got.Answers) > 0 || len(m.asked) > 0 {
		t.Errorf("got %v, %v after %d questions", got, err, len(m.asked))
	}
}

func TestASpentBudgetLeavesItToWeighing(t *testing.T) {
	got, err := reflector.NewReflector(&model{err: llm.ErrBudget}, config).Reflect(t.Context(), byModel,
		reflector.Case{Question: "q", Candidates: candidates("Tessen")}, llm.NewLedger(nil))
	if err != nil || len(got.Warnings) != 1 || got.Mode != reflectorv1.ReflectionMode_REFLECTION_MODE_WEIGH {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTheModelSeesVerdictsAndAFewOthers(t *testing.T) {
	m := answers("Tessen")
	_, err := reflector.NewReflector(m, config).Reflect(t.Context(), byModel, reflector.Case{
		Question: "q", Candidates: candidates("Tessen", "Harn"), Paths: paths,
		Verdict:  &graphv1.QuestionVerdict{Reason: "one is missing"},
		Verdicts: verdicts(map[string]float64{"Tessen": .93}),
	}, llm.NewLedger(nil))
	if err != nil {
		t.Fatal(err)
	}
	asked := m.asked[0].Messages[len(m.asked[0].Messages)-1].Content
	for _, want := range []string{"one is missing", "0.93", "Orla", "Oster"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the prompt lacks %q: %s", want, asked)
		}
	}
	if options := string(m.asked[0].Schema.JSON); strings.Contains(options, "Reik") ||
		!strings.Contains(options, "Oster") {
		t.Errorf("%d others should be offered, in the order of the paths: %s", config.MaxOthers, options)
	}
}

// Whatever the verdicts and the model say: there is an answer if there is a
// candidate, each once, none surely wrong where another stands; every candidate
// and every addition has its decision, and the decisions say what the answers
// are.
func TestReflectionIsCompleteForAnyVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	names := []string{"Tessen", "Orla", "Harn", "Oster", "Reik"}
	for range 500 {
		pick := func(p float64) (out []string) {
			for _, n := range names {
				if random.Float64() < p {
					out = append(out, n)
				}
			}
			return out
		}
		given := candidates(pick(.5)...)
		of := map[string]float64{}
		for _, n := range pick(.7) {
			of[n] = random.Float64()*1.4 - .2
		}
		got, err := reflector.NewReflector(answers(pick(.3)...), config).Reflect(t.Context(), byModel, reflector.Case{
			Question: "q", Candidates: given, Paths: paths, Verdicts: verdicts(of),
		}, llm.NewLedger(nil))
		if err != nil {
			t.Fatal(err)
		}
		if len(given) > 0 && len(got.Answers) == 0 {
			t.Fatalf("no answer of %v by %v", given, of)
		}
		var says []string
		for i, d := range got.Reflections {
			if i < len(given) && d.GetAnswer() != given[i].GetAnswer() {
				t.Fatalf("decision %d is on %s", i, d.GetAnswer())
			}
			if !strings.HasPrefix(decided(got)[i], "drop") {
				says = append(says, d.GetAnswer())
			}
		}
		stand := slices.Clone(got.Answers)
		slices.Sort(says)
		slices.Sort(stand)
		if !slices.Equal(says, stand) || len(slices.Compact(slices.Clone(stand))) != len(stand) {
			t.Fatalf("the decisions say %q, the answers are %q", says, stand)
		}
		if len(stand) > 1 {
			for _, a := range stand {
				if p, judged := of[a]; judged && p >= 0 && float32(p) < config.DropBelow {
					t.Fatalf("%s stays at %v among %q", a, p, stand)
				}
			}
		}
	}
}

func TestReason(t *testing.T) {
	got, err := reflector.NewReflector(answers("Tessen", "Orla"), config).Reflect(t.Context(), byModel, reflector.Case{
		Question: "q", Candidates: candidates("Harn", "Tessen"), Paths: paths,
	}, llm.NewLedger(nil))
	if err != nil {
		t.Fatal(err)
	}
	if r := reflector.Reason(got); r != "kept 1, dropped 1, added 1" {
		t.Errorf("got %q", r)
	}
	if r := reflector.Reason(reflector.Outcome{}); r != "" {
		t.Errorf("nothing was done for %q", fmt.Sprint(r))
	}
}
