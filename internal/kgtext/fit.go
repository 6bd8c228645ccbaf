package kgtext

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// How facts that name an answer fit a question (docs/adr/0031-grounded.md).

// clearlyNearer is the lead in cosine of a relation that fits a question much better than another.
const clearlyNearer = 0.25

// FindUnasked returns the triple of a ground graph by which an answer has what the question asks for, if that
// joins several facts of which the question says nothing of one: the employer of somebody's spouse. Either
// the triples that name the answer are all so, or their relations fit the question much worse than that. It
// is nil for other answers. Facts about what the question does not name count only if there are no others: that the
// spouse has an employer is one of these.
func FindUnasked(ground *graphv1.GroundGraph, question, answer string) *graphv1.Triple {
	isAsked := func(t *graphv1.ScoredTriple) bool { return !isUnasked(t.LeastHopScore) }
	unasked := slices.DeleteFunc(groundTriples(ground), isAsked)
	if len(unasked) == 0 {
		return nil
	}
	naming := findNaming(ground, question, answer)
	if len(naming) == 0 {
		return nil
	}
	nearest, other := slices.MaxFunc(naming, compareRelations), slices.MaxFunc(unasked, compareRelations)
	switch {
	case !slices.ContainsFunc(naming, isAsked):
		return nearest.GetTriple()
	case other.GetRelationScore() > nearest.GetRelationScore()+clearlyNearer:
		return other.GetTriple()
	}
	return nil
}

// hardlyFits is the cosine below which a relation hardly fits a question. Of answers over one fact, which no ranker
// knew, the wrong ones had .16 and .26, right ones .22 and from .38 on.
const hardlyFits = 0.3

// hardlyFitsWord is the same for a question that has a noun for the relation, or a verb for who did something. Of 104
// of these in other words than those of the relation 55 had more, and of 105 for another relation 11
// (docs/adr/0031-grounded.md).
const hardlyFitsWord = 0.5

// liesIn is "which offices are in" before the name of a place.
var liesIn = regexp.MustCompile(`(?i)\b(?:is|are|was|were|lies?) (?:in|on|at) (?:the )?\W*$`)

// asksVerb is "who designed A".
var asksVerb = regexp.MustCompile(`(?i)^(?:who|(?:which|what) (?:person|people|company|team|organi[sz]ation)) (\pL+) `)

// asksNoun is "what is the dean of A", "who is A's dean", and "what is near A".
var asksNoun = regexp.MustCompile(`(?i)^(?:what|who|which|when|where) (?:is|are|was|were) ` +
	`(?:(?:near|beside|behind|above|below|under|inside) |the (?:(?-i:\p{Ll}+) ){1,2}(?:of|for) |` +
	`.*['’]s \pL+(?: \pL+)?\W*$)`)

// FindUnfit returns the triple of a ground graph that names an answer, if no ranker knows that it is asked for, and its
// relation hardly fits the question, which has no word of it, or much less than another one of the same thing does, or
// says when somebody was born or died where something else has a time: an epoch, or a birth, where a question asks when
// something was discovered. So it is if the question has all words of another relation, for relatives and namesakes if
// no word says them or a relation says the other sex, if it says of what kind a thing is and that is not asked, if it
// asks what a thing does and the relation says what is done to it, and if another relation of the same thing says more
// of what it asks. It is nil for other answers.
func FindUnfit(ground *graphv1.GroundGraph, question, answer string) *graphv1.Triple {
	naming := findNaming(ground, question, answer)
	isRanked := func(t *graphv1.ScoredTriple) bool { return t.GetProbability() > 0 }
	if len(naming) == 0 || slices.ContainsFunc(naming, isRanked) {
		return nil
	}
	nearest := slices.MaxFunc(naming, compareRelations)
	saysIt := func(t *graphv1.ScoredTriple) bool {
		isUnfit, isSaid := checkFit(ground, question, answer, t)
		return t != nearest && isSaid && !isUnfit
	}
	if isUnfit, _ := checkFit(ground, question, answer, nearest); !isUnfit || slices.ContainsFunc(naming, saysIt) {
		return nil
	}
	return nearest.GetTriple()
}

