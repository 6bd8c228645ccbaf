package method_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/method/stagetest"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// Velmora's rivers, their sources, and who holds its office over a mediator.
var country = stagetest.Graph{
	{"Velmora", "river", "Tessen"}, {"Velmora", "river", "Orla"}, {"Tessen", "source", "Mount Elde"},
	{"Mount Elde", "range", "Skarn"},
	{"Orla", "tributary", "Harn"},
}

// enoughFrom scripts a model that finds paths sufficient from the n-th time it
// is asked on.
func enoughFrom(m *stagetest.Mesh, n int) {
	asked := 0
	stagetest.Script(m, func(context.Context, *evaluatorv1.JudgeSufficiencyRequest) (
		*evaluatorv1.JudgeSufficiencyResponse,
		error) {
		asked++
		return &evaluatorv1.JudgeSufficiencyResponse{Sufficient: asked >= n, Usage: stagetest.Usage()}, nil
	})
}

func lines(paths []*graphv1.ReasoningPath) (out []string) {
	for _, p := range paths {
		out = append(out, kgtext.FormatPath(p))
	}
	return out
}

// explored answers the scripted question over a graph.
func explored(t *testing.T, g stagetest.Graph, enough int, a askOptions) (*stagetest.Mesh, *orchestratorv1.Run) {
	t.Helper()
	mesh := stagetest.New(t)
	g.Walk(mesh)
	enoughFrom(mesh, enough)
	if a.method == "" {
		a.method = "tog"
	}
	if a.topics == nil {
		a.topics = []string{"Velmora"}
	}
	run, err := ask(t.Context(), t, mesh, a)
	if err != nil && !errors.Is(err, question.ErrStopped) {
		t.Fatal(err)
	}
	return mesh, run
}

const never = 1000

func TestToGGoesHopByHopUntilItHasSeenEnough(t *testing.T) {
	mesh, run := explored(t, country, 2, askOptions{})
	depths := run.GetTog().GetDepths()
	if len(depths) != 2 || depths[0].GetSufficient() || !depths[1].GetSufficient() {
		t.Fatalf("the hops are %v", depths)
	}
	if got, want := lines(depths[0].GetReasoningPaths()), []string{"Velmora -> river -> Tessen",
		"Velmora -> river -> Orla"}; !slices.Equal(got, want) || depths[0].GetEntities() != 2 {
		t.Errorf("the first hop keeps %q of %d, want %q", got, depths[0].GetEntities(), want)
	}
	want := []string{"Velmora -> river -> Tessen -> source -> Mount Elde",
		"Velmora -> river -> Orla -> tributary -> Harn"}
	if got := lines(depths[1].GetReasoningPaths()); !slices.Equal(got, want) {
		t.Errorf("the second hop keeps %q, want %q", got, want)
	}
	if got := lines(stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)[0].GetPaths()); !slices.Equal(got,
		want) {
		t.Errorf("the answer is written from %q, want %q", got, want)
	}
	if got, want := stages(run), []string{"link", "explore", "explore", "answer"}; !slices.Equal(got, want) {
		t.Errorf("went through %q, want %q", got, want)
	}
	if r := depths[1].GetRelations(); len(r) != 2 || r[0].GetTopicEntities()[0] != "Tessen" ||
		r[0].GetSteps()[0].GetRelation() != "source" {
		t.Errorf("kept the relations %v", r)
	}
}

func TestToGFallsBackToTheModelsOwnKnowledge(t *testing.T) {
	mesh, run := explored(t, country, never, askOptions{})
	if got := stages(run); len(got) != 5 {
		t.Errorf("went through %q, want three hops", got)
	}
	asked := stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)
	if len(asked) != 1 || asked[0].GetStyle() != generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT ||
		len(asked[0].GetPaths()) > 0 {
		t.Errorf("asked for %v, want a chain of thought", asked)
	}
	if run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_UNGROUNDED ||
		!strings.Contains(run.GetGroundingReason(), "not enough") || run.GetPartial() {
		t.Errorf("%v: %s", run.GetGrounding(), run.GetGroundingReason())
	}
	if len(run.GetTog().GetReasoningPaths()) == 0 {
		t.Error("the run does not show what was found")
	}
}

