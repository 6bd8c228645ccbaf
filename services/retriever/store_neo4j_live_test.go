//go:build neo4j

package retriever

import (
	"context"
	"io"
	"os"
	"testing"

	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store/neo4j"
	"github.com/triplemesh/triplemesh/services/retriever/store/storetest"
)

// messages replays the messages of a client.
func messages(sent ...*retrieverv1.LoadKnowledgeGraphRequest) receive {
	return func() (*retrieverv1.LoadKnowledgeGraphRequest, error) {
		if len(sent) == 0 {
			return nil, io.EOF
		}
		next := sent[0]
		sent = sent[1:]
		return next, nil
	}
}

// TestLoadFromNeo4j needs the server that NEO4J_URI names.
func TestLoadFromNeo4j(t *testing.T) {
	const label = "TriplemeshRetrieverTest"
	ctx := auth.WithTenant(t.Context(), auth.DefaultTenant())
	d, err := driver.NewDriverWithContext(os.Getenv("NEO4J_URI"), driver.NoAuth())
	if err != nil {
		t.Fatal(err)
	}
	write := func(cypher string) {
		if _, err := driver.ExecuteQuery(context.WithoutCancel(ctx), d, cypher, nil,
			driver.EagerResultTransformer); err != nil {
			t.Fatal(err)
		}
	}
	clear := "MATCH (n:" + label + ") DETACH DELETE n"
	write(clear)
	write("CREATE (:" + label + " {name: 'Ann Lee'})-[:ACTED_IN {start: 1997}]->(:" + label + " {name: 'Harbour'})")
	t.Cleanup(func() { write(clear); _ = d.Close(context.WithoutCancel(ctx)) })
	tel, err := telemetry.Start(ctx, telemetry.Config{}, "retriever")
	if err != nil {
		t.Fatal(err)
	}
	graphs, err := openBackend(StoreConfig{Kind: storeNeo4j, Dir: t.TempDir(),
		Neo4j: neo4j.Config{Graphs: map[string]neo4j.Graph{
			"movies": {URI: os.Getenv("NEO4J_URI"), Labels: []string{label}},
		}}}, tel)
	if err != nil {
		t.Fatal(err)
	}
	defer graphs.Close()
	enc := storetest.HashEncoder(32)
	kgs := NewKnowledgeGraphs(graphs, enc, t.TempDir())
	if _, err := kgs.load(ctx, messages(header("movies", false, false), file("x.tsv"), chunk("a\tb\tc\n")),
		nil); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("files of a graph in Neo4j: %v", err)
	}
	resp, err := kgs.load(ctx, messages(header("movies", false, false)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := resp.GetSnapshot(); s.GetTriples() != 1 || s.GetEntities() != 2 || !s.GetActive() || resp.GetLines() != 3 {
		t.Errorf("loaded: %v", resp)
	}
	service, err := New(graphs, enc, nil, tel)
	if err != nil {
		t.Fatal(err)
	}
	found, err := service.ListNeighbours(ctx,
		&retrieverv1.ListNeighboursRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "movies"},
			Entity: "Harbour", Limit: 10})
	if err != nil || len(found.GetTriples()) != 1 || found.GetTriples()[0].GetSubject() != "Ann Lee" ||
		found.GetTriples()[0].GetValidity().GetStart() != "1997" {
		t.Errorf("around Harbour: %v, %v", found, err)
	}
	ground, err := service.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
		Kg: &graphv1.KnowledgeGraphRef{Name: "movies"}, Question: "Ann Lee acted in Harbour",
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: "Ann Lee", Relation: "acted in",
			Object: "Harbour"}}},
	})
	if err != nil || len(ground.GetGroundGraph().GetSubjects()) == 0 {
		t.Errorf("ground graph: %v, %v", ground, err)
	}
	if _, err := kgs.VerifySnapshot(ctx,
		&retrieverv1.VerifySnapshotRequest{Kg: &graphv1.KnowledgeGraphRef{Name: "movies"}}); err != nil {
		t.Error(err)
	}
	graphs2, err := openBackend(StoreConfig{Kind: storeEmbedded, Dir: t.TempDir()}, tel)
	if err != nil {
		t.Fatal(err)
	}
	defer graphs2.Close()
	if _, err := NewKnowledgeGraphs(graphs2, enc, "").load(ctx, messages(header("movies", false, false)),
		nil); err == nil {
		t.Error("an embedded store loads a graph without files")
	}
}
