package kgtext

import (
	"regexp"
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
		"parent":      "parent parents mother mothers mom mum father fathers dad",
		"child":       "child children kid kids offspring heir son sons daughter daughters",
		"sibling":     "sibling siblings brother brothers sister sisters",
		"spouse":      "spouse wife wives husband husbands married marry marriage partner couple",
		"grandparent": "grandparent grandparents grandmother grandmothers grandfather grandfathers grandma grandpa",
		"grandchild":  "grandchild grandchildren grandson grandsons granddaughter granddaughters",
		"uncle":       "uncle uncles aunt aunts",
		"nephew":      "nephew nephews niece nieces",
		"cousin":      "cousin cousins",
	},
	"way": {
		"origin":      "origin origins departure departures depart departs departed leave leaves",
		"destination": "destination destinations arrival arrivals arrive arrives arrived",
	},
	"life": {
		"birth":     "birth born birthplace birthday birthdate",
		"death":     "death died die dies dead deathplace",
		"burial":    "burial buried",
		"residence": "residence live lives lived living reside resides resided",
		"origin":    "origin origins",
	},
	"work": {
		"founder":    "founder founders founded found cofounder cofounders",
		"owner":      "owner owners owns owned",
		"subsidiary": "subsidiary subsidiaries",
		"employer":   "employer employers employed employs employ hired boss",
		"leader": "ceo chief leader leaders leads lead led head heads manager managers manages managed run runs " +
			"president chair chairman chairwoman chairperson boss",
		"education": "studied study studies educated education attended graduated",
	},
	"seat": {
		"formation":    "formation formed foundation founded founding established",
		"headquarters": "headquarters headquarter headquartered",
	},
	"span": {
		"introduction": "introduced introduction launched launch commissioned",
		"opening":      "opened",
		"end": "discontinued discontinuation closed closure dissolved dissolution abolished demolished " +
			"decommissioned",
	},
	"outcome": {
		"winner": "winner winners won win wins winning victor champion champions",
		"loser":  "loser losers lost lose loses losing",
	},
	"office": {
		"successor":   "successor successors succeeded succeeds next after following follows",
		"predecessor": "predecessor predecessors preceded precedes previous before preceding",
	},
	"crew": {
		"director": "director directors directed direct directs",
		"writer": "writer writers wrote written write writes author authors screenwriter screenwriters screenplay " +
			"scriptwriter songwriter songwriters lyricist",
		"producer":    "producer producers produced produce produces",
		"publisher":   "publisher publishers published publish publishes",
		"editor":      "editor editors edited edit edits",
		"translator":  "translator translators translated translate translates translation",
		"illustrator": "illustrator illustrators illustrated illustrate illustrates",
		"composer":    "composer composers composed compose composes",
		"actor": "actor actors actress acted cast played star stars starred starring portrayed portrays " +
			"portrayer",
	},
	"craft": { // made and built may be either
		"designer": "designer designers designed design designs architect architects",
		"inventor": "inventor inventors invented invents invent",
		"maker":    "manufacturer manufacturers manufactured manufactures maker makers",
	},
	"states": {
		"border": "border borders bordering bordered neighbor neighbour neighbors neighbours neighboring " +
			"neighbouring adjacent",
		"diplomacy": "diplomatic diplomacy ambassador ambassadors embassy",
	},
	"measure": {
		"length":     "length long longest duration runtime minutes hours",
		"depth":      "depth deep deepest",
		"height":     "height high highest tall tallest elevation altitude",
		"width":      "width wide widest",
		"weight":     "weight weigh weighs heavy heaviest mass",
		"population": "population inhabitants populous",
		"area":       "area",
		"density":    "density",
		"price":      "price prices cost costs fee fees fare fares cheap cheapest expensive",
		"code":       "code codes",
		"revenue":    "revenue revenues turnover",
		"profit":     "profit profits",
		"budget":     "budget budgets",
		"salary":     "salary salaries wage wages",
	},
	"phase": {
		"melting": "melt melts melting",
		"boiling": "boil boils boiling",
	},
})

// opposites are the roles that relations say of their subjects.
var opposites = map[string]string{"parent": "child", "child": "parent", "owner": "subsidiary", "subsidiary": "owner",
	"successor": "predecessor", "predecessor": "successor"}

