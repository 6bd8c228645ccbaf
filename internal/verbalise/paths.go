package verbalise

import (
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// Step returns one hop in words; a hop from object to subject reads "is
// director of".
func Step(s *graphv1.RelationStep) string {
	w := Relation(s.GetRelation())
	if s.GetInverse() {
		return "is " + w + " of"
	}
	return w
}

// Steps returns the hops of a relation path in words, joined by " -> ".
func Steps(steps []*graphv1.RelationStep) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = Step(s)
	}
	return strings.Join(words, " -> ")
}

// PathGroup is one relation path from one topic entity with all it leads to:
// the reasoning paths that differ in the entities they pass only.
type PathGroup struct {
	// TopicEntity is where the paths start.
	TopicEntity string
	Steps       []*graphv1.RelationStep
	// Ends are where they lead, each once, in the order of the paths.
	Ends []string
	// Paths are the reasoning paths themselves.
	Paths []*graphv1.ReasoningPath
	// Score is the relation path's.
	Score float32
}

// Words returns the group without its ends: "Topic -> relation -> relation".
func (g *PathGroup) Words() string { return g.TopicEntity + " -> " + Steps(g.Steps) }

// Group sorts reasoning paths by relation path and topic entity, in the order
// in which these first appear.
func Group(paths []*graphv1.ReasoningPath) []*PathGroup {
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
			g = &PathGroup{TopicEntity: p.GetEntities()[0], Steps: p.GetSteps(), Score: p.GetScore()}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.Paths = append(g.Paths, p)
		end := End(p)
		if k := key + "\x00" + end; !seen[k] {
			seen[k] = true
			g.Ends = append(g.Ends, end)
		}
	}
	return groups
}

// End is the entity that a reasoning path leads to; empty for a path with no
// entities.
func End(p *graphv1.ReasoningPath) string {
	entities := p.GetEntities()
	if len(entities) == 0 {
		return ""
	}
	return entities[len(entities)-1]
}

func pathKey(p *graphv1.ReasoningPath) string {
	var b strings.Builder
	b.WriteString(p.GetEntities()[0])
	for _, s := range p.GetSteps() {
		b.WriteByte(0)
		if s.GetInverse() {
			b.WriteByte('^')
		}
		b.WriteString(s.GetRelation())
	}
	return b.String()
}

// Path shows a reasoning path on a line: "Topic -> relation -> entity".
func Path(p *graphv1.ReasoningPath) string {
	var b strings.Builder
	for i, e := range p.GetEntities() {
		if i > 0 {
			b.WriteString(" -> ")
			if i <= len(p.GetSteps()) {
				b.WriteString(Step(p.GetSteps()[i-1]) + " -> ")
			}
		}
		b.WriteString(e)
	}
	return b.String()
}

// Lines shows each group on a line, with the entities it leads to:
// "Topic -> relation: End; End". At most maxGroups groups and maxEnds ends of
// each are shown; an ellipsis stands for the ends left out.
func Lines(groups []*PathGroup, maxGroups, maxEnds int) []string {
	groups = groups[:min(len(groups), maxGroups)]
	lines := make([]string, len(groups))
	for i, g := range groups {
		lines[i] = g.Words() + ": " + strings.Join(g.Ends[:min(len(g.Ends), maxEnds)], "; ")
		if len(g.Ends) > maxEnds {
			lines[i] += "; …"
		}
	}
	return lines
}
