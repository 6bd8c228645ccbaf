package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// lastRun names the newest run.
const lastRun = "last"

// maxTurn is how much of an answer is told of, in characters.
const maxTurn = 2000

// follow makes a question one that follows a run: what was asked and answered
// there is what it refers to, and, where it names no knowledge graph, what it
// reads.
func follow(ctx context.Context, client orchestratorv1.OrchestratorServiceClient, id string, req *orchestratorv1.AskRequest) error {
	run, err := before(ctx, client, id)
	if err != nil {
		return err
	}
	// One turn is enough: a follow-up's own question stands alone by now.
	say(req, generatorv1.Role_ROLE_USER, cmp.Or(run.GetStandaloneQuestion(), run.GetQuestion()))
	said := run.GetText()
	if said == "" {
		var names []string
		for _, a := range run.GetAnswers() {
			names = append(names, a.GetAnswer())
		}
		said = strings.Join(names, ", ")
	}
	say(req, generatorv1.Role_ROLE_ASSISTANT, said)
	if req.GetKg() == nil && run.GetKg() != nil {
		req.Kg = &graphv1.KnowledgeGraphRef{Name: run.GetKg().GetName()}
	}
	return nil
}

func before(ctx context.Context, client orchestratorv1.OrchestratorServiceClient, id string) (*orchestratorv1.Run, error) {
	if id != lastRun {
		resp, err := client.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: id})
		return resp.GetRun(), err
	}
	resp, err := client.ListRuns(ctx, &orchestratorv1.ListRunsRequest{PageSize: 1})
	if err != nil {
		return nil, err
	}
	if len(resp.GetRuns()) == 0 {
		return nil, exitError{exitUsage, errors.New("--after last: no question was asked yet")}
	}
	return resp.GetRuns()[0], nil
}

func say(req *orchestratorv1.AskRequest, role generatorv1.Role, text string) {
	if text == "" {
		return
	}
	words := []rune(text)
	req.History = append(req.History, &generatorv1.Turn{Role: role, Text: string(words[:min(len(words), maxTurn)])})
}
