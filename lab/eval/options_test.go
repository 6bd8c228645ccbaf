package eval

import (
	"math"
	"strings"
	"testing"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestOptionsBecomeARequest(t *testing.T) {
	t.Parallel()
	got, err := askOptions(results.Options{Until: "ground", Verification: "align", Reflection: "model", Preset: "paper",
		Ablation: "no-reflection", AnswerForm: "text", MaxHops: 3, BeamWidth: 5, AbstainBelow: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetUntil() != orchestratorv1.Stage_STAGE_GROUND_GRAPH ||
		got.GetVerification() != verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN ||
		got.GetReflection() != reflectorv1.ReflectionMode_REFLECTION_MODE_MODEL ||
		got.GetGrounding().GetPreset() != retrieverv1.Preset_PRESET_PAPER ||
		got.GetAblation() != orchestratorv1.Ablation_ABLATION_NO_REFLECTION ||
		got.GetAnswerForm() != graphv1.AnswerForm_ANSWER_FORM_TEXT ||
		got.GetMaxHops() != 3 || got.GetBeamWidth() != 5 || got.GetAbstainBelow() != 0.5 || !got.GetNoRecord() {
		t.Errorf("got %v", got)
	}
}

func TestEveryStageHasAName(t *testing.T) {
	t.Parallel()
	for number, name := range orchestratorv1.Stage_name {
		stage := orchestratorv1.Stage(number)
		if got, err := ParseStage(config.EnumName(stage)); number != 0 && (err != nil || got != stage) {
			t.Errorf("ParseStage(%q) = %v, %v, want %s", config.EnumName(stage), got, err, name)
		}
	}
}

func TestTheBeginningOfAStagesNameWillDoWhereNoOtherSharesIt(t *testing.T) {
	t.Parallel()
	if got, err := ParseStage("ground"); err != nil || got != orchestratorv1.Stage_STAGE_GROUND_GRAPH {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ParseStage("evaluate"); err == nil || !strings.Contains(err.Error(),
		"evaluate-question, evaluate-answers") {
		t.Errorf("two stages begin so, but got %v", err)
	}
}

func TestUnknownOptionsNameTheChoices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options results.Options
		want    []string
	}{
		{"a stage", results.Options{Until: "grounding"}, []string{"--until", `"grounding"`,
			"pseudo-graph, ground-graph, verify"}},
		{"a verification mode", results.Options{Verification: "free"}, []string{"--verification", `"free"`,
			"align, edits, rewrite"}},
		{"a reflection mode", results.Options{Reflection: "ask"}, []string{"--reflection", `"ask"`, "weigh, model"}},
		{"an ablation", results.Options{Ablation: "nothing"}, []string{"--ablation", `"nothing"`,
			"no-reflection, generator-reflects"}},
		{"an answer form", results.Options{AnswerForm: "prose"}, []string{"--answer-form", `"prose"`,
			"entities, text"}},
		{"too many hops", results.Options{MaxHops: 5}, []string{"--max-hops: must be at most 4"}},
		{"too wide a beam", results.Options{BeamWidth: 17}, []string{"--beam-width: must be at most 16"}},
		{"no share", results.Options{AbstainBelow: 1.5}, []string{"--abstain-below: must be between 0 and 1"}},
		{"no number", results.Options{AbstainBelow: float32(math.NaN())},
			[]string{"--abstain-below: must be between 0 and 1"}},
		{"a preset", results.Options{Preset: "unspecified"}, []string{"--preset", `"unspecified"`, "default, paper"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := askOptions(c.options)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestParseKG(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     results.KG
		bad      bool
	}{
		{name: "no knowledge graph", in: "", bad: true},
		{name: "the active snapshot", in: "wikidata", want: results.KG{Name: "wikidata"}},
		{name: "one snapshot", in: "wikidata@3", want: results.KG{Name: "wikidata", Snapshot: 3}},
		{name: "snapshots begin at 1", in: "wikidata@0", bad: true},
		{name: "a snapshot is a number", in: "wikidata@new", bad: true},
		{name: "a snapshot needs a name", in: "@3", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseKG(c.in)
			if (err != nil) != c.bad || got != c.want {
				t.Errorf("parseKG(%q) = %v, %v", c.in, got, err)
			}
		})
	}
}
