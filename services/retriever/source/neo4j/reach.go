package neo4j

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
)

// Size is how much a graph holds.
type Size struct{ Nodes, Relationships int64 }

// Reach asks a server how much a graph holds, which it knows without counting.
// The error says what to change where it cannot be asked.
func Reach(ctx context.Context, c Config) (size Size, err error) {
	c = c.withDefaults()
	auth := neo4j.NoAuth()
	if c.User != "" {
		auth = neo4j.BasicAuth(c.User, c.Password, "")
	}
	driver, err := neo4j.NewDriverWithContext(c.URI, auth, func(d *config.Config) {
		d.MaxTransactionRetryTime, d.ConnectionAcquisitionTimeout, d.SocketConnectTimeout = 0, c.Timeout, c.Timeout
	})
	if err != nil {
		return Size{}, c.failed(fmt.Errorf("%w; an address is bolt://HOST:7687, or neo4j://HOST:7687 for a cluster", err))
	}
	defer driver.Close(context.WithoutCancel(ctx))
	session := driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: neo4j.AccessModeRead, DatabaseName: c.Database})
	defer session.Close(context.WithoutCancel(ctx))
	for query, count := range map[string]*int64{
		`MATCH (n) RETURN count(n) AS count`:        &size.Nodes,
		`MATCH ()-[r]->() RETURN count(r) AS count`: &size.Relationships,
	} {
		result, err := session.Run(ctx, query, nil)
		if err != nil {
			return Size{}, c.failed(mended(err))
		}
		record, err := result.Single(ctx)
		if err != nil {
			return Size{}, c.failed(mended(err))
		}
		*count, _ = get(record, "count").(int64)
	}
	return size, nil
}

// mended says what to change.
func mended(err error) error {
	var said *neo4j.Neo4jError
	switch {
	case errors.As(err, &said) && strings.HasPrefix(said.Code, "Neo.ClientError.Security."):
		return fmt.Errorf("it refuses the user or the password (%s): set NEO4J_USER and NEO4J_PASSWORD", said.Title())
	case errors.As(err, &said) && strings.Contains(said.Code, "DatabaseNotFound"):
		return fmt.Errorf("it has no such database: %s", said.Msg)
	case neo4j.IsConnectivityError(err):
		return fmt.Errorf("nobody answers there (%w): is it running, and is this its Bolt port (7687 as a rule, not 7474, which is for browsers)?", err)
	}
	return err
}
