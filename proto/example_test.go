package proto_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// mesh stands in for a running mesh, so that the examples run anywhere.
type mesh struct {
	orchestratorv1.UnimplementedOrchestratorServiceServer
}

// Ask implements orchestratorv1.OrchestratorServiceServer.
func (mesh) Ask(_ context.Context, req *orchestratorv1.AskRequest) (*orchestratorv1.AskResponse, error) {
	return &orchestratorv1.AskResponse{Run: &orchestratorv1.Run{
		Question: req.GetQuestion(), Text: "Robert Stam was employed by {New York University}.",
		Answers: []*orchestratorv1.Answer{{Answer: "New York University"}},
	}}, nil
}

// AskStream implements orchestratorv1.OrchestratorServiceServer.
func (m mesh) AskStream(req *orchestratorv1.AskStreamRequest,
	stream grpc.ServerStreamingServer[orchestratorv1.AskStreamResponse]) error {
	resp, err := m.Ask(stream.Context(), req.GetRequest())
	if err != nil {
		return err
	}
	return stream.Send(&orchestratorv1.AskStreamResponse{
		Event: &orchestratorv1.AskStreamResponse_Run{Run: resp.GetRun()},
	})
}

// serve starts the stand-in; a real mesh listens on 127.0.0.1:9090.
func serve() (addr string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	orchestratorv1.RegisterOrchestratorServiceServer(server, mesh{})
	go server.Serve(listener)
	return listener.Addr().String(), server.Stop
}

// Ask a question and print the answers.
func Example_ask() {
	addr, stop := serve()
	defer stop()

	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).Ask(ctx, &orchestratorv1.AskRequest{
		Question: "What institution employed Robert Stam?",
		Method:   "pg-akv",
		Kg:       &graphv1.KnowledgeGraphRef{Name: "wikidata"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, answer := range resp.GetRun().GetAnswers() {
		fmt.Println(answer.GetAnswer())
	}
	// Output: New York University
}

// Follow a question stage by stage. Cancelling ctx ends the question.
func Example_askStream() {
	addr, stop := serve()
	defer stop()

	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := orchestratorv1.NewOrchestratorServiceClient(conn).AskStream(ctx, &orchestratorv1.AskStreamRequest{
		Request: &orchestratorv1.AskRequest{
			Question: "What institution employed Robert Stam?",
			Kg:       &graphv1.KnowledgeGraphRef{Name: "wikidata"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for {
		resp, err := stream.Recv()
		if err != nil {
			log.Fatal(err) // the run is the last event, so the stream does not end before it
		}
		switch event := resp.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			fmt.Println("started", event.StageStarted.GetStage())
		case *orchestratorv1.AskStreamResponse_Run:
			fmt.Println(event.Run.GetText())
			return
		}
	}
	// Output: Robert Stam was employed by {New York University}.
}
