package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

func TestTheMeshAnswersByScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "more.yaml")
	more := "- {task: answer, has: [an own question], reply: 'By {a rule of its own}.'}\n"
	if err := os.WriteFile(script, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, options{grpc: "127.0.0.1:0", http: "127.0.0.1:0", script: script, nth: 1000,
			set: settings{}}, write)
	}()
	go func() {
		err := <-ended
		write.CloseWithError(err)
		ended <- err
	}()
	var at addresses
	if err := json.NewDecoder(read).Decode(&at); err != nil {
		t.Fatalf("read the addresses: %v", err)
	}
	page, err := http.Get("http://" + at.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	conn, err := grpc.NewClient("passthrough:///"+at.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct{ name, question, method, answer string }{
		{"pg-akv corrects the draft", "What institution employed Robert Stam?", "pg-akv", "New York University"},
		{"ger finds both universities", "At which university did the director of the film Alexander study?", "ger",
			"University Yale"},
		{"a rule of a file goes first", "This is an own question, is it?", "io", "a rule of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).Ask(ctx, &orchestratorv1.AskRequest{
				Question: c.question, Method: c.method, Kg: &graphv1.KnowledgeGraphRef{Name: "wikidata"},
			})
			if err != nil || len(resp.GetRun().GetAnswers()) == 0 ||
				resp.GetRun().GetAnswers()[0].GetAnswer() != c.answer {
				t.Errorf("got %v, %v; want %s", resp.GetRun().GetAnswers(), err, c.answer)
			}
		})
	}
	t.Run("a text is checked claim by claim", func(t *testing.T) {
		resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).Check(ctx, &orchestratorv1.CheckRequest{
			Text: "Robert Stam works at Google. Oliver Stone was born in New York City. Robert Stam collects stamps.",
			Kg:   &graphv1.KnowledgeGraphRef{Name: "wikidata"},
		})
		var verdicts []verifierv1.Verdict
		for _, c := range resp.GetCheck().GetClaims() {
			verdicts = append(verdicts, c.GetVerdict())
		}
		want := []verifierv1.Verdict{verifierv1.Verdict_VERDICT_CONTRADICTED, verifierv1.Verdict_VERDICT_SUPPORTED,
			verifierv1.Verdict_VERDICT_NOT_IN_KG}
		if err != nil || !slices.Equal(verdicts, want) {
			t.Errorf("got %v, %v; want %v", resp, err, want)
		}
	})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestAnInvalidScriptIsRejected(t *testing.T) {
	for name, text := range map[string]string{
		"a rule without an answer":      "- {task: answer}",
		"an unknown key":                "- {task: answer, says: x}",
		"a document that is not a list": "task: answer",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "script.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := scripted(file, 0); err == nil {
				t.Errorf("%s was accepted", text)
			}
		})
	}
}
