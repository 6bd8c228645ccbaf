package kgtext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gertd/go-pluralize"
)

// little are words that say nothing of a relation.
var little = strings.Fields("a an the of in on at by to for from with is was are were has have had and or its their " +
	"which what that who it number")

// contentWords returns the words of a text, folded, without little ones.
func contentWords(text string) []string {
	text = SplitIdentifiers(text)
	return slices.DeleteFunc(strings.Fields(Fold(text)), func(w string) bool { return slices.Contains(little, w) })
}

// SharedWords returns the share of the words of a phrase that a text has, 0 to 1. Words are the same if
// they begin alike: "acted" and "actors".
func SharedWords(phrase, text string) float32 {
	return shareOf(contentWords(phrase), contentWords(text))
}

// shareOf returns the share of words that are among others, 0 to 1.
func shareOf(own, others []string) float32 {
	if len(own) == 0 {
		return 0
	}
	shared := 0
	for _, w := range own {
		if slices.ContainsFunc(others, func(o string) bool { return beginAlike(w, o) }) {
			shared++
		}
	}
	return float32(shared) / float32(len(own))
}

// SharesWord reports whether a phrase has a word of a text.
func SharesWord(phrase, text string) bool { return SharedWords(phrase, text) > 0 }

// beginAlike reports whether two words share their first three letters and most of the shorter one. If
// they share no more than three, each goes on with an ending: not "born" and "border".
func beginAlike(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	isEnding := func(rest []rune) bool { return len(rest) == 0 || slices.Contains(endings, string(rest)) }
	return n >= 3 && n >= min(len(x), len(y))-2 && n*2 >= max(len(x), len(y)) &&
		(n > 3 || isEnding(x[n:]) && isEnding(y[n:]))
}

// Trust is how far the words of a drafted relation count, 0.4 to 1: as far as the question has them, or wholly if it
// names the same measure, as "highest" does the height. A model that writes what the question does not say remembers an
// example.
func Trust(phrase, question string) float32 {
	if SharesMeasure(phrase, question) {
		return 1
	}
	return 0.4 + 0.6*SharedWords(phrase, question)
}

// timeWords are words of relations and questions that are about a time.
var timeWords = strings.Fields("date dates year years when day month released release born birth death died founded " +
	"established opened opening launched launch inception vintage appeared debut premiere premiered birthday " +
	"birthdate hired")

// rateForm is a rate, which says how much in each time: "visitors per year".
var rateForm = regexp.MustCompile(`(?i)\bper (?:day|month|year)\b`)

// IsTime reports whether a text is about a time, by its words, and no rate.
func IsTime(text string) bool {
	isTime := func(w string) bool { return slices.Contains(timeWords, w) }
	return slices.ContainsFunc(contentWords(text), isTime) && !rateForm.MatchString(SplitIdentifiers(text))
}

// placeForm are words of relations to where things are.
var placeForm = regexp.MustCompile(`(?i)\b(?:country|continent|state|province|region|county|` +
	`district|city|town|place)$|^place of |\b(?:location|located|part of)\b|^(?:is )?in$`)

// IsPlace reports whether a relation says where things are, by its words.
func IsPlace(relation string) bool { return placeForm.MatchString(VerbaliseRelation(relation)) }

// timeQuestion matches words that order or place in time.
var timeQuestion = regexp.MustCompile(
	`(?i)\b(?:first|earliest|earlier|last|latest|later|newest|newer|oldest|older|young\w*|` +
		`recent\w*|before|after|since|until|when|during|between|years?|days?|months?|dates?|century|decade|\d{4}s?)\b`)

// AsksTime reports whether a question places or orders things in time.
func AsksTime(question string) bool { return timeQuestion.MatchString(question) }

// endings are what inflection adds to a word or takes from it.
var endings = strings.Fields("s es d ed ted ten red ing ting ring e er or ers ors y ies te tes")

// inflects reports whether two words are forms of one: "directed" and "director", not "count" and
// "country".
func inflects(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	isEnding := func(s string) bool { return s == "" || slices.Contains(endings, s) }
	return a == b || n >= 4 && isEnding(a[n:]) && isEnding(b[n:])
}

// SameNoun reports whether two nouns are equal but for their number and case: "movies" and "movie", "cities" and
// "city", "tomatoes" and "tomato".
func SameNoun(a, b string) bool {
	a, b = strings.TrimSuffix(strings.ToLower(a), "s"), strings.TrimSuffix(strings.ToLower(b), "s")
	isPlural := func(many, one string) bool {
		stem, ends := strings.CutSuffix(many, "ie")
		return ends && one == stem+"y" || many == one+"e" && hissing.MatchString(one)
	}
	return a == b || isPlural(a, b) || isPlural(b, a)
}

// nouns knows the plurals of English nouns.
var nouns = sync.OnceValue(func() *pluralize.Client {
	c := pluralize.NewClient()
	for _, word := range strings.Fields("cache lens headache") {
		c.AddIrregularRule(word, strings.TrimSuffix(word, "e")+"es")
	}
	return c
})

