package kgtext

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// FormatStep returns one hop in words; an inverse hop reads "is director of".
func FormatStep(s *graphv1.RelationStep) string {
	w := VerbaliseRelation(s.GetRelation())
	if s.GetInverse() {
		return "is " + w + " of"
	}
	return w
}

// FormatSteps returns the hops of a relation path in words, joined by " -> ".
func FormatSteps(steps []*graphv1.RelationStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = FormatStep(s)
	}
	return strings.Join(words, " -> ")
}

// PathGroup is one relation path from one topic entity with all the reasoning paths that follow
// it: they differ only in the entities they pass.
type PathGroup struct {
	// TopicEntity is where the paths start.
	TopicEntity string
	Steps       []*graphv1.RelationStep
	// Ends are the last entities of the paths, without duplicates, in the order of the paths.
	Ends  []string
	Paths []*graphv1.ReasoningPath
	// Score of the relation path.
	Score float32
	// Probability that the ends are the answers; nil if no ranker gave one.
	Probability *float32
	// LeastHopScore says how well the question says the hop that it says least; nil if that is not known.
	LeastHopScore *float32
}

// minHopScore is the least cosine of a hop to a word of the question that says it (docs/adr/0031-grounded.md).
const minHopScore = 0.4

// IsUnasked reports whether the path joins several facts and the question says nothing of one of them: of
// what religion somebody is, a path says nothing that passes who influenced them.
func (g *PathGroup) IsUnasked() bool { return isUnasked(g.LeastHopScore) && CountHops(g.Paths[0]) > 1 }

func isUnasked(leastHop *float32) bool { return leastHop != nil && *leastHop < minHopScore }

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

// asksVerb is "who designed A".
var asksVerb = regexp.MustCompile(`(?i)^(?:who|(?:which|what) (?:person|people|company|team|organi[sz]ation)) (\pL+) `)

// asksNoun is "what is the dean of A", "who is A's dean", and "what is near A".
var asksNoun = regexp.MustCompile(`(?i)^(?:what|who|which|when|where) (?:is|are|was|were) ` +
	`(?:(?:near|beside|behind|above|below|under|inside) |the (?:(?-i:\p{Ll}+) ){1,2}(?:of|for) |` +
	`.*['’]s \pL+(?: \pL+)?\W*$)`)

// FindUnfit returns the triple of a ground graph that names an answer, if no ranker knows that it is asked for, and its
// relation hardly fits the question, which has no word of it, or much less than another one of the same thing does, or
// says when somebody was born or died where something else has a time: an epoch, or a birth, where a question asks when
// something was discovered. It is nil for other answers.
func FindUnfit(ground *graphv1.GroundGraph, question, answer string) *graphv1.Triple {
	naming := findNaming(ground, question, answer)
	isRanked := func(t *graphv1.ScoredTriple) bool { return t.GetProbability() > 0 }
	if len(naming) == 0 || slices.ContainsFunc(naming, isRanked) {
		return nil
	}
	nearest := slices.MaxFunc(naming, compareRelations)
	words := VerbaliseRelation(nearest.GetTriple().GetRelation())
	least := float32(hardlyFits)
	if m := asksVerb.FindStringSubmatch(question); asksNoun.MatchString(question) ||
		m != nil && !auxiliaryVerb.MatchString(m[1]) {
		least = hardlyFitsWord
	}
	hardly := nearest.RelationScore != nil &&
		(nearest.GetRelationScore() < least || hasNearer(ground, question, nearest))
	asked := AskedNumber(question)
	asksTime := asked != "" && !strings.HasPrefix(asked, "how ")
	isOfLife := asksTime && namesLife(words) && !namesLife(question)
	// Its name says nothing of what is asked for.
	topic := nearest.GetTriple().GetSubject()
	if Fold(topic) == Fold(answer) {
		topic = nearest.GetTriple().GetObject()
	}
	asks := question
	if before, behind, found := cutName(question, topic); found {
		asks = before + " " + behind
	}
	isSaid := IsSaid(words, asks) || Fold(nearest.GetTriple().GetSubject()) == Fold(answer) &&
		saysOpposite(words, question) // the father by his child
	if isOfLife || hardly && !isSaid || LacksKin(question, words) || isNamesake(words, question) ||
		!isSaid && slices.ContainsFunc(groundTriples(ground), func(t *graphv1.ScoredTriple) bool {
			return saysAll(VerbaliseRelation(t.GetTriple().GetRelation()), question)
		}) {
		return nearest.GetTriple()
	}
	return nil
}

