package openai

import (
	"strings"
	"unicode"
	"unicode/utf8"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// unbraced takes away the braces that answers stand in.
var unbraced = strings.NewReplacer("{", "", "}", "")

// contentOf is the answer as a person reads it. Where there is none, it says
// why.
func contentOf(run *orchestratorv1.Run) string {
	if text := strings.TrimSpace(unbraced.Replace(run.GetText())); text != "" {
		return text
	}
	var names []string
	for _, a := range run.GetAnswers() {
		names = append(names, a.GetAnswer())
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNSPECIFIED:
		return "There is no answer: the question was not to be taken so far."
	}
	return "There is no answer: " + run.GetGroundingReason() + "."
}

// remaining is what is still to be sent of an answer after some of it was sent
// as it was written. What was sent cannot be taken back: an answer that turned
// out otherwise follows it as a paragraph of its own.
func remaining(sent, content string) string {
	said := strings.TrimSpace(sent)
	if said == "" {
		return content
	}
	if rest, goesOn := strings.CutPrefix(content, strings.TrimLeftFunc(sent, unicode.IsSpace)); goesOn {
		return rest
	}
	// Reasoning may stand before the answer, or a space after it.
	if before, ends := strings.CutSuffix(said, content); ends && !wordAtEnd(before) {
		return ""
	}
	return "\n\n" + content
}

func wordAtEnd(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}
