package load

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

const (
	// ScriptedSubjects is how many entities the facts are about.
	ScriptedSubjects = 100
	// Questions is how many questions there are about them.
	Questions = ScriptedSubjects * 5
)

var relations = [Questions / ScriptedSubjects]string{"capital", "currency", "official language", "head of state",
	"highest point"}

var syllables = []string{"ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
	"ta", "ve", "wi", "xo", "zu"}

// name returns an entity's, the same one for the same number.
func name(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	var b strings.Builder
	for range 4 {
		b.WriteString(syllables[random.IntN(len(syllables))])
	}
	text := b.String()
	return strings.ToUpper(text[:1]) + text[1:]
}

// ScriptedFacts returns made-up facts, as TSV.
func ScriptedFacts() []byte {
	var b strings.Builder
	for s := range ScriptedSubjects {
		for r, relation := range relations {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", name(s), relation, object(s, r))
		}
	}
	return []byte(b.String())
}

func object(subject, relation int) string {
	return name(ScriptedSubjects + subject*len(relations) + relation)
}

// ScriptedQuestion returns the n-th question about the facts, its subject and its answer;
// after the last comes the first again.
func ScriptedQuestion(n int) (text, subject, answer string) {
	s, r := n%ScriptedSubjects, n/ScriptedSubjects%len(relations)
	return fmt.Sprintf("What is the %s of %s?", relations[r], name(s)), name(s), object(s, r)
}

var asked = regexp.MustCompile(`What is the ([a-z ]+) of (\w+)\?`)

// reply returns what the model says to the last message of a task: to a draft a fact
// with a wrong object, to all else the right one where the message holds it.
func reply(task, message string) string {
	relation, subject := "", ""
	if all := asked.FindAllStringSubmatch(message, -1); len(all) > 0 {
		last := all[len(all)-1]
		relation, subject = last[1], last[2]
	}
	object := findObject(message, subject, relation)
	switch task {
	case "pseudo-graph":
		return fmt.Sprintf(`CREATE (:Country {name: %q})-[:%s]->(:Thing {name: "unknown"})`, subject,
			strings.ToUpper(strings.ReplaceAll(relation, " ", "_")))
	case "relation-paths":
		return relation
	case "evaluate-question":
		return `{"reason": "the facts say so", "correct": true, "incomplete": false}`
	case "evaluate-answer":
		return "yes"
	case "reflect":
		return fmt.Sprintf(`{"answers": [%q]}`, object)
	}
	return "{" + object + "}"
}

// findObject returns the object of a fact that a message shows, as a triple or as a path.
func findObject(message, subject, relation string) string {
	for line := range strings.Lines(message) {
		for _, between := range []string{subject + " | " + relation + " | ", subject + " -> " + relation + ": "} {
			if _, object, ok := strings.Cut(line, between); ok {
				object, _, _ = strings.Cut(strings.TrimSpace(object), " ")
				return strings.TrimRight(object, ";")
			}
		}
	}
	return "unknown"
}
