package judge

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// nameLikelihood is the probability that a name of a claim means an entity of the knowledge graph;
// 0 if it does not.
func nameLikelihood(name, entity string, links []*graphv1.EntityLink) float32 {
	a, b := tokens(name), tokens(entity)
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case slices.Equal(a, b):
		return 1
	case sameBag(a, b), isPlural(name, a, b),
		kgtext.CountryOf(name) != "" && kgtext.CountryOf(name) == kgtext.CountryOf(entity):
		return 0.95
	}
	for _, l := range links {
		if l.GetEntity() != entity || !slices.Equal(tokens(l.GetMention()), a) {
			continue
		}
		switch l.GetMatch() {
		case graphv1.LinkMatch_LINK_MATCH_EXACT, graphv1.LinkMatch_LINK_MATCH_NORMALISED,
			graphv1.LinkMatch_LINK_MATCH_ALIAS:
			return 0.95
		}
	}
	if head, _, cut := strings.Cut(name, ","); cut && slices.Equal(tokens(head), b) {
		return 0.9 // "Paris, France"
	}
	if isLegal(a, b) {
		return 0.9
	}
	if isMisspelling(a, b) {
		return 0.8
	}
	return 0
}

// legalForms are short words behind the names of clubs and companies that most texts leave out.
var legalForms = map[string]bool{"fc": true, "cf": true, "afc": true, "sc": true, "ltd": true, "limited": true,
	"inc": true, "llc": true, "corp": true, "corporation": true, "co": true, "gmbh": true, "ag": true, "plc": true,
	"spa": true, "jr": true, "sr": true}

// isLegal reports whether a name lacks only what sort of club or company the other one is: "Hull City" of "Hull City
// A.F.C.".
func isLegal(name, other []string) bool {
	return len(name) < len(other) && slices.Equal(name, other[:len(name)]) &&
		(legalForms[strings.Join(other[len(name):], "")] || len(name)+1 == len(other) && legalForms[other[len(name)]])
}

// isPlural reports whether the words of a name are common nouns that differ from another name's in number alone:
// "chili peppers" and "Chili pepper".
func isPlural(name string, a, b []string) bool {
	last := len(a) - 1
	return len(a) == len(b) && name == strings.ToLower(name) && slices.Equal(a[:last], b[:last]) &&
		kgtext.SameNoun(a[last], b[last])
}

// belongs reports whether a name says that somebody or something belongs to another one, for relations to such: an
// Austrian to Austria, a Democrat to the Democratic Party.
func belongs(relation, name, other string) bool {
	return kgtext.NamesAny(relation, belonging) &&
		slices.Contains(kgtext.AdjectiveBases(kgtext.Fold(name)), kgtext.Fold(other)) ||
		kgtext.NamesAny(relation, professed) && isFollower(name, other)
}

// isFollower reports whether a name is the word for who follows what another one names: Buddhist, of Buddhism. What
// stands behind that in parentheses tells namesakes apart.
func isFollower(name, followed string) bool {
	followed, _, _ = strings.Cut(followed, " (")
	said, other := tokens(name), tokens(followed)
	if len(other) == 2 && (other[1] == "party" || other[1] == "church") {
		other = other[:1]
	}
	return len(said) == 1 && len(other) == 1 && stemOfBelief(said[0]) == stemOfBelief(other[0])
}

// stemOfBelief returns what the words for a belief and for who holds it have in common: "democrat", "cathol".
func stemOfBelief(word string) string {
	for _, ending := range []string{"ity", "ism", "ist", "y", "ic"} {
		if stem := strings.TrimSuffix(word, ending); len(stem) > 1 {
			word = stem
		}
	}
	return word
}

// valueLikelihood is nameLikelihood for objects, which may be dates, numbers and quantities.
func valueLikelihood(said, held string, links []*graphv1.EntityLink) float32 {
	said, isRough := kgtext.CutApproximation(said)
	if a, ok := kgtext.ParseDate(said); ok {
		if b, ok := kgtext.ParseDate(held); ok {
			return dateLikelihood(a, b)
		}
	}
	if a, ok := kgtext.ParseQuantity(said); ok {
		if b, ok := kgtext.ParseQuantity(held); ok {
			if isRough && isRounded(a, b) {
				return 0.8
			}
			return quantityLikelihood(a, b)
		}
	}
	const unqualified = 0.9
	likelihood := nameLikelihood(said, held, links)
	if likelihood < unqualified && (kgtext.StandsFor(said, held) || isShort(said, held)) {
		return unqualified
	}
	return likelihood
}

