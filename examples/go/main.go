// Command ask shows how a Go program uses a mesh, by the package client.
//
//	go run ./examples/go "What institution employed Robert Stam?"
//	go run ./examples/go -method ger "At which university did the director of the film Alexander study?"
//	go run ./examples/go -check "Robert Stam works at Google."
//
// TRIPLEMESH_TOKEN is the token of a mesh that authenticates callers.
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

	"github.com/triplemesh/triplemesh/client"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv("TRIPLEMESH_TOKEN"), os.Stdout)
	stop()
	if err != nil {
		// The status message names the problem and the next step.
		fmt.Fprintln(os.Stderr, status.Convert(err).Message())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, token string, out io.Writer) error {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	server := flags.String("server", "127.0.0.1:9090", "orchestrator, host:port")
	ca := flags.String("ca", "", "certificate authority, PEM file; empty disables TLS")
	kg := flags.String("kg", "wikidata", "knowledge graph")
	method := flags.String("method", "auto", "how to answer")
	check := flags.Bool("check", false, "check a text instead of answering a question")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opts := []client.Option{client.WithKG(*kg), client.WithToken(token)}
	if *ca != "" {
		config, err := client.LoadTLS(*ca, "", "")
		if err != nil {
			return err
		}
		opts = append(opts, client.WithTLS(config))
	}
	mesh, err := client.Dial(*server, opts...)
	if err != nil {
		return err
	}
	defer mesh.Close()
	text := strings.Join(flags.Args(), " ")
	if *check {
		return checkText(ctx, out, mesh, &orchestratorv1.CheckRequest{Text: text})
	}
	return ask(ctx, out, mesh, &orchestratorv1.AskRequest{Question: text, Method: *method})
}

// checkText prints the verdict and the evidence for each claim of a text.
func checkText(ctx context.Context, out io.Writer, mesh *client.Client, req *orchestratorv1.CheckRequest) error {
	check, err := mesh.Check(ctx, req)
	if err != nil {
		return err
	}
	for _, c := range check.GetClaims() {
		fmt.Fprintf(out, "%s (%.2f): %s\n", word(c.GetVerdict().String(), "VERDICT_"), c.GetConfidence(),
			triple(c.GetTriple()))
		for _, e := range c.GetEvidence() {
			fmt.Fprintln(out, "   ", triple(e.GetTriple()))
		}
	}
	fmt.Fprintln(out, check.GetCorrectedText())
	return nil
}
