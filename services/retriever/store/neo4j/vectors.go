package neo4j

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// vectors are triples' vectors in nodes of Neo4j, isolated ones of a label of
// their own, so that one index holds those of all types: an index on
// relationships would be one for each type, and each would have to be asked.
type vectors struct {
	*snapshot
}

const (
	// overFetch is how many times k are asked for: a vector index is approximate,
	// and finds nearly all of the k best among more.
	overFetch = 10
	// leastFetch are asked for at least.
	leastFetch = 100
)

// SearchTriples implements store.Searcher within the recall of the index.
func (v *vectors) SearchTriples(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	if err := v.check(ctx, queries); err != nil || len(queries) == 0 || k <= 0 {
		return hits, err
	}
	if filter.Subjects != nil {
		return v.searchSubjects(ctx, queries, k, filter)
	}
	passes := filter.Matcher(v.local)
	for n := max(overFetch*k, leastFetch); ; n *= 4 {
		rows, err := v.graph.reader.query(ctx, queryVectors, map[string]any{
			"index": v.Vectors + vectorSuffix, "n": min(n, v.info.Triples), "queries": queries,
		})
		if err != nil {
			return nil, err
		}
		for q := range hits {
			hits[q] = hits[q][:0]
		}
		for _, row := range rows {
			id := store.TripleID(number(row[1]))
			if q := number(row[0]); int(id) < v.info.Triples && (passes == nil || passes(id)) {
				hits[q] = append(hits[q], store.Hit{Triple: id, Score: cosine(row[2])})
			}
		}
		if n >= v.info.Triples || !slices.ContainsFunc(hits, func(of []store.Hit) bool { return len(of) < k }) {
			keepBest(hits, k)
			return hits, nil
		}
	}
}

// searchSubjects compares the triples of some subjects, exactly.
func (v *vectors) searchSubjects(ctx context.Context, queries [][]float32, k int,
	filter store.Filter) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	known := slices.DeleteFunc(slices.Clone(filter.Subjects), func(e store.EntityID) bool { return !v.isIndexed(e) })
	lists, err := v.local.Edges(ctx, slices.Compact(slices.Sorted(slices.Values(known))), store.Out, nil)
	if err != nil {
		return nil, err
	}
	passes := filter.Matcher(v.local)
	var ids []store.TripleID
	for _, edges := range lists {
		for _, e := range edges {
			if passes(e.Triple) {
				ids = append(ids, e.Triple)
			}
		}
	}
	scores, err := v.ScoreTriples(ctx, queries, ids)
	if err != nil {
		return nil, err
	}
	for q := range hits {
		for i, id := range ids {
			hits[q] = append(hits[q], store.Hit{Triple: id, Score: scores[q][i]})
		}
	}
	keepBest(hits, k)
	return hits, nil
}

// keepBest puts hits in order and keeps k of each query.
func keepBest(hits [][]store.Hit, k int) {
	for q := range hits {
		slices.SortFunc(hits[q], func(a, b store.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Triple, b.Triple))
		})
		hits[q] = hits[q][:min(k, len(hits[q]))]
	}
}

// ScoreTriples implements store.Searcher. Neo4j compares; no vector is read.
func (v *vectors) ScoreTriples(ctx context.Context, queries [][]float32,
	triples []store.TripleID) ([][]float32, error) {
	scores := make([][]float32, len(queries))
	for q := range scores {
		scores[q] = make([]float32, len(triples))
	}
	if err := v.check(ctx, queries); err != nil || len(queries) == 0 {
		return scores, err
	}
	places := map[int64][]int{}
	for i, t := range triples {
		places[int64(t)] = append(places[int64(t)], i)
	}
	ids := make([]int64, 0, len(places))
	for id := range places {
		ids = append(ids, id)
	}
	for some := range slices.Chunk(ids, confirmBatch) {
		rows, err := v.graph.reader.query(ctx, fmt.Sprintf(scoreVectors, "`"+v.Vectors+"`"),
			map[string]any{"ids": some, "queries": queries})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for q, score := range list(row[1]) {
				for _, i := range places[number(row[0])] {
					scores[q][i] = cosine(score)
				}
			}
		}
	}
	return scores, nil
}

// check refuses queries that cannot be compared.
func (v *vectors) check(ctx context.Context, queries [][]float32) error {
	for i, q := range queries {
		if len(q) != v.info.Dims {
			return store.Invalidf("query %d has %d dimensions, the snapshot's encoder %s makes %d", i, len(q),
				v.info.Encoder, v.info.Dims)
		}
	}
	return ctx.Err()
}