// turnRoles returns, if isTurned, the roles of the other side for those that have one: a noun is said of the object of
// a relation, and of the subject if that is "mother of" the object.
func turnRoles(all []role, isTurned bool) []role {
	for i, r := range all {
		if opposite := opposites[r.name]; isTurned && opposite != "" {
			all[i].name = opposite
		}
	}
	return all
}

// ownsForm matches the verb of owners, which says the role of both sides, unlike the noun.
var ownsForm = regexp.MustCompile(`(?i)\bowns\b`)

func readRoles(groups map[string]map[string]string) map[string][]role {
	all := map[string][]role{}
	for group, names := range groups {
		for name, words := range names {
			for word := range strings.FieldsSeq(words) {
				all[word] = append(all[word], role{group, name})
			}
		}
	}
	return all
}

// isComposed reports whether roles that several facts say are together one that is asked for.
func isComposed(asked, said []role) bool {
	return len(said) > 1 && slices.ContainsFunc(asked, func(r role) bool {
		isOther := func(s role) bool { return !slices.Contains(kinSteps[r.name], s.name) }
		return isKinPath(r.name, said) || !slices.ContainsFunc(said, isOther)
	})
}

// roleWords are words that say a role together, in a word for that. What is named after something does not come after
// it.
var roleWords = strings.NewReplacer("named after", "", "passed away", "died", "head office", "headquarters",
	"made by", "maker", "runner up", "loser")

// findRoles returns the roles that a text names. Of measures that follow each other the last counts: an area code is no
// area.
func findRoles(text string) (found []role) {
	isBehind := false // the last role
	text = roleWords.Replace(Fold(SplitIdentifiers(text)))
	for word := range strings.FieldsSeq(text) {
		own := roles[word]
		if isBehind && len(own) > 0 && own[0].group == "measure" && found[len(found)-1].group == "measure" {
			found = found[:len(found)-1]
		}
		isBehind, found = len(own) > 0, append(found, own...)
	}
	return found
}

// SharesRole reports whether two texts name the same role: "born" and "date of birth".
func SharesRole(a, b string) bool {
	others := findRoles(b)
	return slices.ContainsFunc(findRoles(a), func(r role) bool { return slices.Contains(others, r) })
}

// SaysWay reports whether a relation says where things go from or to, as a phrase asks that ends so: "from", "go to".
func SaysWay(phrase, relation string) bool {
	switch LastWord(phrase) {
	case "from":
		return SharesRole("origin", relation)
	case "to":
		return SharesRole("destination", relation)
	}
	return false
}

// ExcludesWay reports whether a relation says where things go from and a phrase asks where to, or the other way about.
func ExcludesWay(phrase, relation string) bool {
	way := LastWord(phrase)
	return way == "to" && SaysWay("from", relation) || way == "from" && SaysWay("to", relation)
}

// SharesMeasure reports whether two texts name the same measure: "cost" and "price".
func SharesMeasure(a, b string) bool {
	others := findRoles(b)
	return slices.ContainsFunc(findRoles(a),
		func(r role) bool { return r.group == "measure" && slices.Contains(others, r) })
}

// ExcludesRole reports whether a phrase names a role that a relation excludes, and no relative. Of roles that are
// opposites each may be said of the other side: who succeeds somebody has that one as the predecessor.
func ExcludesRole(phrase, relation string) bool {
	said := findRoles(phrase)
	return slices.ContainsFunc(findRoles(relation), func(r role) bool {
		isOther := func(s role) bool { return s.group == r.group && s.name != opposites[r.name] && r.group != "kin" }
		return !slices.Contains(said, r) && slices.ContainsFunc(said, isOther)
	})
}

// saysOpposite reports whether a question asks for the role of the other side of a relation.
func saysOpposite(relation, question string) bool {
	asked := findRoles(question)
	return slices.ContainsFunc(turnRoles(findRoles(relation), true),
		func(r role) bool { return opposites[r.name] != "" && slices.Contains(asked, r) })
}

// namesLife reports whether a text names a birth, a death or where somebody lives.
func namesLife(text string) bool {
	return slices.ContainsFunc(findRoles(text), func(r role) bool { return r.group == "life" })
}

