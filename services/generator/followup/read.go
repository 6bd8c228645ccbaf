package followup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
)

// maxBytes is the longest question that the API accepts.
const maxBytes = 16384

// withoutBraces removes the braces around answers.
var withoutBraces = strings.NewReplacer("{", "", "}", "")

// label matches what a model writes before the question.
var label = regexp.MustCompile(
	`(?i)^[ *#>-]*(?:(?:stand-?alone |rewritten |follow-up |new )*question|rewritten|output)[ *]*:[ *]*`)

// parseRewritten returns the question in a model's output, or the problem with the output.
func parseRewritten(resp llm.Response, question string, turns []turn) (text, problem string) {
	if resp.Truncated() {
		return "", "what the model wrote in its place was cut off"
	}
	for line := range strings.Lines(strings.ToValidUTF8(resp.Text, "")) {
		line = label.ReplaceAllString(strings.TrimSpace(line), "")
		line = strings.Trim(withoutBraces.Replace(line), " \t\"'`*“”«»")
		if strings.ContainsFunc(line, readable) && !strings.HasPrefix(line, "```") {
			text = line
			break
		}
	}
	switch {
	case text == "":
		return "", "the model wrote no question in its place"
	case kgtext.IsForeignScript(text, conversation(question, turns)):
		return "", "the model wrote one in its place in another script"
	case len(text) > maxBytes:
		return "", "what the model wrote in its place is too long"
	}
	if name := unmentionedName(text, question, turns); name != "" {
		return "", fmt.Sprintf("the model wrote one in its place that names %q, which nobody has", name)
	}
	return text, ""
}

func conversation(question string, turns []turn) string {
	for _, t := range turns {
		question += " " + t.Text
	}
	return question
}

// unmentionedName returns a name or number in the text that does not occur in the conversation: the
// model's guess at the answer or an invention; empty if there is none. A name is a capitalised word
// that is not the first of a sentence.
func unmentionedName(text, question string, turns []turn) string {
	heard := map[string]bool{}
	hear := func(said string) {
		for word := range strings.FieldsSeq(kgtext.Fold(said)) {
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
		begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, "?") || strings.HasSuffix(word, "!") ||
			strings.HasSuffix(word, ":")
		if name == "" || (first || !unicode.IsUpper([]rune(name)[0])) && !strings.ContainsFunc(name, unicode.IsNumber) {
			continue
		}
		for part := range strings.FieldsSeq(kgtext.Fold(name)) {
			if !heard[part] && part != "s" && part != "i" {
				return name
			}
		}
	}
	return ""
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// replaceName returns the previous question with another name in it, if the question is only that:
// "And of Norland?". Small models repeat such a question unchanged. ok is false if the question
// says more, or if more than one name could be meant.
func replaceName(question string, turns []turn) (string, bool) {
	before := ""
	for _, t := range turns {
		if !t.isQuestion() {
			continue
		}
		if again, ok := replaceNameIn(t.Text, before); ok {
			before = again // a chain of them
		} else {
			before = strings.TrimSpace(t.Text)
		}
	}
	return replaceNameIn(question, before)
}

// pronoun matches what may refer to something before: possessive with a word behind it, or alone.
var pronoun = regexp.MustCompile(`(?i)\b(?:(his|her|their|its) (\pL)|(he|she|they|it|him|her|them)\b)`)

// replacePronoun returns the question with the one name of the conversation in the place of its pronoun, or the
// one that several turns spell. ok is false if there are several pronouns, or another number of such names of
// several words.
func replacePronoun(question string, turns []turn) (string, bool) {
	var names, repeated []string
	for _, t := range turns {
		for _, name := range kgtext.MissingNames(t.Text, nil) {
			switch {
			case !slices.Contains(names, name):
				names = append(names, name)
			case !slices.Contains(repeated, name):
				repeated = append(repeated, name)
			}
		}
	}
	if len(repeated) == 1 {
		names = repeated
	}
	at := pronoun.FindAllStringSubmatchIndex(question, 2)
	if len(at) != 1 || len(names) != 1 {
		return "", false
	}
	if m := at[0]; m[2] >= 0 {
		return question[:m[2]] + names[0] + "'s" + question[m[3]:], true
	}
	return question[:at[0][6]] + names[0] + question[at[0][7]:], true
}

// elliptic matches a question that is only a name, joined to the previous question by a word, a
// preposition, or both.
var elliptic = regexp.MustCompile(
	`^(?i:(and|or|but|what about|how about|and what about|and how about),? )?(?i:(of|in|for|from|by|at|on) )?` +
		nameExpr + `[ ?.!]*$`)

// namePattern matches a name and the word before it.
var namePattern = regexp.MustCompile(`(?:(\p{Ll}+) )?\b` + nameExpr)

// openers begin questions; their capital does not make them names.
var openers = map[string]bool{
	"who": true, "whom": true, "whose": true, "what": true, "which": true, "where": true, "when": true,
	"why": true, "how": true,
	"is": true, "are": true, "was": true, "were": true, "do": true, "does": true, "did": true, "has": true,
	"have": true, "had": true,
	"can": true, "could": true, "will": true, "would": true, "in": true, "of": true, "at": true, "on": true, "by": true,
	"from": true, "for": true,
	"the": true, "name": true, "list": true, "give": true, "tell": true, "and": true,
}

func replaceNameIn(question, before string) (string, bool) {
	said := elliptic.FindStringSubmatch(strings.TrimSpace(question))
	if said == nil || said[1] == "" && said[2] == "" {
		return "", false
	}
	preposition, other := strings.ToLower(said[2]), strings.TrimRight(said[3], ".")
	for word := range strings.FieldsSeq(kgtext.Fold(other)) {
		if referringWords[word] || openers[word] && len(strings.Fields(other)) == 1 {
			return "", false
		}
	}
	var found [][2]int
	for _, at := range namePattern.FindAllStringSubmatchIndex(before, -1) {
		start, end := at[4], at[5]
		if start == 0 { // the first word of a question has a capital whatever it is
			first, _, more := strings.Cut(before[:end], " ")
			if openers[strings.ToLower(first)] {
				if !more {
					continue
				}
				start = len(first) + 1
			}
		}
		if preposition != "" && (at[2] < 0 || before[at[2]:at[3]] != preposition) {
			continue
		}
		for _, possessive := range []string{"'s", "’s"} {
			if trimmed, ok := strings.CutSuffix(before[start:end], possessive); ok {
				end = start + len(trimmed)
			}
		}
		found = append(found, [2]int{start, end})
	}
	if len(found) != 1 {
		return "", false
	}
	return before[:found[0][0]] + other + before[found[0][1]:], true
}
