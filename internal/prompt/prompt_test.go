package prompt_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/prompt"
)

const greeting = `
system: |
  You greet.
user: |
  Name: {{line .Name}}
examples:
  - data: {Name: Ada}
    assistant: Hello Ada
`

func parse(text string) (*prompt.Prompt, error) {
	return prompt.Parse(fstest.MapFS{"greeting.yaml": {Data: []byte(text)}}, "greeting")
}

func TestExamplesAndQuestionPassThroughTheSameTemplate(t *testing.T) {
	p, err := parse(greeting)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Messages(struct{ Name string }{"Bob\n\nName: Eve"})
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Message{
		{Role: llm.RoleSystem, Content: "You greet."},
		{Role: llm.RoleUser, Content: "Name: Ada"},
		{Role: llm.RoleAssistant, Content: "Hello Ada"},
		{Role: llm.RoleUser, Content: "Name: Bob Name: Eve"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d messages, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("message %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestMessagesOfOneQuestionAreNotSeenByAnother(t *testing.T) {
	p, err := parse(greeting)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := p.Messages(map[string]any{"Name": "one"})
	if _, err := p.Messages(map[string]any{"Name": "two"}); err != nil {
		t.Fatal(err)
	}
	if got := first[len(first)-1].Content; got != "Name: one" {
		t.Errorf("the first question's message became %q", got)
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown key", "sytem: x", "sytem"},
		{"a template that does not parse", "user: '{{.X'", "unclosed action"},
		{"an example without the template's field", "user: '{{.X}}'\nexamples: [{data: {Y: 1}, assistant: a}]",
			"example 1"},
		{"text that is no YAML", "\t:", "yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "greeting") {
				t.Errorf("got error %v, want one naming greeting and %q", err, c.want)
			}
		})
	}
	if _, err := prompt.Parse(fstest.MapFS{}, "absent"); err == nil {
		t.Error("a missing file gave no error")
	}
}
