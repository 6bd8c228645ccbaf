package kgtext

import (
	"regexp"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
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

// Sex is that of a relative, as words and triples say it; empty if they do not.
type Sex string

// Sexes of relatives.
const (
	Female Sex = "female"
	Male   Sex = "male"
)

// sexRelation is a relation that says the sex of its subject, and sexValues are what it says.
var (
	sexRelation = regexp.MustCompile(`(?i)\b(?:sex|gender)\b`)
	sexValues   = map[string]Sex{"female": Female, "woman": Female, "girl": Female, "f": Female, "w": Female,
		"male": Male, "man": Male, "boy": Male, "m": Male}
)

// AskedSex returns the sex that a question asks a relative to be of: "who are the daughters of A".
func AskedSex(question string) Sex {
	m := asksKin.FindStringSubmatch(question)
	if m == nil {
		return ""
	}
	for _, s := range sexes {
		switch noun := m[1] + m[2]; {
		case SameNoun(noun, s[0]), s[0] == "wife" && strings.EqualFold(noun, "wives"):
			return Female
		case SameNoun(noun, s[1]):
			return Male
		}
	}
	return ""
}

// SexOf returns the sex of people of a kind such as woman or boy; empty for other kinds.
func SexOf(kind string) Sex {
	if len(kind) < len("man") {
		return ""
	}
	return sexValues[Fold(kind)]
}

// SaysSex reports whether a relation leads to relatives of one sex alone: daughter, not child.
func SaysSex(relation string) bool {
	said := FoldWords(VerbaliseRelation(relation))
	return slices.ContainsFunc(sexes, func(s [2]string) bool { return said.Mention(s[0]) != said.Mention(s[1]) })
}

// IsSex reports whether a relation says the sex of its subject.
func IsSex(relation string) bool { return sexRelation.MatchString(SplitIdentifiers(relation)) }

// StatedSex returns the sex that a triple says of its subject.
func StatedSex(t *graphv1.Triple) Sex {
	if !IsSex(t.GetRelation()) {
		return ""
	}
	return sexValues[Fold(t.GetObject())]
}
