package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/lab/results"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// ParseStage reads a stage's name as runs show it, such as "ground-graph", or
// the beginning of one that no other stage shares, such as "ground". The empty
// name is no stage.
func ParseStage(name string) (orchestratorv1.Stage, error) {
	if name == "" {
		return orchestratorv1.Stage_STAGE_UNSPECIFIED, nil
	}
	var names []string
	var begin []orchestratorv1.Stage
	for n := range len(orchestratorv1.Stage_name) - 1 {
		stage := orchestratorv1.Stage(n + 1) // 0 is no stage
		full := config.EnumName(stage)
		if full == name {
			return stage, nil
		}
		if strings.HasPrefix(full, name) {
			begin = append(begin, stage)
		}
		names = append(names, full)
	}
	if len(begin) == 1 {
		return begin[0], nil
	}
	return 0, fmt.Errorf("unknown stage %q; it is one of %s", name, strings.Join(names, ", "))
}

// askOptions turns options into those of a request. Evaluated questions stay
// out of the run database: the evaluation keeps its own runs.
func askOptions(o results.Options) (*orchestratorv1.AskOptions, error) {
	until, err := ParseStage(o.Until)
	if err != nil {
		return nil, fmt.Errorf("--until: %w", err)
	}
	mode, err := config.ParseEnum[verifierv1.VerificationMode](o.Verification)
	if err != nil {
		return nil, fmt.Errorf("--verification: %w", err)
	}
	reflection, err := config.ParseEnum[reflectorv1.ReflectionMode](o.Reflection)
	if err != nil {
		return nil, fmt.Errorf("--reflection: %w", err)
	}
	preset, err := config.ParseEnum[retrieverv1.Preset](o.Preset)
	if err != nil {
		return nil, fmt.Errorf("--preset: %w", err)
	}
	ablation, err := config.ParseEnum[orchestratorv1.Ablation](o.Ablation)
	if err != nil {
		return nil, fmt.Errorf("--ablation: %w", err)
	}
	form, err := config.ParseEnum[graphv1.AnswerForm](o.AnswerForm)
	if err != nil {
		return nil, fmt.Errorf("--answer-form: %w", err)
	}
	switch {
	case o.MaxHops > 4:
		return nil, fmt.Errorf("--max-hops: must be at most 4, is %d", o.MaxHops)
	case o.BeamWidth > 16:
		return nil, fmt.Errorf("--beam-width: must be at most 16, is %d", o.BeamWidth)
	case !(o.AbstainBelow >= 0 && o.AbstainBelow <= 1):
		return nil, fmt.Errorf("--abstain-below: must be between 0 and 1, is %v", o.AbstainBelow)
	}
	return &orchestratorv1.AskOptions{
		Until:        until,
		Verification: mode,
		Reflection:   reflection,
		Grounding:    &retrieverv1.GroundingOptions{Preset: preset},
		Ablation:     ablation,
		AnswerForm:   form,
		MaxHops:      o.MaxHops,
		BeamWidth:    o.BeamWidth,
		AbstainBelow: o.AbstainBelow,
		NoRecord:     true,
	}, nil
}

// parseKG reads "name" or "name@snapshot".
func parseKG(text string) (results.KG, error) {
	name, number, pinned := strings.Cut(text, "@")
	if !pinned && name != "" {
		return results.KG{Name: name}, nil
	}
	snapshot, err := strconv.ParseUint(number, 10, 64)
	if err != nil || snapshot == 0 || name == "" {
		return results.KG{}, fmt.Errorf("%q is no knowledge graph; write a name, or a name and a snapshot number "+
			"such as wikidata@3", text)
	}
	return results.KG{Name: name, Snapshot: snapshot}, nil
}

// kgRef returns a knowledge graph as requests name it; nil if there is none.
func kgRef(kg results.KG) *graphv1.KnowledgeGraphRef {
	if kg.Name == "" {
		return nil
	}
	return &graphv1.KnowledgeGraphRef{Name: kg.Name, Snapshot: kg.Snapshot}
}
