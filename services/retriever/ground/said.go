package ground

import (
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

const (
	// maxSaid is the maximum number of facts that addSaidFacts adds.
	maxSaid = 12
	// saidScore is what a relation scores at least if the question has all its words and no ranker knows the graph.
	saidScore = 0.6
)

// addSaidFacts adds facts about the kept topics whose relations the question says. An encoder may take them for far:
// to it, "who operates" is nearer to "maintained by" than to "operator".
func (g *grounding) addSaidFacts(ctx context.Context) error {
	topics := slices.DeleteFunc(slices.Clone(g.topics), func(e store.EntityID) bool {
		return !slices.ContainsFunc(g.kept, func(s rankedSubject) bool { return s.Entity == e })
	})
	if !g.options.beyondHits || len(topics) == 0 {
		return nil
	}
	shown := tripleSet{}
	for _, facts := range g.evidence {
		for _, f := range facts {
			if !f.joined {
				shown.add(f.triple)
			}
		}
	}
	hasWord := map[store.RelationID]bool{}
	var said []candidate
	for _, dir := range []store.Direction{store.Out, store.In} {
		around, err := g.readFacts(ctx, topics, dir)
		if err != nil {
			return err
		}
		perList := map[[2]uint32]int{}
		for _, topic := range topics {
			for _, f := range around[topic] {
				says, ok := hasWord[f.relation]
				if !ok {
					says = g.words.Match(g.snap.RelationName(f.relation))
					hasWord[f.relation] = says
				}
				list := [2]uint32{uint32(topic), uint32(f.relation)}
				if !says || g.isMediator(f.object) || g.isMediator(f.subject) || len(said) == maxSaid ||
					perList[list] == g.options.MaxList || !shown.add(f.triple) {
					continue
				}
				perList[list]++
				said = append(said, f)
			}
		}
	}
	g.addEvidence(said)
	return nil
}

// withoutMentions returns the question without the names of its topic entities; empty if nothing remains.
func (g *grounding) withoutMentions() string {
	text := g.plan.texts[g.plan.question]
	for _, mention := range g.mentions {
		text = strings.Replace(text, mention, " ", 1)
	}
	return strings.Join(strings.Fields(text), " ")
}
