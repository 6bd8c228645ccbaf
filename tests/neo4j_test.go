//go:build neo4j

package tests

import (
	"context"
	"os"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/triplemesh/triplemesh/internal/testkit"
)

// machines are the nodes of the tutorial's graph.
const machines = `MATCH (n) WHERE n:Machine OR n:Part OR n:Supplier OR n:Manual `

// TestTheTutorialOfNeo4j needs the server at NEO4J_URI (NEO4J_USER, NEO4J_PASSWORD) to contain none
// of the tutorial's labels; `make neo4j-test` starts one. It removes what it creates.
func TestTheTutorialOfNeo4j(t *testing.T) {
	uri := os.Getenv("NEO4J_URI")
	if uri == "" {
		t.Fatal("NEO4J_URI is not set: start a server and name it, or use `make neo4j-test`")
	}
	auth := neo4j.NoAuth()
	if user := os.Getenv("NEO4J_USER"); user != "" {
		auth = neo4j.BasicAuth(user, os.Getenv("NEO4J_PASSWORD"), "")
	}
	ctx := context.WithoutCancel(t.Context())
	driver, err := neo4j.NewDriverWithContext(uri, auth)
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close(ctx)
	query := func(cypher string) []*neo4j.Record {
		t.Helper()
		result, err := neo4j.ExecuteQuery(ctx, driver, cypher, nil, neo4j.EagerResultTransformer)
		if err != nil {
			t.Fatalf("%s: %v", cypher, err)
		}
		return result.Records
	}
	if n := query(machines + "RETURN count(n)")[0].Values[0]; n != int64(0) {
		t.Fatalf("%s holds %v machines, parts or suppliers already: use an empty server", uri, n)
	}
	graph, err := os.ReadFile(testkit.CheckoutFile(t, "docs", "tutorials", "data", "machines.cypher"))
	if err != nil {
		t.Fatal(err)
	}
	defer query(machines + "DETACH DELETE n")
	query(string(graph))

	model := testkit.NewLLM(t)
	onTopic(model, "SP-9").
		drafts(`CREATE (:Part {name: "spindle SP-9"})-[:SUPPLIED_BY]->(:Supplier {name: "Siemens"})`).
		answers("The spindle SP-9 is supplied by {Talleres Vidal}.")
	onTopic(model, "KP-40").walks("supplied by -> city", "Gothenburg")
	s := newShell(t, start(t, options{model: model, data: t.TempDir(), http: true}))
	s.elsewhere = []string{"neo4j://localhost:7687", uri}
	if ran := s.runAll(blocks(t, "docs/tutorials/neo4j.md")); ran < 4 {
		t.Errorf("the tutorial has %d blocks that are run, want 4 or more", ran)
	}
}
