package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

// SubjectQuery is where SubjectFirst looks for entity names.
type SubjectQuery struct {
	// Texts are questions or mentions; the entities they name are linked. Entities are linked already.
	Texts    []string
	Entities []store.EntityID
	// Names are possible entity names: the subjects and objects of a pseudo-graph.
	Names []string
	// Chained reports whether an object of the pseudo-graph is another triple's subject. That name
	// is a guess, so the neighbours of named entities become candidates too.
	Chained bool
}

// Limits on encoding: a core encodes some hundreds of triples a second.
const (
	// MaxEncoded is the maximum number of triples encoded for a search.
	MaxEncoded = 96
	// subjectFirstMaxRead is the highest Options.MaxRead if triples have no vectors.
	subjectFirstMaxRead = 32
)

// SubjectFirst searches a knowledge graph that is too large to vectorise: names select the
// subjects that may be meant, and only the triples around them are encoded, on demand. It serves
// one request on one goroutine and caches the vectors of that request.
type SubjectFirst struct {
	store.Snapshot
	encoder Encoder
	query   SubjectQuery
	vectors map[store.TripleID][]float32
}

// NewSubjectFirst returns a view, for one request, of a snapshot whose triples have no vectors.
// Its relations should have vectors of the same encoder.
func NewSubjectFirst(snap store.Snapshot, encoder Encoder, query SubjectQuery) *SubjectFirst {
	return &SubjectFirst{Snapshot: snap, encoder: encoder, query: query, vectors: map[store.TripleID][]float32{}}
}

// SearchTriples returns the k triples nearest to each query among those around the candidate
// subjects, best first. Subjects named by the filter replace the candidates.
func (s *SubjectFirst) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	triples, err := s.listCandidates(ctx, queries, filter)
	if err != nil {
		return nil, err
	}
	scores, err := s.ScoreTriples(ctx, queries, triples)
	if err != nil {
		return nil, err
	}
	hits := make([][]store.Hit, len(queries))
	for q := range scores {
		hits[q] = bestHits(triples, scores[q], k)
	}
	return hits, nil
}

// ScoreTriples encodes the triples that have no vector yet and returns the cosine of each query to
// each triple: result[q][t].
func (s *SubjectFirst) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	if err := s.encode(ctx, triples); err != nil {
		return nil, err
	}
	scores := make([][]float32, len(queries))
	for q, query := range queries {
		scores[q] = make([]float32, len(triples))
		for i, id := range triples {
			scores[q][i] = vector.Dot(query, s.vectors[id])
		}
	}
	return scores, nil
}

func (s *SubjectFirst) encode(ctx context.Context, triples []store.TripleID) error {
	var missing []store.TripleID
	var words []string
	listed := map[store.TripleID]bool{}
	for _, id := range triples {
		if s.vectors[id] == nil && !listed[id] {
			listed[id] = true
			t := s.Triple(id)
			missing = append(missing, id)
			words = append(words, kgtext.VerbaliseTriple(s.EntityName(t.Subject), s.RelationName(t.Relation),
				s.EntityName(t.Object)))
		}
	}
	if len(words) == 0 {
		return nil
	}
	vectors, err := s.encoder.Encode(ctx, words)
	if err != nil {
		return err
	}
	for i, id := range missing {
		s.vectors[id] = vectors[i]
	}
	return nil
}

// Limits on candidates.
const (
	// maxLinkedTexts is the number of texts that are linked, linksPerText the number of entities
	// per text.
	maxLinkedTexts, linksPerText = 16, 5
	// maxSimilarNames and minSimilarity limit the fuzzy matches of a name that no entity has.
	maxSimilarNames, minSimilarity = 3, 0.6
	// maxNeighbours is the number of neighbouring entities that become candidates when the
	// pseudo-graph is chained.
	maxNeighbours = 32
	// maxNearCandidates is the number of triples around the candidates themselves; the rest of
	// MaxEncoded is for those around mediators and neighbours.
	maxNearCandidates = MaxEncoded * 3 / 4
)

// listCandidates returns the triples worth encoding, ascending.
func (s *SubjectFirst) listCandidates(ctx context.Context, queries [][]float32,
	filter store.Filter) ([]store.TripleID, error) {
	entities := filter.Subjects
	if entities == nil {
		var err error
		if entities, err = s.listEntities(ctx); err != nil {
			return nil, err
		}
	}
	ranker := s.newEdgeRanker(queries, entities)
	triples, ends, err := s.readAround(ctx, entities, maxNearCandidates, ranker, filter)
	if err != nil {
		return nil, err
	}
	var neighbours []store.EntityID
	for _, e := range ends {
		if (s.query.Chained || s.Kind(e) == store.Mediator) && len(neighbours) < maxNeighbours &&
			!slices.Contains(entities, e) && !slices.Contains(neighbours, e) {
			neighbours = append(neighbours, e)
		}
	}
	more, _, err := s.readAround(ctx, neighbours, MaxEncoded-len(triples), ranker, filter)
	if err != nil {
		return nil, err
	}
	triples = append(triples, more...)
	slices.Sort(triples)
	return slices.Compact(triples), nil
}

