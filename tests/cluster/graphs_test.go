//go:build cluster

package cluster

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/internal/testkit"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// The two snapshots of wikidata have different employers of Robert Stam; the load generator knows
// both.
const (
	wikidata      = "wikidata"
	employer      = "New York University"
	otherEmployer = "University of Ljubljana"
)

// everyNth bundled fact is loaded, and all facts about Robert Stam.
const everyNth = 10

func sample(tb testing.TB) []byte {
	tb.Helper()
	return testkit.Facts(tb, func(n int, fields []string) bool {
		return n%everyNth == 0 ||
			slices.ContainsFunc(fields, func(field string) bool { return strings.Contains(field, "Robert Stam") })
	})
}

// knowledgeGraphs connects to one retriever.
func knowledgeGraphs(tb testing.TB) retrieverv1.KnowledgeGraphServiceClient {
	tb.Helper()
	return knowledgeGraphsAt(tb, "deployment/retriever")
}

func knowledgeGraphsAt(tb testing.TB, at string) retrieverv1.KnowledgeGraphServiceClient {
	tb.Helper()
	conn, err := grpc.NewClient("passthrough:///"+forward(tb, at, 9090),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return retrieverv1.NewKnowledgeGraphServiceClient(conn)
}

// loadSnapshots loads both snapshots; the first is active at the end.
func loadSnapshots(t *testing.T) {
	graphs := knowledgeGraphs(t)
	first := sample(t)
	second := bytes.ReplaceAll(first, []byte("Robert Stam\temployer\t"+employer),
		[]byte("Robert Stam\temployer\t"+otherEmployer))
	if bytes.Equal(first, second) {
		t.Fatal("the bundled facts no longer say who employs Robert Stam")
	}
	list, err := graphs.ListKnowledgeGraphs(t.Context(), &retrieverv1.ListKnowledgeGraphsRequest{KgName: wikidata})
	if err == nil && len(list.GetSnapshots()) >= 2 {
		activate(t, graphs, 1)
		return
	}
	for _, facts := range [][]byte{first, second} {
		resp, err := testkit.LoadTSV(t.Context(), graphs, wikidata, facts, true)
		if err != nil {
			t.Fatalf("load %s: %v", wikidata, err)
		}
		t.Logf("loaded %v", resp.GetSnapshot().GetKg())
	}
	activate(t, graphs, 1)
}

func activate(tb testing.TB, graphs retrieverv1.KnowledgeGraphServiceClient, snapshot uint64) {
	tb.Helper()
	if _, err := graphs.ActivateSnapshot(tb.Context(), activation(snapshot)); err != nil {
		tb.Fatalf("activate snapshot %d: %v", snapshot, err)
	}
}
