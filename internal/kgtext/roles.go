package kgtext

import (
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// role is one of several that exclude each other: who is asked for a mother is not told a spouse, although
// the words are near to each other.
type role struct{ group, name string }

// roles are the roles that words name.
var roles = readRoles(map[string]map[string]string{
	"kin": {
		"parent":  "parent parents mother mothers mom mum father fathers dad",
		"child":   "child children kid kids offspring heir son sons daughter daughters",
		"sibling": "sibling siblings brother brothers sister sisters",
		"spouse":  "spouse wife wives husband husbands married marry marriage partner couple",
	},
	"life": {
		"birth":     "birth born birthplace birthday birthdate",
		"death":     "death died die dies dead deathplace",
		"burial":    "burial buried",
		"residence": "residence live lives lived living reside resides resided",
	},
	"work": {
		"founder":   "founder founders founded found cofounder cofounders",
		"owner":     "owner owners owns owned",
		"employer":  "employer employers employed employs employ hired",
		"education": "studied study studies educated education attended graduated",
	},
	"crew": {
		"director": "director directors directed direct directs",
		"writer": "writer writers wrote written write writes author authors screenwriter screenwriters screenplay " +
			"scriptwriter",
		"producer": "producer producers produced produce produces",
		"actor":    "actor actors actress acted cast played star stars starred starring",
	},
})

// opposites are the roles that relations say of their subjects.
var opposites = map[string]string{"parent": "child", "child": "parent"}

func readRoles(groups map[string]map[string]string) map[string]role {
	all := map[string]role{}
	for group, names := range groups {
		for name, words := range names {
			for word := range strings.FieldsSeq(words) {
				all[word] = role{group, name}
			}
		}
	}
	return all
}

// findRoles returns the roles that a text names.
func findRoles(text string) (found []role) {
	for word := range strings.FieldsSeq(Fold(text)) {
		if r, ok := roles[word]; ok {
			found = append(found, r)
		}
	}
	return found
}

// OtherRole returns the role that a relation says where the question asks for another of the same group: the
// spouse, where it asks for a mother. steps are one fact, topic is a name that says nothing of what is asked.
// Empty if they may be the same.
func OtherRole(question, topic string, steps []*graphv1.RelationStep) string {
	asked := findRoles(strings.ReplaceAll(" "+Fold(question)+" ", " "+Fold(topic)+" ", " "))
	var said []role
	for _, s := range steps {
		for _, r := range findRoles(VerbaliseRelation(s.GetRelation())) {
			if opposite := opposites[r.name]; s.GetInverse() && opposite != "" {
				r.name = opposite
			}
			said = append(said, r)
		}
	}
	for _, s := range said {
		inGroup := func(r role) bool { return r.group == s.group }
		if slices.ContainsFunc(asked, inGroup) &&
			!slices.ContainsFunc(asked, func(r role) bool { return inGroup(r) && slices.Contains(said, r) }) {
			return s.name
		}
	}
	return ""
}
