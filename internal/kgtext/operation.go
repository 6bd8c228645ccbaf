package kgtext

import "regexp"

// Operation says whether a question asks for something to be computed.
type Operation uint8

const (
	// NoOperation is a question for facts.
	NoOperation Operation = iota
	// MayCompute is a question with a superlative, a time or an exclusion, which a single fact may
	// answer as well: "who was the first president".
	MayCompute
	// MustCompute is a question for a count, a sum, an average or a comparison of two things.
	MustCompute
)

// comparative are the words by which two things are compared.
const comparative = `(?:more|fewer|less|earlier|later|sooner|older|younger|newer|larger|bigger|greater|smaller|` +
	`longer|shorter|higher|lower|taller|deeper|wider|heavier|lighter|faster|slower|richer|poorer|closer|nearer|` +
	`hotter|colder|better|worse)`

var (
	mustCompute = regexp.MustCompile(`(?i)\b(?:how many|how often|number of|on average|the average|in all|altogether|` +
		`the total|combined|` + comparative + ` than)\b|` +
		`\b(?:` + comparative + `|first|last)\b.*\bor\b|\bor\b.*\b(?:` + comparative + `|first|last)\b|` +
		// "the most rivers", and not "the most famous" or "do most people".
		`\b(?:the|has|have|had|won|with) (?:most|fewest) \p{L}*[^\PLu]s\b|` +
		`\b(?:most|least) (?:often|common|commonly|frequent|frequently)\b|` +
		`\b(?:but|and) (?:not|never)\b|\bdifference (?:in|between)\b|\bhow much ` + comparative + `\b|` +
		`\b(?:years|days|months) (?:apart|lie|passed|between)\b`)
	mayCompute = regexp.MustCompile(
		`(?i)\b(?:largest|biggest|smallest|longest|shortest|highest|lowest|tallest|deepest|heaviest|lightest|` +
			`fastest|slowest|richest|poorest|busiest|oldest|youngest|earliest|latest|newest|most recent|fewest|` +
			`least)\b|` +
			`\b(?:the|has|have|had|won|with) most\b|` +
			`\b(?:after|before|since|until) (?:(?:the year|\p{L}+|\d\d?|\d\d? \p{L}+) )?\d{3,4}\b|` +
			`\b(?:from|between) \d{3,4} (?:to|and|until) \d{3,4}\b|\bthe \d{3}0s\b|` +
			// With a capital they are of a name: "The Last Emperor".
			`(?-i:\b(?:first|last|both|the only|not|never|except|excluding|without|other than|besides)\b)`)
	// named are titles in quotation marks, which ask for nothing.
	named = regexp.MustCompile(`["“][^"”]*["”]`)
)

// AsksOperation reports what a question asks to be computed, by its words. Titles in quotation marks do
// not count.
func AsksOperation(question string) Operation {
	text := named.ReplaceAllString(question, "")
	switch {
	case mustCompute.MatchString(text):
		return MustCompute
	case mayCompute.MatchString(text):
		return MayCompute
	}
	return NoOperation
}
