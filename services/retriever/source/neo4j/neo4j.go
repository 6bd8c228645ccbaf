// Package neo4j reads a graph that is kept in Neo4j 4.4 or 5. It runs where its
// user is: credentials go to the server and nowhere else. It only reads, and
// its configuration enters queries as parameters only.
//
// A node is an entity by its name property; one without is a mediator. A relationship is a
// statement, whose relation is its type in plain words: ACTED_IN is "acted in". Keys are IRIs,
// "urn:neo4j:node/12", so that rdf.Writer can write what is read.
package neo4j

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"

	"github.com/triplemesh/triplemesh/services/retriever/source"
)

// Config says what to read and how.
type Config struct {
	// URI is the server's, such as bolt://localhost:7687 or neo4j+s://….
	URI string
	// User and Password may be empty if the server asks for none.
	User, Password string
	// Database is its name; empty means the user's own.
	Database string
	// Labels are those of the nodes to read, Types those of relationships; empty
	// takes all. A relationship is read where both its ends are.
	Labels, Types []string
	// Name is the property that names a node; empty means "name". Aliases are
	// properties with further names.
	Name    string
	Aliases []string
	// Names are the properties that name the nodes of some labels, by label; a
	// node that has none of them is named by Name.
	Names map[string]string
	// Properties makes statements also of the other properties of nodes and of their labels.
	Properties bool
	// Start and End are the properties of a relationship that say when it holds;
	// empty means "start" and "end".
	Start, End string
	// Page is the number of ids one query looks at; 0 means 100,000.
	Page int64
	// Timeout bounds one query; 0 means a minute.
	Timeout time.Duration
	// Bad receives what cannot be taken; an error of it ends the reading.
	// Without it the first such thing does.
	Bad func(error) error
	// Unnamed, if not nil, is told how many nodes of a label have properties, and none that names them.
	Unnamed func(label string, nodes int, properties []string)
}

func (c Config) withDefaults() Config {
	c.Name, c.Start, c.End = cmp.Or(c.Name, "name"), cmp.Or(c.Start, "start"), cmp.Or(c.End, "end")
	if c.Page <= 0 {
		c.Page = 100_000
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.Bad == nil {
		c.Bad = func(err error) error { return err }
	}
	return c
}

// fetchSize is the number of records the driver asks for at once, which bounds its memory.
const fetchSize = 2000

// Nodes and relationships are found by ranges of their ids, which takes one
// seek for each id and no sorting. elementId has no order to page by.
const (
	lastNode = `MATCH (n) RETURN coalesce(max(id(n)), -1) AS last`
	nodes    = `MATCH (n) WHERE id(n) IN range($from, $to)
  AND ($labels IS NULL OR any(l IN labels(n) WHERE l IN $labels))
WITH n, coalesce(head([x IN $names WHERE x[0] IN labels(n) | n[x[1]]]), n[$name]) AS name
RETURN id(n) AS id, name, [p IN $aliases | n[p]] AS aliases,
  CASE WHEN name IS NULL THEN labels(n)[0] END AS unnamed, CASE WHEN name IS NULL THEN keys(n) END AS keys,
  CASE WHEN $properties THEN labels(n) END AS labels, CASE WHEN $properties THEN properties(n) END AS properties`
	lastRelationship = `MATCH ()-[r]->() RETURN coalesce(max(id(r)), -1) AS last`
	relationships    = `MATCH (s)-[r]->(o) WHERE id(r) IN range($from, $to) AND ($types IS NULL OR type(r) IN $types)
  AND ($labels IS NULL OR (any(l IN labels(s) WHERE l IN $labels) AND any(l IN labels(o) WHERE l IN $labels)))
RETURN id(r) AS id, id(s) AS subject,
  coalesce(head([x IN $names WHERE x[0] IN labels(s) | s[x[1]]]), s[$name]) AS subjectName,
  type(r) AS type, id(o) AS object,
  coalesce(head([x IN $names WHERE x[0] IN labels(o) | o[x[1]]]), o[$name]) AS objectName,
  r[$start] AS start, r[$end] AS end`
)

// Read passes a graph to a sink and returns the number of nodes and relationships. A node or
// relationship may come twice where a query was sent again.
func Read(ctx context.Context, c Config, to source.Sink) (count uint64, err error) {
	r, err := c.withDefaults().open(ctx)
	if err != nil {
		return 0, err
	}
	defer r.close(context.WithoutCancel(ctx))
	r.to = source.NewSinkGuard(to)
	for _, part := range []struct {
		last, query string
		take        func(*neo4j.Record) error
	}{{lastNode, nodes, r.readNode}, {lastRelationship, relationships, r.readRelationship}} {
		n, err := r.readPages(ctx, part.last, part.query, part.take)
		count += n
		if r.to.Err() != nil {
			return count, r.to.Err()
		}
		if err != nil {
			return count, c.wrapError(err)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(r.unnamed)) {
		if c.Unnamed != nil {
			c.Unnamed(label, r.unnamed[label].nodes, r.unnamed[label].properties)
		}
	}
	return count, nil
}

// open connects to the server. The caller must call close.
func (c Config) open(ctx context.Context) (*reader, error) {
	auth := neo4j.NoAuth()
	if c.User != "" {
		auth = neo4j.BasicAuth(c.User, c.Password, "")
	}
	driver, err := neo4j.NewDriverWithContext(c.URI, auth, func(d *config.Config) {
		d.ConnectionAcquisitionTimeout, d.SocketConnectTimeout = c.Timeout, c.Timeout
	})
	if err != nil {
		return nil, c.wrapError(fmt.Errorf("%w; an address is bolt://HOST:7687, or neo4j://HOST:7687 for a cluster",
			err))
	}
	// Sessions retry for half a minute, which is of no use before the first answer.
	if err := driver.VerifyConnectivity(ctx); err != nil {
		_ = driver.Close(context.WithoutCancel(ctx))
		return nil, c.wrapError(err)
	}
	r := &reader{Config: c, unnamed: map[string]unnamedNodes{}}
	r.session = driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: neo4j.AccessModeRead, DatabaseName: c.Database,
		FetchSize: fetchSize})
	r.close = func(ctx context.Context) { _ = errors.Join(r.session.Close(ctx), driver.Close(ctx)) }
	return r, nil
}

