package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
)

const (
	// maxTurns is how much of a conversation goes along with its last question:
	// follow-ups refer to what was said a moment ago.
	maxTurns = 16
	// maxTurnBytes is how much of a turn does.
	maxTurnBytes = 4096
)

// message is one message of a conversation.
type message struct {
	Role string `json:"role"`
	// Content is a string, or an array of parts.
	Content json.RawMessage `json:"content"`
}

// roles are whose words a message holds. Those of others than the two who speak
// (system, developer, tool, function) are left alone: a question is answered
// from facts, by prompts that are the same for everybody.
var roles = map[string]generatorv1.Role{
	"user":      generatorv1.Role_ROLE_USER,
	"assistant": generatorv1.Role_ROLE_ASSISTANT,
	"system":    generatorv1.Role_ROLE_UNSPECIFIED,
	"developer": generatorv1.Role_ROLE_UNSPECIFIED,
	"tool":      generatorv1.Role_ROLE_UNSPECIFIED,
	"function":  generatorv1.Role_ROLE_UNSPECIFIED,
}

// conversation takes the last question and what was said before it out of
// messages.
func conversation(messages []message) (question string, history []*generatorv1.Turn, err error) {
	last := -1
	for i, m := range messages {
		role, ok := roles[m.Role]
		if !ok {
			return "", nil, invalid(fmt.Sprintf("messages[%d].role", i), "messages[%d].role: %q is no role; there are user, assistant, system, developer, tool and function", i, m.Role)
		}
		if role != generatorv1.Role_ROLE_UNSPECIFIED {
			last = i
		}
	}
	if last < 0 || messages[last].Role != "user" {
		return "", nil, invalid("messages", "messages: the last one must be a user's question")
	}
	question, other, err := messages[last].text()
	param := fmt.Sprintf("messages[%d].content", last)
	switch {
	case err != nil:
		return "", nil, invalid(param, "%s: want a string, or an array of parts", param)
	case other != "":
		return "", nil, invalid(param, "%s: a question is text: a part of type %q cannot be read", param, other)
	case strings.TrimSpace(question) == "":
		return "", nil, invalid(param, "%s: the question is empty", param)
	}
	for _, m := range slices.Backward(messages[:last]) {
		role := roles[m.Role]
		text, _, err := m.text()
		if text = strings.TrimSpace(text); role == generatorv1.Role_ROLE_UNSPECIFIED || err != nil || text == "" {
			continue
		}
		if len(history) == maxTurns {
			break
		}
		history = append(history, &generatorv1.Turn{Role: role, Text: beginning(text)})
	}
	slices.Reverse(history)
	return question, history, nil
}

// text is what a message says. Of parts that are no text, it is the type of the
// first one.
func (m message) text() (text, other string, err error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return "", "", nil
	}
	if err = json.Unmarshal(m.Content, &text); err == nil {
		return text, "", nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if err = json.Unmarshal(m.Content, &parts); err != nil {
		return "", "", err
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			texts = append(texts, p.Text)
		case "refusal":
			texts = append(texts, p.Refusal)
		default:
			if other == "" {
				other = p.Type
			}
		}
	}
	return strings.Join(texts, "\n"), other, nil
}

// beginning is as much of a text as a turn holds.
func beginning(text string) string {
	if len(text) <= maxTurnBytes {
		return text
	}
	text = text[:maxTurnBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
