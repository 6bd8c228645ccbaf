//go:build versions

package versions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/internal/testkit"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const (
	wikidata         = "wikidata"
	employerQuestion = "What institution employed Robert Stam?"
	studyQuestion    = "At which university did the director of the film Alexander study?"
	claim            = "Robert Stam works at Google."
	employer         = "New York University"
	yale             = "University Yale"
)

// about are entities whose facts are all loaded; of the others every everyNth is.
var about = []string{"Robert Stam", "Alexander", "Oliver Stone"}

const everyNth = 500

// scripted is a model that gives both versions the same answers.
func scripted(tb testing.TB) *testkit.LLM {
	tb.Helper()
	model := testkit.NewLLM(tb)
	model.On(testkit.Task("pseudo-graph")).Reply(
		`CREATE (s:Person {name: "Robert Stam"})-[:EMPLOYER]->(:Institution {name: "Google"})`)
	model.On(testkit.Task("answer")).ReplyFunc(func(r testkit.Request) string {
		if strings.Contains(r.LastUser(), employer) {
			return "Robert Stam worked at {" + employer + "}."
		}
		return "Robert Stam worked at {Google}."
	})
	model.On(testkit.Task("relation-paths")).Reply("director -> educated at\ndirector")
	model.On(testkit.Task("candidate-answers")).Reply("{" + yale + "}, {New York City}")
	model.On(testkit.Task("evaluate-question")).ReplyJSON(map[string]any{"reason": "a university is missing",
		"correct": false, "incomplete": true})
	model.On(testkit.Task("evaluate-answer")).ReplyChoice(map[string]float64{"no": .9, "yes": .1})
	model.On(testkit.Task("evaluate-answer"), testkit.Matches("(?s)"+yale+".*$")).ReplyChoice(
		map[string]float64{"yes": .95, "no": .05})
	model.On(testkit.Task("reflect")).ReplyJSON(map[string]any{"answers": []string{yale,
		"New York University Tisch School of the Arts"}})
	model.On(testkit.Task("claims")).Reply("Robert Stam | employer | Google")
	return model
}

// facts returns the part of the bundled facts that is loaded.
func facts(tb testing.TB) []byte {
	tb.Helper()
	return testkit.Facts(tb, func(n int, fields []string) bool {
		return n%everyNth == 0 || slices.Contains(about, fields[0]) || slices.Contains(about, fields[2])
	})
}

// load builds a snapshot by the retriever at addr.
func load(tb testing.TB, addr, kg string, facts []byte) {
	tb.Helper()
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	if _, err := testkit.LoadTSV(ctx, retrieverv1.NewKnowledgeGraphServiceClient(conn), kg, facts, false); err != nil {
		tb.Fatalf("load %s: %v", kg, err)
	}
}