// withUnit returns a value with the unit that its relation names, if it has none and what is said has one that can be
// compared with it: 4.8 of a "distance (km)".
func withUnit(value, relation, said string) string {
	q, isNumber := kgtext.ParseQuantity(value)
	s, isSaid := kgtext.ParseQuantity(said)
	unit := kgtext.UnitOf(relation)
	if !isNumber || !isSaid || q.Unit != "" || s.Unit == "" || unit == "" {
		return value
	}
	whole, _ := kgtext.ParseQuantity(value + " " + unit)
	if _, converts := whole.Convert(s.Unit); !converts {
		return value
	}
	return value + " " + unit
}

// roughYears and roughShare are how far from a value of the knowledge graph an approximate one may be without
// contradicting it.
const roughYears, roughShare = 5, 0.1

// isRounded reports whether a number is another one rounded to its digits: 50,000 of 48,200.
func isRounded(q, of kgtext.Quantity) bool {
	if in, converts := of.Convert(q.Unit); converts {
		of = in
	}
	if q.Number == 0 || !q.Comparable(of) {
		return false
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(q.Number))))
	for math.Abs(math.Round(q.Number/unit)*unit-q.Number) > 1e-9*math.Abs(q.Number) {
		unit /= 10
	}
	return math.Abs(q.Number-of.Number) <= unit/2
}

// isShort reports whether a name lacks only the word for what kind of thing the other one names, and what tells that
// from namesakes: "French" of "French language", "Labour" of "Labour Party (UK)".
func isShort(said, held string) bool {
	held, _, _ = strings.Cut(held, " (")
	name, other := tokens(said), tokens(held)
	last := len(other) - 1
	return last > 0 && classes[other[last]] && slices.Equal(name, other[:last])
}

// classes are words for kinds of things that end their names, and are left out where the relation says the kind.
var classes = map[string]bool{"language": true, "music": true, "architecture": true, "people": true, "cuisine": true,
	"literature": true, "religion": true, "church": true, "party": true}

// particles are words that are optional in names.
var particles = map[string]bool{"the": true, "a": true, "an": true, "of": true, "and": true, "de": true,
	"la": true, "s": true, "in": true, "to": true, "from": true, "until": true}

// tokens are the words of a name, without accents, case, punctuation and articles.
func tokens(name string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	words := strings.FieldsFunc(plain, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	if len(words) > 1 && (words[0] == "the" || words[0] == "a" || words[0] == "an") {
		words = words[1:]
	}
	return words
}

// sameBag reports whether two names have the same words in any order, particles ignored:
// "University of Oxford", "Oxford University".
func sameBag(a, b []string) bool {
	a, b = content(a), content(b)
	slices.Sort(a)
	slices.Sort(b)
	return len(a) > 0 && slices.Equal(a, b)
}

func content(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return particles[w] })
}

// isMisspelling reports whether two names differ by a letter of one long word.
func isMisspelling(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	wrong := 0
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if wrong++; wrong > 1 || utf8.RuneCountInString(a[i]) < 6 || strings.ContainsFunc(a[i]+b[i],
			unicode.IsNumber) || !oneLetter([]rune(a[i]), []rune(b[i])) {
			return false
		}
	}
	return wrong == 1
}

// oneLetter reports whether one letter was added, dropped, changed or swapped with the next, except
// at the end, where another letter usually makes another word.
func oneLetter(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i >= len(a)-1 {
		return false
	}
	switch {
	case len(b) == len(a)+1:
		return slices.Equal(a[i:], b[i+1:])
	case len(a) != len(b):
		return false
	case slices.Equal(a[i+1:], b[i+1:]):
		return true
	}
	return a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// containsWords reports whether one name has all words of the other: "New York" and "New York City"
// may be the same or not.
func containsWords(a, b string) bool {
	x, y := content(tokens(a)), content(tokens(b))
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) > 0 && !slices.ContainsFunc(x, func(w string) bool {
		return !slices.Contains(y, w) && !slices.Contains(y, strings.TrimSuffix(w, "s")) && !slices.Contains(y, w+"s")
	})
}

// dateLikelihood is the probability that a claimed date is the one in the graph: lower if it is
// more precise than the graph's.
func dateLikelihood(said, held kgtext.Date) float32 {
	switch {
	case !said.Agrees(held):
		return 0
	case said.MorePreciseThan(held):
		return 0.8
	}
	return 1
}

// quantityLikelihood is the probability that a claimed quantity is the one in the graph: within
// rounding, in the same unit or without one.
func quantityLikelihood(said, held kgtext.Quantity) float32 {
	off := said.RelativeDifference(held)
	switch {
	case !said.Comparable(held):
		return 0
	case off == 0:
		return 1
	case off <= 0.01:
		return 0.8
	}
	return 0
}

