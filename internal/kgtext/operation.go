package kgtext

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Operation says whether a question asks for something to be computed.
type Operation uint8

const (
	// NoOperation is a question for facts.
	NoOperation Operation = iota
	// MayCompute is a question with a superlative, a comparison, a time or an exclusion, which facts may
	// answer as well: "who was the first president".
	MayCompute
	// MustCompute is a question for a count, a sum, an average, a difference, or which of two things is
	// more of something: if that cannot be computed, there is no answer.
	MustCompute
)

const (
	// comparatives are the words by which two things are compared.
	comparatives = `more|fewer|less|earlier|later|sooner|older|younger|newer|larger|bigger|greater|smaller|` +
		`longer|shorter|higher|lower|taller|deeper|wider|heavier|lighter|faster|slower|richer|poorer|closer|nearer|` +
		`hotter|colder|better|worse`
	comparative  = `(?:` + comparatives + `)`
	superlatives = `largest|biggest|smallest|longest|shortest|highest|lowest|tallest|deepest|heaviest|lightest|` +
		`fastest|slowest|richest|poorest|busiest|oldest|youngest|earliest|latest|newest|fewest|least`
	// operationWords are the other words without one of which no pattern of this file matches.
	operationWords = `many|often|average|mean|sum|count|all|altogether|total|combined|number|first|last|top|` +
		`most|no|not|never|difference|apart|lie|passed|between|after|before|since|until|from|except|excluding|` +
		`without|other|besides|both|only|same|above|below|over|under|exceed|exceeds|exceeding`
)

var (
	signals = wordSet(strings.Split(comparatives+"|"+superlatives+"|"+operationWords, "|")...)

	mustCompute = regexp.MustCompile(`(?i)\b(?:how many|how often|on average|the average|in all|altogether|` +
		`the total|combined|(?:number of|average|mean|total|sum of)\b.*\b(?:each|every|per)|` +
		`(?:what|tell me|give me|count) (?:is |was |are )?the number of)\b|` +
		`\b(?:` + comparative + `|first|last)\b.*\bor\b|\bor\b.*\b(?:` + comparative + `|first|last)\b|` +
		`\b(?:most|least) (?:often|frequently)\b|\b(?:but|and) (?:not|never)\b|` +
		`\bdifference (?:in|between)\b|\bhow much ` + comparative + `\b|` +
		`^(?:list |show |give me |what (?:is|are) )?(?:the )?(?:number of|average|mean|total|count)\b.*` +
		`\bby \p{L}+\W*$|` +
		`^count\b.*\b(?:each|every|per)\b|` +
		`\b(?:years|days|months) (?:apart|lie|passed|between)\b|` +
		// Comparisons of yes or no: "was A released before B", "has A more bridges than B", "do both have the same
		// owner".
		`^(?:is|was|are|were|has|have|had|did|does|do)\b.*\b(?:(?:more|fewer|less) (?:\p{L}+ ){1,3}than\b|` +
		comparative + ` than\b|(?:before|after) (?:the )?(?-i:\p{Lu})|the same\b)`)
	// conditions pick some of the things that facts lead to.
	conditions = regexp.MustCompile(
		`(?i)\b(?:` + superlatives + `|number of|most (?:recent|common|commonly|frequent)|` +
			comparative + ` than)\b|` +
			// "traverses most states", "has the most people", and not "most famous for".
			`\bthe most\b|\btop \p{L}{3,}er\b|\bmost \p{L}*[^\PLu]s\W*$|` +
			// "Which genre do most films by A have", "who acts in most films of A".
			`^(?:which|what) \p{L}+ (?:do|does|did) (most \p{L}{3,}s) (?:by|of|in|from|with)\b|` +
			`\b(?:in|of) most \p{L}{3,}s\b|` +
			`\b(?:after|before|since|until) (?:(?:the year|\p{L}+|\d\d?|\d\d? \p{L}+) )?\d{3,4}\b|` +
			`\b(?:above|below|over|under|at least|at most|exceed\p{L}*) \D?\d|` +
			`\b(?:from|between) \D?\d[\d,.]* (?:to|and|until) \D?\d|\bthe \d{3}0s\b|` +
			// Things of a time: "which ships were built in 1974", "who was hired in May 2018".
			`^who (?:was|were) \p{L}+(?:ed|en|wn|ght)\b[^,]*\b(in (?:\p{L}+ )?\d{4})\W*$|` +
			`^(?:which|what) [\p{L}\p{N} -]+? (?:were|was|went|came) [^,]*\b(in (?:\p{L}+ )?\d{4})\W*$|` +
			`^(?:(?:list|show|find|give|name)\b(?-i:[^\[\p{Lu}]*)|(?:which|what) \p{L}+s) ((?:from|of) \d{4})\b|` +
			// Which of two: "which museum has more visitors".
			`^(?:which|what) \p{L}+ (?:is|was|has|had) (?:the )?` + comparative + `\b|` +
			// With a capital they are of a name: "The Last Emperor".
			`(?-i:\b(?:have|has|had|with|direct(?:ed)?|make|made|win|won|speaks?) no \p{Ll}{3,})|` +
			`(?-i:\b(?:first|last|not|never|except|excluding|without|other than|besides)\b)`)
	// joins are kept by facts too.
	joins = regexp.MustCompile(`\b(?:both|the only)\b`)
	// afterForm are words of relations, which order nothing in time.
	afterForm = regexp.MustCompile(`(?i)\b(?:named|called|modelled|looks?|looked|takes?) after\b`)
	// identifying are numbers that identify, and count nothing: "the ISBN number of".
	identifying = regexp.MustCompile(`\b(?:\p{Lu}{2,}|[Pp]hone|[Ss]erial|[Rr]oute|[Ss]hirt|[Ii]dentification) number\b`)
	// asksWhoWas asks for those to whom something was done, by or in what is named.
	asksWhoWas = regexp.MustCompile(
		`^(?i:who) (?:is|was|are|were) \p{Ll}+(?:ed|en|wn|ght) (?:at|by|in|from|to|with|for)\b`)
	// membersAsked is "who are the physicists", "which open tickets are there".
	membersAsked = regexp.MustCompile(`^(?:[Ww]ho (?:are|were) the (?:\p{Ll}+ )?\p{Ll}+s|` +
		`(?:[Ww]hich|[Ww]hat) (?:\p{Ll}+ ){1,2}(?:are|were) there)\W*$`)
	// numberedName is a name that is a kind with a number: "in zone 1".
	numberedName = regexp.MustCompile(`(?i)\b(?:in|on|of|from|at) \p{L}+ \d+\W*$`)
	// listWords begin questions for several things.
	listWords = wordSet("which", "what", "name", "list")
	// named are titles in quotation marks, which ask for nothing.
	named = regexp.MustCompile(`["“][^"”]*["”]`)
)