// MeasuresOther reports whether a relation says how long, high or heavy things are, and not how many there are of what
// is counted, which is no measure of its own: the length of runways, where runways are counted.
func MeasuresOther(counted, relation string) bool {
	return !SharesRole(counted, relation) && slices.ContainsFunc(findRoles(VerbaliseRelation(relation)),
		func(r role) bool { return r.group == "measure" && r.name != "population" })
}

// OtherRole returns the role that a relation says where the question asks for another of the same group: the
// spouse, where it asks for a mother. steps are one fact, topic is a name that says nothing of what is asked.
// Empty if they may be the same.
func OtherRole(question, topic string, steps []*graphv1.RelationStep) string {
	return otherRole(question, topic, steps, steps)
}

// otherRole is OtherRole of the last steps of a path. All of its steps count for kin: a father's spouse is not the
// spouse who is asked for, and a mother's mother is a grandmother.
func otherRole(question, topic string, steps, last []*graphv1.RelationStep) string {
	asked := findRoles(strings.ReplaceAll(" "+Fold(question)+" ", " "+Fold(topic)+" ", " "))
	// Of relations that are compared, the direction is told elsewhere.
	endsWithOf := func(text string) bool { return topic != "" && strings.HasSuffix(string(FoldWords(text)), " of ") }
	asked = turnRoles(asked, endsWithOf(question)) // of "whom is A the mother of"
	isKin := func(r role) bool { return r.group == "kin" }
	if m := deputyForm.FindStringSubmatch(question); m != nil && len(last) > 0 {
		words := VerbaliseRelation(last[len(last)-1].GetRelation())
		if SharesWord(m[2], words) && !SharesWord(m[1], words) {
			return m[2]
		}
	}
	var said []role
	for i, s := range steps {
		words, isLast := VerbaliseRelation(s.GetRelation()), i >= len(steps)-len(last)
		if lead := FindOtherLead(question, s.GetRelation()); isLast && lead != "" {
			return lead
		}
		isTurned := s.GetInverse() != endsWithOf(words) && !ownsForm.MatchString(s.GetRelation())
		for _, r := range turnRoles(findRoles(words), isTurned) {
			if isLast || isKin(r) {
				said = append(said, r)
			}
		}
	}
	isNoKin := func(r role) bool { return !isKin(r) }
	kin := slices.DeleteFunc(slices.Clone(said), isNoKin)
	isInLaw := inLaw.MatchString(question) && !slices.ContainsFunc(steps, func(s *graphv1.RelationStep) bool {
		return inLaw.MatchString(VerbaliseRelation(s.GetRelation()))
	})
	isFamily := isComposed(asked, kin) || isInLaw && len(kin) > 1
	for _, s := range said {
		inGroup := func(r role) bool { return r.group == s.group }
		isAsked := slices.ContainsFunc(asked, func(r role) bool { return inGroup(r) && slices.Contains(said, r) })
		if isKin(s) {
			isAsked = slices.Contains(asked, s) && !isInLaw || isFamily
		}
		if slices.ContainsFunc(asked, inGroup) && !isAsked {
			return s.name
		}
	}
	return ""
}

// deputyForm is one who stands beside another with a role.
var deputyForm = regexp.MustCompile(`(?i)\b(deputy|vice|assistant|acting|honorary)[ -](\pL+)`)

// inLaw are words for relatives of a spouse.
var inLaw = regexp.MustCompile(`(?i)\bin[- ]laws?\b`)

var (
	// asksMembers is "who is in the team A", "which doctors work at A".
	asksMembers = regexp.MustCompile(`(?i)^(?:who|(?:which|what) \pL+s) (?:all |else )?` +
		`(?:(?:is|are|was|were) (?:all )?(?:in|on)|(?:works?|worked) (?:in|on|for|at|with)|belongs? to) `)
	// leadForm is one who is before the others: "team lead", "head of department".
	leadForm = regexp.MustCompile(`(?i)\b(?:lead|leader|head|manager|chief|boss|chair|captain|ceo|director|founder|` +
		`owner|president)\b`)
)