// isNamesake reports whether a relation says after whom something is named, and a question does not ask for that.
func isNamesake(words, question string) bool {
	return strings.HasSuffix(words, " after") && !FoldWords(question).Mention("after")
}

// saysAll reports whether a question has all words of a relation, which is more than a kind.
func saysAll(words, question string) bool {
	return SharedWords(words, question) == 1 && !slices.Contains(TypeRelations(), words)
}

// beyondForm is "the line that A is on", of which something else is asked for.
var beyondForm = regexp.MustCompile(`(?i)\b(\pL+) (?:the|an?) (\pL+) ` +
	`(?:that|which|who|whose|where|of which|in which) `)

// AsksBeyond returns the noun that a relation says, if a question asks for something of what that leads to: who
// operates the line that A is on; empty if it does not.
func AsksBeyond(question string, step *graphv1.RelationStep) string {
	m := beyondForm.FindStringSubmatch(question)
	if m == nil || auxiliaryVerb.MatchString(m[1]) || step.GetInverse() || !IsNounOf(m[2], step.GetRelation()) {
		return ""
	}
	return m[2]
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
func IsSaid(relation, question string) bool {
	words := VerbaliseRelation(relation)
	return SharesWord(words, question) || SharesRole(words, question) || sharesSynonym(words, question)
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

// lastFact returns the steps of the last fact of the path, which are several over opaque nodes.
func (g *PathGroup) lastFact() []*graphv1.RelationStep {
	first := len(g.Steps) - 1
	for first > 0 && IsOpaqueName(g.Paths[0].GetEntities()[first]) {
		first--
	}
	return g.Steps[first:]
}

// OtherRole returns the role that the last fact of the path says where the question asks for another, or what all of
// its facts together are; empty if it may be the same.
func (g *PathGroup) OtherRole(question string) string {
	return otherRole(question, g.TopicEntity, g.Steps, g.lastFact())
}

// IsTurned reports whether the path is one step, which the question says the other way round.
func (g *PathGroup) IsTurned(question string) bool {
	return len(g.Steps) == 1 && IsTurned(question, g.TopicEntity, g.Steps[0])
}

// AsksAgain reports whether the path is one fact, and the question asks the same of what that leads to.
func (g *PathGroup) AsksAgain(question string) bool {
	return len(g.lastFact()) == len(g.Steps) && AsksAgain(question, g.TopicEntity)
}

// CountHops returns how many facts a reasoning path joins. A fact over an opaque node is one.
func CountHops(p *graphv1.ReasoningPath) int {
	hops := len(p.GetSteps())
	for _, between := range p.GetEntities()[1 : len(p.GetEntities())-1] {
		if IsOpaqueName(between) {
			hops--
		}
	}
	return hops
}

// LeadsTo reports whether one of the ends has a name.
func (g *PathGroup) LeadsTo(name string) bool {
	name = Fold(name)
	return slices.ContainsFunc(g.Ends, func(end string) bool { return Fold(end) == name })
}

// FindBestGroup returns the group with the greatest score of those that lead to a name; nil if none does.
func FindBestGroup(groups []*PathGroup, name string) *PathGroup {
	var best *PathGroup
	for _, g := range groups {
		if (best == nil || g.Score > best.Score) && g.LeadsTo(name) {
			best = g
		}
	}
	return best
}

// Label returns the group without its ends: "Topic -> relation -> relation".
func (g *PathGroup) Label() string { return g.TopicEntity + " -> " + FormatSteps(g.Steps) }

// GroupPaths groups reasoning paths by relation path and topic entity, in order of first
// appearance.
func GroupPaths(paths []*graphv1.ReasoningPath) []*PathGroup {
	var groups []*PathGroup
	byKey := map[string]*PathGroup{}
	seen := map[string]bool{}
	for _, p := range paths {
		if len(p.GetEntities()) < 2 {
			continue
		}
		key := pathKey(p)
		g := byKey[key]
		if g == nil {
			g = &PathGroup{TopicEntity: p.GetEntities()[0], Steps: p.GetSteps(), Score: p.GetScore(),
				Probability: p.Probability, LeastHopScore: p.LeastHopScore}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.Paths = append(g.Paths, p)
		end := PathEnd(p)
		if k := key + "\x00" + end; !seen[k] {
			seen[k] = true
			g.Ends = append(g.Ends, end)
		}
	}
	return groups
}

// PathEnd returns the last entity of a reasoning path; "" if it has none.
func PathEnd(p *graphv1.ReasoningPath) string {
	entities := p.GetEntities()
	if len(entities) == 0 {
		return ""
	}
	return entities[len(entities)-1]
}

// EntityIDs returns an id for each entity of a reasoning path; "" for those that have none.
func EntityIDs(p *graphv1.ReasoningPath) []string {
	if ids := p.GetEntityIds(); len(ids) == len(p.GetEntities()) {
		return ids
	}
	return make([]string, len(p.GetEntities()))
}

// PathEndID returns the id of the last entity of a reasoning path; "" if it has none.
func PathEndID(p *graphv1.ReasoningPath) string {
	ids := EntityIDs(p)
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1]
}

func pathKey(p *graphv1.ReasoningPath) string { return p.GetEntities()[0] + StepsKey(p.GetSteps()) }

// StepsKey is equal for relation paths with the same steps.
func StepsKey(steps []*graphv1.RelationStep) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte(0)
		if s.GetInverse() {
			b.WriteByte('^')
		}
		b.WriteString(s.GetRelation())
	}
	return b.String()
}

