package ground

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxNamesakes is the number of entities of one name that are considered, by falling degree.
const maxNamesakes = 3

// Limits on the entities linked from the question.
const (
	// maxLinks is the number of entities that ranked paths start from: the ranker drops those that
	// lead nowhere.
	maxLinks = 5
	// maxTopics is the number of topics that a question names; minLinkScore is the minimum score of
	// their links.
	maxTopics    = 2
	minLinkScore = 0.5
)

// findNames finds the entities that the pseudo-graph or the question names exactly. Search by
// meaning does not: to an encoder rare names are alike, and "Neuse River" finds ten other rivers.
func (g *grounding) findNames(ctx context.Context) error {
	for _, key := range g.plan.names {
		matches, err := g.matchNamesakes(ctx, key)
		if err != nil {
			return err
		}
		for _, e := range matches {
			g.addNamed(e)
		}
	}
	maps.Copy(g.isMentioned, g.isNamed)
	for _, key := range g.plan.objects {
		matches, err := g.matchNamesakes(ctx, key)
		if err != nil {
			return err
		}
		for _, e := range matches {
			g.isMentioned[e] = true
		}
	}
	return nil
}

func (g *grounding) addNamed(e store.EntityID) {
	if !g.isNamed[e] && !g.isMediator(e) {
		g.isNamed[e] = true
		g.subjects = append(g.subjects, e)
	}
}

// searchByName returns, for each named entity, its TopK best facts that are not hits yet.
func (g *grounding) searchByName(ctx context.Context, seen tripleSet) ([]candidate, error) {
	around, err := g.readFacts(ctx, g.subjects, store.Out)
	if err != nil {
		return nil, err
	}
	var hits []candidate
	for _, e := range g.subjects {
		facts := slices.Clone(around[e])
		slices.SortFunc(facts, compareByScore)
		n := 0
		for _, f := range facts {
			if n < g.options.TopK && seen.add(f.triple) {
				n++
				hits = append(hits, f)
			}
		}
	}
	return hits, nil
}

// matchNamesakes returns the entities of a name with the most facts.
func (g *grounding) matchNamesakes(ctx context.Context, key string) ([]store.EntityID, error) {
	matches, err := g.snap.Match(ctx, key)
	if err != nil {
		return nil, err
	}
	matches = slices.Clone(matches)
	slices.SortStableFunc(matches, func(a, b store.EntityID) int {
		return cmp.Compare(g.snap.Degree(b, store.Out), g.snap.Degree(a, store.Out))
	})
	return matches[:min(len(matches), maxNamesakes)], nil
}

// link links the question, if its entities or paths from them are wanted.
func (g *grounding) link(ctx context.Context) (_ int, err error) {
	subjectsFirst := !g.snap.Info().TripleVectors
	if g.options.broadQueries || g.wantsRankedPaths() || subjectsFirst {
		g.links, err = link.Entities(ctx, g.snap, (*questionEncoder)(g), g.plan.texts[g.plan.question], maxLinks)
	}
	if g.options.broadQueries {
		g.addTopics()
	}
	if subjectsFirst {
		query := SubjectQuery{Names: slices.Concat(g.plan.names, g.plan.objects), Chained: g.plan.chained}
		for _, l := range g.links {
			query.Entities = append(query.Entities, l.Entity)
		}
		g.triples = NewSubjectFirst(g.snap, g.encoder, query)
	}
	return len(g.links), err
}

// addTopics adds the entities that the question names exactly, so that they are found even if the
// model wrote another name into its pseudo-graph.
func (g *grounding) addTopics() {
	for _, l := range g.links[:min(len(g.links), maxTopics)] {
		if l.Match != link.Fuzzy && l.Score >= minLinkScore {
			g.addNamed(l.Entity)
			g.topics, g.mentions = append(g.topics, l.Entity), append(g.mentions, l.Mention)
		}
	}
}

// restoreNamed restores dropped subjects that are named exactly.
func (g *grounding) restoreNamed() {
	var dropped []droppedSubject
	for _, d := range g.dropped {
		if g.isNamed[d.Entity] && d.Confidence >= g.options.MinNamed {
			g.kept = append(g.kept, d.rankedSubject)
		} else {
			dropped = append(dropped, d)
		}
	}
	g.dropped = dropped
}

// keepTopics keeps topics of the question that are the subject of no fact and to which hits lead: the holder of a title
// has a name far from any question, and of a list not each name is near to it.
func (g *grounding) keepTopics() {
	for _, topic := range g.topics {
		if g.snap.Degree(topic, store.Out) > 0 {
			continue
		}
		kept := rankedSubject{Entity: topic}
		for _, h := range g.hits {
			if h.object == topic && h.score >= g.options.MinNamed {
				kept.Confidence, kept.Hits = max(kept.Confidence, h.score), kept.Hits+1
			}
		}
		if kept.Hits > 0 {
			g.kept = append(g.kept, kept)
		}
	}
}

// questionEncoder has the vector of the question once it is there, so that linking does not encode it again.
type questionEncoder grounding

// Encode implements link.Encoder for the question only.
func (e *questionEncoder) Encode(ctx context.Context, _ []string) ([][]float32, error) {
	select {
	case <-e.encoded:
		return [][]float32{e.vectors[e.plan.question]}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
