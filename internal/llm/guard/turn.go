package guard

import (
	"slices"
	"strings"
)

// thoughtMarks maps the opening marks of thoughts to the closing ones. Servers that know a model move
// thoughts into a field of their own; others leave them in the text.
var thoughtMarks = map[string]string{
	"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>", "<reasoning>": "</reasoning>",
	"[THINK]": "[/THINK]", "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}

// turnEndMarks are chat template marks that end a turn.
var turnEndMarks = []string{
	"<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|start_header_id|>",
	"<|end|>", "<|return|>", "<|eom_id|>", "<end_of_turn>", "<start_of_turn>", "[/INST]",
}

// toolCallMarks start tool calls.
var toolCallMarks = []string{"<tool_call>", "<tool_calls>", "[TOOL_CALLS]", "<|python_tag|>", "<function=",
	"<|tool_call|>"}

// maxMarkBytes exceeds the length of every mark.
const maxMarkBytes = 32

// turn removes thoughts and marks from the model's turn.
type turn struct {
	tools bool

	raw          string // not yet emitted
	began        bool   // something was emitted
	thought      string // the closing mark of the current thought
	afterThought bool   // a thought, and the space behind it
	ended        bool
	calledTool   bool // over by a call of a tool
}

// add takes the next piece and returns what is certainly text.
func (t *turn) add(piece string) string { return t.take(piece, false) }

// close returns the rest, in which no mark was completed. A thought without an end is dropped.
func (t *turn) close() string { return t.take("", true) }

func (t *turn) take(piece string, last bool) string {
	if t.ended {
		return ""
	}
	t.raw += piece
	if !t.began && !t.skipThoughts(last) {
		return ""
	}
	at, mark := firstMark(t.raw, t.marks())
	if at >= 0 {
		out := t.raw[:at]
		t.raw = t.raw[at+len(mark):]
		t.calledTool = slices.Contains(toolCallMarks, mark)
		if !t.calledTool && !t.began && strings.TrimSpace(out) == "" {
			return t.take("", last) // a mark before the answer ends nothing
		}
		t.ended = true
		return t.emit(out)
	}
	out := t.raw
	if !last {
		out = t.raw[:len(t.raw)-partialMarkLen(t.raw, t.marks())]
	}
	t.raw = t.raw[len(out):]
	return t.emit(out)
}

func (t *turn) emit(text string) string {
	t.began = t.began || strings.TrimSpace(text) != ""
	return text
}

// skipThoughts skips thoughts and reports whether the text itself is reached.
func (t *turn) skipThoughts(last bool) bool {
	if t.thought == "" {
		t.raw = strings.TrimPrefix(t.raw, "\ufeff")
		text := strings.TrimLeft(t.raw, " \t\r\n")
		if t.afterThought {
			t.raw = text
		}
		for opens, closes := range thoughtMarks {
			if strings.HasPrefix(text, opens) {
				t.thought, t.raw = closes, text[len(opens):]
				break
			}
			if !last && strings.HasPrefix(opens, text) {
				return false // not known yet
			}
		}
	}
	if t.thought == "" {
		return true
	}
	_, after, ended := strings.Cut(t.raw, t.thought)
	if !ended {
		t.raw = t.raw[max(0, len(t.raw)-maxMarkBytes):]
		if last {
			t.raw = ""
		}
		return last
	}
	t.thought, t.raw, t.afterThought = "", after, true
	return t.skipThoughts(last)
}

// stripUnopenedThought removes a thought that the chat template opened, so that the text contains only
// its closing mark.
func stripUnopenedThought(text string) string {
	for _, closes := range []string{"</think>", "</thinking>"} {
		if i := strings.LastIndex(text, closes); i >= 0 {
			text = strings.TrimLeft(text[i+len(closes):], " \t\r\n")
		}
	}
	return text
}

func (t *turn) marks() []string {
	if t.tools {
		return turnEndMarks
	}
	return append(turnEndMarks[:len(turnEndMarks):len(turnEndMarks)], toolCallMarks...)
}

func firstMark(text string, marks []string) (at int, mark string) {
	at = -1
	if !strings.ContainsAny(text, "<[") {
		return at, ""
	}
	for _, m := range marks {
		if i := strings.Index(text, m); i >= 0 && (at < 0 || i < at) {
			at, mark = i, m
		}
	}
	return at, mark
}

// partialMarkLen returns how many bytes at the end of a text may be the beginning of a mark.
func partialMarkLen(text string, marks []string) int {
	for i := max(0, len(text)-maxMarkBytes); i < len(text); i++ {
		if text[i] != '<' && text[i] != '[' {
			continue
		}
		for _, m := range marks {
			if strings.HasPrefix(m, text[i:]) {
				return len(text) - i
			}
		}
	}
	return 0
}