// FormatPath returns a reasoning path on a line: "Topic -> relation -> entity".
func FormatPath(p *graphv1.ReasoningPath) string {
	var b strings.Builder
	for i, e := range p.GetEntities() {
		if i > 0 {
			b.WriteString(" -> ")
			if i <= len(p.GetSteps()) {
				b.WriteString(FormatStep(p.GetSteps()[i-1]) + " -> ")
			}
		}
		b.WriteString(e)
	}
	return b.String()
}

// FormatGroups returns a line for each of the first maxGroups groups: "Topic -> relation: End;
// End", with at most maxEnds ends and an ellipsis for the rest.
func FormatGroups(groups []*PathGroup, maxGroups, maxEnds int) []string {
	groups = groups[:min(len(groups), maxGroups)]
	lines := make([]string, len(groups))
	for i, g := range groups {
		lines[i] = g.Label() + ": " + strings.Join(g.Ends[:min(len(g.Ends), maxEnds)], "; ")
		if len(g.Ends) > maxEnds {
			lines[i] += "; …"
		}
	}
	return lines
}

// IsOpaqueName reports whether a name shows that its entity only joins the parts of a fact:
// a Freebase machine id such as "m.04j60kc" or "g.11b6jbqm_w", or a blank node.
func IsOpaqueName(name string) bool { return strings.HasPrefix(name, "_:") || IsMachineID(name) }

