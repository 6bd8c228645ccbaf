package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/services/retriever/load"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/store/neo4j"
)

// neo4jStore is a Neo4j server to compare with. Its user needs write access to load the triples.
type neo4jStore struct {
	uri, vectors, dir string
	// again opens a new snapshot.
	again func() (store.Snapshot, error)
	// trips counts the statements to it.
	trips *atomic.Int64
}

func (n *neo4jStore) flags(flags *flag.FlagSet) {
	flags.StringVar(&n.uri, "neo4j", "", "agree: address of a Neo4j to compare with, which asks for no password; the "+
		"graph is put there")
	flags.StringVar(&n.vectors, "neo4j-vectors", "embedded", "agree: where its vectors are, embedded or neo4j")
	flags.StringVar(&n.dir, "neo4j-dir", ".cache/calibrate/neo4j", "agree: directory for what is kept beside it")
}

// neo4jLabel marks the nodes of a knowledge graph.
const neo4jLabel = "TriplemeshAgree_"

func (n *neo4jStore) open(ctx context.Context, b *bench, from store.Snapshot) (store.Snapshot, func() error, error) {
	kg := from.Info().KG
	all, err := neo4j.NewTenants(n.dir+"-"+n.vectors, neo4j.Config{Graphs: map[string]neo4j.Graph{
		kg: {URI: n.uri, Labels: []string{neo4jLabel + kg}, Vectors: n.vectors, StatementTimeout: time.Minute},
	}}, slog.Default(), countingMeter{trips: n.trips})
	if err != nil {
		return nil, nil, err
	}
	st, err := all.ForTenant(auth.DefaultTenant())
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	other := st.(*neo4j.Store)
	snap, err := other.Open(ctx, kg, 0)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoActive) {
		if err = n.load(ctx, b, other, from); err == nil {
			snap, err = other.Open(ctx, kg, 0)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	n.again = func() (store.Snapshot, error) { return other.Open(ctx, kg, 0) }
	return snap, all.Close, nil
}

// load writes a graph into Neo4j and indexes it.
func (n *neo4jStore) load(ctx context.Context, b *bench, to *neo4j.Store, from store.Snapshot) error {
	kg := from.Info().KG
	began := time.Now()
	if err := n.plant(ctx, from); err != nil {
		return err
	}
	planted := time.Since(began)
	read, _ := to.Origin(kg)
	l := load.New(load.Options{KG: kg})
	defer l.Close()
	if err := l.ReadFrom(ctx, kg, read); err != nil {
		return err
	}
	report, err := l.Finish(ctx, to, b.model)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%d triples of %s put into Neo4j in %.1f s, indexed in %.1f s\n", report.Snapshot.Triples, kg,
		planted.Seconds(), (time.Since(began) - planted).Seconds())
	return nil
}

// batchRows is the number of nodes or relationships per statement.
const batchRows = 5000

func (n *neo4jStore) plant(ctx context.Context, from store.Snapshot) error {
	d, err := driver.NewDriverWithContext(n.uri, driver.NoAuth())
	if err != nil {
		return err
	}
	defer func() { _ = d.Close(ctx) }()
	label := neo4jLabel + from.Info().KG
	do := func(cypher string, rows []any) ([]*driver.Record, error) {
		result, err := driver.ExecuteQuery(ctx, d, cypher, map[string]any{"label": label, "rows": rows},
			driver.EagerResultTransformer)
		if err != nil {
			return nil, err
		}
		return result.Records, nil
	}
	for {
		gone, err := do("MATCH (n:$($label)) WITH n LIMIT 10000 DETACH DELETE n RETURN count(*)", nil)
		if err != nil {
			return err
		}
		if gone[0].Values[0] == int64(0) {
			break
		}
	}
	nodes := map[store.EntityID]int64{}
	if err := batches(func(add func(any) error) error {
		for e := range from.Entities() {
			if err := add([]any{int64(e), from.EntityName(e)}); err != nil {
				return err
			}
		}
		return nil
	}, func(rows []any) error {
		made, err := do("UNWIND $rows AS row CREATE (n:$($label) {name: row[1]}) RETURN row[0], id(n)", rows)
		for _, r := range made {
			nodes[store.EntityID(r.Values[0].(int64))] = r.Values[1].(int64)
		}
		return err
	}); err != nil {
		return err
	}
	return batches(func(add func(any) error) error {
		for t := range store.TripleID(from.Info().Triples) {
			triple, v := from.Triple(t), from.Validity(t)
			dates := map[string]any{}
			for key, date := range map[string]string{"start": v.Start, "end": v.End} {
				if date != "" {
					dates[key] = date
				}
			}
			if err := add([]any{nodes[triple.Subject], from.RelationName(triple.Relation), nodes[triple.Object],
				dates}); err != nil {
				return err
			}
		}
		return nil
	}, func(rows []any) error {
		_, err := do("UNWIND $rows AS row MATCH (s) WHERE id(s) = row[0] MATCH (o) WHERE id(o) = row[2] CREATE "+
			"(s)-[r:$(row[1])]->(o) SET r = row[3]", rows)
		return err
	})
}

// batches passes the added rows to take in batches.
func batches(each func(add func(any) error) error, take func([]any) error) error {
	var rows []any
	err := each(func(row any) error {
		if rows = append(rows, row); len(rows) < batchRows {
			return nil
		}
		err := take(rows)
		rows = nil
		return err
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return take(rows)
}

// countingMeter counts the recorded durations, one per statement.
type countingMeter struct {
	noop.Meter
	trips *atomic.Int64
}

func (m countingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return countingHistogram{trips: m.trips}, nil
}

type countingHistogram struct {
	noop.Float64Histogram
	trips *atomic.Int64
}

func (h countingHistogram) Record(context.Context, float64, ...metric.RecordOption) { h.trips.Add(1) }
