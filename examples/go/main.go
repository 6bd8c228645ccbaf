// Command ask shows how a program in Go uses a mesh: it needs no more than the
// contract and gRPC.
//
//	go run ./examples/go "What institution employed Robert Stam?"
//	go run ./examples/go -method ger "At which university did the director of the film Alexander study?"
//	go run ./examples/go -check "Robert Stam works at Google."
//
// TRIPLEMESH_TOKEN is sent where the mesh asks who calls.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv("TRIPLEMESH_TOKEN"), os.Stdout)
	stop()
	if err != nil {
		// The message of a status says what is wrong and what to do next.
		fmt.Fprintln(os.Stderr, status.Convert(err).Message())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, token string, out io.Writer) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	server := flags.String("server", "127.0.0.1:9090", "orchestrator, host:port")
	ca := flags.String("ca", "", "authority to believe, PEM; empty calls without TLS")
	kg := flags.String("kg", "wikidata", "knowledge graph")
	method := flags.String("method", "pg-akv", "how to answer")
	check := flags.Bool("check", false, "check a text instead of answering a question")
	if err := flags.Parse(args); err != nil {
		return err
	}
	conn, err := dial(*server, *ca, token)
	if err != nil {
		return err
	}
	defer conn.Close()
	mesh := orchestratorv1.NewOrchestratorServiceClient(conn)
	ref := &graphv1.KnowledgeGraphRef{Name: *kg}
	text := strings.Join(flags.Args(), " ")
	if *check {
		return checkText(ctx, out, mesh, &orchestratorv1.CheckRequest{Text: text, Kg: ref})
	}
	return ask(ctx, out, mesh, &orchestratorv1.AskRequest{Question: text, Kg: ref, Method: *method})
}
