package judge

import (
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// enough is how many subjects tell how a relation is used, whatever its name.
const enough = 20

// Words by which a relation tells that what has one object for it may have
// others, for want of enough subjects to see it.
var manifold = []string{
	"child", "children", "sibling", "brother", "sister", "friend", "award", "member", "part", "genre", "occupation", "profession",
	"cast", "starring", "influenced", "notable", "field", "instrument", "diplomatic", "neighbour", "neighbor", "sister city", "twin",
	"works", "film", "films", "book", "books", "song", "songs", "album", "product", "hobby", "interest", "ingredient", "contains", "includes",
	"language spoken", "languages", "participant", "residence", "role", "tributary", "subsidiary", "owner of", "author of", "director of",
}

// Words of relations between things of one kind: which of two is whose cannot be
// told from what they are.
var ofOneKind = []string{
	"father", "mother", "parent", "child", "children", "son", "daughter", "part", "subclass", "influenced", "influence", "follows", "followed",
	"preceded", "successor", "predecessor", "student", "teacher", "advisor", "taxon", "located", "location", "contains", "owned", "owner",
	"member", "named", "based", "replaces", "replaced", "subsidiary", "organization",
}

// Words of relations from what lies in something to what it lies in, or back.
var nesting = []string{
	"country", "located", "location", "part", "capital", "state", "contains", "containedby", "contained", "continent", "territorial", "administrative",
	"district", "region", "county", "province", "city", "subclass", "parent", "member",
}

// Relations that hold both ways.
var mutual = []string{
	"spouse", "married", "wife", "husband", "partner", "sibling", "brother", "sister", "twin", "border", "adjoin", "neighbour", "neighbor",
	"diplomatic relation", "sister city", "twinned", "friend", "colleague", "relative", "equivalent", "opposite",
}

// several is how likely a relation has several objects for one subject: by the
// subjects that were looked at, and by its name where these are few.
func several(use *verifierv1.RelationUse, relation string) float32 {
	seen, many := float32(use.GetSubjects()), float32(use.GetSeveral())
	share := (many + 0.5) / (seen + 6)
	if seen < enough && holds(relation, manifold) {
		share = max(share, 0.5)
	}
	return share
}

// holds tells whether a relation's name has one of some words in it.
func holds(relation string, words []string) bool {
	name := " " + verbalise.Fold(verbalise.Relation(relation)) + " "
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, " "+w+" ") || strings.Contains(name, " "+w+"s ") })
}

// turns tells whether a claim whose relation is said so may be a triple read
// from its object to its subject: "capital of" and "capital", "wrote" and
// "author", or any relation that holds both ways. A relation of the very same
// name is not turned: whose father one is is not one's father.
func turns(said, relation string) bool {
	words := verbalise.Fold(verbalise.Relation(relation))
	if holds(relation, mutual) {
		return true
	}
	of := strings.HasSuffix(said, " of")
	if strings.HasSuffix(words, " of") || strings.HasSuffix(words, " by") {
		return !of && said != words || strings.HasSuffix(words, " by") && of
	}
	return said != words && (of || !strings.Contains(said, " "))
}
