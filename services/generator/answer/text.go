package answer

import (
	"regexp"
	"strings"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// maxValues is how many objects of one subject and relation a text is given: a
// sentence that lists more tells nothing else.
const maxValues = 2

// told are the facts that a short text is written from: each subject and
// relation on a line with its objects, the limit ones nearest to the question.
// Drafts that nothing confirmed are told only where nothing is confirmed.
func told(facts []*graphv1.FixedTriple, limit int) []string {
	confirmed := false
	for _, f := range facts {
		confirmed = confirmed || supported(f)
	}
	type fact struct{ subject, relation string }
	var order []fact
	objects := map[fact][]string{}
	for i := len(facts) - 1; i >= 0; i-- { // the nearest stands last
		if t := facts[i].GetTriple(); supported(facts[i]) == confirmed {
			k := fact{t.GetSubject(), verbalise.Relation(t.GetRelation())}
			if objects[k] == nil {
				order = append(order, k)
			}
			objects[k] = append(objects[k], verbalise.Object(t))
		}
	}
	order = order[:min(len(order), limit)]
	lines := make([]string, len(order))
	for i, k := range order {
		values := objects[k]
		line := k.subject + " | " + k.relation + " | " + strings.Join(values[:min(len(values), maxValues)], "; ")
		if !confirmed {
			line += " (unconfirmed)"
		}
		lines[len(lines)-1-i] = line
	}
	return lines
}

func supported(f *graphv1.FixedTriple) bool {
	return f.GetStatus() == graphv1.TripleStatus_TRIPLE_STATUS_SUPPORTED
}

// answerMark stands between what a model reasons and the text it comes to.
var answerMark = regexp.MustCompile(`(?i)(?:^|\n)[ \t*#]*answer[ \t*]*:[ \t*]*`)

// braces are form of another kind of answer.
var braces = strings.NewReplacer("{", "", "}", "")

// prose is the text of an answer without the reasoning before it, and how sure
// the model was of its words.
func prose(resp llm.Response) (string, *float32) {
	from := 0
	if marks := answerMark.FindAllStringIndex(resp.Text, -1); len(marks) > 0 {
		from = marks[len(marks)-1][1]
	}
	tokens, at := resp.Tokens, 0
	for len(tokens) > 0 && at < from {
		at += len(tokens[0].Text)
		tokens = tokens[1:]
	}
	return strings.TrimSpace(braces.Replace(resp.Text[from:])), mean(tokens)
}