// SaysNamedAfter reports whether a text has words with "after" that order nothing in time.
func SaysNamedAfter(text string) bool { return afterForm.MatchString(text) }

// AsksOperation reports what a question asks to be computed, by its words. Titles in quotation marks do
// not count.
func AsksOperation(question string) Operation {
	if !signalsOperation(question) {
		return NoOperation
	}
	text := withoutNames(question)
	switch {
	case mustCompute.MatchString(text):
		return MustCompute
	case conditions.MatchString(text), joins.MatchString(text):
		return MayCompute
	}
	return NoOperation
}

// maxListWords is the most words of a question for a list: models seldom plan longer ones as they are meant.
const maxListWords = 10

// AsksList reports whether a question asks which things of a kind have to do with what it names: "which bridges cross
// the Rhine", "who was taught by Liszt". It is false for questions in lower case, which name nothing.
func AsksList(question string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-'’", r) }
	words := strings.FieldsFunc(question, isOther)
	if membersAsked.MatchString(question) {
		return true
	}
	if len(words) == 0 || len(words) > maxListWords ||
		len(spelledNames(question, 1)) == 0 && !numberedName.MatchString(question) {
		return false
	}
	if !listWords[strings.ToLower(words[0])] {
		return asksWhoWas.MatchString(question)
	}
	kind := words[1:]
	for len(kind) > 0 && (kind[0] == "of" || strings.ToLower(kind[0]) != kind[0]) {
		kind = kind[1:]
	}
	isPlural := func(i int) bool {
		w := kind[i]
		return w == "people" || len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !english[w]
	}
	// "Horror films are" are several, "city borders Velmora" is not.
	return len(kind) > 0 && isPlural(0) ||
		len(kind) > 2 && !english[kind[0]] && isPlural(1) && english[kind[2]]
}

// Condition returns the words by which a question asks for something to be computed, or for some of the
// things that facts lead to: "highest", "after 1990". It is empty if there are none.
func Condition(question string) string {
	if !signalsOperation(question) {
		return ""
	}
	text := withoutNames(question)
	found := conditions.FindStringSubmatch(text)
	for _, part := range slices.Backward(found) { // the condition alone, where the pattern has more
		if part != "" {
			return part
		}
	}
	return mustCompute.FindString(text)
}

// withoutNames returns a question without titles, relations and numbers whose words ask for nothing.
func withoutNames(question string) string {
	for _, form := range []*regexp.Regexp{identifying, named, afterForm} {
		question = form.ReplaceAllString(question, "")
	}
	return question
}

// signalsOperation reports whether a question has a word of an operation. It takes a hundredth of the time of the
// patterns.
func signalsOperation(question string) bool {
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for word := range strings.FieldsFuncSeq(question, isOther) {
		if signals[strings.ToLower(word)] || isTimeSpan(word) {
			return true
		}
	}
	return false
}

// isTimeSpan reports whether a word names a year or a decade: "1990", "1990s".
func isTimeSpan(word string) bool {
	digits := strings.TrimSuffix(strings.ToLower(word), "s")
	return (len(digits) == 4 || len(digits) == 3 && digits != word) && strings.Trim(digits, "0123456789") == ""
}
