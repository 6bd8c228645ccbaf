package retriever

import (
	"strings"
	"testing"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

type calibrated struct {
	store.Snapshot
	kg string
}

func (c calibrated) Info() store.Info { return store.Info{KG: c.kg, TripleVectors: true} }

func TestGroundingSettingsPrecedence(t *testing.T) {
	t.Parallel()
	g, err := newGroundingDefaults(map[string]GroundingConfig{
		"mine": {MaxFacts: 7, MinConfidence: 0.4, MaxGap: 0.1, MaxRead: 50, MaxWalked: 3},
		"*":    {Preset: "paper", TopK: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	facts, least := uint32(9), float32(0.2)
	for _, c := range []struct {
		name, kg string
		asked    *retrieverv1.GroundingOptions
		change   func() ground.Options
	}{
		{"its own", "mine", nil, func() ground.Options {
			o := ground.Default()
			o.MaxFacts, o.MinConfidence, o.MaxGap, o.MaxRead, o.MaxWalked = 7, 0.4, 0.1, 50, 3
			return o
		}},
		{"those for all others", "other", nil, func() ground.Options {
			o := ground.Paper()
			o.TopK = 3
			return o
		}},
		{"a preset that the request names", "mine",
			&retrieverv1.GroundingOptions{Preset: retrieverv1.Preset_PRESET_DEFAULT}, ground.Default},
		{"what the request sets itself", "mine", &retrieverv1.GroundingOptions{MaxFacts: &facts, MinConfidence: &least},
			func() ground.Options {
				o := ground.Default()
				o.MaxFacts, o.MinConfidence, o.MinNamed, o.MaxGap = 9, 0.2, 0.2, 0.1
				o.MaxRead, o.MaxWalked = 50, 3
				return o
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := g.forRequest(t.Context(), calibrated{kg: c.kg}, c.asked)
			if err != nil {
				t.Fatal(err)
			}
			want := c.change()
			if got.TopK != want.TopK || got.MaxFacts != want.MaxFacts || got.MinConfidence != want.MinConfidence ||
				got.MinNamed != want.MinNamed || got.MaxGap != want.MaxGap || got.MaxList != want.MaxList ||
				got.MaxRead != want.MaxRead || got.MaxWalked != want.MaxWalked {
				t.Errorf("grounded by %+v, want %+v", got, want)
			}
		})
	}
}

func TestInvalidGroundingSettingsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config GroundingConfig
		says   string
	}{
		{"an unknown preset", GroundingConfig{Preset: "strict"}, `grounding.mine.preset is "strict"`},
		{"a confidence above one", GroundingConfig{MinConfidence: 1.5}, "grounding.mine.min_confidence"},
		{"a negative weight", GroundingConfig{NamedBonus: -1}, "named_bonus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := newGroundingDefaults(map[string]GroundingConfig{"mine": c.config})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}