// cosine reads a similarity of Neo4j's, which is 0 to 1.
func cosine(similarity any) float32 {
	f, _ := similarity.(float64)
	return float32(2*f - 1)
}

// Statements about the nodes that hold vectors. %s is their label, which is
// made here and is plain; the vectors' index has its name and vectorSuffix.
const (
	vectorSuffix   = "_vector"
	tripleSuffix   = "_triple"
	createTripleIx = "CREATE INDEX `%[1]s" + tripleSuffix + "` FOR (v:`%[1]s`) ON (v.triple)"
	createVectors  = "UNWIND $rows AS row CREATE (v:`%s` {triple: row[0]}) WITH v, row CALL " +
		"db.create.setNodeVectorProperty(v, 'vector', row[1])"
	// By default the index rounds vectors to bytes, and scores with them.
	createVectorIx = "CREATE VECTOR INDEX `%[1]s" + vectorSuffix +
		"` FOR (v:`%[1]s`) ON (v.vector) OPTIONS {indexConfig: " +
		"{`vector.dimensions`: %[2]d, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}"
	awaitIndexes = "CALL db.awaitIndexes(300)"
	queryVectors = "UNWIND range(0, size($queries) - 1) AS q CALL db.index.vector.queryNodes($index, $n, " +
		"$queries[q]) YIELD node, score RETURN q, node.triple, score"
	scoreVectors = "MATCH (v:%s) WHERE v.triple IN $ids RETURN v.triple, [q IN $queries | " +
		"vector.similarity.cosine(v.vector, q)]"
	dropIndex = "DROP INDEX `%s` IF EXISTS"
	// The nodes go some at a time: a transaction holds what it changes in memory.
	deleteVectors = "MATCH (v:`%s`) WITH v LIMIT 10000 DELETE v RETURN count(*)"
)

// vectorRows are written by one statement.
const vectorRows = 1000

// writeVectors puts the triples' vectors into Neo4j and returns the label of
// their nodes. Several retrievers may keep theirs in one database.
func (g *graph) writeVectors(ctx context.Context, info store.Info, content store.Content) (label string, err error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	label = "TriplemeshVector_" + hex.EncodeToString(b[:])
	defer func() {
		if err != nil {
			err = errors.Join(err, g.dropVectors(context.WithoutCancel(ctx), label))
		}
	}()
	if _, err := g.writer.write(ctx, fmt.Sprintf(createTripleIx, label), nil); err != nil {
		return "", err
	}
	var rows []any
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		_, err := g.writer.write(ctx, fmt.Sprintf(createVectors, label), map[string]any{"rows": rows})
		rows = nil
		return err
	}
	n := 0
	if err := content.TripleVectors(ctx, func(v []float32) error {
		if len(v) != info.Dims {
			return store.Invalidf("vector %d has %d components, want %d", n, len(v), info.Dims)
		}
		rows = append(rows, []any{n, slices.Clone(v)})
		n++
		if len(rows) < vectorRows {
			return nil
		}
		return flush()
	}); err != nil {
		return "", err
	}
	if n != info.Triples {
		return "", store.Invalidf("%d vectors came, %d were announced", n, info.Triples)
	}
	if err := flush(); err != nil {
		return "", err
	}
	// An index over what is there is built faster than one that grows.
	for _, statement := range []string{fmt.Sprintf(createVectorIx, label, info.Dims), awaitIndexes} {
		if _, err := g.writer.write(ctx, statement, nil); err != nil {
			return "", err
		}
	}
	return label, nil
}

// dropVectors removes the nodes and indexes of a label.
func (g *graph) dropVectors(ctx context.Context, label string) error {
	for _, suffix := range []string{vectorSuffix, tripleSuffix} {
		if _, err := g.writer.write(ctx, fmt.Sprintf(dropIndex, label+suffix), nil); err != nil {
			return err
		}
	}
	for {
		rows, err := g.writer.write(ctx, fmt.Sprintf(deleteVectors, label), nil)
		if err != nil || len(rows) == 0 || number(rows[0][0]) == 0 {
			return err
		}
	}
}

// vectorLabels are the labels of the vectors of a snapshot, or with number 0 of all that there are.
func (s *Store) vectorLabels(ctx context.Context, kg string, number uint64) map[uint64]string {
	labels := map[uint64]string{}
	if s.graphs[kg] == nil {
		return labels
	}
	listed, err := s.local.List(ctx, kg)
	if err != nil {
		return labels
	}
	for _, l := range listed {
		if number != 0 && l.Number != number {
			continue
		}
		if x, err := s.index(l.Info); err == nil {
			labels[l.Number] = x.Vectors
		}
	}
	return labels
}
