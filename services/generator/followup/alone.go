package followup

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
)

// alone tells whether a question surely refers to nothing that was said before:
// it asks one thing about what it names in full, and nothing of that name was
// spoken of. In doubt it does not: a model call costs less than an answer to
// another question.
func alone(question string, turns []turn) bool {
	match := whole.FindStringSubmatch(strings.TrimSpace(question))
	if match == nil {
		return false
	}
	named := strings.Join(match[1:], " ") // only one alternative has matched
	said := ""
	for _, t := range turns {
		said += " " + t.Text
	}
	said = " " + verbalise.Fold(said) + " "
	telling := false
	for word := range strings.FieldsSeq(verbalise.Fold(named)) {
		if pointing[word] || !small[word] && strings.Contains(said, " "+word+" ") {
			return false
		}
		telling = telling || !small[word]
	}
	return telling
}

// name is a name to its end: words with capitals and what joins them.
const name = `((?:[Tt]he )?\p{Lu}[\p{L}\p{N}'’.&-]*(?: (?:(?:of|the|and|in|on|for|to|a|de|du|von|van|der) )*[\p{Lu}\p{N}][\p{L}\p{N}'’.&-]*)*)`

// whole matches questions whose form leaves nothing out: what is asked of a
// name, and the name as the last words.
var whole = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`(?i:who|what|where) (?:is|was|are|were) ` + name,
	`(?i:who|what|where|when) (?:is|was|are|were) the \p{Ll}+(?: \p{Ll}+){0,2} of ` + name,
	`(?i:who) \p{Ll}+ed ` + name,
	`(?i:who) (?:wrote|built|made|led|won|ran|sang) ` + name,
	`(?i:when|where) (?:was|were) ` + name + ` (?:born|built|founded|written|made|released|published|discovered|invented|formed)`,
	`(?i:when|where|how) did ` + name + ` die`,
	`(?i:please )?(?i:tell me(?: more| something)? about|describe|what do you know about|what can you tell me about) ` + name,
}, "|") + `)[ ?.!]*$`)

// small are words of names that say nothing by themselves.
var small = map[string]bool{
	"of": true, "the": true, "and": true, "in": true, "on": true, "for": true, "to": true, "a": true,
	"de": true, "du": true, "von": true, "van": true, "der": true,
}

// pointing are words that stand for something else, capitals or not.
var pointing = map[string]bool{
	"he": true, "she": true, "it": true, "they": true, "him": true, "her": true, "them": true, "his": true, "its": true, "their": true,
	"this": true, "that": true, "these": true, "those": true, "one": true, "ones": true, "there": true, "here": true, "then": true,
	"first": true, "second": true, "third": true, "last": true, "other": true, "others": true, "same": true, "both": true, "former": true, "latter": true,
}
