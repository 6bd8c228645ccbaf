package neo4j

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/triplemesh/triplemesh/services/retriever/source"
	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
)

// graph is one graph of the configuration and the way to it.
type graph struct {
	Graph
	statements
	reader reader
	// writer keeps vectors where the configuration wants them in Neo4j.
	writer   writer
	password string
	indexes  *nameIndex
	// stale counts facts that were found among the files and no longer in Neo4j.
	stale metric.Int64Counter
}

// newGraph makes the way to a graph; nothing is sent yet.
func newGraph(kg string, g Graph, log *slog.Logger, meter metric.Meter) (*graph, *server, error) {
	s, err := newServer(g, log)
	if err != nil {
		return nil, nil, err
	}
	stale, err1 := meter.Int64Counter("triplemesh.store.neo4j.stale",
		metric.WithDescription("Facts that were indexed and that Neo4j no longer holds, each time they are met."), metric.WithUnit("{triple}"))
	took, err2 := meter.Float64Histogram("triplemesh.store.neo4j.statement.duration",
		metric.WithDescription("What a statement to Neo4j took, by knowledge graph and outcome."), metric.WithUnit("s"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return &graph{
		Graph: g, statements: newStatements(g), reader: timed{s, took, kg}, writer: s, password: s.password, indexes: &nameIndex{}, stale: stale,
	}, s, nil
}

func kgAttribute(kg string) attribute.KeyValue { return attribute.String("kg", kg) }

// timed is a reader that records what each statement took.
type timed struct {
	reader
	took metric.Float64Histogram
	kg   string
}

func (t timed) read(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	began := time.Now()
	rows, err := t.reader.read(ctx, cypher, parameters)
	outcome := "ok"
	if err != nil {
		outcome = "error"
	}
	t.took.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(kgAttribute(t.kg), attribute.String("outcome", outcome)))
	return rows, err
}

// readAll hands the whole graph to a sink.
func (g *graph) readAll(ctx context.Context, to source.Sink) (uint64, error) {
	if err := g.checkNames(ctx); err != nil {
		return 0, err
	}
	c := g.source(g.password)
	c.Timeout = indexing
	// What cannot be taken, such as a date that is none, is passed over, as it
	// is when edges are read.
	c.Bad = func(error) error { return nil }
	return neo4j.Read(ctx, c, to)
}
