package tests

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/testkit"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

var listed = regexp.MustCompile(`(?m)^(\d+)\. (.*)$`)

// chooses returns a model that ranks the first of some items in its list.
func chooses(some ...string) func(testkit.Request) string {
	return func(r testkit.Request) string {
		for _, item := range listed.FindAllStringSubmatch(r.LastUser(), -1) {
			if slices.Contains(some, item[2]) {
				return fmt.Sprintf(`{"ranked": [{"item": %s, "weight": 0.9}]}`, item[1])
			}
		}
		return `{"ranked": [{"item": 1, "weight": 0.1}]}`
	}
}

func TestToGExploresTheGraphUntilItHasSeenTheAnswer(t *testing.T) {
	for _, c := range []struct {
		method string
		calls  uint32
	}{
		// Two calls for relations, one for universities, two for sufficiency, one for the answer.
		{"tog", 6},
		{"tog-r", 5},
	} {
		t.Run(c.method, func(t *testing.T) {
			model := testkit.NewLLM(t)
			model.On(testkit.Task("rank-candidates")).ReplyFunc(chooses("director", "educated at", yale)).Usage(90, 20)
			model.On(testkit.Task("judge-sufficiency")).ReplyChoice(map[string]float64{"no": .8, "yes": .2}).Usage(40,
				1)
			model.On(testkit.Task("judge-sufficiency"), testkit.Matches(yale)).ReplyChoice(map[string]float64{"yes": .9,
				"no": .1}).Usage(40, 1)
			model.On(testkit.Task("answer")).ReplyFunc(func(r testkit.Request) string {
				if !strings.Contains(r.LastUser(), yale) {
					return "I do not know."
				}
				return "He studied at {" + yale + "}."
			}).Usage(60, 10)
			req := question(c.method)
			req.Question, req.TopicEntities = studyQuestion, []string{"Alexander"}
			run := start(t, options{model: model,
				set: map[string]string{"orchestrator.confidence.grounded": "0"}}).ask(t, req)
			checkRun(t, run, orchestratorv1.Stage_STAGE_LINK, orchestratorv1.Stage_STAGE_EXPLORE,
				orchestratorv1.Stage_STAGE_EXPLORE, orchestratorv1.Stage_STAGE_ANSWER)

			depths := run.GetTog().GetDepths()
			if len(depths) != 2 || depths[0].GetSufficient() || !depths[1].GetSufficient() ||
				depths[1].GetProbability() < .8 {
				t.Fatalf("the hops are %v", depths)
			}
			last := depths[1].GetReasoningPaths()
			if len(last) == 0 || !slices.Equal(last[0].GetEntities()[:2], []string{"Alexander", "Oliver Stone"}) {
				t.Errorf("the beam ends in %v", last)
			}
			if got := run.GetUsage().GetCalls(); got != c.calls {
				t.Errorf("the model was asked %d times, want %d", got, c.calls)
			}
			if names(run) != yale || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
				t.Errorf("the answers are %s, %v: %s", names(run), run.GetGrounding(), run.GetGroundingReason())
			}
		})
	}
}
