package probe

import (
	"context"
	"fmt"
	"time"

	"github.com/triplemesh/triplemesh/services/retriever/source/neo4j"
)

// Neo4j asks a server how much a graph holds. password is a secret; without one
// nobody is said to ask.
func Neo4j(ctx context.Context, uri, user, password, database string) (string, error) {
	if password == "" {
		user = ""
	}
	size, err := neo4j.Reach(ctx, neo4j.Config{URI: uri, User: user, Password: password, Database: database, Timeout: 10 * time.Second})
	if err != nil {
		return "", err
	}
	if size.Relationships == 0 {
		return "", fmt.Errorf("it holds %d nodes and no relationships, which would be the facts: name another database", size.Nodes)
	}
	return fmt.Sprintf("%d nodes and %d relationships", size.Nodes, size.Relationships), nil
}