// Singular returns one of what a plural names: "city" of "cities". Other nouns stay as they are.
func Singular(noun string) string {
	if !nouns().IsPlural(noun) {
		return noun
	}
	return nouns().Singular(noun)
}

// hissing matches nouns of which the plural ends in es.
var hissing = regexp.MustCompile(`\pL{2}(?:o|x|z|ch|sh)$`)

// lengthForm are words for how long something takes.
var lengthForm = regexp.MustCompile(`(?i)\b(?:running time|run ?time|duration|length|how long|pages)\b`)

// IsLength reports whether a text is about a length in space or time, by its words.
func IsLength(text string) bool { return lengthForm.MatchString(SplitIdentifiers(text)) }

var unitForm = regexp.MustCompile(`\([^)]*\)`)

// WithoutUnit returns the name of a relation without a unit in parentheses.
func WithoutUnit(name string) string { return strings.TrimSpace(unitForm.ReplaceAllString(name, "")) }

// UnitOf returns the unit in parentheses that the name of a relation ends with, such as "km"; empty if it has none.
func UnitOf(name string) string {
	unit := unitForm.FindString(name)
	if unit == "" || !strings.HasSuffix(name, unit) {
		return ""
	}
	return unit[1 : len(unit)-1]
}

// OpenWords are the content words of a question of which some are already accounted for.
type OpenWords []string

// NewOpenWords returns the content words of a text.
func NewOpenWords(text string) OpenWords { return contentWords(text) }

// Take removes the words of a name, which follow each other, and returns how many these are; 0 if
// they are not there. A unit in parentheses does not count.
func (w OpenWords) Take(name string) int {
	at, n := w.find(name)
	for i := range n {
		w[at+i] = ""
	}
	return n
}

// Has returns how many words Take would remove.
func (w OpenWords) Has(name string) int {
	_, n := w.find(name)
	return n
}

func (w OpenWords) find(name string) (at, n int) {
	own := contentWords(WithoutUnit(name))
	for i := 0; len(own) > 0 && i+len(own) <= len(w); i++ {
		if slices.EqualFunc(w[i:i+len(own)], own, func(word, want string) bool {
			return word != "" && inflects(word, want)
		}) {
			return i, len(own)
		}
	}
	return 0, 0
}

// LastWord returns what stands behind the last space of a text; the text if it has none.
func LastWord(text string) string { return text[strings.LastIndex(text, " ")+1:] }

// FormatCount returns a number with its noun, whose plural ends in s, or in ies for y: "1 entity", "2 entities".
func FormatCount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, found := strings.CutSuffix(noun, "y"); found {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// synonyms are words that questions and relations use for the same, unlike the roles, which exclude each other.
var synonyms = readSynonyms(
	"make makes made maker makers manufacturer manufacturers manufactured manufactures brand",
	"head heads leader leaders lead leads led director manager manages managed chief boss runs run chair "+
		"president rector principal",
	"study studies studied university college school alma mater educated education attended",
	"teach teaches taught teacher teachers lecturer professor instructor tutor",
	"treat treats treated doctor physician",
	"represent represents represented representing constituency district",
	"eat eats ate diet food feed feeds",
	"won win wins winner winners award awards prize",
	"work works worked employee employees employer staff affiliation",
	"supervise supervised supervisor advisor adviser advised",
	"big large size area",
	"manager managers manages managed supervisor supervisors boss report reports reporting",
	"sing sings sang singer singers vocalist vocals",
	"care cares keeper keepers caretaker look looks",
	"fit fits capacity seats holds",
	"music kind sort type category class genre genres style styles",
	"colour colours color colors",
	"cook cooks cooked chef",
	"coach coaches coached trainer trains trained",
	"based headquarters headquarter headquartered",
	"paint paints painted painter sculpted sculptor creator created",
	"money currency",
	"religion faith",
	"designed designs designer architect",
	"happen happened held date",
	"address street",
	"speak speaks spoken language languages",
	"job jobs occupation profession living",
	"bought buys buyer purchased purchaser customer customers client clients ordered",
	"order orders ordered bought buy buys purchase purchases purchased sale sales",
	"loan loans lent lend lends borrow borrows borrowed",
	"enrolment enrolments enrollment enrollments enrolled attend attends attended take takes took taken",
	"donation donations donated donate donates gave give gives given contribution contributions contributed",
	"booking bookings booked reservation reservations reserved stay stays stayed",
	"appointment appointments visit visits visited saw sees seen treat treats treated treatment treatments",
	"sells sold seller vendor supplier suppliers supplies supply",
	"built builds builder constructed contractor",
	"performed performs performer recorded records artist artists",
)

func readSynonyms(groups ...string) map[string][]int {
	all := map[string][]int{}
	for i, words := range groups {
		for word := range strings.FieldsSeq(words) {
			all[word] = append(all[word], i)
		}
	}
	return all
}

// findSynonyms returns the groups of synonyms that words belong to.
func findSynonyms(words []string) (found []int) {
	for _, w := range words {
		found = append(found, synonyms[w]...)
	}
	return found
}
