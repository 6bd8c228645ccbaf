// Package prompt renders chat prompts that are kept as data: a YAML file holds
// the system message, the template of a user message, and examples as turns of
// a conversation. The examples pass through the same template as the question
// does, so what the model has seen and what it is asked never drift apart.
package prompt

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/llm"
)

// Prompt is one parsed prompt file.
type Prompt struct {
	name     string
	user     *template.Template
	preamble []llm.Message
}

// file is the shape of a prompt file.
type file struct {
	System   string    `yaml:"system"`
	User     string    `yaml:"user"`
	Examples []example `yaml:"examples"`
}

type example struct {
	Data      map[string]any `yaml:"data"`
	Assistant string         `yaml:"assistant"`
}

// Parse reads the prompt file name.yaml. The error names the file and what is
// wrong with it: prompts are part of a build, so this is a mistake of its
// author.
func Parse(files fs.FS, name string) (*Prompt, error) {
	p, err := parse(files, name)
	if err != nil {
		return nil, fmt.Errorf("read prompt %s: %w", name, err)
	}
	return p, nil
}

// Must is Parse for prompts embedded in the binary, where an error can only be
// a mistake of the build.
func Must(files fs.FS, name string) *Prompt {
	p, err := Parse(files, name)
	if err != nil {
		panic(err)
	}
	return p
}

func parse(files fs.FS, name string) (*Prompt, error) {
	text, err := fs.ReadFile(files, name+".yaml")
	if err != nil {
		return nil, err
	}
	var f file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		return nil, err
	}
	user, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(strings.TrimSpace(f.User))
	if err != nil {
		return nil, err
	}
	p := &Prompt{name: name, user: user}
	p.preamble = append(p.preamble, llm.Message{Role: llm.RoleSystem, Content: strings.TrimSpace(f.System)})
	for i, e := range f.Examples {
		m, err := p.message(e.Data)
		if err != nil {
			return nil, fmt.Errorf("example %d: %w", i+1, err)
		}
		p.preamble = append(p.preamble, m, llm.Message{Role: llm.RoleAssistant, Content: strings.TrimSpace(e.Assistant)})
	}
	return p, nil
}

// Messages renders the prompt for data, whose fields the user template names.
// The system message and the examples come first and are the same for every
// question, so that a model server can keep them in its prompt cache.
func (p *Prompt) Messages(data any) ([]llm.Message, error) {
	m, err := p.message(data)
	if err != nil {
		return nil, fmt.Errorf("render prompt %s: %w", p.name, err)
	}
	return append(p.preamble[:len(p.preamble):len(p.preamble)], m), nil
}

func (p *Prompt) message(data any) (llm.Message, error) {
	var b strings.Builder
	if err := p.user.Execute(&b, data); err != nil {
		return llm.Message{}, err
	}
	return llm.Message{Role: llm.RoleUser, Content: b.String()}, nil
}

// functions are what templates may call.
var functions = template.FuncMap{
	"line": Line,
	"inc":  func(i int) int { return i + 1 },
	"join": strings.Join,
}
