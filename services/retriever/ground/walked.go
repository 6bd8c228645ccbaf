package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Limits on paths from the entities that a question names.
const (
	maxWalkHops  = 3
	maxWalkPaths = 3
)

// addWalkedFacts adds facts several hops away from the entities that the question names: those of the
// paths of a ranker that knows the graph, or else the walked ones, and beside these the facts whose relations the
// question says.
func (g *grounding) addWalkedFacts(ctx context.Context) (int, error) {
	if len(g.rankedPaths) > 0 {
		return len(g.rankedPaths), g.showRankedPaths(ctx)
	}
	if err := g.score(ctx, g.walkedFacts); err != nil {
		return 0, err
	}
	g.addEvidence(g.walkedFacts)
	return len(g.walkedFacts), g.addSaidFacts(ctx)
}

// findWalkedFacts finds facts several hops away from the entities that the question names, if the
// question needs them: a pseudo-graph has the entity between two facts only if the model knew it,
// and search by meaning finds single facts. A question needs them if, of all relation paths around
// its entities, the one whose words are nearest to it passes an entity that is not a mediator.
// X r1 B and B r2 Y are shown as "X [r1 / r2] Y".
func (g *grounding) findWalkedFacts(ctx context.Context) error {
	if g.options.MaxWalked == 0 || len(g.topics) == 0 || g.passes != nil {
		return nil
	}
	paths, err := walk.Suggest(ctx, g.snap, g.encoder, walk.SuggestRequest{
		Question: g.plan.texts[g.plan.question], Topics: g.topics,
		MaxHops: maxWalkHops, Limit: maxWalkPaths, MaxEnds: g.options.MaxWalked, MultiFactOnly: true,
	})
	paths = slices.DeleteFunc(paths, g.goesBeyond)
	if err != nil || len(paths) == 0 {
		return err
	}
	walks, err := g.follow(ctx, paths, g.options.MaxWalked)
	if err == nil {
		g.walkedFacts = g.factsFromWalks(paths, walks)
	}
	return err
}

// goesBeyond reports whether a path goes on from what the question asks for: who operates A is asked for by the
// operator, not by where that has its seat, however near the words of both are to the question.
func (g *grounding) goesBeyond(path walk.Suggestion) bool {
	question := g.plan.texts[g.plan.question]
	isSaid := func(s walk.Step) bool { return kgtext.IsSaid(g.snap.RelationName(s.Relation), question) }
	return path.LeastHopScore < 0 && isSaid(path.Steps[0]) && !slices.ContainsFunc(path.Steps[1:], isSaid)
}

// follow returns at most limit walks of each path, the nearest to the question.
func (g *grounding) follow(ctx context.Context, paths []walk.Suggestion, limit int) ([][]walk.Walk, error) {
	plans := make([]walk.Plan, len(paths))
	for i, p := range paths {
		plans[i] = p.Plan
	}
	walks, _, err := walk.Follow(ctx, g.snap, plans, walk.Limit{
		Walks:    limit,
		Question: func(context.Context) ([]float32, error) { return g.vectors[g.plan.question], nil },
	})
	return walks, err
}

// joinWalk returns the fact that joins the ends of a walk.
func joinWalk(plan walk.Plan, w walk.Walk) candidate {
	f := candidate{owner: w.Entities[0], subject: w.Entities[0], object: w.Entities[len(w.Entities)-1], joined: true,
		relation: plan.Steps[0].Relation, second: plan.Steps[len(plan.Steps)-1].Relation, steps: plan.Steps}
	if w.Validity != nil {
		f.validity = *w.Validity
	}
	return f
}

// addEvidence makes facts evidence and their owners subjects of the ground graph.
func (g *grounding) addEvidence(facts []candidate) {
	for _, f := range facts {
		g.keepSubject(f)
		g.evidence[f.owner] = append(g.evidence[f.owner], f)
	}
	for _, facts := range g.evidence {
		slices.SortStableFunc(facts, compareByScore)
	}
	slices.SortStableFunc(g.kept, func(a, b rankedSubject) int { return cmp.Compare(b.Confidence, a.Confidence) })
}

// passesNamedEntity reports whether a walk passes an entity that is not a mediator.
func (g *grounding) passesNamedEntity(w walk.Walk) bool {
	return slices.ContainsFunc(w.Entities[1:len(w.Entities)-1], func(e store.EntityID) bool { return !g.isMediator(e) })
}

// factsFromWalks returns the joined facts of walks, without duplicates and walks back to their
// start, those of the best path first.
func (g *grounding) factsFromWalks(paths []walk.Suggestion, walks [][]walk.Walk) []candidate {
	type key struct {
		path            int
		subject, object store.EntityID
	}
	seen := map[key]bool{}
	var facts []candidate
	for i := range walks {
		for _, w := range walks[i] {
			f := joinWalk(paths[i].Plan, w)
			k := key{i, f.subject, f.object}
			if f.subject == f.object || seen[k] || !g.passesNamedEntity(w) || len(facts) == g.options.MaxWalked {
				continue
			}
			seen[k] = true
			f.leastHop = &paths[i].LeastHopScore
			facts = append(facts, f)
		}
	}
	return facts
}

// keepSubject makes a fact's owner a subject of the ground graph.
func (g *grounding) keepSubject(f candidate) {
	for _, s := range g.kept {
		if s.Entity == f.owner {
			return
		}
	}
	for i, d := range g.dropped {
		if d.Entity == f.owner {
			g.kept, g.dropped = append(g.kept, d.rankedSubject), slices.Delete(g.dropped, i, i+1)
			return
		}
	}
	g.kept = append(g.kept, rankedSubject{Entity: f.owner, Confidence: f.score})
}