// asksKind is a question for what something is.
var asksKind = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were|does|do)\b|^(?:is|are|was|were) |` +
	`\b(?:kinds?|types?|sorts?|categor(?:y|ies)|class(?:es)?|job|profession|occupation|role|position|genre)\b`)

// checkFit is FindUnfit of one triple that names the answer: whether it is unfit, and whether the question has a word
// of its relation besides the names and their kinds.
func checkFit(ground *graphv1.GroundGraph, question, answer string,
	fact *graphv1.ScoredTriple) (isUnfit, saysOwn bool) {
	words, topic := VerbaliseRelation(fact.GetTriple().GetRelation()), fact.GetTriple().GetSubject()
	isInverse := Fold(topic) == Fold(answer)
	if isInverse {
		topic = fact.GetTriple().GetObject()
	}
	asks, own := question, question
	if before, behind, found := cutName(question, topic); found {
		asks = before + " " + behind // its name says nothing of what is asked for
		own = cutKind(ground, before, behind, topic)
	}
	isSaid := IsSaid(words, asks) || isInverse && saysOpposite(words, question) || // the father by his child
		isInverse && liesIn.MatchString(asks) && IsPlace(words)
	whole := NewQuestionWords(question)
	saysOther := func(t *graphv1.ScoredTriple) bool { return whole.MatchAll(t.GetTriple().GetRelation()) }
	saysAnother := func(t *graphv1.ScoredTriple) bool {
		return t.GetTriple().GetRelation() != fact.GetTriple().GetRelation() && saysOther(t)
	}
	last := lastRelation(fact.GetTriple().GetRelation())
	saysMore := func(t *graphv1.ScoredTriple) bool {
		own := lastRelation(t.GetTriple().GetRelation())
		return t.GetTriple().GetSubject() == fact.GetTriple().GetSubject() && whole.MatchAll(own) &&
			addsWords(own, last)
	}
	saysOwn = IsSaid(words, own)
	isKind := !isInverse && IsType(fact.GetTriple().GetRelation()) && !asksKind.MatchString(question)
	switch asked := AskedNumber(question); {
	case asked != "" && !strings.HasPrefix(asked, "how ") && namesLife(words) && !namesLife(question),
		LacksKin(question, words), isNamesake(words, question), !isInverse && SaysAgent(question, topic, words),
		!isSaid && (hardlyFitsQuestion(ground, question, fact) ||
			slices.ContainsFunc(groundTriples(ground), saysOther)),
		isKind, isOtherSex(words, question), slices.ContainsFunc(groundTriples(ground), saysMore),
		IsSaid(words, asks) && !saysOwn && slices.ContainsFunc(groundTriples(ground), saysAnother):
		return true, saysOwn
	}
	return false, saysOwn
}

// lastRelation returns the last of joined relations.
func lastRelation(relation string) string {
	all := strings.Split(relation, Joint)
	return all[len(all)-1]
}

// addsWords reports whether a relation has the words of another one and more: the commander of the defenders, of the
// defender.
func addsWords(relation, other string) bool {
	own, others := contentWords(VerbaliseRelation(relation)), contentWords(VerbaliseRelation(other))
	return len(own) > len(others) && shareOf(others, own) == 1
}

// hardlyFitsQuestion reports whether the relation of a triple hardly fits a question by its cosine, or much less than
// that of another triple does.
func hardlyFitsQuestion(ground *graphv1.GroundGraph, question string, fact *graphv1.ScoredTriple) bool {
	least := float32(hardlyFits)
	if m := asksVerb.FindStringSubmatch(question); asksNoun.MatchString(question) ||
		m != nil && !auxiliaryVerb.MatchString(m[1]) {
		least = hardlyFitsWord
	}
	return fact.RelationScore != nil && (fact.GetRelationScore() < least || hasNearer(ground, question, fact))
}

// SaysAgent reports whether a question says that a thing does something, "made by A", where a relation of that thing
// says by whom something is done to it: "maintained by".
func SaysAgent(question, topic, relation string) bool {
	_, isPassive := PassiveVerb(relation)
	return isPassive && FoldWords(question).Mention("by "+Fold(topic))
}

// isNamesake reports whether a relation says after whom something is named, and a question does not ask for that.
func isNamesake(words, question string) bool {
	return strings.HasSuffix(words, " after") && !FoldWords(question).Mention("after")
}

// cutKind returns the words before and behind the name of a thing without its kind: of "who teaches class 7B" the class
// says what 7B is, as in "who heads the Sales department".
func cutKind(ground *graphv1.GroundGraph, before, behind, name string) string {
	before, behind = strings.TrimSpace(before), strings.TrimSpace(behind)
	last := LastWord(before)
	next, _, _ := strings.Cut(behind, " ")
	for _, t := range groundTriples(ground) {
		if t.GetTriple().GetSubject() != name || !IsType(t.GetTriple().GetRelation()) {
			continue
		}
		if kind := Fold(t.GetTriple().GetObject()); SameNoun(kind, last) {
			before = strings.TrimSuffix(before, last)
		} else if last == "the" && SameNoun(kind, next) {
			behind = strings.TrimPrefix(behind, next)
		}
	}
	return before + " " + behind
}

// beyondForm is "the line that A is on", of which something else is asked for.
var beyondForm = regexp.MustCompile(`(?i)\b(\pL+) (?:the|an?) (\pL+) ` +
	`(?:that|which|who|whose|where|of which|in which) `)

// besideForm is "developed the compiler for A", by whose verb A may have something of its own. partForm are parts of
// A, of which it says who made them.
var (
	besideForm = regexp.MustCompile(`(?i)\b(\pL{4,}) (?:the|an?) (\pL+) ` +
		`(?:for|behind|about|inside|near|above|below|beside|over|with) (?:the )?`)
	partForm = regexp.MustCompile(`(?i)^(?:music|score|soundtrack|lyrics|words|libretto|screenplay|script|story|` +
		`choreography|costumes?|sets?|lighting|design|cover|logo)$`)
)

// asksItself is what stands before "the line that A is on" where the line itself is asked for, unless it is asked
// where that is, or when it was.
var (
	asksItself = regexp.MustCompile(`(?i)\b(?:is|was|are|were|be|been|has|have|had|me|us|and|or|` +
		`name|list|find|show|identify|(?:name|title|kind|type)s? of)$`)
	whereWhen = regexp.MustCompile(`(?i)^(?:where|when|(?:from|in|at|on|to) (?:which|what) \pL+) (?:is|are|was|were) ` +
		`(?:the|an?) \pL+ (?:that|which|who) `)
)

// whereOf is "where is the department of A", unless that is a place itself.
var (
	whereOf     = regexp.MustCompile(`(?i)^where (?:is|are|was|were) the (?-i:(\p{Ll}+)) of `)
	placeItself = regexp.MustCompile(`(?i)^(?:capital|seat|home|birthplace|headquarters|origin|source|mouth|location|` +
		`address|residence|burial|grave|cent(?:er|re)|site|end|start|beginning)$`)
)

// howRole is "how old is the founder of A" and "how old is A's founder".
var howRole = regexp.MustCompile(`(?i)^how \pL+ ` + ofNamed)

// doesRole is "what does the tutor of A teach".
var doesRole = regexp.MustCompile(`(?i)^(?:what|which \pL+|whom?|where|when) (?:does|did|do) the (\pL+) of .* ` +
	`(\pL+)\W*$`)

// AsksBeyond returns the noun for something that a question describes by a topic entity, if it asks for something of
// that which one step from the topic cannot say: who operates the line that A is on, who developed the compiler for A,
// where the agency that operates A is, or where the department of A is; empty if it does not.
func AsksBeyond(question, topic string, step *graphv1.RelationStep) string {
	if m := whereOf.FindStringSubmatch(question); m != nil && !step.GetInverse() && !IsPlace(m[1]) &&
		!placeItself.MatchString(m[1]) && IsNounOf(m[1], step.GetRelation()) {
		return m[1]
	}
	if m := howRole.FindStringSubmatch(question); m != nil && IsRole(m[1]+m[2]) && Mentions(question, topic) &&
		!Mentions(VerbaliseRelation(step.GetRelation()), m[1]+m[2]) {
		return m[1] + m[2]
	}
	if m := doesRole.FindStringSubmatch(question); m != nil && IsNounOf(m[1], step.GetRelation()) &&
		!SharesWord(m[2], step.GetRelation()) && Mentions(question, topic) {
		return m[1]
	}
	if m := besideForm.FindStringSubmatchIndex(question); m != nil {
		verb, noun := question[m[2]:m[3]], question[m[4]:m[5]]
		if SharesWord(verb, step.GetRelation()) && strings.HasPrefix(Fold(question[m[1]:]), Fold(topic)) &&
			!SharesWord(noun, step.GetRelation()) && !partForm.MatchString(noun) {
			return noun
		}
	}
	at := beyondForm.FindStringSubmatchIndex(question)
	if at == nil || strings.Contains(step.GetRelation(), Joint) {
		return ""
	}
	before, noun, clause := question[:at[3]], question[at[4]:at[5]], question[at[1]:]
	isTopicInClause := Mentions(clause, topic) && !Mentions(question[:at[1]], topic)
	if asksItself.MatchString(before) && !whereWhen.MatchString(question) ||
		!isTopicInClause && (step.GetInverse() || !IsNounOf(noun, step.GetRelation())) {
		return ""
	}
	return noun
}

// hasNearer reports whether a ground graph has a fact about the same thing whose relation fits a question much better
// than that of a triple: of who teaches a course its lecturer, and not its department.
func hasNearer(ground *graphv1.GroundGraph, question string, fact *graphv1.ScoredTriple) bool {
	subject := fact.GetTriple().GetSubject()
	isNearer := func(t *graphv1.ScoredTriple) bool {
		return t.GetTriple().GetSubject() == subject && t.GetRelationScore() > fact.GetRelationScore()+clearlyNearer
	}
	return FoldWords(question).Mention(Fold(subject)) && slices.ContainsFunc(groundTriples(ground), isNearer)
}

// IsSaid reports whether a question has a word of a relation, its role, or a synonym.
func IsSaid(relation, question string) bool { return NewQuestionWords(question).Match(relation) }

// QuestionWords are the words of a question that many relations are compared with.
type QuestionWords struct {
	words    []string
	roles    []role
	synonyms []int
}

// NewQuestionWords returns the words of a question.
func NewQuestionWords(question string) QuestionWords {
	words := contentWords(question)
	return QuestionWords{words, findRoles(question), findSynonyms(words)}
}

// Match reports whether the question has a word of a relation, its role, or a synonym.
func (w QuestionWords) Match(relation string) bool {
	relation = VerbaliseRelation(relation)
	words := contentWords(relation)
	isRole := func(r role) bool { return slices.Contains(w.roles, r) }
	isSynonym := func(group int) bool { return slices.Contains(w.synonyms, group) }
	return shareOf(words, w.words) > 0 || slices.ContainsFunc(findRoles(relation), isRole) ||
		slices.ContainsFunc(findSynonyms(words), isSynonym)
}

// MatchAll reports whether the question has all words of a relation, which is more than a kind.
func (w QuestionWords) MatchAll(relation string) bool {
	return shareOf(contentWords(VerbaliseRelation(relation)), w.words) == 1 && !IsType(relation)
}

// groundTriples returns the triples of a ground graph, subject by subject.
func groundTriples(ground *graphv1.GroundGraph) (all []*graphv1.ScoredTriple) {
	for _, s := range ground.GetSubjects() {
		all = append(all, s.GetTriples()...)
	}
	return all
}

// compareRelations compares triples by how well their relations fit the question.
func compareRelations(a, b *graphv1.ScoredTriple) int {
	return cmp.Compare(a.GetRelationScore(), b.GetRelationScore())
}

// findNaming returns the triples that name an answer: those of what the question names, if there are any.
func findNaming(ground *graphv1.GroundGraph, question, answer string) []*graphv1.ScoredTriple {
	answer = Fold(answer)
	asked := FoldWords(question)
	var naming, named []*graphv1.ScoredTriple
	for _, t := range groundTriples(ground) {
		subject, object := Fold(t.GetTriple().GetSubject()), Fold(t.GetTriple().GetObject())
		if subject == answer || object == answer {
			naming = append(naming, t)
		}
		if object == answer && asked.Mention(subject) || subject == answer && asked.Mention(object) {
			named = append(named, t)
		}
	}
	if len(named) > 0 {
		return named
	}
	return naming
}

// FindOpposite returns a triple of a ground graph that says the same as a fact about a named thing the other way round
// and of something else, if the question seems to ask for that and has no word of the relation, or has its words right
// before the thing: A has its mouth in B, and "which rivers flow into A" asks for those that have it in A, as "what
// depends on A" for what does so. It is nil if there is none.
func FindOpposite(ground *graphv1.GroundGraph, question string, fact *PathGroup) *graphv1.Triple {
	if len(fact.Steps) != 1 || IsSymmetric(fact.Steps[0].GetRelation()) {
		return nil
	}
	relation, topic := fact.Steps[0].GetRelation(), Fold(fact.TopicEntity)
	words, isInverse := Fold(VerbaliseRelation(relation)), fact.Steps[0].GetInverse()
	isOther := !IsSaid(words, question) || strings.Contains(words, " ") && !isInverse &&
		FoldWords(question).Mention(words+" "+topic)
	if !isOther || !IsActive(words) || !ActsFrom(question, topic, isInverse) {
		return nil
	}
	var opposite *graphv1.Triple
	for _, t := range groundTriples(ground) {
		from, to := t.GetTriple().GetSubject(), t.GetTriple().GetObject()
		if !fact.Steps[0].GetInverse() {
			from, to = to, from
		}
		if t.GetTriple().GetRelation() != relation || Fold(from) != topic {
			continue
		}
		if fact.LeadsTo(to) {
			return nil // it holds both ways
		}
		opposite = t.GetTriple()
	}
	return opposite
}
