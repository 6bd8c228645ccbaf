package llm

import (
	"regexp"
	"strings"
)

// fenced is a code fence; one that a text's end cut off is closed there.
var fenced = regexp.MustCompile("(?s)(?:^|\n)[ \t]*```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)(?:\n[ \t]*```[ \t]*(?:\n|$)|$)")

// unfenced is what stands in the only code fence of a text, without the chatter
// around it; a text with none, or with several, as it is.
func unfenced(text string) string {
	if strings.Count(text, "```") > 2 {
		return text
	}
	if found := fenced.FindStringSubmatch(text); found != nil && strings.TrimSpace(found[1]) != "" {
		return found[1]
	}
	return text
}
