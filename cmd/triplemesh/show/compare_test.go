package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// rtlRun has names that are long, wide, or written from right to left.
func rtlRun() *orchestratorv1.Run {
	run := ioRun()
	run.Answers = []*orchestratorv1.Answer{
		{Answer: "مريم العذراء وأصدقاؤها في المدينة القديمة بجانب النهر الكبير الذي يعبر البلاد"},
		{Answer: "紫式部日記絵巻と源氏物語絵巻の作者たちに関する長い長い名前のついた本"},
	}
	run.Answers[0].Evidence = pgakvRun().GetAnswers()[0].GetEvidence()
	return run
}

func printed(t *testing.T, print func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompareFitsTheTerminal(t *testing.T) {
	all := []Contestant{
		{Method: "pg-akv", Run: pgakvRun()}, {Method: "ger", Run: rtlRun()},
		{Method: "tog\x1b[2J", Failed: "the model\u202e server is down\nask the doctor"},
	}
	for _, width := range []int{40, 80, 120} {
		for n := 2; n <= 3; n++ {
			text := printed(t, func(b *bytes.Buffer) error { return Compare(b, all[:n], Style{Width: width}) })
			for line := range strings.Lines(text) {
				if got := runewidth.StringWidth(strings.TrimRight(line, "\n")); got > width {
					t.Errorf("%d columns of %d: %q", got, width, line)
				}
			}
			if strings.ContainsAny(text, "\x1b\u202e") || n == 3 && !strings.Contains(text, "failed: ") {
				t.Errorf("in %d columns it prints\n%s", width, text)
			}
		}
	}
}

func TestStagesPrintWhatTheyMade(t *testing.T) {
	for _, tt := range []struct {
		name  string
		run   *orchestratorv1.Run
		stage orchestratorv1.Stage
		want  string
	}{
		{"the draft", pgakvRun(), orchestratorv1.Stage_STAGE_PSEUDO_GRAPH, "Pseudo-graph"},
		{"the ground graph", pgakvRun(), orchestratorv1.Stage_STAGE_GROUND_GRAPH, "Ground graph"},
		{"the edits", pgakvRun(), orchestratorv1.Stage_STAGE_VERIFY, "Fixed graph"},
		{"topic entities", gerRun(), orchestratorv1.Stage_STAGE_LINK, "Topic entities"},
		{"paths", gerRun(), orchestratorv1.Stage_STAGE_PATHS, "Reasoning paths"},
		{"candidates", gerRun(), orchestratorv1.Stage_STAGE_CANDIDATES, "Candidates"},
		{"verdicts", gerRun(), orchestratorv1.Stage_STAGE_EVALUATE_ANSWERS, "right"},
		{"decisions", gerRun(), orchestratorv1.Stage_STAGE_REFLECT, "Reflection"},
		{"hits", ragRun(), orchestratorv1.Stage_STAGE_SEARCH, "Hits"},
		{"samples", scRun(), orchestratorv1.Stage_STAGE_SAMPLE, "Samples"},
		{"where tog starts", togRun(), orchestratorv1.Stage_STAGE_LINK, "Topic entities"},
		{"the last hop", togRun(), orchestratorv1.Stage_STAGE_EXPLORE, "Hop 2"},
		{"where rog starts", rogRun(), orchestratorv1.Stage_STAGE_LINK, "Topic entities"},
		{"what rog planned", rogRun(), orchestratorv1.Stage_STAGE_PATHS, "planned:"},
		{"the choice", autoRun(), orchestratorv1.Stage_STAGE_CHOOSE, "Method"},
		{"what was chosen", autoRun(), orchestratorv1.Stage_STAGE_GROUND_GRAPH, "Ground graph"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := printed(t, func(b *bytes.Buffer) error { return Stage(b, tt.stage, tt.run, Style{}) })
			if !strings.Contains(text, tt.want) {
				t.Errorf("it prints %q", text)
			}
			answer := printed(t, func(b *bytes.Buffer) error {
				return Stage(b, orchestratorv1.Stage_STAGE_ANSWER, tt.run, Style{})
			})
			if answer != "" {
				t.Errorf("of the answer it prints %q", answer)
			}
		})
	}
}