func TestToGEndsWhereTheGraphDoes(t *testing.T) {
	for _, c := range []struct {
		name   string
		topics []string
		style  generatorv1.AnswerStyle
		paths  []string
		hops   int
	}{
		{"what was found before a dead end is answered from", []string{"Harn"},
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS,
			[]string{"Harn -> is tributary of -> Orla -> is river of -> Velmora -> river -> Tessen"}, 3},
		{"an entity that is not there leaves the model's own knowledge", []string{"Atlantis"},
			generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT, nil, 1},
		{"one of two that is not there is passed over", []string{"Atlantis", "Skarn"},
			generatorv1.AnswerStyle_ANSWER_STYLE_FROM_PATHS,
			[]string{"Skarn -> is range of -> Mount Elde -> is source of -> Tessen -> is river of -> Velmora -> " +
				"river -> Orla"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			enough := never
			if len(c.paths) > 0 {
				enough = c.hops
			}
			mesh, run := explored(t, country, enough,
				askOptions{topics: c.topics, options: &orchestratorv1.AskOptions{MaxHops: 4}})
			asked := stagetest.Requests[*generatorv1.GenerateAnswerRequest](mesh)
			if len(asked) != 1 || asked[0].GetStyle() != c.style || !slices.Equal(lines(asked[0].GetPaths()), c.paths) {
				t.Errorf("asked %v from %q, want %v from %q", asked[0].GetStyle(), lines(asked[0].GetPaths()),
					c.style, c.paths)
			}
			warned := strings.Contains(fmt.Sprint(run.GetStages()), llm.WarnUnknown)
			if unknown := slices.Contains(c.topics, "Atlantis"); warned != unknown {
				t.Errorf("warned of an unknown entity: %v, want %v", warned, unknown)
			}
		})
	}
	_, run := explored(t, stagetest.Graph{{"Velmora", "river", "Tessen"}}, never, askOptions{})
	if got := stages(run); !slices.Equal(got, []string{"link", "explore", "explore", "answer"}) ||
		len(run.GetAnswers()) != 2 {
		t.Errorf("at a dead end went through %q and answered %q", got, names(run))
	}
}

// wide has five relations of five tails at every entity, three hops deep.
func wide() (g stagetest.Graph) {
	front := []string{"A", "B", "C"}
	for range 3 {
		var next []string
		for _, from := range front {
			for r := range 5 {
				for tail := range 5 {
					to := fmt.Sprintf("%s%d%d", from, r, tail)
					g = append(g, [3]string{from, fmt.Sprint("relation ", r), to})
					if r == 0 && tail == 0 {
						next = append(next, to)
					}
				}
			}
		}
		front = append(front, next...)
	}
	return g
}

func TestToGAsksNoMoreThanItSays(t *testing.T) {
	for _, c := range []struct {
		method     string
		width, max uint32
	}{{"tog", 3, 22}, {"tog-r", 3, 13}, {"tog", 2, 16}, {"tog", 1, 10}} {
		for _, unit := range []*llmv1.Budget{nil, plenty} {
			t.Run(fmt.Sprintf("%s with a beam of %d, budget %v", c.method, c.width, unit != nil), func(t *testing.T) {
				_, run := explored(t, wide(), never, askOptions{
					method: c.method, limits: unit, topics: []string{"A", "B", "C"},
					options: &orchestratorv1.AskOptions{BeamWidth: c.width},
				})
				if got := run.GetUsage().GetCalls(); got > c.max || got < c.max/2 {
					t.Errorf("asked the model %d times, want up to %d", got, c.max)
				}
				for _, d := range run.GetTog().GetDepths() {
					if len(d.GetReasoningPaths()) > int(c.width) || len(d.GetRelations()) > int(c.width) {
						t.Errorf("the beam holds %d relations and %d paths", len(d.GetRelations()),
							len(d.GetReasoningPaths()))
					}
				}
				if got := len(run.GetTog().GetTopicEntities()); got > int(c.width) {
					t.Errorf("%d topic entities are more than the beam is wide", got)
				}
			})
		}
	}
}

