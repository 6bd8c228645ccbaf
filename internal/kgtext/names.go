package kgtext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// ConfusesNames reports whether entities are others than the one that a question spells out: it names
// something in several capitalised words ("Anna Mádl"), of which an entity shares one ("Dalma Mádl"),
// and no entity has them all or is a part of them. It is false if the question names one of the
// entities in full, and for questions in lower case.
func ConfusesNames(question string, entities []string) bool {
	for _, e := range entities {
		if Mentions(question, e) {
			return false
		}
	}
	for _, spelled := range spelledNames(question) {
		name, shares, covers := spelled.words, false, false
		for _, e := range entities {
			words := wordSet(strings.Fields(Fold(e))...)
			shares = shares || sharesName(name, words)
			covers = covers || containsAll(words, name) || containsAll(name, words)
		}
		if shares && !covers {
			return true
		}
	}
	return false
}

// MissingNames returns the names that a question spells out in several capitalised words, if entities
// share no word with any of them. It is empty if they share one, and for questions in lower case.
func MissingNames(question string, entities []string) []string {
	names := spelledNames(question)
	var missing []string
	for _, name := range names {
		for _, e := range entities {
			if sharesName(name.words, wordSet(strings.Fields(Fold(e))...)) {
				return nil
			}
		}
		missing = append(missing, name.text)
	}
	return missing
}

// minNameWord is the least length of a word that names share, in bytes: "of" and "de" tell nothing.
const minNameWord = 3

func sharesName(a, b map[string]bool) bool {
	for word := range a {
		if len(word) >= minNameWord && b[word] {
			return true
		}
	}
	return false
}

func containsAll(all, some map[string]bool) bool {
	return len(some) > 0 && countHits(some, all) == len(some)
}

// spelledName is a name in a question, with its words folded.
type spelledName struct {
	text  string
	words map[string]bool
}

// spelledNames returns the names in a question: runs of at least two capitalised words that are not
// function words.
func spelledNames(question string) (names []spelledName) {
	var run []string
	end := func() {
		if len(run) > 1 {
			text := strings.Join(run, " ")
			names = append(names, spelledName{text, wordSet(strings.Fields(Fold(text))...)})
		}
		run = nil
	}
	for token := range strings.FieldsSeq(strings.ReplaceAll(question, "’", "'")) {
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		possessive := strings.HasSuffix(word, "'s")
		word = strings.TrimSuffix(word, "'s")
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) || english[strings.ToLower(word)] {
			end()
			continue
		}
		run = append(run, word)
		if possessive || strings.ContainsAny(token[len(token)-1:], "?,.;:") {
			end()
		}
	}
	end()
	return names
}

// FormatKG names a knowledge graph and its snapshot, if the reference has one: "wikidata@3".
func FormatKG(ref *graphv1.KnowledgeGraphRef) string {
	if ref.GetSnapshot() == 0 {
		return ref.GetName()
	}
	return fmt.Sprintf("%s@%d", ref.GetName(), ref.GetSnapshot())
}
