package calibrate

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Setting is one way to ground: a preset, and what differs from it.
type Setting struct {
	// Preset is default or paper.
	Preset string `json:"preset"`
	// Values are the parameters that differ, by their names in the
	// configuration.
	Values map[string]float64 `json:"values,omitempty"`
}

// parameter is one number of grounding, with the values that are tried.
type parameter struct {
	name   string
	values []float64
	set    func(*retrieverv1.GroundingOptions, float64)
}

// parameters are tried in this order: what decides most goes first.
var parameters = []parameter{
	{"min_confidence", []float64{0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MinConfidence = proto.Float32(float32(v))
	}},
	{"min_named", []float64{0.1, 0.2, 0.3, 0.4, 0.5}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MinNamed = proto.Float32(float32(v))
	}},
	{"max_subjects", []float64{1, 2, 3, 5, 8, 12}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MaxSubjects = proto.Uint32(uint32(v))
	}},
	{"max_gap", []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MaxGap = proto.Float32(float32(v))
	}},
	{"max_facts", []float64{6, 9, 12, 15, 18, 24, 30, 40}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MaxFacts = proto.Uint32(uint32(v))
	}},
	{"max_list", []float64{3, 5, 10, 20, 40}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.MaxList = proto.Uint32(uint32(v))
	}},
	{"top_k", []float64{5, 10, 20, 40}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.TopK = proto.Uint32(uint32(v))
	}},
	{"question_weight", []float64{0.25, 0.5, 1, 2}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.QuestionWeight = proto.Float32(float32(v))
	}},
	{"relation_weight", []float64{0.25, 0.5, 1, 2}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.RelationWeight = proto.Float32(float32(v))
	}},
	{"named_bonus", []float64{0.05, 0.1, 0.2, 0.4}, func(o *retrieverv1.GroundingOptions,
		v float64) {
		o.NamedBonus = proto.Float32(float32(v))
	}},
}

// presets are where the search may begin.
var presets = map[string]retrieverv1.Preset{
	"default": retrieverv1.Preset_PRESET_DEFAULT,
	"paper":   retrieverv1.Preset_PRESET_PAPER,
}

// withParameter returns the setting with one parameter changed.
func (s Setting) withParameter(name string, value float64) Setting {
	changed := Setting{Preset: s.Preset, Values: map[string]float64{}}
	maps.Copy(changed.Values, s.Values)
	changed.Values[name] = value
	return changed
}

// options returns what a request carries for it.
func (s Setting) options() *retrieverv1.GroundingOptions {
	o := &retrieverv1.GroundingOptions{Preset: presets[s.Preset]}
	for _, p := range parameters {
		if v, ok := s.Values[p.name]; ok {
			p.set(o, v)
		}
	}
	return o
}

// String names the setting: "default max_facts=15".
func (s Setting) String() string {
	var b strings.Builder
	b.WriteString(s.Preset)
	for _, p := range parameters {
		if v, ok := s.Values[p.name]; ok {
			fmt.Fprintf(&b, " %s=%s", p.name, number(v))
		}
	}
	return b.String()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