// listEntities returns the entities that the query may mean.
func (s *SubjectFirst) listEntities(ctx context.Context) ([]store.EntityID, error) {
	var entities []store.EntityID
	add := func(e store.EntityID) {
		if s.Kind(e) != store.Mediator && !slices.Contains(entities, e) {
			entities = append(entities, e)
		}
	}
	for _, e := range s.query.Entities {
		add(e)
	}
	for _, text := range s.query.Texts[:min(len(s.query.Texts), maxLinkedTexts)] {
		links, err := link.Entities(ctx, s.Snapshot, s.encoder, text, linksPerText)
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			add(l.Entity)
		}
	}
	for _, name := range s.query.Names {
		matches, err := s.matchName(ctx, store.Fold(name))
		if err != nil {
			return nil, err
		}
		for _, e := range matches {
			add(e)
		}
	}
	return entities, nil
}

// matchName returns the entities of a name with the most triples or, if there are none, those
// with similar names.
func (s *SubjectFirst) matchName(ctx context.Context, key string) ([]store.EntityID, error) {
	matches, err := s.Match(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(matches) > 0 {
		matches = slices.Clone(matches)
		slices.SortStableFunc(matches, func(a, b store.EntityID) int { return cmp.Compare(s.degree(b), s.degree(a)) })
		return matches[:min(len(matches), maxNamesakes)], nil
	}
	similar, err := s.Fuzzy(ctx, key, minSimilarity, maxSimilarNames)
	if err != nil {
		return nil, err
	}
	for _, m := range similar {
		matches = append(matches, m.Entity)
	}
	return matches, nil
}

func (s *SubjectFirst) degree(e store.EntityID) int {
	return s.Degree(e, store.Out) + s.Degree(e, store.In)
}

// readAround returns at most limit triples around entities, and the entities at their other ends,
// by relevance of the relation. Of hubs it keeps the edges that rank highest.
func (s *SubjectFirst) readAround(ctx context.Context, entities []store.EntityID, limit int, ranker edgeRanker,
	filter store.Filter) ([]store.TripleID, []store.EntityID, error) {
	if len(entities) == 0 || limit <= 0 {
		return nil, nil, nil
	}
	var lists [][]store.Edge
	var lengths []int
	for _, dir := range []store.Direction{store.Out, store.In} {
		if dir == store.In && filter.Subjects != nil {
			break
		}
		edges, err := s.Edges(ctx, entities, dir, filter.Relations)
		if err != nil {
			return nil, nil, err
		}
		for _, list := range edges {
			lists = append(lists, list)
			lengths = append(lengths, len(list))
		}
	}
	passes := filter.Matcher(s)
	var chosen []store.Edge
	level := levelLimit(lengths, limit)
	for _, list := range lists {
		for _, e := range cutEdges(list, level, ranker) {
			if passes == nil || passes(e.Triple) {
				chosen = append(chosen, e)
			}
		}
	}
	relevance := map[store.RelationID]float32{}
	for _, e := range chosen {
		relevance[e.Relation] = ranker.relevance(e.Relation)
	}
	slices.SortFunc(chosen, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(relevance[b.Relation], relevance[a.Relation]), cmp.Compare(a.Triple, b.Triple))
	})
	triples := make([]store.TripleID, len(chosen))
	ends := make([]store.EntityID, len(chosen))
	for i, e := range chosen {
		triples[i], ends[i] = e.Triple, e.Entity
	}
	return triples, ends, nil
}

func (s *SubjectFirst) newEdgeRanker(queries [][]float32, entities []store.EntityID) edgeRanker {
	relevances := map[store.RelationID]float32{}
	return edgeRanker{
		relevance: func(r store.RelationID) float32 {
			relevance, ok := relevances[r]
			if ok {
				return relevance
			}
			if v := s.RelationVector(r); v != nil {
				for _, q := range queries {
					relevance = max(relevance, vector.Dot(q, v))
				}
			}
			relevances[r] = relevance
			return relevance
		},
		isNamed: func(e store.EntityID) bool { return slices.Contains(entities, e) },
		degree:  s.degree,
	}
}

// bestHits returns the k triples with the best scores; ties go by id.
func bestHits(triples []store.TripleID, scores []float32, k int) []store.Hit {
	hits := make([]store.Hit, len(triples))
	for i, id := range triples {
		hits[i] = store.Hit{Triple: id, Score: scores[i]}
	}
	slices.SortFunc(hits, func(a, b store.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
	})
	return hits[:min(k, len(hits))]
}
