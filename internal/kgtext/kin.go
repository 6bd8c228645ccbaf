package kgtext

import (
	"regexp"
	"slices"
)

// asksKin is a question for a relative: "who was the grandfather of A", "who is A's uncle".
var asksKin = regexp.MustCompile(`(?i)^who ` + ofNamed)

// ofNamed is "is the founder of A" and "is A's founder"; one of its two groups is the noun.
const ofNamed = `(?:is|are|was|were) (?:the (\pL+) of\b|.*['’]s (\pL+)\W*$)`

// LacksKin reports whether a question asks for a relative, and a relation says none: the words for relatives are known,
// and a dynasty is no grandfather.
func LacksKin(question, relation string) bool {
	isKin := func(r role) bool { return r.group == "kin" }
	m := asksKin.FindStringSubmatch(question)
	return m != nil && slices.ContainsFunc(findRoles(m[1]+m[2]), isKin) &&
		!slices.ContainsFunc(findRoles(relation), isKin)
}

// sexes are words for a relative who is a woman and for one who is a man.
var sexes = [][2]string{{"mother", "father"}, {"mom", "dad"}, {"mum", "dad"}, {"sister", "brother"},
	{"daughter", "son"}, {"wife", "husband"}, {"aunt", "uncle"}, {"niece", "nephew"}, {"grandma", "grandpa"},
	{"grandmother", "grandfather"}}

// isOtherSex reports whether a question asks for a relative of one sex alone, and a relation says the other: the
// father, of a mother.
func isOtherSex(relation, question string) bool {
	asked, said := FoldWords(question), FoldWords(relation)
	return slices.ContainsFunc(sexes, func(s [2]string) bool {
		isWoman, saysMan := asked.Mention(s[0]), said.Mention(s[1])
		return isWoman == saysMan && isWoman != asked.Mention(s[1]) && saysMan != said.Mention(s[0])
	})
}
