package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/prune"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// namesakes is how many entities of one name are looked at, those with most
// facts first.
const namesakes = 3

// byName adds what the encoder misses: the facts of the entities whose very
// names the pseudo-graph's subjects have. To an encoder one rare name is like
// another; "Neuse River" finds ten other rivers. Each adds its TopK best facts
// that are no hits yet.
func (g *grounding) byName(ctx context.Context, seen map[store.TripleID]bool) ([]found, error) {
	g.named = map[store.EntityID]bool{}
	var entities []store.EntityID
	for _, key := range g.plan.names {
		matches, err := g.snap.Match(ctx, key)
		if err != nil {
			return nil, err
		}
		matches = slices.Clone(matches)
		slices.SortStableFunc(matches, func(a, b store.EntityID) int {
			return cmp.Compare(g.snap.Degree(b, store.Out), g.snap.Degree(a, store.Out))
		})
		for _, e := range matches[:min(len(matches), namesakes)] {
			if !g.named[e] && !g.opaque(e) {
				g.named[e] = true
				entities = append(entities, e)
			}
		}
	}
	if len(entities) == 0 {
		return nil, nil
	}
	lists, err := g.snap.Edges(ctx, entities, store.Out, nil)
	if err != nil {
		return nil, err
	}
	var hits []found
	for _, edges := range lists {
		var facts []found
		for _, e := range edges[:min(len(edges), readPerSubject)] {
			if !seen[e.Triple] {
				facts = append(facts, g.plain(e.Triple))
			}
		}
		if err := g.score(ctx, facts); err != nil {
			return nil, err
		}
		slices.SortFunc(facts, byScore)
		hits = append(hits, facts[:min(len(facts), g.options.TopK)]...)
	}
	return hits, nil
}

// keepNamed takes back subjects that pruning removed although the pseudo-graph
// has their very name.
func (g *grounding) keepNamed() {
	var dropped []prune.Dropped
	for _, d := range g.dropped {
		if g.named[d.Entity] && d.Confidence >= g.options.MinNamed {
			g.kept = append(g.kept, d.Subject)
		} else {
			dropped = append(dropped, d)
		}
	}
	g.dropped = dropped
	slices.SortStableFunc(g.kept, func(a, b prune.Subject) int { return cmp.Compare(b.Confidence, a.Confidence) })
}
