// Command load asks questions of a mesh in a cluster, and prints the results as JSON. It uses
// internal/client with its retries, like any other client.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/tests/cluster"
)

func main() {
	var (
		addr     = flag.String("addr", "kubernetes:///orchestrator:9090", "the service to ask")
		what     = flag.String("ask", "questions", "questions of the orchestrator, or groundings of the retriever")
		rate     = flag.Float64("rate", 20, "questions a second; 0 for as many as the askers can")
		count    = flag.Int("count", 1000, "questions, at a rate")
		askers   = flag.Int("askers", 8, "askers, with no rate")
		during   = flag.Duration("for", 20*time.Second, "how long to ask, with no rate")
		kg       = flag.String("kg", "wikidata", "the knowledge graph")
		patience = flag.Duration("timeout", 60*time.Second, "deadline of a question")
		distinct = flag.Bool("distinct", false, "no question twice, so that nothing is remembered")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	var attempts cluster.Attempts
	cfg := client.DefaultConfig(*addr)
	cfg.Options = append(cfg.Options, grpc.WithStatsHandler(&attempts))
	conn, err := client.Dial(cfg, telemetry.Discard())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	// Retrievers remember the vectors of questions, on disk too: those of an earlier load are not new.
	number := rand.Uint32()
	question := func(n int) string {
		if *distinct {
			return fmt.Sprintf("%s (%d, %d)", employerQuestion, number, n)
		}
		return employerQuestion
	}
	ref := &graphv1.KnowledgeGraphRef{Name: *kg}
	ask := func(ctx context.Context, n int) cluster.Outcome {
		ctx, cancel := context.WithTimeout(ctx, *patience)
		defer cancel()
		if *what == "groundings" {
			return ground(ctx, retrieverv1.NewRetrieverServiceClient(conn), ref, question(n))
		}
		return answer(ctx, orchestratorv1.NewOrchestratorServiceClient(conn), ref, question(n))
	}
	var report cluster.Report
	if *rate > 0 {
		report = cluster.AtRate(ctx, *rate, *count, ask)
	} else {
		report = cluster.AsFastAs(ctx, *askers, *during, ask)
	}
	report.Attempts, report.FailedAttempts = attempts.All.Load(), attempts.Failed.Load()
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		log.Fatal(err)
	}
}

const employerQuestion = "What institution employed Robert Stam?"

// employers are the answers of the snapshots of the tests' knowledge graph: odd ones have the
// first, even ones the second.
var employers = [2]string{1: "New York University", 0: "University of Ljubljana"}

// answer asks the whole mesh. An answer that lacks a stage, or is that of another snapshot, counts
// as a failure.
func answer(ctx context.Context, mesh orchestratorv1.OrchestratorServiceClient, kg *graphv1.KnowledgeGraphRef,
	question string) cluster.Outcome {
	resp, err := mesh.Ask(ctx, &orchestratorv1.AskRequest{Question: question, Method: "pg-akv", Kg: kg})
	if err != nil {
		return failure(err)
	}
	run := resp.GetRun()
	out := cluster.Outcome{Kind: cluster.OK, Snapshot: run.GetKg().GetSnapshot()}
	want := employers[out.Snapshot%2]
	switch {
	case run.GetPartial():
		out.Kind, out.Example = "partial", fmt.Sprint(run.GetStages())
	case run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED:
		out.Kind, out.Example = "not grounded", run.GetGroundingReason()
	case len(run.GetAnswers()) != 1 || run.GetAnswers()[0].GetAnswer() != want:
		out.Kind, out.Example = "wrong answer", fmt.Sprintf("snapshot %d says %s, the answer is %v", out.Snapshot, want,
			run.GetAnswers())
	}
	return out
}

// ground asks only the retriever.
func ground(ctx context.Context, retriever retrieverv1.RetrieverServiceClient, kg *graphv1.KnowledgeGraphRef,
	question string) cluster.Outcome {
	resp, err := retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{Kg: kg, Question: question,
		PseudoGraph: &graphv1.PseudoGraph{Triples: []*graphv1.Triple{{Subject: "Robert Stam", Relation: "employer",
			Object: "Google"}}}})
	if err != nil {
		return failure(err)
	}
	if len(resp.GetGroundGraph().GetSubjects()) == 0 {
		return cluster.Outcome{Kind: "nothing found", Example: question}
	}
	return cluster.Outcome{Kind: cluster.OK}
}

func failure(err error) cluster.Outcome {
	return cluster.Outcome{Kind: codeName(status.Code(err)), Example: status.Convert(err).Message()}
}

func codeName(c codes.Code) string { return c.String() }
