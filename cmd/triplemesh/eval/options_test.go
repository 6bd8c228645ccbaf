package eval

import (
	"strings"
	"testing"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestOptionsBecomeARequest(t *testing.T) {
	t.Parallel()
	got, err := Options{Until: "ground", Verification: "align", Preset: "paper"}.request()
	if err != nil {
		t.Fatal(err)
	}
	if got.GetUntil() != orchestratorv1.Stage_STAGE_GROUND_GRAPH ||
		got.GetVerification() != verifierv1.VerificationMode_VERIFICATION_MODE_ALIGN ||
		got.GetGrounding().GetPreset() != retrieverv1.Preset_PRESET_PAPER || !got.GetNoRecord() {
		t.Errorf("got %v", got)
	}
}

func TestEveryStageHasAName(t *testing.T) {
	t.Parallel()
	named := make(map[orchestratorv1.Stage]bool)
	for _, s := range stages {
		got, err := ParseStage(s.name)
		if err != nil || got != s.stage {
			t.Errorf("ParseStage(%q) = %v, %v, want %v", s.name, got, err, s.stage)
		}
		named[got] = true
	}
	for number, name := range orchestratorv1.Stage_name {
		if number != 0 && !named[orchestratorv1.Stage(number)] {
			t.Errorf("--until has no name for %s", name)
		}
	}
}

func TestUnknownOptionsNameTheChoices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options Options
		want    []string
	}{
		{"a stage", Options{Until: "grounding"}, []string{"--until", `"grounding"`, "pseudo-graph, ground, verify"}},
		{"a verification mode", Options{Verification: "free"}, []string{"--verification", `"free"`, "align, edits, rewrite"}},
		{"a preset", Options{Preset: "unspecified"}, []string{"--preset", `"unspecified"`, "default, paper"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.options.request()
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
		name, in, kg string
		snapshot     uint64
		bad          bool
	}{
		{name: "no knowledge graph", in: ""},
		{name: "the active snapshot", in: "wikidata", kg: "wikidata"},
		{name: "one snapshot", in: "wikidata@3", kg: "wikidata", snapshot: 3},
		{name: "snapshots begin at 1", in: "wikidata@0", bad: true},
		{name: "a snapshot is a number", in: "wikidata@new", bad: true},
		{name: "a snapshot needs a name", in: "@3", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseKG(c.in)
			if (err != nil) != c.bad || got.GetName() != c.kg || got.GetSnapshot() != c.snapshot {
				t.Errorf("parseKG(%q) = %v, %v", c.in, got, err)
			}
		})
	}
}
