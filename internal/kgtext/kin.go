package kgtext

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// asksKin is a question for a relative: "who was the grandfather of A", "who is A's uncle", "which heroes are sons of
// A".
var asksKin = regexp.MustCompile(`(?i)^(?:who ` + ofNamed + `|(?:which|what) \pL+s (?:are|were) (?:the )?(\pL+) of\b)`)

// ofNamed is "is the founder of A" and "is A's founder"; one of its two groups is the noun.
const ofNamed = `(?:is|are|was|were) (?:the (\pL+) of\b|.*['’]s (\pL+)\W*$)`

// LacksKin reports whether a question asks for a relative, and a relation says none: the words for relatives are known,
// and a dynasty is no grandfather.
func LacksKin(question, relation string) bool {
	isKin := func(r role) bool { return r.group == "kin" }
	m := asksKin.FindStringSubmatch(question)
	return m != nil && slices.ContainsFunc(findRoles(m[1]+m[2]+m[3]), isKin) &&
		!slices.ContainsFunc(findRoles(relation), isKin)
}

// kinSteps are the relatives over whom others are reached, and kinOpposites what somebody is to a relative.
var (
	kinSteps = map[string][]string{"grandparent": {"parent", "parent"}, "grandchild": {"child", "child"},
		"uncle": {"parent", "sibling"}, "nephew": {"sibling", "child"}, "cousin": {"parent", "sibling", "child"}}
	kinOpposites = map[string]string{"parent": "child", "child": "parent", "grandparent": "grandchild",
		"grandchild": "grandparent", "uncle": "nephew", "nephew": "uncle"}
)

// KinRole returns which relative the object of a relation is to its subject if the relation says no more: sibling of
// "has brother". Of a relation that is followed the other way it is the subject's role; empty if there is none.
func KinRole(relation string, isInverse bool) string {
	words, isOf := strings.CutSuffix(Fold(VerbaliseRelation(relation)), " of")
	words = strings.TrimPrefix(strings.TrimPrefix(words, "has "), "is ")
	for _, r := range roles[words] {
		if opposite := kinOpposites[r.name]; r.group == "kin" && isInverse != isOf && opposite != "" {
			return opposite
		} else if r.group == "kin" {
			return r.name
		}
	}
	return ""
}

// EndsWithOf reports whether a phrase says whose relative its subject is: "daughter of".
func EndsWithOf(phrase string) bool { return strings.HasSuffix(Fold(phrase), " of") }

// KinSteps returns the relatives over whom one is reached, who is the last: a cousin over parent, sibling and child.
func KinSteps(role string) []string {
	if steps := kinSteps[role]; steps != nil {
		return steps
	}
	return []string{role}
}

// isKinPath reports whether kin that follow each other are together a relative: who has the same parent is a sibling.
func isKinPath(role string, said []role) bool {
	var names []string
	for _, r := range said {
		if last := len(names) - 1; r.name == "child" && last >= 0 && names[last] == "parent" {
			names[last] = "sibling"
		} else {
			names = append(names, r.name)
		}
	}
	return slices.Equal(names, KinSteps(role))
}

// SexSaid returns the sex of the relatives that a relation or a phrase says: female of "daughter of"; empty if they may
// be of either.
func SexSaid(relation string) Sex {
	said := Sex("")
	for word := range strings.FieldsSeq(Fold(VerbaliseRelation(relation))) {
		sex := sexOfWord(word)
		if sex != "" && said != "" && sex != said {
			return ""
		}
		said = cmp.Or(said, sex)
	}
	return said
}

// sexOfWord returns the sex of the relatives that a word is for; empty if they may be of either, or it is for none.
func sexOfWord(word string) Sex {
	for _, s := range sexes {
		switch {
		case SameNoun(word, s[0]), s[0] == "wife" && strings.EqualFold(word, "wives"):
			return Female
		case SameNoun(word, s[1]):
			return Male
		}
	}
	return ""
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
	return sexOfWord(m[1] + m[2] + m[3])
}

// SexOf returns the sex of people of a kind such as woman or boy; empty for other kinds.
func SexOf(kind string) Sex {
	if len(kind) < len("man") {
		return ""
	}
	return sexValues[Fold(kind)]
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
