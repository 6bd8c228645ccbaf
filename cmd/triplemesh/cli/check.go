package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

// exitContradicted is the exit code of texts that a knowledge graph contradicts.
const exitContradicted = 3

// maxText is the contract's bound in bytes.
const maxText = 65536

type checkCommand struct {
	serverFlags
	File string `arg:"" placeholder:"FILE" help:"The text to check; - reads it from standard input."`

	KG        []string      `name:"kg" placeholder:"NAME" sep:"none" help:"Knowledge graph, or one snapshot of it, such as wikidata@3; may be given again to read several. (default: the only one there is, else wikidata)"`
	Model     string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Timeout   time.Duration `default:"30m" help:"Longest time for a text. (default: ${default})"`
	MaxCalls  uint32        `placeholder:"N" help:"Most model calls: one for each sentence."`
	MaxTokens uint64        `placeholder:"N" help:"Most tokens, read and written."`

	JSON bool `name:"json" help:"Print what was found as JSON and nothing else."`
}

// Help is printed below the flags.
func (checkCommand) Help() string {
	return "Exit codes: 0 nothing in the text is contradicted; 1 failed, or it was not checked to its end; 2 wrong usage; 3 something is contradicted; 4 no server there."
}

// Run checks and prints.
func (c *checkCommand) Run(p *program) error {
	req, err := c.request(p.stdin)
	if err != nil {
		return exitError{exitUsage, err}
	}
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if req.GetKg() == nil {
		req.Kg = p.pickKG(p.ctx, s, c.Retriever)
	}
	checked, err := c.check(p, s, req)
	if err = errors.Join(err, s.end()); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(p.stdout, checked)
	} else {
		err = show.Check(p.stdout, checked, p.style())
	}
	switch {
	case err != nil:
		return err
	case contradicted(checked.GetClaims()) > 0:
		return exitError{exitContradicted, errSilent}
	case checked.GetPartial():
		return exitError{exitFailed, errSilent}
	}
	return nil
}

func (c *checkCommand) request(stdin io.Reader) (*orchestratorv1.CheckRequest, error) {
	text, err := readText(c.File, stdin)
	if err != nil {
		return nil, err
	}
	kgs, err := parseKGs(c.KG)
	if err != nil {
		return nil, fmt.Errorf("--kg: %w", err)
	}
	return &orchestratorv1.CheckRequest{Text: text, Kg: kgs[0], OtherKgs: kgs[1:], Limits: limits(c.Model, c.MaxCalls, c.MaxTokens)}, nil
}

// readText reads the text to check.
func readText(path string, stdin io.Reader) (string, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("read the text: %w", err)
		}
		defer file.Close()
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxText+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the text: %w", err)
	case len(b) > maxText:
		return "", fmt.Errorf("the text is longer than %d bytes: split it", maxText)
	case !utf8.Valid(b):
		return "", errors.New("the text is not UTF-8: convert it first")
	case strings.TrimSpace(string(b)) == "":
		return "", errors.New("the text is empty")
	}
	return string(b), nil
}

// check streams, so that the user sees how far it is.
func (c *checkCommand) check(p *program, s *session, req *orchestratorv1.CheckRequest) (*orchestratorv1.Check, error) {
	ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
	defer cancel()
	line := p.status()
	defer line.Clear()
	line.set("reading the text …")
	var checked *orchestratorv1.Check
	err := hear(func() (grpc.ServerStreamingClient[orchestratorv1.CheckStreamResponse], error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).CheckStream(ctx, &orchestratorv1.CheckStreamRequest{Request: req})
	}, func(event *orchestratorv1.CheckStreamResponse) (bool, error) {
		if at := event.GetProgress(); at.GetTotal() > 0 {
			line.set("%d %% read, %d claims, %d of them contradicted", 100*at.GetRead()/at.GetTotal(), len(at.GetClaims()), contradicted(at.GetClaims()))
		}
		checked = event.GetCheck()
		return checked != nil, nil
	}, func() { line.set("the orchestrator was lost; another is asked …") })
	if err == io.EOF {
		return nil, errors.New("the orchestrator ended the check before its end: see the log of `triplemesh up`")
	}
	return checked, err
}

func contradicted(claims []*orchestratorv1.Claim) (n int) {
	for _, c := range claims {
		if c.GetVerdict() == verifierv1.Verdict_VERDICT_CONTRADICTED {
			n++
		}
	}
	return n
}
