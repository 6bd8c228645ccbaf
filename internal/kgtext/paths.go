package kgtext

import (
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
		for _, other := range s.GetAlternatives() {
			b.WriteString("|" + other)
		}
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

// PathTo returns a triple as a path to one of its ends, its object where a name is neither.
func PathTo(t *graphv1.Triple, end string) *graphv1.ReasoningPath {
	step, from, to := &graphv1.RelationStep{Relation: t.GetRelation()}, t.GetSubject(), t.GetObject()
	if Fold(from) == Fold(end) {
		step.Inverse, from, to = true, to, from
	}
	return &graphv1.ReasoningPath{Steps: []*graphv1.RelationStep{step}, Entities: []string{from, to}}
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