func TestToGLooksThroughMediators(t *testing.T) {
	mesh, run := explored(t, stagetest.Graph{
		{"Velmora", "governing officials", "m.0gov1"}, {"m.0gov1", "office holder", "Reik"},
		{"m.0gov1", "from", "1999"},
		{"Velmora", "flag", "m.0flag"}, {"Velmora", "river", "Tessen"},
	}, 1, askOptions{})
	if got, want := stagetest.Requests[*evaluatorv1.RankCandidatesRequest](mesh)[0].GetCandidates(),
		[]string{"governing officials -> from", "governing officials -> office holder", "river"}; !slices.Equal(got,
		want) {
		t.Errorf("the model chooses among %q, want %q", got, want)
	}
	for _, p := range run.GetTog().GetReasoningPaths() {
		if strings.HasPrefix(kgtext.PathEnd(p), "m.") {
			t.Errorf("a path ends in a mediator: %s", kgtext.FormatPath(p))
		}
	}
	if got := lines(run.GetTog().GetReasoningPaths()); !slices.Contains(got,
		"Velmora -> governing officials -> m.0gov1 -> office holder -> Reik") {
		t.Errorf("found %q, but not who holds the office", got)
	}
}

func TestToGDoesNotGoBackOrInCircles(t *testing.T) {
	_, run := explored(t, stagetest.Graph{
		{"Velmora", "river", "Tessen"}, {"Tessen", "flows through", "Velmora"}, {"Tessen", "flows through", "Harn"},
		{"Harn", "twin", "Velmora"},
	}, never, askOptions{options: &orchestratorv1.AskOptions{MaxHops: 4}})
	for _, d := range run.GetTog().GetDepths() {
		for _, p := range d.GetReasoningPaths() {
			if e := p.GetEntities(); len(slices.Compact(slices.Sorted(slices.Values(e)))) != len(e) {
				t.Errorf("%s passes an entity twice", kgtext.FormatPath(p))
			}
		}
	}
}

func hub(n int) (g stagetest.Graph) {
	for i := range n {
		g = append(g, [3]string{"Velmora", "place in", fmt.Sprintf("town %03d", i)})
	}
	return append(g, [3]string{"Velmora", "river", "Tessen"})
}

func TestToGLooksAtAFewOfManyEntities(t *testing.T) {
	shown := func(method, text string) []string {
		mesh, run := explored(t, hub(500), 1, askOptions{method: method, text: text})
		if got := run.GetTog().GetDepths()[0].GetEntities(); got != 21 {
			t.Errorf("%d entities are counted, want 20 towns and a river", got)
		}
		if method == "tog-r" {
			return lines(run.GetTog().GetDepths()[0].GetReasoningPaths())
		}
		return stagetest.Requests[*evaluatorv1.RankCandidatesRequest](mesh)[1].GetCandidates()
	}
	for _, m := range []string{"tog", "tog-r"} {
		first := shown(m, "where is it")
		if again := shown(m, "where is it"); !slices.Equal(first, again) {
			t.Errorf("%s: the same question sees %q, then %q", m, first, again)
		}
		if other := shown(m, "where is it not"); slices.Equal(first, other) {
			t.Errorf("%s: another question sees the same of 500", m)
		}
	}
}

func TestToGShowsTheModelNoMoreRelationsThanItHasRoomFor(t *testing.T) {
	var g stagetest.Graph
	for i := range 300 {
		g = append(g, [3]string{"Velmora", fmt.Sprintf("relation%03d", i), "x"},
			[3]string{"Velmora", fmt.Sprintf("relation%03d", i), "y"})
	}
	g = append(g, [3]string{"Velmora", "geo.rivers", "Tessen"}, [3]string{"Velmora", "hydro.rivers", "Orla"},
		[3]string{"Velmora", "common.topic.article", "z"})
	mesh, run := explored(t, g, 1, askOptions{})
	shown := stagetest.Requests[*evaluatorv1.RankCandidatesRequest](mesh)[0].GetCandidates()
	if len(shown) != 40 || shown[39] != "rivers" || !slices.IsSorted(shown) {
		t.Errorf("%d relations are shown, the last %q; want 40 in the order of their words, and the one of the "+
			"question", len(shown), shown[len(shown)-1])
	}
	if slices.Contains(shown, "article") {
		t.Error("what is said of the database is shown")
	}
	if n := len(run.GetTog().GetDepths()[0].GetRelations()); n != 3 {
		t.Errorf("%d relations are kept", n)
	}
}

