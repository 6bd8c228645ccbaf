package score

import (
	"slices"

	"github.com/triplemesh/triplemesh/lab/dataset"
)

// ContainsAnswer reports whether a right answer is among the names of entities. A name and
// an answer are the same where their normal forms are (see Normalise).
//
// A name that merely contains an answer does not count: "Arizona Cardinals" is
// not "Arizona", and the topic entity "Han River Bridge" would answer "which
// river?". So the shares taken with Holds are a little lower than those of a
// text search, and mean what they say.
func ContainsAnswer(answers, names []string) bool {
	wanted := make(map[string]bool, len(answers))
	for _, answer := range answers {
		if key := NameKey(answer); key != "" {
			wanted[key] = true
		}
	}
	for _, name := range names {
		if wanted[NameKey(name)] {
			return true
		}
	}
	return false
}

// NameKey returns the form in which names of entities are compared: the normal form, or the
// plain one where that is empty, as it is for the band "The The".
func NameKey(name string) string {
	if normal := Normalise(name); normal != "" {
		return normal
	}
	return squeezeLower(name)
}

// CountFound returns the number of a question's right answers that are among the names of
// entities, by whichever of their names; see Holds.
func CountFound(q dataset.Question, names []string) int {
	held := make(map[string]bool, len(names))
	for _, name := range names {
		held[NameKey(name)] = true
	}
	found := 0
	for i := range q.Answers {
		if slices.ContainsFunc(q.NamesOf(i), func(name string) bool {
			key := NameKey(name)
			return key != "" && held[key]
		}) {
			found++
		}
	}
	return found
}
