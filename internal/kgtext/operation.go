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

var (
	mustCompute = regexp.MustCompile(`(?i)\b(?:how many|number of|how often|on average|the average|in all|altogether|` +
		`the total|combined|(?:more|fewer|less|\p{L}+er) than)\b|` +
		`\b(?:first|last|earlier|later|older|newer|more|fewer|larger|smaller|longer|shorter|higher|` +
		`lower)\b.*[,:] .+ or .+|` +
		`\b(?:most|fewest) \p{L}+s\b|\b(?:but|and) (?:not|never)\b|\b(?:years|days|months) (?:apart|lie|passed|` +
		`between)\b`)
	mayCompute = regexp.MustCompile(
		`(?i)\b(?:largest|biggest|smallest|longest|shortest|highest|lowest|oldest|youngest|` +
			`earliest|latest|newest|most recent|fewest|least|both)\b|\b(?:after|before|since|` +
			`between) (?:the year )?\d{3,4}\b|` +
			`\bin the \d{3}0s\b|\b(?:except|excluding|without|other than|besides)\b`)
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
