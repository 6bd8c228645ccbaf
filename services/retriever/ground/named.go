package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/prune"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// namesakes is how many entities of one name are looked at, those with most
// facts first.
const namesakes = 3

// linked is how many entities are taken from the question itself, and
// linkedScore how sure the linking must be: a question names its topic or two.
const (
	linked      = 2
	linkedScore = 0.5
)

// byName adds what the encoder misses: the facts of the entities whose very
// names the pseudo-graph's subjects have, or stand in the question. To an
// encoder one rare name is like another; "Neuse River" finds ten other rivers.
// Each adds its TopK best facts that are no hits yet.
func (g *grounding) byName(ctx context.Context, seen map[store.TripleID]bool) ([]found, error) {
	g.named = map[store.EntityID]bool{}
	entities, err := g.inQuestion(ctx)
	if err != nil {
		return nil, err
	}
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

// inQuestion are the entities that the question names to the letter. They
// count as named; that the model wrote another name into its pseudo-graph does
// not lose them.
func (g *grounding) inQuestion(ctx context.Context) ([]store.EntityID, error) {
	links, err := link.Entities(ctx, g.snap, g.plan.texts[g.plan.question], linked)
	if err != nil {
		return nil, err
	}
	var entities []store.EntityID
	for _, l := range links {
		if l.Match != link.Fuzzy && l.Score >= linkedScore && !g.named[l.Entity] && !g.opaque(l.Entity) {
			g.named[l.Entity] = true
			entities = append(entities, l.Entity)
		}
	}
	return entities, nil
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
