package guard

import (
	"slices"
	"strings"
)

// thoughts are what thinking aloud stands between, by what begins it. Servers
// that know a model put it into a field of its own; others leave it in the text.
var thoughts = map[string]string{
	"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>", "<reasoning>": "</reasoning>",
	"[THINK]": "[/THINK]", "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}

// ends are marks of chat templates, after which another turn would begin.
var ends = []string{
	"<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|start_header_id|>",
	"<|end|>", "<|return|>", "<|eom_id|>", "<end_of_turn>", "<start_of_turn>", "[/INST]",
}

// calls are marks of tools that a model wants to be called.
var calls = []string{"<tool_call>", "<tool_calls>", "[TOOL_CALLS]", "<|python_tag|>", "<function=", "<|tool_call|>"}

// longestMark is longer than any of them.
const longestMark = 32

// turn takes out of a text what is no part of the model's turn.
type turn struct {
	tools bool

	raw     string // not yet handed on
	began   bool   // something was handed on
	thought string // the mark that ends the thought that it is in
	after   bool   // a thought, and the space behind it
	over    bool
	called  bool // over by a call of a tool
}

// add takes the next piece and returns what is sure to be text.
func (t *turn) add(piece string) string { return t.take(piece, false) }

// close returns what is left: what might have become a mark became none. A
// thought that never ended is none of the answer.
func (t *turn) close() string { return t.take("", true) }

func (t *turn) take(piece string, last bool) string {
	if t.over {
		return ""
	}
	t.raw += piece
	if !t.began && !t.begin(last) {
		return ""
	}
	at, mark := first(t.raw, t.marks())
	if at >= 0 {
		out := t.raw[:at]
		t.raw = t.raw[at+len(mark):]
		t.called = slices.Contains(calls, mark)
		if !t.called && !t.began && strings.TrimSpace(out) == "" {
			return t.take("", last) // a mark before the answer ends nothing
		}
		t.over = true
		return t.out(out)
	}
	out := t.raw
	if !last {
		out = t.raw[:len(t.raw)-unsure(t.raw, t.marks())]
	}
	t.raw = t.raw[len(out):]
	return t.out(out)
}

func (t *turn) out(text string) string {
	t.began = t.began || strings.TrimSpace(text) != ""
	return text
}

// begin passes over thoughts, and tells whether the text itself is reached.
func (t *turn) begin(last bool) bool {
	if t.thought == "" {
		t.raw = strings.TrimPrefix(t.raw, "\ufeff")
		text := strings.TrimLeft(t.raw, " \t\r\n")
		if t.after {
			t.raw = text
		}
		for opens, closes := range thoughts {
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
		t.raw = t.raw[max(0, len(t.raw)-longestMark):]
		if last {
			t.raw = ""
		}
		return last
	}
	t.thought, t.raw, t.after = "", after, true
	return t.begin(last)
}

// unopened takes thoughts off that never began: chat templates may have opened
// them, so that the text holds their end alone.
func unopened(text string) string {
	for _, closes := range []string{"</think>", "</thinking>"} {
		if i := strings.LastIndex(text, closes); i >= 0 {
			text = strings.TrimLeft(text[i+len(closes):], " \t\r\n")
		}
	}
	return text
}

func (t *turn) marks() []string {
	if t.tools {
		return ends
	}
	return append(ends[:len(ends):len(ends)], calls...)
}

// first is the first of some marks in a text.
func first(text string, marks []string) (at int, mark string) {
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

// unsure is how many bytes at a text's end may be the beginning of a mark.
func unsure(text string, marks []string) int {
	for i := max(0, len(text)-longestMark); i < len(text); i++ {
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
