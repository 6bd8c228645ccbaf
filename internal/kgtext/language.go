package kgtext

import (
	_ "embed" // of the function words
	"strings"
	"unicode"
	"unicode/utf8"
)

// Language is the natural language that a question seems to be in, as far as its function words and
// its script tell. The zero Language is English or unknown.
type Language struct {
	// Name is the language in English, such as "German".
	Name  string
	words map[string]bool // function words; nil if the script tells the language
	text  string
}

// functionWords are frequent words of languages in Latin script that are not names, a block of three
// lines for each: its name, the words that a question or a request is made with (what asks, commands
// or is a verb), and others. Accents are as people type them, with and without.
//
//go:embed function_words.txt
var functionWords string

// englishWords are the function words of English questions and requests.
const englishWords = "who whom whose what which when where why how is are was were be been being am do does did done " +
	"has have had having the a an of in on at by for from to with and or not that this these those it its it's he " +
	"she his her they their them there as into about between than then also can could will would shall should may " +
	"might must many much name list give tell me you your we us our my i all any some most more each every both " +
	"only first last die what's who's where's s out up so if during after before since until while through within " +
	"without among against because"

// schemaWords are English words in names of relations that are not words of the languages above.
const schemaWords = "place birth born death died country city state county written writer directed starring starred " +
	"release year league school award awards spouse child children parent parents mother father gender population " +
	"location located headquarters founded founder owner owned song network work works subject length height weight " +
	"number people person member members author book books language languages nationality religion occupation " +
	"profession employer educated education character characters contains contained neighborhood currency government " +
	"office party elected player players coach champion championship winner won played plays date time start end " +
	"field company industry product products border borders area height river lake mountain street created creator " +
	"produced producer influenced participant cause marriage sibling siblings team teams tags votes rating next " +
	"previous follows followed original title type category class instance part parts used called named kingdom " +
	"species owns home host based level official website capital family sport sports season"

var (
	languages = parseLanguages()
	english   = wordSet(strings.Fields(englishWords)...)
	// exclusiveEnglish are the function words that no other language here has.
	exclusiveEnglish = exclusiveWords(english)
	schema           = wordSet(strings.Fields(schemaWords)...)
)

type language struct {
	name          string
	words, asking map[string]bool
}

func parseLanguages() (all []language) {
	for block := range strings.SplitSeq(strings.TrimSpace(functionWords), "\n\n") {
		lines := strings.Split(block, "\n")
		asking := strings.Fields(lines[1])
		words := wordSet(append(strings.Fields(lines[2]), asking...)...)
		all = append(all, language{lines[0], words, wordSet(asking...)})
	}
	return all
}

func exclusiveWords(of map[string]bool) map[string]bool {
	exclusive := map[string]bool{}
	for word := range of {
		exclusive[word] = true
		for _, l := range languages {
			if l.words[word] {
				delete(exclusive, word)
			}
		}
	}
	return exclusive
}

// scriptNames are languages by the script that only they, or mostly they, are written in.
var scriptNames = []struct {
	script *unicode.RangeTable
	name   string
}{
	{unicode.Hangul, "Korean"}, {unicode.Hiragana, "Japanese"}, {unicode.Katakana, "Japanese"},
	{unicode.Han, "Chinese"},
	{unicode.Greek, "Greek"}, {unicode.Hebrew, "Hebrew"}, {unicode.Thai, "Thai"},
	{unicode.Cyrillic, "a language written in Cyrillic"}, {unicode.Arabic, "a language written in Arabic letters"},
	{unicode.Devanagari, "a language written in Devanagari"}, {unicode.Bengali, "Bengali"}, {unicode.Tamil, "Tamil"},
}

// DetectLanguage returns the language of a question that does not seem to be English, and reports
// whether there is one. A question in Latin script is taken for another language only if it asks or
// commands by a word of that language, has another of its function words, and has at least twice as
// many and two more of them than English ones: names and titles of any language do not make an
// English question foreign.
func DetectLanguage(question string) (Language, bool) {
	if IsForeignScript(question, "latin") {
		return Language{Name: nameScript(question), text: question}, true
	}
	words := questionWords(question)
	englishHits := countHits(words, exclusiveEnglish)
	var best language
	hits := 0
	for _, l := range languages {
		// What English has too tells nothing alone, but counts for the language that has most.
		n := countHits(words, l.words)
		if n > hits && countHits(words, l.asking) > 0 && n > countHits(words, english) {
			best, hits = l, n
		}
	}
	if hits < 2+2*englishHits {
		return Language{}, false
	}
	return Language{Name: best.name, words: best.words, text: question}, true
}

// nameScript names the language that most letters of a text tell.
func nameScript(text string) string {
	name, most := "another script", 0
	counts := map[string]int{}
	for _, r := range text {
		for _, s := range scriptNames {
			if unicode.Is(s.script, r) {
				if counts[s.name]++; counts[s.name] > most {
					name, most = s.name, counts[s.name]
				}
				break
			}
		}
	}
	if counts["Japanese"] > 0 && name == "Chinese" {
		return "Japanese"
	}
	return name
}

// questionWords returns the distinct words of a question in lower case, with the apostrophes and
// hyphens in them. Capitalised words within the question are parts of names and titles, unless all
// words are capitalised.
func questionWords(question string) map[string]bool {
	words := strings.FieldsFunc(strings.ReplaceAll(question, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && r != '\'' && r != '-'
	})
	var uncapitalised []string
	for i, word := range words {
		word = strings.Trim(word, "'-")
		if first, _ := utf8.DecodeRuneInString(word); i == 0 || !unicode.IsUpper(first) {
			uncapitalised = append(uncapitalised, word)
		}
	}
	if len(uncapitalised) > 1 {
		words = uncapitalised
	}
	return wordSet(strings.Fields(strings.ToLower(strings.Join(words, " ")))...)
}

func countHits(words, of map[string]bool) (n int) {
	for word := range words {
		if of[word] {
			n++
		}
	}
	return n
}

// IsCoveredBy reports whether a knowledge graph may hold labels in the language. relations are names
// of relations near the question, and names are names of entities. It is false if the relations are
// evidently English, or nothing is in the script of the question.
func (l Language) IsCoveredBy(relations, names []string) bool {
	if l.words == nil {
		return !IsForeignScript(l.text, strings.Join(relations, " ")+" "+strings.Join(names, " "))
	}
	inEnglish, inLanguage := 0, 0
	for _, relation := range relations {
		words := wordSet(strings.Fields(Fold(strings.ReplaceAll(VerbaliseRelation(relation), "_", " ")))...)
		switch {
		case countHits(words, schema)+countHits(words, exclusiveEnglish) > 0:
			inEnglish++
		case countHits(words, l.words) > 0:
			inLanguage++
		}
	}
	const least = 3 // of so many relations one is English
	return inEnglish*least < len(relations) || inEnglish <= inLanguage
}