// wrapError says which server an error is from, and what to change.
func (c Config) wrapError(err error) error {
	shown := "?"
	if u, bad := url.Parse(c.URI); bad == nil {
		shown = u.Scheme + "://" + u.Host
	}
	return fmt.Errorf("read Neo4j %s: %w", shown, explainError(err))
}

// reader reads one graph.
type reader struct {
	Config
	session neo4j.SessionWithContext
	close   func(context.Context)
	to      *source.SinkGuard
	// unnamed are the nodes without a name, by the first of their labels.
	unnamed map[string]unnamedNodes
	// namedKeys are keys that were named.
	namedKeys map[string]bool
}

// unnamedNodes are nodes without a name, and the properties of the last one.
type unnamedNodes struct {
	nodes      int
	properties []string
}

// readPages runs a query for one range of ids after another.
func (r *reader) readPages(ctx context.Context, last, query string,
	take func(*neo4j.Record) error) (count uint64, err error) {
	highest := int64(-1)
	if _, err := r.run(ctx, last, nil, func(record *neo4j.Record) error {
		highest, _ = get(record, "last").(int64)
		return nil
	}); err != nil {
		return 0, err
	}
	for from := int64(0); from <= highest; from += r.Page {
		n, err := r.run(ctx, query, r.parameters(from), func(record *neo4j.Record) error {
			err := take(record)
			if err == nil || r.to.Err() != nil {
				return r.to.Err()
			}
			return r.Bad(r.wrapError(err))
		})
		count += n
		if err != nil {
			return count, err
		}
	}
	return count, nil
}

func (r *reader) parameters(from int64) map[string]any {
	p := map[string]any{
		"from": from, "to": from + r.Page - 1, "name": r.Name, "aliases": append([]string{}, r.Aliases...),
		"properties": r.Properties, "start": r.Start, "end": r.End, "labels": nil, "types": nil,
		"names": r.namesByLabel(),
	}
	if len(r.Labels) > 0 {
		p["labels"] = r.Labels
	}
	if len(r.Types) > 0 {
		p["types"] = r.Types
	}
	return p
}

// namesByLabel lists Names for a query, in the order of their labels, which
// counts where a node has several of them.
func (c Config) namesByLabel() []any {
	pairs := []any{}
	for _, label := range slices.Sorted(maps.Keys(c.Names)) {
		pairs = append(pairs, []any{label, c.Names[label]})
	}
	return pairs
}

// run reads the records of one query, again where the server says that it may work then.
func (r *reader) run(ctx context.Context, query string, parameters map[string]any,
	take func(*neo4j.Record) error) (count uint64, err error) {
	_, err = r.session.ExecuteRead(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		count = 0
		result, err := tx.Run(ctx, query, parameters)
		if err != nil {
			return nil, err
		}
		for result.Next(ctx) {
			count++
			if err := take(result.Record()); err != nil {
				return nil, err
			}
		}
		return nil, result.Err()
	}, neo4j.WithTxTimeout(r.Timeout))
	return count, err
}

func get(record *neo4j.Record, key string) any {
	v, _ := record.Get(key)
	return v
}

// Size is how much a graph holds.
type Size struct{ Nodes, Relationships int64 }

// Probe asks a server how much a graph holds, which it knows without counting.
// The error says what to change where it cannot be asked.
func Probe(ctx context.Context, c Config) (size Size, err error) {
	r, err := c.withDefaults().open(ctx)
	if err != nil {
		return Size{}, err
	}
	defer r.close(context.WithoutCancel(ctx))
	for query, count := range map[string]*int64{
		`MATCH (n) RETURN count(n) AS count`:        &size.Nodes,
		`MATCH ()-[r]->() RETURN count(r) AS count`: &size.Relationships,
	} {
		if _, err := r.run(ctx, query, nil, func(record *neo4j.Record) error {
			*count, _ = get(record, "count").(int64)
			return nil
		}); err != nil {
			return Size{}, c.wrapError(err)
		}
	}
	return size, nil
}

// explainError says what to change.
func explainError(err error) error {
	var said *neo4j.Neo4jError
	switch {
	case errors.As(err, &said) && strings.HasPrefix(said.Code, "Neo.ClientError.Security."):
		return fmt.Errorf("user or password rejected (%s); set NEO4J_USER and NEO4J_PASSWORD", said.Title())
	case errors.As(err, &said) && strings.Contains(said.Code, "DatabaseNotFound"):
		return fmt.Errorf("no such database: %s", said.Msg)
	case neo4j.IsConnectivityError(err):
		return fmt.Errorf(
			"no server answers (%w); check that it runs, whether it has TLS (neo4j+s, bolt+s), and that this is its "+
				"Bolt port (usually 7687, not 7474, which is for browsers)", err)
	}
	return err
}
