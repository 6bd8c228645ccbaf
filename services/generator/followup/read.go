package followup

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/sentence"
	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// maxBytes is the longest question that the contract carries.
const maxBytes = 16384

// unbraced takes away the braces that answers stand in.
var unbraced = strings.NewReplacer("{", "", "}", "")

// label stands before a question where a model says what it writes.
var label = regexp.MustCompile(`(?i)^[ *#>-]*(?:(?:stand-?alone |rewritten |follow-up |new )*question|rewritten|output)[ *]*:[ *]*`)

// read takes the question out of what a model wrote, or says what is wrong with
// that.
func read(resp llm.Response, question string, turns []turn) (text, problem string) {
	if resp.Cut() {
		return "", "what the model wrote in its place was cut off"
	}
	for line := range strings.Lines(strings.ToValidUTF8(resp.Text, "")) {
		line = label.ReplaceAllString(strings.TrimSpace(line), "")
		line = strings.Trim(unbraced.Replace(line), " \t\"'`*“”«»")
		if strings.ContainsFunc(line, readable) && !strings.HasPrefix(line, "```") {
			text = line
			break
		}
	}
	switch {
	case text == "":
		return "", "the model wrote no question in its place"
	case sentence.Foreign(text, conversation(question, turns)):
		return "", "the model wrote one in its place in another script"
	case len(text) > maxBytes:
		return "", "what the model wrote in its place is too long"
	}
	if name := unheard(text, question, turns); name != "" {
		return "", fmt.Sprintf("the model wrote one in its place that names %q, which nobody has", name)
	}
	return text, ""
}

// conversation is all that was said.
func conversation(question string, turns []turn) string {
	for _, t := range turns {
		question += " " + t.Text
	}
	return question
}

// unheard is a name or a number in the text that stands nowhere in the
// conversation: the model's own guess at the answer, or an invention. Empty
// where there is none. A name is a word with a capital that begins no sentence.
func unheard(text, question string, turns []turn) string {
	heard := map[string]bool{}
	hear := func(said string) {
		for word := range strings.FieldsSeq(verbalise.Fold(said)) {
			heard[word] = true
		}
	}
	hear(question)
	for _, t := range turns {
		hear(t.Text)
	}
	begins := true
	for word := range strings.FieldsSeq(text) {
		name := strings.TrimFunc(word, func(r rune) bool { return !readable(r) })
		first := begins
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "?") || strings.HasSuffix(word, "!") || strings.HasSuffix(word, ":")
		if name == "" || (first || !unicode.IsUpper([]rune(name)[0])) && !strings.ContainsFunc(name, unicode.IsNumber) {
			continue
		}
		for part := range strings.FieldsSeq(verbalise.Fold(name)) {
			if !heard[part] && part != "s" && part != "i" {
				return name
			}
		}
	}
	return ""
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
