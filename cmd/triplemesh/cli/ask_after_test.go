package cli

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func TestAskAfterARunFollowsIt(t *testing.T) {
	followed := answeredRun()
	followed.Question, followed.StandaloneQuestion, followed.Text = "and she?", "Who was Ada?",
		"{"+strings.Repeat("ä", 3000)+"}"
	followed.Kg = &graphv1.KnowledgeGraphRef{Name: "mars", Snapshot: 3}
	listed := answeredRun()
	listed.Question, listed.Text, listed.Kg = "Who?", "", nil
	for _, c := range []struct {
		name     string
		run      *orchestratorv1.Run
		args     []string
		question string
		answer   string // its beginning
		kg       string
	}{
		{"a run by its id, over its knowledge graph as that is now", followed, []string{"--after", "01RUN"},
			"Who was Ada?", "{ä", "mars"},
		{"a knowledge graph of the question's own", followed, []string{"--after", "01RUN", "--kg", "venus@2"},
			"Who was Ada?", "{ä", "venus@2"},
		{"the last run, by its answers where it has no text", listed, []string{"--after", "last"}, "Who?",
			"Ada", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, &services{run: c.run})
			triplemesh(t, nil, "", append([]string{"ask", "And when?", "--server", s.addr}, c.args...)...).Expect(t,
				ExitOK)
			h := s.asked.GetHistory()
			if len(h) != 2 || h[0].GetRole() != generatorv1.Role_ROLE_USER || h[0].GetText() != c.question ||
				h[1].GetRole() != generatorv1.Role_ROLE_ASSISTANT ||
				!strings.HasPrefix(h[1].GetText(), c.answer) || len(h[1].GetText()) > 4001 {
				t.Errorf("the question follows %.200v", h)
			}
			if s.asked.GetQuestion() != "And when?" || kgtext.FormatKG(s.asked.GetKg()) != c.kg {
				t.Errorf("asked %q of %v", s.asked.GetQuestion(), s.asked.GetKg())
			}
		})
	}
}

func TestAskAfterARunThatIsNotThere(t *testing.T) {
	s := serve(t, &services{})
	triplemesh(t, nil, "", "ask", "And when?", "--server", s.addr, "--after", "last").Expect(t, ExitUsage,
		"there are no runs yet")
	s = serve(t, &services{err: status.Error(codes.NotFound,
		`there is no run "01NONE"; triplemesh runs lists those there are`)})
	triplemesh(t, nil, "", "ask", "And when?", "--server", s.addr, "--after", "01NONE").Expect(t, ExitFailed,
		"there is no run")
	if s.asked != nil {
		t.Errorf("asked %v", s.asked)
	}
}
