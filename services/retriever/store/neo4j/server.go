package neo4j

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
)

// reader runs a statement that only reads and returns its rows.
type reader interface {
	read(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error)
}

// writer runs a statement that may write.
type writer interface {
	write(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error)
}

// server is one graph's connections. They are opened when they are first
// needed: a retriever starts also while a server is down.
type server struct {
	graph    Graph
	password string
	driver   neo4j.DriverWithContext
	log      *slog.Logger
	asked    chan struct{}
}

// fetchSize is how many rows the driver asks for at once, which bounds what it
// holds of a long answer that is still coming.
const fetchSize = 2000

// retrying is how long a statement that failed by the network or by a leader
// that moved is sent again.
const retrying = 2 * time.Second

func newServer(g Graph, log *slog.Logger) (*server, error) {
	password, err := g.password()
	if err != nil {
		return nil, err
	}
	auth := neo4j.NoAuth()
	if g.User != "" {
		auth = neo4j.BasicAuth(g.User, password, "")
	}
	driver, err := neo4j.NewDriverWithContext(g.URI, auth, func(c *config.Config) {
		c.MaxConnectionPoolSize = g.MaxConnections
		c.ConnectionAcquisitionTimeout = g.StatementTimeout
		c.SocketConnectTimeout = min(5*time.Second, g.StatementTimeout)
		c.MaxTransactionRetryTime = retrying
		c.UserAgent = "triplemesh"
	})
	s := &server{graph: g, password: password, driver: driver, log: log, asked: make(chan struct{}, 1)}
	if err != nil {
		return nil, s.fault(context.Background(), err)
	}
	return s, nil
}

func (s *server) close() error { return s.driver.Close(context.Background()) }

// read implements reader. The server ends the statement after its time, and so
// does the context: a server may look at its clock late.
func (s *server) read(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	rows, err := s.run(ctx, neo4j.AccessModeRead, s.graph.StatementTimeout, cypher, parameters)
	if err == nil {
		s.check(ctx)
	}
	return rows, err
}

// write implements writer. What is written comes in batches, which take longer
// than a question may.
func (s *server) write(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	return s.run(ctx, neo4j.AccessModeWrite, indexing, cypher, parameters)
}

func (s *server) run(outer context.Context, mode neo4j.AccessMode, timeout time.Duration, cypher string, parameters map[string]any) ([][]any, error) {
	ctx, cancel := context.WithTimeout(outer, timeout)
	defer cancel()
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: mode, DatabaseName: s.graph.Database, FetchSize: fetchSize})
	defer func() {
		// What is left of a connection is its pool's; a close must not wait for
		// a server that hangs.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(outer), time.Second)
		defer cancel()
		_ = session.Close(ctx)
	}()
	execute := session.ExecuteRead
	if mode == neo4j.AccessModeWrite {
		execute = session.ExecuteWrite
	}
	rows, err := execute(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		result, err := tx.Run(ctx, cypher, parameters)
		if err != nil {
			return nil, err
		}
		var rows [][]any
		for result.Next(ctx) {
			rows = append(rows, result.Record().Values)
		}
		return rows, result.Err()
	}, neo4j.WithTxTimeout(timeout))
	if err != nil {
		if ctx.Err() != nil {
			// The driver does not always say that time was the reason.
			err = errors.Join(ctx.Err(), err)
		}
		return nil, s.fault(outer, err)
	}
	return rows.([][]any), nil
}

// privileges lists what a user may change. Only the Enterprise edition knows
// privileges.
const privileges = `SHOW USER PRIVILEGES YIELD access, action WHERE access = 'GRANTED'
AND (action IN ['write', 'all_graph_privileges', 'graph_actions', 'merge'] OR action CONTAINS 'create' OR action CONTAINS 'delete' OR action CONTAINS 'set_')
RETURN count(*)`

// check warns once of a user who could write where nobody has to.
func (s *server) check(ctx context.Context) {
	select {
	case s.asked <- struct{}{}:
	default:
		return
	}
	if s.graph.Vectors == inNeo4j {
		return
	}
	rows, err := s.run(ctx, neo4j.AccessModeRead, s.graph.StatementTimeout, privileges, nil)
	switch {
	case err == nil && len(rows) == 1 && number(rows[0][0]) > 0:
		s.log.Warn("the user of a Neo4j could write, which triplemesh never does; name one who may only read", "server", shown(s.graph.URI), "user", s.graph.User)
	case err != nil && strings.Contains(err.Error(), "Unsupported administration command"):
		s.log.Info("this edition of Neo4j does not say whether the user could write; triplemesh only reads", "server", shown(s.graph.URI))
	case err != nil:
		<-s.asked // The next statement asks again.
	}
}