// FindOtherLead is FindLead if a question is for all who belong to something, and not for the lead.
func FindOtherLead(question, relation string) string {
	if !asksMembers.MatchString(question) {
		return ""
	}
	lead := FindLead(relation)
	if SharesWord(lead, question) {
		return ""
	}
	return lead
}

// FindLead returns the word of a relation for one who is before the others: "head" of "head ranger"; empty if there is
// none.
func FindLead(relation string) string { return leadForm.FindString(VerbaliseRelation(relation)) }

// Kin returns what the object of a relation is to its subject, parent or child, or its subject to its object if it is
// followed the other way; empty if it is neither.
func Kin(relation string, isInverse bool) string {
	words := VerbaliseRelation(relation)
	for _, r := range turnRoles(findRoles(words), isInverse != strings.HasSuffix(words, " of")) { // of "father of"
		if r.group == "kin" && opposites[r.name] != "" {
			return r.name
		}
	}
	return ""
}

// noOneForm is a relation to what is nobody.
var noOneForm = regexp.MustCompile(`\b(?:languages?|genres?|types?|categor(?:y|ies)|dates?|years?|places?|` +
	`locations?|birthplace|colou?rs?|departments?|offices?|rooms?|zones?|semesters?|aircraft|planes?|vehicles?|` +
	`cit(?:y|ies)|towns?|villages?|origin|floors?|address|nationality|in|from)$`)

// LeadsToNoOne reports whether a relation says a language, a place, a date or the like, which is no answer to who.
func LeadsToNoOne(relation string) bool {
	return noOneForm.MatchString(Fold(VerbaliseRelation(relation)))
}

// formerForm says that something was so before.
var formerForm = regexp.MustCompile(`(?i)\b(?:previous(?:ly)?|former(?:ly)?)\b|` +
	`^(?:who|(?:which|what) \p{L}+) used to\b|\bdid\b.*\buse to\b|\bbefore\W*$`)

// SaysFormer reports whether a question asks for what was so before, or a relation says that.
func SaysFormer(text string) bool { return formerForm.MatchString(SplitIdentifiers(text)) }

// pastForm is a verb in the past tense, as far as its ending or an auxiliary tells.
var pastForm = regexp.MustCompile(`(?i)\b(?:did|was|were|had|been|\p{L}{2,}ed)\b`)

// IsPast reports whether a sentence is in the past tense, so that it may be about what is so no longer.
func IsPast(sentence string) bool { return pastForm.MatchString(sentence) }

// PassiveVerb returns the verb of a passive relation: "influenced" of "influenced by".
func PassiveVerb(relation string) (verb string, isPassive bool) {
	return strings.CutSuffix(Fold(VerbaliseRelation(relation)), " by")
}

// IsActive reports whether words of a relation say what its subject does, unlike "influenced by" and "owner".
func IsActive(phrase string) bool {
	return !strings.HasSuffix(phrase, " by") && !slices.ContainsFunc(strings.Fields(phrase), IsRole)
}

// symmetric are words of relations that hold both ways whichever of the two is the subject. A brother has brothers or
// sisters: such words are not among them.
var symmetric = []string{
	"spouse", "married", "partner", "sibling", "twin", "cousin", "relative", "friend", "colleague", "ally", "allied",
	"border", "adjoin", "adjacent", "neighbour", "neighbor", "connected", "interact", "diplomatic relation",
	"sister city", "twinned", "equivalent", "opposite",
}

// IsSymmetric reports whether a relation holds both ways, as its words tell: who A is married to is married to A. A
// knowledge graph often has one of the two triples.
func IsSymmetric(relation string) bool { return NamesAny(relation, symmetric) }

// NamesAny reports whether a relation's name has one of some words, or its plural.
func NamesAny(relation string, words []string) bool {
	name := FoldWords(VerbaliseRelation(relation))
	return slices.ContainsFunc(words, func(w string) bool { return name.Mention(w) || name.Mention(w+"s") })
}

// rdfType is the relation of RDF to what something is.
const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

var (
	// typeRelations say what kind of thing something is.
	typeRelations = []string{"type", "instance of", "is a", "rdf type", "kind", "category", "class"}
	typeSpellings = append(Spell(typeRelations...), "rdf:type", rdfType)
)

