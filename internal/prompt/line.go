package prompt

import (
	"regexp"
	"strings"
	"unicode"
)

// Line makes text from outside safe to stand on one line of a prompt. White
// space of any kind and control characters, at which some servers end a text,
// become single spaces, so that it cannot open a section of its own; what nobody
// sees is left out, so that the model reads what people read; the marks with
// which chat templates tell turns apart are taken out of force, so that it
// cannot open a turn; and what would pass for the heading of a section gets a
// dash before it.
func Line(text string) string {
	words := strings.FieldsFunc(strings.Map(visible, strings.ToValidUTF8(text, "\uFFFD")), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	line := closings.Replace(openings.Replace(turnMarks.Replace(strings.Join(words, " "))))
	if heading.MatchString(line) {
		line = "- " + line
	}
	return line
}

// visible leaves out characters that are not to be seen but steer or hide text:
// those that turn its direction, spaces of no width, and the tags and variation
// selectors by which a whole message can hide in a letter. Joiners are part of
// some scripts.
func visible(r rune) rune {
	switch {
	case r == '\u200c' || r == '\u200d':
		return r
	case unicode.Is(unicode.Cf, r), r >= 0xE0100 && r <= 0xE01EF, r >= 0xE0000 && r <= 0xE007F:
		return -1
	}
	return r
}

// The openings and closings of control tokens in the chat templates in use:
// <|im_start|>, <｜User｜>, [INST], <<SYS>>, <s>. Openings and closings may share a
// sign, so they are taken out of force one after the other.
var (
	turnMarks = strings.NewReplacer(parted(
		"[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
		"[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>",
		"<start_of_turn>", "<end_of_turn>", "<think>", "</think>",
		"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
	)...)
	openings = strings.NewReplacer("<|", "< |", "<｜", "< ｜")
	closings = strings.NewReplacer("|>", "| >", "｜>", "｜ >")
)

// parted pairs each mark with itself spread out: "<s>" with "< s >".
func parted(marks ...string) (pairs []string) {
	for _, m := range marks {
		last := len(m) - 1
		pairs = append(pairs, m, m[:1]+" "+m[1:last]+" "+m[last:])
	}
	return pairs
}

// heading is how sections of prompts begin, in those of this project and in
// formats that models were taught: "Question:", "### Response", a fence.
var heading = regexp.MustCompile("(?i)^(#{1,6} |```|~~~|---|===|\\*\\*\\*|" +
	`(question|last question|facts|evidence|draft|candidates|conversation|text|before|answer|system|user|human|assistant|developer|tool|instructions?|input|output|response)\s*[:：])`)
