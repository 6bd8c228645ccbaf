package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/triplemesh/triplemesh/client"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// Ask a question and print the answers with their evidence.
func Example() {
	address, stop := serveStandIn() // a mesh listens on 127.0.0.1:9090
	defer stop()

	mesh, err := client.Dial(address, client.WithKG("wikidata"))
	if err != nil {
		log.Fatal(err)
	}
	defer mesh.Close()
	run, err := mesh.Ask(context.Background(), &orchestratorv1.AskRequest{
		Question: "What institution employed Robert Stam?",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, answer := range run.GetAnswers() {
		fmt.Println(answer.GetAnswer())
		for _, t := range answer.GetEvidence() {
			fmt.Println(t.GetSubject(), "|", t.GetRelation(), "|", t.GetObject())
		}
	}
	// Output:
	// New York University
	// Robert Stam | employer | New York University
}

// Follow a question stage by stage. Leaving the loop cancels it.
func ExampleClient_AskStream() {
	address, stop := serveStandIn()
	defer stop()

	mesh, err := client.Dial(address, client.WithKG("wikidata"))
	if err != nil {
		log.Fatal(err)
	}
	defer mesh.Close()
	req := &orchestratorv1.AskRequest{Question: "What institution employed Robert Stam?"}
	for event, err := range mesh.AskStream(context.Background(), req) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			fmt.Println(e.StageStarted.GetStage())
		case *orchestratorv1.AskStreamResponse_Run:
			fmt.Println(e.Run.GetText())
		}
	}
	// Output:
	// STAGE_ANSWER
	// Robert Stam worked at New York University.
}
