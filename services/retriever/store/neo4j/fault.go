package neo4j

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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

// shown is a server's address without what may be a secret.
func shown(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "the server"
}

// fault says what went wrong at a server and what to do about it. outer is the
// caller's context, which ends what is asked before the statement's own time.
func (s *server) fault(outer context.Context, err error) error {
	if err == nil {
		return nil
	}
	if outer.Err() != nil {
		return outer.Err()
	}
	fault := func(code codes.Code, format string, args ...any) error {
		text := fmt.Sprintf("Neo4j %s: %s", shown(s.graph.URI), fmt.Sprintf(format, args...))
		if s.password != "" {
			text = strings.ReplaceAll(text, s.password, "…")
		}
		return &Fault{code: code, text: text, err: err}
	}
	timeout := s.graph.StatementTimeout
	var server *neo4j.Neo4jError
	var limit *neo4j.TransactionExecutionLimit
	if errors.As(err, &limit) && len(limit.Errors) > 0 {
		// What it failed by at last tells more than that it was tried often.
		err = limit.Errors[len(limit.Errors)-1]
	}
	switch {
	case errors.As(err, &server):
		return s.refused(fault, server)
	case errors.Is(err, context.DeadlineExceeded):
		return fault(codes.DeadlineExceeded, "no answer within statement_timeout, %v", timeout.Round(time.Millisecond))
	}
	var unavailable *neo4j.ConnectivityError
	if errors.As(err, &unavailable) {
		return fault(codes.Unavailable, "cannot be reached (%v); check that it runs, uri and its TLS scheme", unavailable)
	}
	return fault(codes.Unavailable, "%v", err)
}

// refused tells what a server's own error means.
func (s *server) refused(fault func(codes.Code, string, ...any) error, err *neo4j.Neo4jError) error {
	user := s.graph.User
	if user == "" {
		user = "(none)"
	}
	switch code := err.Code; {
	case strings.HasPrefix(code, "Neo.ClientError.Security.Unauthorized"), strings.HasPrefix(code, "Neo.ClientError.Security.Authentication"),
		strings.HasPrefix(code, "Neo.ClientError.Security.Credentials"):
		return fault(codes.FailedPrecondition, "user %s is refused; check user and password_file", user)
	case strings.HasPrefix(code, "Neo.ClientError.Security"):
		return fault(codes.FailedPrecondition, "user %s may not do this: %s", user, err.Msg)
	case strings.HasPrefix(code, "Neo.ClientError.Database"):
		return fault(codes.FailedPrecondition, "database %q: %s", s.graph.Database, err.Msg)
	case strings.Contains(code, "TransactionTimedOut"), strings.Contains(code, "Terminated"):
		return fault(codes.DeadlineExceeded, "a statement was ended after statement_timeout, %v", s.graph.StatementTimeout)
	case strings.HasPrefix(code, "Neo.TransientError"):
		return fault(codes.Unavailable, "%s (%s); try again", err.Msg, code)
	case strings.HasPrefix(code, "Neo.ClientError.Procedure"), strings.HasPrefix(code, "Neo.ClientError.Statement"):
		return fault(codes.FailedPrecondition, "the server does not understand a statement, Neo4j 5.13 or newer is needed: %s", err.Msg)
	default:
		return fault(codes.Internal, "%s (%s)", err.Msg, code)
	}
}
