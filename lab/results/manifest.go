package results

import (
	"fmt"
	"slices"
)

const manifestName = "manifest.json"

// Format is the version of the files in a results directory. Results of
// another one are refused: what was measured, or how, differs.
const Format = 3

// Manifest says what a results directory holds the results of: one method with
// one set of options over one dataset and one or more knowledge graphs.
type Manifest struct {
	// Format is the version of the files.
	Format int `json:"format"`
	// Version is the version of the program.
	Version string `json:"version"`
	// Dataset is the file of questions.
	Dataset Dataset `json:"dataset"`
	// Asked is how many of its questions the evaluation is to ask. Where there
	// are fewer records, it ended early.
	Asked int `json:"asked"`
	// Part is the part of the dataset that is asked: tune, validate, report or all.
	Part string `json:"part"`
	// KG is the knowledge graph's name; empty if none was named.
	KG string `json:"kg,omitempty"`
	// Snapshot is the snapshot that every question read; 0 until the first
	// answer names it, and for methods that read none.
	Snapshot uint64 `json:"snapshot,omitempty"`
	// OtherKGs are the knowledge graphs read beside it.
	OtherKGs []KG `json:"other_kgs,omitempty"`
	// Method is the method's name.
	Method string `json:"method"`
	// Options are its settings.
	Options Options `json:"options"`
	// GoldEntities reports whether the dataset's topic entities were given;
	// otherwise they were linked.
	GoldEntities bool `json:"gold_entities"`
	// Reader reads evidence in place of the model, such as oracle or oracle:0.2; empty if the model
	// reads.
	Reader string `json:"reader,omitempty"`
	// Seed is the seed of the sample.
	Seed int64 `json:"seed"`
	// Models are the models that the runs name, in the order in which they
	// first did.
	Models []string `json:"models,omitempty"`
	// Encoder is the encoder that made the snapshot's vectors; empty where it
	// is not known.
	Encoder string `json:"encoder,omitempty"`
	// Leak is what the check for leaks found; nil where it could not be made.
	Leak *Leak `json:"leak,omitempty"`
}

// Dataset is the file of questions that was evaluated.
type Dataset struct {
	// Name is what tables call it, such as "webqsp".
	Name string `json:"name"`
	// Path is the file it was read from.
	Path string `json:"path"`
	// Format is the name of its format.
	Format string `json:"format"`
	// SHA256 is its checksum, in hexadecimal.
	SHA256 string `json:"sha256"`
	// Questions is how many the part of it holds that is asked.
	Questions int `json:"questions"`
}

// KG is one snapshot of a knowledge graph.
type KG struct {
	// Name is the knowledge graph's name.
	Name string `json:"name"`
	// Snapshot is its number; 0 until the first answer names it.
	Snapshot uint64 `json:"snapshot,omitempty"`
}

// String returns "name", or "name@snapshot" where the snapshot is settled.
func (k KG) String() string {
	if k.Snapshot == 0 {
		return k.Name
	}
	return fmt.Sprintf("%s@%d", k.Name, k.Snapshot)
}

// KGs returns all knowledge graphs that were read, the first one first.
func (m Manifest) KGs() []KG {
	if m.KG == "" {
		return slices.Clone(m.OtherKGs)
	}
	return append([]KG{{m.KG, m.Snapshot}}, m.OtherKGs...)
}

// Options are the settings of a method that an evaluation may change, as the
// flags spell them. An unset one leaves the choice to the services.
type Options struct {
	// Until is the stage to stop after.
	Until string `json:"until,omitempty" yaml:"until"`
	// Verification is how the pseudo-graph is corrected.
	Verification string `json:"verification,omitempty" yaml:"verification"`
	// Reflection is how Ger's answers are settled.
	Reflection string `json:"reflection,omitempty" yaml:"reflection"`
	// Preset names the grounding parameters.
	Preset string `json:"preset,omitempty" yaml:"preset"`
	// Ablation is the part of the method that is done without.
	Ablation string `json:"ablation,omitempty" yaml:"ablation"`
	// AnswerForm is entities or text.
	AnswerForm string `json:"answer_form,omitempty" yaml:"answer_form"`
	// MaxHops is the longest relation path.
	MaxHops uint32 `json:"max_hops,omitempty" yaml:"max_hops"`
	// BeamWidth is how many entities are explored at a time.
	BeamWidth uint32 `json:"beam_width,omitempty" yaml:"beam_width"`
	// AbstainBelow is the confidence, 0 to 1, below which there is no answer.
	AbstainBelow float32 `json:"abstain_below,omitempty" yaml:"abstain_below"`
	// RelationPaths is the checksum, in hexadecimal, of the file whose relation
	// paths were given with the questions.
	RelationPaths string `json:"relation_paths,omitempty" yaml:"-"`
}

// List names the options that are set, each with its value, in a fixed order:
// {"ablation", "no-reflection"}.
func (o Options) List() [][2]string {
	var out [][2]string
	add := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" {
			out = append(out, [2]string{name, text})
		}
	}
	add("ablation", o.Ablation)
	add("until", o.Until)
	add("verification", o.Verification)
	add("reflection", o.Reflection)
	add("preset", o.Preset)
	add("answer-form", o.AnswerForm)
	add("max-hops", o.MaxHops)
	add("beam-width", o.BeamWidth)
	add("abstain-below", o.AbstainBelow)
	if o.RelationPaths != "" {
		add("relation-paths", o.RelationPaths[:min(8, len(o.RelationPaths))])
	}
	return out
}

// Variant returns the method with the options that make it another: "ger
// no-reflection", "ger max-hops 3".
func (m Manifest) Variant() string {
	name := m.Method
	for _, option := range m.Options.List() {
		switch option[0] {
		case "ablation", "verification", "preset":
			name += " " + option[1]
		case "answer-form":
		default:
			name += " " + option[0] + " " + option[1]
		}
	}
	if m.Reader != "" {
		name += " reader " + m.Reader
	}
	return name
}

// What the topic entities of an evaluation are.
const (
	// Gold ones are the dataset's.
	Gold = "gold"
	// Linked ones are found in the question.
	Linked = "linked"
	// NoEntities are asked for by the method.
	NoEntities = "none"
)

// Entities says where the topic entities of an evaluation come from. Figures
// with gold ones do not compare with figures with linked ones.
func (m Manifest) Entities() string {
	switch {
	case slices.Contains([]string{"io", "cot", "sc", "rag"}, m.Method):
		return NoEntities
	case m.GoldEntities && m.Method != "pg-akv": // it is not given any
		return Gold
	}
	return Linked
}