func TestToGGoesByRelationsOfTheSameWordsAtOnce(t *testing.T) {
	_, run := explored(t, stagetest.Graph{{"Velmora", "geo.river", "Tessen"}, {"Velmora", "hydro.river", "Orla"}}, 1,
		askOptions{})
	if got, want := lines(run.GetTog().GetReasoningPaths()), []string{"Velmora -> river -> Tessen",
		"Velmora -> river -> Orla"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(run.GetTog().GetDepths()[0].GetRelations()); n != 2 || run.GetUsage().GetCalls() != 3 {
		t.Errorf("%d relations are recorded for %d calls; want both, and no call to choose among one", n,
			run.GetUsage().GetCalls())
	}
}

func TestToGRReadsAllThatItsRelationsLeadTo(t *testing.T) {
	mesh, run := explored(t, hub(15), 1, askOptions{method: "tog-r"})
	if got := len(stagetest.Requests[*evaluatorv1.JudgeSufficiencyRequest](mesh)[0].GetPaths()); got != 16 {
		t.Errorf("judged by %d paths, want 16", got)
	}
	d := run.GetTog().GetDepths()[0]
	if len(d.GetReasoningPaths()) != 3 || !slices.ContainsFunc(d.GetReasoningPaths(),
		func(p *graphv1.ReasoningPath) bool { return kgtext.PathEnd(p) == "Tessen" }) {
		t.Errorf("the beam keeps %q, want something of each relation", lines(d.GetReasoningPaths()))
	}
}

func TestToGWeighsHowSureATopicEntityIsLinked(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Graph{{"Velmora", "river", "Tessen"}, {"Velmora", "twin", "Harn"},
		{"River (film)", "genre", "drama"}}.Walk(mesh)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse,
		error) {
		return &retrieverv1.LinkEntitiesResponse{Links: []*graphv1.EntityLink{{Entity: "River (film)", Score: .2},
			{Entity: "Velmora", Score: .9}}}, nil
	})
	run, err := ask(t.Context(), t, mesh, askOptions{method: "tog"})
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(run.GetTog().GetReasoningPaths()); got[0] != "Velmora -> river -> Tessen" || len(got) != 3 {
		t.Errorf("got %q; the only relation of an unlikely entity comes last or not at all", got)
	}
}

func TestToGRemembersWhatLedNowhereElse(t *testing.T) {
	mesh, _ := explored(t, stagetest.Graph{{"Velmora", "founded", "1204"}, {"Velmora", "river", "Tessen"},
		{"Tessen", "source", "Mount Elde"}}, 2, askOptions{})
	judged := stagetest.Requests[*evaluatorv1.JudgeSufficiencyRequest](mesh)
	if got, want := lines(judged[1].GetPaths()), []string{"Velmora -> river -> Tessen -> source -> Mount Elde",
		"Velmora -> founded -> 1204"}; !slices.Equal(got, want) {
		t.Errorf("judged by %q, want %q", got, want)
	}
}

func TestToGDoesNotAskWhatElseHasANumber(t *testing.T) {
	mesh := stagetest.New(t)
	stagetest.Script(mesh, func(context.Context, *retrieverv1.ListNeighboursRequest) (
		*retrieverv1.ListNeighboursResponse,
		error) {
		return &retrieverv1.ListNeighboursResponse{Entity: &graphv1.Entity{Kind: graphv1.TermKind_TERM_KIND_NUMBER},
				Relations: []*retrieverv1.RelationCount{{Relation: "river", Triples: 9},
					{Relation: "twin", Triples: 9}}},
			nil
	})
	if _, err := ask(t.Context(), t, mesh, askOptions{method: "tog"}); err != nil ||
		len(stagetest.Requests[*evaluatorv1.RankCandidatesRequest](mesh)) > 0 {
		t.Errorf("ended with %v after %q", err, mesh.Calls())
	}
}
