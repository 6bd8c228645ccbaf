package kgtext

import (
	"regexp"
	"strings"
	"unicode"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// ChooseAnswerForm returns the requested form or, if none was requested, the one the question
// calls for, so that every stage of a run uses the same. It is never ANSWER_FORM_UNSPECIFIED.
func ChooseAnswerForm(question string, requested graphv1.AnswerForm) graphv1.AnswerForm {
	switch {
	case requested != graphv1.AnswerForm_ANSWER_FORM_UNSPECIFIED:
		return requested
	case asksForText.MatchString(Fold(question)):
		return graphv1.AnswerForm_ANSWER_FORM_TEXT
	}
	return graphv1.AnswerForm_ANSWER_FORM_ENTITIES
}

// IsYesNo reports whether a question is answered by yes or no: it begins with a verb and offers no
// choice, as "Is K2 in Nepal or in Pakistan?" does.
func IsYesNo(question string) bool {
	return asksYesNo.MatchString(Fold(question)) && !offersChoice.MatchString(Fold(question))
}

// AskedNumber returns the words by which a question asks for a number or a date, such as "when" and "how
// many"; empty if it does not.
func AskedNumber(question string) string {
	if found := asksNumber.FindStringSubmatch(Fold(question)); found != nil {
		return found[1]
	}
	return ""
}

// IsNumbered reports whether a name has a number in digits or as a Roman numeral, or is a time of the year or the week.
func IsNumbered(name string) bool { return numbered.MatchString(name) }

// AsksWho reports whether a question is for a person, or for what acts as one.
func AsksWho(question string) bool { return asksWho.MatchString(question) }

// AsksPlace reports whether a question is for a place: "where was", "in which city".
func AsksPlace(question string) bool { return asksPlace.MatchString(question) }

// AsksThings reports whether a question is for things of a kind, in the plural, which is no time: "which awards did".
func AsksThings(question string) bool {
	m := asksThings.FindStringSubmatch(question)
	return m != nil && !IsTime(m[1]) && !strings.HasPrefix(m[1], "number")
}

// kindAsked begins "which data centre is", "in which country was".
var kindAsked = regexp.MustCompile(`(?i)^(?:(?:in|with|by|for|from|to|at|on|of) )?(?:which|what) (\pL+)(?: (\pL+))?`)

// AskedKinds returns what a question may say that its answers are, folded, in one word and in two; nil if it does not
// begin so.
func AskedKinds(question string) []string {
	m := kindAsked.FindStringSubmatch(question)
	if m == nil || english[strings.ToLower(m[1])] { // "what is"
		return nil
	}
	return []string{Fold(m[1]), Fold(m[1] + " " + m[2])}
}

// IsValue reports whether a name is a date or a number, and the name of nothing.
func IsValue(name string) bool {
	_, isDate := ParseDate(name)
	q, isNumber := ParseQuantity(name)
	return isDate || !strings.ContainsFunc(name, unicode.IsLetter) || isNumber && IsUnit(q.Unit)
}

// IsFlag reports whether a value is yes or no.
func IsFlag(value string) bool {
	return strings.EqualFold(value, "yes") || strings.EqualFold(value, "no")
}

var (
	asksThings = regexp.MustCompile(`(?i)^\s*(?:which|what) (\p{L}{3,}s) ` +
		`(?:did|does|do|has|have|had|is|are|was|were)\b`)
	asksWho   = regexp.MustCompile(`(?i)^\s*(?:by |to |with |for )?(?:who|whom|whose)\b`)
	asksPlace = regexp.MustCompile(`(?i)^\s*(?:(?:in|at|to|from|on) )?(?:where|(?:which|what) (?:city|country|town|` +
		`village|state|province|county|region|continent|place|building|street))\b`)
	asksNumber = regexp.MustCompile(`^(?:(?:in|on|at|since|from|until|by|to) )?` +
		`(when|(?:what|which) (?:year|date|day|month|century|decade)|` +
		`how (?:many|much|old|tall|high|long|far|deep|wide|heavy|fast))\b`)
	numbered = regexp.MustCompile(`\p{N}|\b[IVXLC]{2,}\b|\b(?i:January|February|March|April|May|June|July|August|` +
		`September|October|November|December|spring|summer|autumn|winter|` +
		`(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b`)
	asksYesNo = regexp.MustCompile(
		`^(?:(?:and|so|but|or) )?(?:(?:is it|it is|is this) (?:true|correct|right|so) that .|` +
			`(?:is|isn t|are|aren t|was|wasn t|were|weren t|does|doesn t|do|don t|did|didn t|has|hasn t|` +
			`have|haven t|had|hadn t) ` +
			`\S+ \S+)`)
	offersChoice = regexp.MustCompile(` or `)
)

// asksForText matches folded questions that ask for a text about something. It does not match
// requests for a certain thing ("tell me who …", "give me all …"), which entities answer.
var asksForText = regexp.MustCompile(
	`^(?:please |kindly )?(?:(?:can|could|would|will) you (?:please )?|i (?:want|would like|d like) (?:you )?to )?` +
		`(?:` +
		`(?:tell|inform|teach) (?:me|us)` + vagueTopic + ` about|` +
		`(?:give|provide|show|write|make|offer)(?: me| us)?(?: with)?(?: an?| some| the| a few)?(?: \p{L}+)? (?:` +
		textNouns + `) (?:about|on|of)|` +
		`write` + vagueTopic + ` about|` +
		`(?:talk|speak)(?: to me| to us)? about|` +
		`(?:know|learn|hear)` + vagueTopic + ` about|` +
		`what (?:can|could) you (?:tell|say)(?: me| us)? about|` +
		`what (?:do you|do we|is|s) (?:known?) (?:about|of)|` +
		`describe|introduce|summari[sz]e|outline|sketch|portray` +
		`) .`)

const (
	vagueTopic = `(?: something| anything| everything| all| more| a bit| a little| a few words| what you know)?` +
		`(?: more)?(?: you know| there is to know)?`
	textNouns = `information|info|facts|details|overview|summary|description|introduction|outline|account|profile|` +
		`portrait|biography|text|paragraph|article|abstract`
)