// IsMachineID reports whether a name is a Freebase machine id.
func IsMachineID(name string) bool {
	if len(name) < 5 || len(name) > 16 || name[1] != '.' || (name[0] != 'm' && name[0] != 'g') {
		return false
	}
	if name[2] != '0' && name[2] != '1' {
		return false
	}
	return !slices.ContainsFunc([]byte(name[3:]), func(c byte) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// FormatReadablePaths is FormatPath of each path without the opaque nodes in between ("Topic ->
// relation -> relation -> entity"): they mean nothing, and a model may take them for answers. Paths that
// differ only in their ends share a line: "Topic -> relation -> entity; entity".
func FormatReadablePaths(paths []*graphv1.ReasoningPath) []string {
	var lines []string
	lineOf := map[string]int{}
	seen := map[[2]string]bool{}
	for _, p := range paths {
		prefix, end := formatReadableSteps(p)
		if seen[[2]string{prefix, end}] {
			continue
		}
		seen[[2]string{prefix, end}] = true
		if i, shared := lineOf[prefix]; shared {
			lines[i] += "; " + end
			continue
		}
		lineOf[prefix] = len(lines)
		lines = append(lines, prefix+end)
	}
	return lines
}

func formatReadableSteps(p *graphv1.ReasoningPath) (prefix, end string) {
	var b strings.Builder
	last := len(p.GetEntities()) - 1
	for i, e := range p.GetEntities() {
		if i > 0 && i <= len(p.GetSteps()) {
			b.WriteString(FormatStep(p.GetSteps()[i-1]) + " -> ")
		}
		if i < last && (i == 0 || !IsOpaqueName(e)) {
			b.WriteString(e + " -> ")
		}
	}
	return b.String(), PathEnd(p)
}

// pronouns matches a word that refers to something named before.
var pronouns = regexp.MustCompile(
	`(?i)\b(?:he|she|it|they|his|her|hers|its|their|theirs|him|them|this|these|the (?:former|latter|film|book|novel|` +
		`city|country|company|band|album|song|team|river|group|series|school|university))\b`)

// maxLookback is how many sentences back an antecedent is searched for.
const maxLookback = 5

// FindAntecedent returns the last sentence before sentences[index] that names what its pronouns
// refer to. It returns "" if the sentence is the first or refers to nothing.
func FindAntecedent(sentences []Sentence, index int) string {
	if index == 0 || !NeedsAntecedent(sentences[index].Text) {
		return ""
	}
	i := index - 1
	for i > 0 && index-i < maxLookback && startsWithPronoun(sentences[i].Text) {
		i--
	}
	return sentences[i].Text
}

// NeedsAntecedent reports whether a sentence may refer to something named before it: always in
// scripts other than Latin, whose pronouns are not known here.
func NeedsAntecedent(text string) bool { return !isLatin(text) || pronouns.MatchString(text) }

func startsWithPronoun(text string) bool {
	at := pronouns.FindStringIndex(text)
	return at != nil && at[0] == 0
}

func isLatin(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	})
}

// IsForeignScript reports whether most letters of a text belong to scripts that do not occur in
// context. Languages that share a script are not distinguished.
func IsForeignScript(text, context string) bool {
	scripts := map[*unicode.RangeTable]bool{}
	for _, r := range context {
		scripts[scriptOf(r)] = true
	}
	letters, foreign := 0, 0
	for _, r := range text {
		if s := scriptOf(r); s != nil {
			letters++
			if !scripts[s] {
				foreign++
			}
		}
	}
	return letters > 0 && 2*foreign > letters
}

// scriptOf returns the script of a letter, nil for other characters. The scripts of Japanese
// count as one with Han.
func scriptOf(r rune) *unicode.RangeTable {
	if !unicode.IsLetter(r) {
		return nil
	}
	for _, s := range []*unicode.RangeTable{
		unicode.Latin, unicode.Han, unicode.Cyrillic, unicode.Arabic, unicode.Hangul, unicode.Greek,
		unicode.Hebrew, unicode.Thai, unicode.Devanagari, unicode.Bengali, unicode.Tamil,
	} {
		if unicode.Is(s, r) {
			return s
		}
	}
	if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
		return unicode.Han
	}
	return unicode.Other
}
