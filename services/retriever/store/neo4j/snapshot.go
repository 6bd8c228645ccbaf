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
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// snapshot is one user's view of a graph: names and vectors as they were when it
// was indexed, edges as they are.
type snapshot struct {
	// Names, triples by number and vectors come from local.
	local store.Snapshot
	*index
	graph *graph
	// ctx is the context of Open, for methods that take none.
	ctx  context.Context
	info store.Info
	live liveState
	// vectors are where triples' vectors are; local if they are in files.
	vectors searcher
}

// searcher is what differs by where vectors are.
type searcher interface {
	SearchTriples(ctx context.Context, queries [][]float32, k int, filter store.Filter) ([][]store.Hit, error)
	ScoreTriples(ctx context.Context, queries [][]float32, triples []store.TripleID) ([][]float32, error)
}

var _ store.Snapshot = (*snapshot)(nil)

// Info implements store.Snapshot: what was indexed.
func (s *snapshot) Info() store.Info { return s.info }

func (s *snapshot) Release() { s.local.Release() }

func (s *snapshot) wrap(op string, err error) error {
	return store.WrapError(op, s.info.KG, s.info.Number, err)
}

// fail ends a method that returns no error.
func (s *snapshot) fail(op string, err error) {
	panic(&store.Fault{Err: s.wrap(op, err)})
}

// countStale counts facts that Neo4j no longer holds.
func (s *snapshot) countStale(ctx context.Context, facts int) {
	if facts > 0 {
		s.graph.stale.Add(ctx, int64(facts), metric.WithAttributes(kgAttribute(s.info.KG)))
	}
}

func (s *snapshot) isIndexed(e store.EntityID) bool { return int(e) < s.info.Entities }

func (s *snapshot) indexedTriple(t store.TripleID) bool { return int(t) < s.info.Triples }

func (s *snapshot) Triple(t store.TripleID) store.Triple {
	if s.indexedTriple(t) {
		return s.local.Triple(t)
	}
	return s.newTriple(t).Triple
}

// Provenance implements store.Facts: that of the index, which is built without.
func (s *snapshot) Provenance(t store.TripleID) string {
	if s.indexedTriple(t) {
		return s.local.Provenance(t)
	}
	return ""
}

func (s *snapshot) Validity(t store.TripleID) store.Validity {
	if s.indexedTriple(t) {
		return s.local.Validity(t)
	}
	return s.newTriple(t).Validity
}

// Degree implements store.Walker. It returns the degree at the time of indexing: degrees only
// rank entities and keep hubs from being read, and nearly every entity on the way needs one.
// Querying Neo4j for each took 91 statements to link the entities of one question. Only nodes
// that were not indexed are queried.
func (s *snapshot) Degree(e store.EntityID, dir store.Direction) int {
	if s.isIndexed(e) {
		return s.local.Degree(e, dir)
	}
	degrees, err := s.degrees(s.ctx, e)
	if err != nil {
		s.fail("count edges", err)
	}
	return degrees[dir]
}

// degrees returns the degrees of a new node, out and in. The same statement fetches those of all
// new nodes: a caller that needs one mostly needs them all.
func (s *snapshot) degrees(ctx context.Context, e store.EntityID) ([2]int, error) {
	s.live.mutex.Lock()
	known, ok := s.live.degrees[e]
	var ids []int64
	var asking []store.EntityID
	for i, met := range s.live.entities {
		at := store.EntityID(s.info.Entities + i)
		if _, asked := s.live.degrees[at]; !ok && !asked {
			s.live.degrees[at] = [2]int{}
			asking = append(asking, at)
			if met.node != noNode {
				ids = append(ids, met.node)
			}
		}
	}
	s.live.mutex.Unlock()
	if ok || len(ids) == 0 {
		return known, nil
	}
	rows, err := s.graph.reader.query(ctx, s.graph.statements.degrees(), s.graph.parameters(map[string]any{"ids": ids}))
	s.live.mutex.Lock()
	defer s.live.mutex.Unlock()
	if err != nil {
		for _, at := range asking {
			delete(s.live.degrees, at)
		}
		return known, err
	}
	for _, row := range rows {
		s.live.degrees[s.live.nodes[number(row[0])]] = [2]int{store.Out: int(number(row[1])),
			store.In: int(number(row[2]))}
	}
	return s.live.degrees[e], nil
}

// graph is one graph of the configuration and the way to it.
type graph struct {
	Graph
	statements
	reader reader
	// writer stores vectors if the configuration puts them into Neo4j.
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
		metric.WithDescription("Facts that were indexed and that Neo4j no longer holds, each time they are met."),
		metric.WithUnit("{triple}"))
	took, err2 := meter.Float64Histogram("triplemesh.store.neo4j.statement.duration",
		metric.WithDescription("What a statement to Neo4j took, by knowledge graph and outcome."), metric.WithUnit("s"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return &graph{
		Graph: g, statements: newStatements(g), reader: timedReader{s, took, kg}, writer: s, password: s.password,
		indexes: &nameIndex{}, stale: stale,
	}, s, nil
}

func kgAttribute(kg string) attribute.KeyValue { return attribute.String("kg", kg) }

// timedReader is a reader that records what each statement took.
type timedReader struct {
	reader
	duration metric.Float64Histogram
	kg       string
}

func (t timedReader) query(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	began := time.Now()
	rows, err := t.reader.query(ctx, cypher, parameters)
	outcome := "ok"
	if err != nil {
		outcome = "error"
	}
	t.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(kgAttribute(t.kg),
		attribute.String("outcome", outcome)))
	return rows, err
}

// readAll passes the whole graph to a sink.
func (g *graph) readAll(ctx context.Context, to source.Sink) (uint64, error) {
	if err := g.checkNames(ctx); err != nil {
		return 0, err
	}
	c := g.source(g.password)
	c.Timeout = indexTimeout
	// What cannot be taken, such as a date that is none, is skipped, as it is when edges are read.
	c.Bad = func(error) error { return nil }
	return neo4j.Read(ctx, c, to)
}
