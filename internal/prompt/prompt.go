// Package prompt renders chat prompts from YAML files, which contain the system message, the template
// of a user message, and examples as turns of a conversation. Examples and question are rendered by
// the same template.
package prompt

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/triplemesh/triplemesh/internal/kgtext"
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

// Parse parses the prompt file name.yaml. The error names the file and its fault.
func Parse(files fs.FS, name string) (*Prompt, error) {
	p, err := parse(files, name)
	if err != nil {
		return nil, fmt.Errorf("read prompt %s: %w", name, err)
	}
	return p, nil
}

// Must is Parse for prompts embedded in the binary. It panics on an error.
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
	user, err := template.New(name).Option("missingkey=error").Funcs(templateFunctions).Parse(strings.TrimSpace(f.User))
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
		p.preamble = append(p.preamble, m, llm.Message{Role: llm.RoleAssistant,
			Content: strings.TrimSpace(e.Assistant)})
	}
	return p, nil
}

// Messages renders the prompt for data, whose fields the user template names. The constant system
// message and examples come first, for the prompt cache of model servers.
func (p *Prompt) Messages(data any) ([]llm.Message, error) {
	m, err := p.message(data)
	if err != nil {
		return nil, fmt.Errorf("render prompt %s: %w", p.name, err)
	}
	return append(p.preamble[:len(p.preamble):len(p.preamble)], m), nil
}

// Fill returns p with a placeholder of its system message replaced, as by a setting.
func (p *Prompt) Fill(placeholder, text string) *Prompt {
	filled := *p
	filled.preamble = slices.Clone(p.preamble)
	filled.preamble[0].Content = strings.Replace(filled.preamble[0].Content, placeholder, text, 1)
	return &filled
}

// Preamble returns what all prompts rendered from p begin with.
func (p *Prompt) Preamble() []llm.Message { return p.preamble[:len(p.preamble):len(p.preamble)] }

func (p *Prompt) message(data any) (llm.Message, error) {
	var b strings.Builder
	if err := p.user.Execute(&b, data); err != nil {
		return llm.Message{}, err
	}
	return llm.Message{Role: llm.RoleUser, Content: b.String()}, nil
}

// templateFunctions are what templates may call.
var templateFunctions = template.FuncMap{
	"line": Line,
	"inc":  func(i int) int { return i + 1 },
	"join": strings.Join,
}

// Line makes untrusted text safe for one line of a prompt. White space of any kind and control
// characters, at which some servers end a text, become single spaces, so that it cannot start a
// section; invisible characters are dropped, so that the model reads what people read; chat template
// marks are broken up, so that it cannot start a turn; and text like a section's heading is preceded
// by a dash.
func Line(text string) string {
	words := strings.FieldsFunc(strings.Map(dropInvisible, strings.ToValidUTF8(text, "\uFFFD")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	line := closings.Replace(openings.Replace(turnMarks.Replace(strings.Join(words, " "))))
	if headingPattern.MatchString(line) {
		line = "- " + line
	}
	return line
}

// dropInvisible drops characters that steer or hide text, and the tags and variation selectors that can hide
// a whole message in a letter.
func dropInvisible(r rune) rune {
	if kgtext.IsInvisible(r) || r >= 0xE0100 && r <= 0xE01EF || r >= 0xE0000 && r <= 0xE007F {
		return -1
	}
	return r
}

// The openings and closings of control tokens in the chat templates in use:
// <|im_start|>, <｜User｜>, [INST], <<SYS>>, <s>. Openings and closings may share a character, so they
// are broken up one after the other.
var (
	turnMarks = strings.NewReplacer(spreadMarks(
		"[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
		"[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>",
		"<start_of_turn>", "<end_of_turn>", "<think>", "</think>",
		"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
	)...)
	openings = strings.NewReplacer("<|", "< |", "<｜", "< ｜")
	closings = strings.NewReplacer("|>", "| >", "｜>", "｜ >")
)

// spreadMarks pairs each mark with itself spread out: "<s>" with "< s >".
func spreadMarks(marks ...string) (pairs []string) {
	for _, m := range marks {
		last := len(m) - 1
		pairs = append(pairs, m, m[:1]+" "+m[1:last]+" "+m[last:])
	}
	return pairs
}

// headingPattern matches how sections of prompts start, in this project and in formats that models were
// trained on: "Question:", "### Response", a fence.
var headingPattern = regexp.MustCompile("(?i)^(#{1,6} |```|~~~|---|===|\\*\\*\\*|" +
	`(question|last question|facts|evidence|draft|candidates|conversation|text|before|answer|system|user|human|` +
	`assistant|developer|tool|instructions?|input|output|response)\s*[:：])`)