// roughly is the greatest difference, as a share, by which people round a value into another unit.
const roughly = 0.05

// differs reports whether a triple's value is of the same kind as the claim's and certainly
// different: a date is not a name, "New York" may be "New York City", and a country contains its
// cities.
func (c *claimCase) differs(v *view) bool {
	said := c.claim.GetTriple().GetObject()
	if v.role == reversed {
		said = c.claim.GetTriple().GetSubject()
	}
	if !overlap(c.claim.GetTriple().GetValidity(), v.GetTriple().GetValidity()) {
		return false
	}
	if v.GetTriple().GetObjectKind() == graphv1.TermKind_TERM_KIND_MEDIATOR && v.role != inverse {
		return false
	}
	said, isRough := kgtext.CutApproximation(said)
	d, saidDate := kgtext.ParseDate(said)
	e, heldDate := kgtext.ParseDate(v.value)
	q, a := kgtext.ParseQuantity(said)
	r, b := kgtext.ParseQuantity(v.measured)
	switch {
	case kgtext.IsFlag(v.value) && !kgtext.IsFlag(said):
		return false // what is said of it is another thing
	case saidDate && heldDate:
		return !isRough || max(d.Year-e.Year, e.Year-d.Year) > roughYears
	case saidDate != heldDate && !(a && b): // a bare number may be a year
		return false
	case !a && !b && haveSameNumbers(said, v.value):
		return false // a period, written in another way
	case a != b && (a && q.Unit == "" || b && r.Unit == ""):
		return false // a bare number is none of the other's names
	case a && b && (!q.Comparable(r) || q.HasOtherUnit(r) && q.RelativeDifference(r) <= roughly ||
		isRough && q.RelativeDifference(r) <= roughShare):
		return false // in other units, or roughly, the value may be the same
	case a && b:
		return true
	}
	if kgtext.CountryOf(said) != "" && kgtext.CountryOf(v.value) != "" {
		return kgtext.AreOtherCountries(said, v.value)
	}
	isOfIt := slices.ContainsFunc(tokens(said), func(word string) bool {
		return belongs(v.GetTriple().GetRelation(), word, v.value)
	})
	return !isOfIt && !containsWords(said, v.value) && !c.nests(said, v)
}

// number matches the numbers of a text.
var number = regexp.MustCompile(`\d+`)

// haveSameNumbers reports whether two texts have numbers, and the same ones.
func haveSameNumbers(a, b string) bool {
	of := number.FindAllString(a, -1)
	return len(of) > 0 && slices.Equal(of, number.FindAllString(b, -1))
}

// nests reports whether the claimed value contains the triple's or the other way round: a person
// born in a city was born in its country too.
func (c *claimCase) nests(said string, v *view) bool {
	links := c.claim.GetObjects()
	if v.role == reversed {
		links = c.claim.GetSubjects()
	}
	return slices.ContainsFunc(c.nested, func(s *graphv1.ScoredTriple) bool {
		t := s.GetTriple()
		return t.GetSubject() == v.value && nameLikelihood(said, t.GetObject(), links) > 0 ||
			t.GetObject() == v.value && nameLikelihood(said, t.GetSubject(), links) > 0
	})
}

// containment returns a place of the claim's relation that lies in the claimed one, and the triple that says
// so: who was born in Paris was born in France.
func (c *claimCase) containment() (*view, *graphv1.ScoredTriple) {
	for _, v := range c.views {
		if v.role != forward || v.agrees || !c.matchesRelation(v) ||
			!kgtext.NamesAny(v.GetTriple().GetRelation(), placing) {
			continue
		}
		for _, t := range c.nested {
			if t.GetTriple().GetSubject() == v.value && namesAll(t.GetTriple().GetRelation(), lyingIn) &&
				nameLikelihood(c.claim.GetTriple().GetObject(), t.GetTriple().GetObject(), c.claim.GetObjects()) > 0 {
				return v, t
			}
		}
	}
	return nil, nil
}

// overlap reports whether two validity intervals overlap, as far as they are known.
func overlap(a, b *graphv1.ValidityInterval) bool {
	if a == nil || b == nil {
		return true
	}
	return startsBeforeEnd(a.GetStart(), b.GetEnd()) && startsBeforeEnd(b.GetStart(), a.GetEnd())
}

// startsBeforeEnd reports whether a start is not after an end, at the lower precision of both.
func startsBeforeEnd(start, end string) bool {
	if start == "" || end == "" {
		return true
	}
	n := min(len(start), len(end))
	return start[:n] <= end[:n]
}

// minSubjects is the sample of subjects from which a relation's use is known regardless of its
// name.
const minSubjects = 20

