package neo4j

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Statements about the nodes that hold vectors. %s is their label, which is
// made here and is plain; the vectors' index has its name and vectorSuffix.
const (
	vectorSuffix   = "_vector"
	tripleSuffix   = "_triple"
	createTripleIx = "CREATE INDEX `%[1]s" + tripleSuffix + "` FOR (v:`%[1]s`) ON (v.triple)"
	createVectors  = "UNWIND $rows AS row CREATE (v:`%s` {triple: row[0]}) WITH v, row CALL db.create.setNodeVectorProperty(v, 'vector', row[1])"
	// By default the index rounds vectors to bytes, and scores with them.
	createVectorIx = "CREATE VECTOR INDEX `%[1]s" + vectorSuffix + "` FOR (v:`%[1]s`) ON (v.vector) OPTIONS {indexConfig: " +
		"{`vector.dimensions`: %[2]d, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}"
	awaitIndexes = "CALL db.awaitIndexes(300)"
	queryVectors = "UNWIND range(0, size($queries) - 1) AS q CALL db.index.vector.queryNodes($index, $n, $queries[q]) YIELD node, score RETURN q, node.triple, score"
	scoreVectors = "MATCH (v:%s) WHERE v.triple IN $ids RETURN v.triple, [q IN $queries | vector.similarity.cosine(v.vector, q)]"
	dropIndex    = "DROP INDEX `%s` IF EXISTS"
	// The nodes go some at a time: a transaction holds what it changes in
	// memory.
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
			return fmt.Errorf("vector %d has %d components, want %d: %w", n, len(v), info.Dims, store.ErrInvalid)
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
		return "", fmt.Errorf("%d vectors came, %d were announced: %w", n, info.Triples, store.ErrInvalid)
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

// vectorLabels are the labels of the vectors of a snapshot, or with number 0 of
// all that there are.
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
