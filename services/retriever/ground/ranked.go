package ground

import (
	"context"

	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Limits on ranked paths.
const (
	// maxRankedHops and maxRankedPaths bound the paths, maxRankedEnds the walks of each.
	maxRankedHops, maxRankedPaths, maxRankedEnds = 3, 10, 100
	// maxShownPaths is the number of paths whose facts become evidence, minShown the least
	// probability of these.
	maxShownPaths = 3
	minShown      = 0.05
)

// RankedPath is a relation path that may lead to the answers.
type RankedPath struct {
	walk.Suggestion
	Walks []walk.Walk
}

// wantsRankedPaths reports whether paths are ranked. They do not know the options' filter.
func (g *grounding) wantsRankedPaths() bool {
	return g.options.Ranker != nil && g.options.MaxWalked > 0 && g.passes == nil
}

// suggestPaths follows the paths that the ranker takes for the likeliest, or if it does not know the graph
// those that may join facts that the question needs.
func (g *grounding) suggestPaths(ctx context.Context) (int, error) {
	if err := g.rankPaths(ctx); err != nil || len(g.rankedPaths) > 0 {
		return len(g.rankedPaths), err
	}
	err := g.findWalkedFacts(ctx)
	return len(g.walkedFacts), err
}

func (g *grounding) rankPaths(ctx context.Context) error {
	if !g.wantsRankedPaths() || len(g.links) == 0 {
		return nil
	}
	request := walk.SuggestRequest{Question: g.plan.texts[g.plan.question], MaxHops: maxRankedHops,
		Limit: maxRankedPaths, MaxEnds: maxRankedEnds, Ranker: g.options.Ranker, RankedOnly: true}
	for _, l := range g.links {
		request.Topics, request.TopicScores = append(request.Topics, l.Entity), append(request.TopicScores, l.Score)
	}
	suggested, err := walk.Suggest(ctx, g.snap, g.encoder, request)
	if err != nil || len(suggested) == 0 {
		return err
	}
	walks, err := g.follow(ctx, suggested, maxRankedEnds)
	if err != nil {
		return err
	}
	for i, s := range suggested {
		g.rankedPaths = append(g.rankedPaths, RankedPath{Suggestion: s, Walks: walks[i]})
	}
	return nil
}

// showRankedPaths adds the facts of the best ranked paths to the evidence, and marks those that are
// there already.
func (g *grounding) showRankedPaths(ctx context.Context) error {
	present := map[[3]string]*candidate{}
	for _, facts := range g.evidence {
		for i := range facts {
			present[g.factKey(facts[i])] = &facts[i]
		}
	}
	var added []candidate
	for _, p := range g.rankedPaths[:min(len(g.rankedPaths), maxShownPaths)] {
		if *p.Probability < minShown {
			break
		}
		facts, err := g.factsOfPath(ctx, p)
		if err != nil {
			return err
		}
		for _, f := range facts[:min(len(facts), g.options.MaxWalked)] {
			f.probability = p.Probability
			key := g.factKey(f)
			if old := present[key]; old == nil {
				present[key] = &f
				added = append(added, f)
			} else if old.probability == nil {
				old.probability = p.Probability
			}
		}
	}
	if err := g.score(ctx, added); err != nil {
		return err
	}
	g.addEvidence(added)
	return nil
}

// factKey is equal for facts that are shown alike.
func (g *grounding) factKey(f candidate) [3]string {
	return [3]string{g.snap.EntityName(f.subject), g.relationName(f), g.snap.EntityName(f.object)}
}

// factsOfPath returns the facts of a path: the triples of one step, or a joined fact for each end.
func (g *grounding) factsOfPath(ctx context.Context, p RankedPath) ([]candidate, error) {
	topic := p.Topics[0]
	if len(p.Steps) > 1 {
		return joinWalks(p), nil
	}
	step := p.Steps[0]
	lists, err := g.snap.Edges(ctx, []store.EntityID{topic}, step.Direction(), []store.RelationID{step.Relation})
	if err != nil {
		return nil, err
	}
	var facts []candidate
	for _, e := range lists[0][:min(len(lists[0]), maxRankedEnds)] {
		if !g.isMediator(e.Entity) {
			f := g.newCandidate(e.Triple)
			f.owner = topic
			facts = append(facts, f)
		}
	}
	return facts, nil
}

// joinWalks returns a joined fact for each end of a path.
func joinWalks(p RankedPath) []candidate {
	var facts []candidate
	seen := map[store.EntityID]bool{}
	for _, w := range p.Walks {
		if f := joinWalk(p.Plan, w); f.subject != f.object && !seen[f.object] {
			seen[f.object] = true
			facts = append(facts, f)
		}
	}
	return facts
}
