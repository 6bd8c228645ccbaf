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
	var said []candidate
	for _, dir := range []store.Direction{store.Out, store.In} {
		around, err := g.readFacts(ctx, topics, dir)
		if err != nil {
			return err
		}
		for _, topic := range topics {
			said = append(said, g.selectSaid(around[topic], shown)...)
		}
	}
	g.addEvidence(said[:min(len(said), maxSaid)])
	return nil
}

// selectSaid returns those of the facts of a topic in a direction that are not shown yet and have a word of the
// question in their relation, at most MaxList of each.
func (g *grounding) selectSaid(facts []candidate, shown tripleSet) []candidate {
	var said []candidate
	room := map[store.RelationID]int{}
	for _, f := range facts {
		left, ok := room[f.relation]
		if !ok && g.words.Match(g.snap.RelationName(f.relation)) {
			left = g.options.MaxList
		}
		if left > 0 && !g.isMediator(f.object) && !g.isMediator(f.subject) && shown.add(f.triple) {
			left--
			said = append(said, f)
		}
		room[f.relation] = left
	}
	return said
}

// withoutMentions returns the question without the names of its topic entities; empty if nothing remains.
func (g *grounding) withoutMentions() string {
	text := g.plan.texts[g.plan.question]
	for _, mention := range g.mentions {
		text = strings.Replace(text, mention, " ", 1)
	}
	return strings.Join(strings.Fields(text), " ")
}
