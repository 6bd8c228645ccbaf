package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

// compare asks one question by several methods, one after the other, so that
// none takes time from another.
func (c *askCommand) compare(p *program, s *session, req *orchestratorv1.AskRequest) error {
	if err := c.checkMethods(p.ctx, orchestratorv1.NewOrchestratorServiceClient(s)); err != nil {
		return err
	}
	var all []show.Contestant
	for _, method := range c.Compare {
		one := proto.CloneOf(req)
		one.Method = method
		run, err := c.ask(p, s, one)
		if p.ctx.Err() != nil {
			return err
		}
		failed := ""
		if err != nil {
			run, failed = nil, advice(err)
		}
		all = append(all, show.Contestant{Method: method, Run: run, Failed: failed})
	}
	if err := c.printCompared(p, req, all); err != nil {
		return err
	}
	code := exitNoAnswer
	for _, one := range all {
		switch {
		case one.Run == nil:
			return exitError{exitFailed, errSilent}
		case !unanswered(one.Run) || c.Until != "":
			code = exitAnswered
		}
	}
	if code == exitAnswered {
		return nil
	}
	return exitError{code, errSilent}
}

// checkMethods finds out before the first question whether the mesh has all
// methods: the last one may be minutes away.
func (c *askCommand) checkMethods(ctx context.Context, client orchestratorv1.OrchestratorServiceClient) error {
	if len(c.Compare) < 2 {
		return exitError{exitUsage, errors.New("--compare: name two methods or more, such as --compare pg-akv,ger")}
	}
	resp, err := client.ListMethods(ctx, &orchestratorv1.ListMethodsRequest{})
	if err != nil {
		return err
	}
	var names []string
	for _, m := range resp.GetMethods() {
		names = append(names, m.GetName())
	}
	for _, method := range c.Compare {
		if !slices.Contains(names, method) {
			return exitError{exitUsage, fmt.Errorf("--compare: there is no method %s%s; there are: %s", method, didYouMean(method, names), strings.Join(names, ", "))}
		}
	}
	return nil
}

func (c *askCommand) printCompared(p *program, req *orchestratorv1.AskRequest, all []show.Contestant) error {
	if !c.JSON {
		return show.Compare(p.stdout, all, p.style())
	}
	var runs []json.RawMessage
	for _, one := range all {
		run := one.Run
		if run == nil {
			// A run all the same, so that the array has one for each method.
			run = &orchestratorv1.Run{Question: req.GetQuestion(), Method: one.Method, Kg: req.GetKg(), Partial: true, GroundingReason: "failed: " + one.Failed}
		}
		text, err := protojson.Marshal(run)
		if err != nil {
			return fmt.Errorf("print the runs as JSON: %w", err)
		}
		runs = append(runs, text)
	}
	return printIndented(p.stdout, runs)
}

// unanswered tells whether a run ended without an answer.
func unanswered(run *orchestratorv1.Run) bool {
	return len(run.GetAnswers()) == 0 && run.GetText() == "" ||
		run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED
}
