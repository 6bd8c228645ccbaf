package kgtext

import (
	"fmt"
	"regexp"
	"slices"
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
	for _, spelled := range spelledNames(question, 2) {
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
// share no word with any of them. It is empty if they share one with these or with names of one word, and
// for questions in lower case.
func MissingNames(question string, entities []string) []string {
	var missing []string
	for _, name := range spelledNames(question, 1) {
		for _, e := range entities {
			if sharesName(name.words, wordSet(strings.Fields(Fold(e))...)) {
				return nil
			}
		}
		if strings.Contains(name.text, " ") {
			missing = append(missing, name.text)
		}
	}
	return missing
}

// UnknownName returns a name of one capitalised word in a question that has no longer names, if
// entities are about none of them: they share no word, and no beginning of a word, as countries do
// with what comes from there ("Norwegian", "Norway"). It is empty otherwise, without entities, if the
// question names one in lower case, and for questions in lower case.
func UnknownName(question string, entities []string) string {
	names := slices.DeleteFunc(spelledNames(question, 1), func(name spelledName) bool {
		_, isMonth := ParseDate(name.text + " 2000")
		return isMonth
	})
	if len(names) == 0 || len(entities) == 0 {
		return ""
	}
	if slices.ContainsFunc(entities, func(e string) bool { return Mentions(question, e) }) {
		return ""
	}
	beginnings := beginningsOf(entities)
	for _, name := range names {
		known := strings.Contains(name.text, " ")
		for word := range name.words {
			known = known || beginnings[beginning(word)]
		}
		if known {
			return ""
		}
	}
	return names[0].text
}

// NameIDs returns a question with the names of entities in the place of their ids, as triples have both: "who fixed
// T-107" names what that ticket is called. Numbers are left as they are.
func NameIDs(question string, triples []*graphv1.Triple) string {
	words := FoldWords(question)
	name := func(id, name string) {
		if id == name {
			return // as most are
		}
		folded := Fold(id)
		if !words.Mention(folded) || folded == Fold(name) || strings.Trim(folded, "0123456789 -.") == "" {
			return
		}
		whole := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(id) + `($|[^\pL\pN])`)
		question = whole.ReplaceAllString(question, "${1}"+strings.ReplaceAll(name, "$", "$$")+"${2}")
		words = FoldWords(question)
	}
	for _, t := range triples {
		name(t.GetSubjectId(), t.GetSubject())
		name(t.GetObjectId(), t.GetObject())
	}
	return question
}

// NamesNone reports whether a question has no name, in capitals or as one of some entities: "which countries do the
// films come from". It is false without entities and for questions in lower case.
func NamesNone(question string, entities []string) bool {
	if len(entities) == 0 || question == strings.ToLower(question) || len(spelledNames(question, 1)) > 0 {
		return false
	}
	return !slices.ContainsFunc(entities, func(e string) bool { return SharedWords(e, question) == 1 })
}

// beginningsOf returns the beginnings of the words of entities.
func beginningsOf(entities []string) map[string]bool {
	beginnings := map[string]bool{}
	for _, e := range entities {
		for word := range strings.FieldsSeq(Fold(e)) {
			beginnings[beginning(word)] = true
		}
	}
	return beginnings
}

// beginning returns as many letters of a word as it shares with words made of it.
func beginning(word string) string {
	runes := []rune(word)
	return string(runes[:min(len(runes), minNameWord)])
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

// initial matches a first name of which the first letter is given.
var initial = regexp.MustCompile(`^\p{Lu}\.$`)

// spelledNames returns the names in a question: runs of least capitalised words or more that are not
// function words. The first word of a question says nothing by its capital.
func spelledNames(question string, least int) (names []spelledName) {
	var run []string
	first := true
	end := func() {
		onlyInitials := !slices.ContainsFunc(run, func(word string) bool { return !initial.MatchString(word) })
		if len(run) >= least && (len(run) > 1 || !first) && !onlyInitials {
			text := strings.TrimSuffix(strings.Join(run, " "), ".")
			names = append(names, spelledName{text, wordSet(strings.Fields(Fold(text))...)})
		}
		run, first = nil, false
	}
	for token := range strings.FieldsSeq(strings.ReplaceAll(question, "’", "'")) {
		if initial.MatchString(token) { // it ends no name
			run = append(run, token)
			continue
		}
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		possessive := strings.HasSuffix(word, "'s")
		word = strings.TrimSuffix(word, "'s")
		letter, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(letter) || english[strings.ToLower(word)] {
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
