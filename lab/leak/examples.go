package leak

import (
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Prompts are the prompt files of a stage.
type Prompts struct {
	Stage string
	Files fs.FS
}

// FewShot returns the set of the few-shot examples in the stages' prompts.
func FewShot(stages []Prompts) (Set, error) {
	set := Set{Name: "few-shot examples"}
	for _, stage := range stages {
		texts, err := Examples(stage.Stage, stage.Files)
		if err != nil {
			return Set{}, err
		}
		set.Texts = append(set.Texts, texts...)
	}
	return set, nil
}

// Examples returns the questions of the examples in prompt files, *.yaml in the form
// that internal/prompt reads, each named by the stage, its file and its number:
// "generator/pseudo_graph 2". Examples that ask no question are passed over.
func Examples(stage string, files fs.FS) ([]Text, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("read the prompts of the %s: %w", stage, err)
	}
	var texts []Text
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read the prompts of the %s: %w", stage, err)
		}
		var prompt struct {
			Examples []struct {
				Data struct {
					Question string `yaml:"Question"`
				} `yaml:"data"`
			} `yaml:"examples"`
		}
		if err := yaml.Unmarshal(data, &prompt); err != nil {
			return nil, fmt.Errorf("read the prompt %s of the %s: %w", name, stage, err)
		}
		for i, example := range prompt.Examples {
			if example.Data.Question != "" {
				texts = append(texts, Text{
					ID:       fmt.Sprintf("%s/%s %d", stage, strings.TrimSuffix(name, ".yaml"), i+1),
					Question: example.Data.Question,
				})
			}
		}
	}
	return texts, nil
}