// multiValued are words of relations that usually have several objects, used if the sample of
// subjects is too small.
var multiValued = []string{
	"child", "children", "sibling", "brother", "sister", "friend", "award", "member", "part", "genre", "occupation",
	"profession", "cast", "starring", "influenced", "notable", "field", "instrument", "diplomatic", "neighbour",
	"neighbor", "sister city", "twin", "works", "film", "films", "book", "books", "song", "songs", "album", "product",
	"hobby", "interest", "ingredient", "contains", "includes", "language spoken", "languages", "participant",
	"residence", "role", "tributary", "subsidiary", "owner of", "author of", "director of",
}

// singleValued are words of relations of which most things have one object, whether or not some have several.
var singleValued = []string{
	"birth", "born", "death", "died", "date", "year", "capital", "author", "architect", "discoverer", "discovered",
	"builder", "built", "manufacturer", "creator", "publisher", "predecessor", "successor", "preceded", "followed",
	"leader", "mayor", "president", "chairman", "director", "directed", "painted",
	"manager", "coach", "owner", "operator", "headquarters",
	"length", "height", "width", "area", "population", "density", "elevation", "mass", "count", "size",
}

// once are words of what happens once, unlimited those of what it may have several of.
var (
	once      = []string{"birth", "born", "death", "died"}
	unlimited = []string{"cause", "manner", "name"}
)

// sameKind are words of relations between entities of one kind, whose direction the kinds do not
// reveal.
var sameKind = []string{
	"father", "mother", "parent", "child", "children", "son", "daughter", "part", "subclass", "influenced",
	"influence", "follows", "followed", "preceded", "successor", "predecessor", "student", "teacher", "advisor",
	"taxon", "located", "location", "contains", "owned", "owner", "member of", "named", "based", "replaces",
	"replaced", "subsidiary", "organization",
}

// nesting are words of relations of containment, in either direction.
var nesting = []string{
	"country", "located", "location", "part", "capital", "state", "contains", "containedby", "contained", "continent",
	"territorial", "administrative", "district", "region", "county", "province", "city", "subclass", "parent",
	"member",
}

// lyingIn are those that lead from what lies in a place to that place, lying words of claims that it does, placing
// words of relations whose objects are places, locating those of which one thing may have several with other places.
var (
	lyingIn = []string{"country", "located", "location", "part of", "state", "continent", "region", "county",
		"province", "district", "administrative", "territorial"}
	lying    = []string{"location", "located", "situated", "lies", "lie"}
	locating = []string{"place", "location", "located", "birth", "death", "residence", "headquarters"}
	placing  = append([]string{"origin", "hometown", "region", "city"}, locating...)
)

// namesAll reports whether each fact of a relation, which may join several, has one of some words: who was licensed by
// an office does not lie where that does.
func namesAll(relation string, words []string) bool {
	for half := range strings.SplitSeq(relation, kgtext.Joint) {
		if !kgtext.NamesAny(half, words) {
			return false
		}
	}
	return true
}

// belonging are words of relations that adjectives are objects of, professed of those to what is believed in.
var (
	belonging = []string{"nationality", "citizenship", "country", "origin", "ethnic", "ethnicity"}
	professed = []string{"religion", "denomination", "party", "ideology", "movement"}
)

// isMutual reports whether a relation holds both ways: it is symmetric, or what one is to the other depends on who is
// the man and who the woman.
func isMutual(relation string) bool {
	return kgtext.IsSymmetric(relation) || kgtext.NamesAny(relation, []string{"wife", "husband", "brother", "sister"})
}

// multiValuedShare is the probability that a relation has several objects for one subject: from the
// sampled subjects, and from its name if these are few.
func multiValuedShare(use *verifierv1.RelationUse, relation string) float32 {
	seen, many := float32(use.GetSubjects()), float32(use.GetSeveral())
	share := (many + 0.5) / (seen + 6)
	if seen < minSubjects && kgtext.NamesAny(relation, multiValued) {
		share = max(share, 0.5)
	}
	return share
}

// isInverseOf reports whether a claim's relation may be a triple's relation read from object to
// subject: "capital of" and "capital", "wrote" and "author", or any symmetric relation. A relation
// of the same name is not inverse: "father" is not the inverse of "father".
func isInverseOf(said, relation string) bool {
	words := kgtext.Fold(kgtext.VerbaliseRelation(relation))
	if isMutual(relation) {
		return true
	}
	of := strings.HasSuffix(said, " of")
	if strings.HasSuffix(words, " of") || strings.HasSuffix(words, " by") {
		return !of && said != words || strings.HasSuffix(words, " by") && of
	}
	return said != words && (of || !strings.Contains(said, " "))
}
