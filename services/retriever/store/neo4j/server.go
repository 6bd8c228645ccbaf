package neo4j

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// reader runs a statement that only reads and returns its rows.
type reader interface {
	query(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error)
}

// writer runs a statement that may write.
type writer interface {
	write(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error)
}

// server is one graph's connections. They are opened when they are first
// needed: a retriever starts also while a server is down.
type server struct {
	graph             Graph
	password          string
	driver            neo4j.DriverWithContext
	log               *slog.Logger
	checkedPrivileges chan struct{}
}

// fetchSize is the number of rows the driver asks for at once, which bounds what it
// holds of a long answer that is still coming.
const fetchSize = 2000

// retryTime is how long a statement that failed by the network or by a leader
// that moved is sent again.
const retryTime = 2 * time.Second

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
		c.MaxTransactionRetryTime = retryTime
		c.UserAgent = "triplemesh"
	})
	s := &server{graph: g, password: password, driver: driver, log: log, checkedPrivileges: make(chan struct{}, 1)}
	if err != nil {
		return nil, s.wrapError(context.Background(), err)
	}
	return s, nil
}

func (s *server) close() error { return s.driver.Close(context.Background()) }

// query implements reader. The server ends the statement after its time, and so
// does the context: a server may look at its clock late.
func (s *server) query(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	rows, err := s.run(ctx, neo4j.AccessModeRead, s.graph.StatementTimeout, cypher, parameters)
	if err == nil {
		s.check(ctx)
	}
	return rows, err
}

// write implements writer. What is written comes in batches, which take longer than a question may.
func (s *server) write(ctx context.Context, cypher string, parameters map[string]any) ([][]any, error) {
	return s.run(ctx, neo4j.AccessModeWrite, indexTimeout, cypher, parameters)
}

func (s *server) run(outer context.Context, mode neo4j.AccessMode, timeout time.Duration, cypher string,
	parameters map[string]any) ([][]any, error) {
	ctx, cancel := context.WithTimeout(outer, timeout)
	defer cancel()
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: mode, DatabaseName: s.graph.Database,
		FetchSize: fetchSize})
	defer func() {
		// What remains of a connection is its pool's; a close must not wait for
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
		return nil, s.wrapError(outer, err)
	}
	return rows.([][]any), nil
}

// privileges lists what a user may change. Only the Enterprise edition knows privileges.
const privileges = `SHOW USER PRIVILEGES YIELD access, action WHERE access = 'GRANTED'
AND (action IN ['write', 'all_graph_privileges', 'graph_actions', 'merge'] OR action CONTAINS 'create'
  OR action CONTAINS 'delete' OR action CONTAINS 'set_')
RETURN count(*)`

// check warns once of a user that has write access without need.
func (s *server) check(ctx context.Context) {
	select {
	case s.checkedPrivileges <- struct{}{}:
	default:
		return
	}
	if s.graph.Vectors == vectorsInNeo4j {
		return
	}
	rows, err := s.run(ctx, neo4j.AccessModeRead, s.graph.StatementTimeout, privileges, nil)
	switch {
	case err == nil && len(rows) == 1 && number(rows[0][0]) > 0:
		s.log.Warn(logWriteAccess, "server", redactURL(s.graph.URI), "user", s.graph.User)
	case err != nil && strings.Contains(err.Error(), "Unsupported administration command"):
		s.log.Info(logPrivilegesUnknown, "server", redactURL(s.graph.URI))
	case err != nil:
		<-s.checkedPrivileges // The next statement asks again.
	}
}

// number returns an integer of a row; 0 if it is none.
func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

// text returns a string of a row; empty if it is none.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// list returns a list of a row; nil if it is none.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// Fault is what a Neo4j server did not do.
type Fault struct {
	code codes.Code
	text string
	err  error
}

// Error implements error.
func (f *Fault) Error() string { return f.text }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.err }

// GRPCStatus gives the fault its code.
func (f *Fault) GRPCStatus() *status.Status { return status.New(f.code, f.text) }

// redactURL is a server's address without what may be a secret.
func redactURL(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "the server"
}

// wrapError says what went wrong at a server and what to do about it. outer is the
// caller's context, which ends what is asked before the statement's own time.
func (s *server) wrapError(outer context.Context, err error) error {
	if err == nil {
		return nil
	}
	if outer.Err() != nil {
		return outer.Err()
	}
	fault := func(code codes.Code, format string, args ...any) error {
		text := fmt.Sprintf("Neo4j %s: %s", redactURL(s.graph.URI), fmt.Sprintf(format, args...))
		if s.password != "" {
			text = strings.ReplaceAll(text, s.password, "…")
		}
		return &Fault{code: code, text: text, err: err}
	}
	timeout := s.graph.StatementTimeout
	var server *neo4j.Neo4jError
	if limit, ok := errors.AsType[*neo4j.TransactionExecutionLimit](err); ok && len(limit.Errors) > 0 {
		// The last error says more than the number of attempts.
		err = limit.Errors[len(limit.Errors)-1]
	}
	switch {
	case errors.As(err, &server):
		return s.classifyError(fault, server)
	case errors.Is(err, context.DeadlineExceeded):
		return fault(codes.DeadlineExceeded, "no answer within statement_timeout, %v", timeout.Round(time.Millisecond))
	}
	if unavailable, ok := errors.AsType[*neo4j.ConnectivityError](err); ok {
		return fault(codes.Unavailable, "cannot be reached (%v); check that it runs, uri and its TLS scheme",
			unavailable)
	}
	return fault(codes.Unavailable, "%v", err)
}

// classifyError maps a server's error code to a gRPC code and advice.
func (s *server) classifyError(fault func(codes.Code, string, ...any) error, err *neo4j.Neo4jError) error {
	user := cmp.Or(s.graph.User, "(none)")
	switch code := err.Code; {
	case strings.HasPrefix(code, "Neo.ClientError.Security.Unauthorized"),
		strings.HasPrefix(code, "Neo.ClientError.Security.Authentication"),
		strings.HasPrefix(code, "Neo.ClientError.Security.Credentials"):
		return fault(codes.FailedPrecondition, "user %s is refused; check user and password_file", user)
	case strings.HasPrefix(code, "Neo.ClientError.Security"):
		return fault(codes.FailedPrecondition, "user %s may not do this: %s", user, err.Msg)
	case strings.HasPrefix(code, "Neo.ClientError.Database"):
		return fault(codes.FailedPrecondition, "database %q: %s", s.graph.Database, err.Msg)
	case strings.Contains(code, "TransactionTimedOut"), strings.Contains(code, "Terminated"):
		return fault(codes.DeadlineExceeded, "a statement was ended after statement_timeout, %v",
			s.graph.StatementTimeout)
	case strings.HasPrefix(code, "Neo.TransientError"):
		return fault(codes.Unavailable, "%s (%s); try again", err.Msg, code)
	case strings.HasPrefix(code, "Neo.ClientError.Procedure"), strings.HasPrefix(code, "Neo.ClientError.Statement"):
		return fault(codes.FailedPrecondition,
			"the server does not understand a statement, Neo4j 5.13 or newer is needed: %s", err.Msg)
	default:
		return fault(codes.Internal, "%s (%s)", err.Msg, code)
	}
}