// IsType reports whether a relation, in any spelling, says what kind of thing something is.
func IsType(relation string) bool {
	return relation == rdfType || slices.Contains(typeRelations, Fold(VerbaliseRelation(relation)))
}

// TypeRelations returns the names that relations have by which IsType; they are not to be changed.
func TypeRelations() []string { return typeSpellings }

// IsSubclass reports whether the name of a kind ends in the word for another: MusicEvent in event.
func IsSubclass(name, kind string) bool {
	words := strings.Fields(Fold(VerbaliseRelation(name)))
	return len(words) > 1 && SameNoun(words[len(words)-1], kind)
}

// Spell returns names in words as graphs write them: "instance of", "Instance of", instance_of, INSTANCE_OF and
// instanceOf.
func Spell(names ...string) (spelled []string) {
	for _, name := range names {
		words := strings.Split(name, " ")
		snake := strings.Join(words, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		spelled = append(spelled, name, words[0]+name[len(words[0]):], snake, strings.ToUpper(snake),
			name[:1]+strings.Join(words, "")[1:])
	}
	slices.Sort(spelled)
	return slices.Compact(spelled)
}

// cutName returns the words of a question before and behind a name, folded. Of a name that the question does not have
// as a whole, the last words are it: Kant of Immanuel Kant.
func cutName(question, name string) (before, behind string, found bool) {
	text, words := string(FoldWords(question)), strings.Fields(Fold(name))
	for first := 0; first < len(words) && !found; first++ {
		before, behind, found = strings.Cut(text, " "+strings.Join(words[first:], " ")+" ")
	}
	return before, behind, found
}

// IsTurned reports whether a passive relation is followed the other way round from a topic entity than a question
// says: who was influenced by A is not what A is "influenced by".
func IsTurned(question, topic string, step *graphv1.RelationStep) bool {
	verb, isPassive := PassiveVerb(step.GetRelation())
	if !isPassive {
		return false
	}
	before, behind, found := cutName(question, topic)
	if !found {
		return false
	}
	verb = LastWord(verb)
	words := slices.DeleteFunc(strings.Fields(before), func(w string) bool { return w == "the" || w == "both" })
	isVerb := func(back int) bool {
		return len(words) >= back && (words[len(words)-back] == verb || inflects(words[len(words)-back], verb))
	}
	next, _, _ := strings.Cut(strings.TrimSpace(behind), " ")
	switch {
	case isVerb(1) && !IsRole(words[len(words)-1]): // who influenced A; of "director A" the verb says nothing
		return step.GetInverse()
	case isVerb(2) && words[len(words)-1] == "by": // who was influenced by A
		return !step.GetInverse()
	case next == verb, inflects(next, verb): // who did A influence; A itself was in "by whom was A influenced"
		isActive := slices.ContainsFunc(words, func(w string) bool { return w == "did" || w == "does" || w == "do" })
		return isActive && !step.GetInverse()
	}
	return false
}

// TurnsRole reports whether a question asks who did something, "who defended A", and the last fact of a step says what
// has a topic entity in a role of that name: the case whose defendant A is.
func TurnsRole(question string, step *graphv1.RelationStep) bool {
	asked := asksVerb.FindStringSubmatch(question)
	if asked == nil || auxiliaryVerb.MatchString(asked[1]) {
		return false
	}
	relation, isTurned := strings.CutPrefix(lastRelation(step.GetRelation()), InverseOf)
	isRole := func(w string) bool {
		return (IsRole(w) || verbalRole.MatchString(w)) && beginAlike(w, Fold(asked[1]))
	}
	saysSubject := strings.HasSuffix(Fold(VerbaliseRelation(relation)), " of") // the captain of A
	return (isTurned != step.GetInverse()) != saysSubject && slices.ContainsFunc(contentWords(relation), isRole)
}

// verbalRole is a noun for who does something that is the verb too, so that no ending tells.
var verbalRole = regexp.MustCompile(`^(?:coach|captain|host|guide|judge|pilot|chair|referee)$`)

// ActsFrom reports whether a question is for what acts on a topic entity or, if isActing, for what that acts on: "which
// rivers flow into A", "where does A flow".
func ActsFrom(question, topic string, isActing bool) bool {
	before, behind, found := cutName(question, topic)
	words := slices.DeleteFunc(strings.Fields(before), func(w string) bool { return w == "the" })
	if !found || len(words) < 2 {
		return false
	}
	last := words[len(words)-1]
	if isActing {
		return last == "does" || last == "did" || last == "do"
	}
	return strings.TrimSpace(behind) == "" && last != "of" && !auxiliaryVerb.MatchString(before)
}

// auxiliaryVerb is a verb that does not act itself: "who was the mother of A", "where does A flow".
var auxiliaryVerb = regexp.MustCompile(`\b(?:is|was|are|were|be|been|does|did|do|has|have|had)\b`)

// AsksAgain reports whether a question asks the same of what it asks for of a topic entity: who manages A's manager,
// the father of the father of A.
func AsksAgain(question, topic string) bool {
	before, behind, found := cutName(question, topic)
	if !found {
		return false
	}
	words, own := strings.Fields(before), ""
	if len(words) > 1 && (words[0] == "which" || words[0] == "what") {
		words = words[2:] // of "which city is the capital city of A"
	}
	if theirs, isOwner := strings.CutPrefix(behind, "s "); isOwner {
		own, _, _ = strings.Cut(theirs, " ")
	} else if words = slices.DeleteFunc(words, func(w string) bool { return w == "the" }); len(words) > 1 &&
		words[len(words)-1] == "of" {
		own, words = words[len(words)-2], words[:len(words)-2]
	}
	return own != "" && slices.ContainsFunc(words, func(w string) bool { return beginAlike(w, own) })
}

// asRole is what the other side of a relation is: of "films as an actor" the films are none.
var asRole = regexp.MustCompile(`(?i)\bas an? \p{L}+`)

// agentForm is a noun for who or what does something.
var agentForm = regexp.MustCompile(`^\p{L}{2,}(?:er|or|ist|ant|ress)s?$`)

// IsRole reports whether a word is a noun for who or what does something.
func IsRole(word string) bool { return agentForm.MatchString(Fold(word)) }

// IsNounOf reports whether a kind is what a relation says of its objects and of nothing else: the genre of "has genre".
// Kin have such kin too.
func IsNounOf(kind, relation string) bool {
	own := Fold(VerbaliseRelation(relation))
	open := NewOpenWords(own)
	isVerb := strings.HasSuffix(own, "ed") && !strings.HasSuffix(own, "eed") // "attended"
	return len(open) == 1 && !isVerb && strings.HasSuffix(own, open[0]) && SameNoun(Fold(kind), open[0]) &&
		!slices.ContainsFunc(roles[open[0]], func(r role) bool { return r.group == "kin" })
}

// IsRoleOf reports whether one of some words is the noun for the objects of a relation: the director of
// "directed by", the actor of "starred actors".
func IsRoleOf(words, relation string) bool {
	own := strings.Fields(Fold(VerbaliseRelation(relation)))
	if len(own) == 0 {
		return false
	}
	head := own[len(own)-1]
	if head == "by" && len(own) > 1 {
		verb := own[len(own)-2]
		head = verb[:min(4, len(verb))]
	}
	return slices.ContainsFunc(strings.Fields(Fold(asRole.ReplaceAllString(words, ""))), func(w string) bool {
		return IsRole(w) && (SameNoun(w, head) ||
			own[len(own)-1] == "by" && strings.Contains(w, head))
	})
}

// IsPatientOf reports whether a phrase is of things that the objects of a relation did something to: "software
// developed" of "developer", "films directed" of "directed by".
func IsPatientOf(phrase, relation string) bool {
	words := strings.Fields(Fold(phrase))
	if len(words) < 2 || !IsParticiple(words[len(words)-1]) {
		return false
	}
	own := strings.Fields(Fold(VerbaliseRelation(relation)))
	isAgent := len(own) > 0 && (IsRole(own[len(own)-1]) || own[len(own)-1] == "by")
	return isAgent && SharesWord(words[len(words)-1], relation)
}

// participle ends a word for what was done to something.
var participle = regexp.MustCompile(`(?:ed|en|wn|un|ung|ght|ade|lt)$`)

// IsParticiple reports whether a word says what was done to something, by its ending.
func IsParticiple(word string) bool { return participle.MatchString(strings.ToLower(word)) }
