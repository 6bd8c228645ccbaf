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

// exitContradicted is the exit code if a claim is contradicted.
const exitContradicted = 3

// maxText is the API's bound in bytes.
const maxText = 65536

type checkCommand struct {
	ServerFlags
	File string `arg:"" placeholder:"FILE" help:"The text to check; - reads it from standard input."`

	KG        []string      `name:"kg" placeholder:"NAME" sep:"none" help:"${check_kg}"`
	Model     string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Timeout   time.Duration `default:"30m" help:"Longest time for a text."`
	MaxCalls  uint32        `placeholder:"N" help:"Most model calls: one for each sentence."`
	MaxTokens uint64        `placeholder:"N" help:"Most tokens, read and written."`

	JSON bool `name:"json" help:"Print only the findings, as JSON."`
}

func (checkCommand) Help() string {
	return "Exit codes: 0 nothing in the text is contradicted; 1 failed or incomplete; 2 wrong " +
		"usage; 3 something is contradicted; 4 no server reachable."
}

func (c *checkCommand) Run(p *Program) error {
	req, err := c.request(p.stdin)
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if req.GetKg() == nil {
		if req.Kg, err = p.PickKG(p.Ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	checked, err := c.check(p, s, req)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(p.Stdout, checked)
	} else {
		err = show.Check(p.Stdout, checked, p.style())
	}
	switch {
	case err != nil:
		return err
	case contradicted(checked.GetClaims()) > 0:
		return ExitError{exitContradicted, errSilent}
	case checked.GetPartial():
		return ExitError{ExitFailed, errSilent}
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
	return &orchestratorv1.CheckRequest{Text: text, Kg: kgs[0], OtherKgs: kgs[1:], Limits: limits(c.Model, c.MaxCalls,
		c.MaxTokens)}, nil
}

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
		return "", fmt.Errorf("the text is longer than %d bytes; split it", maxText)
	case !utf8.Valid(b):
		return "", errors.New("the text is not UTF-8; convert it")
	case strings.TrimSpace(string(b)) == "":
		return "", errors.New("the text is empty")
	}
	return string(b), nil
}

// check streams, so that progress can be shown.
func (c *checkCommand) check(p *Program, s *Session, req *orchestratorv1.CheckRequest) (*orchestratorv1.Check, error) {
	ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
	defer cancel()
	line := p.StatusLine()
	defer line.Clear()
	line.Set("reading the text …")
	var checked *orchestratorv1.Check
	err := consumeStream(func() (grpc.ServerStreamingClient[orchestratorv1.CheckStreamResponse], error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).CheckStream(ctx,
			&orchestratorv1.CheckStreamRequest{Request: req})
	}, func(event *orchestratorv1.CheckStreamResponse) (bool, error) {
		if progress := event.GetProgress(); progress.GetTotal() > 0 {
			line.Set("%d %% read, %d claims, %d of them contradicted", 100*progress.GetRead()/progress.GetTotal(),
				len(progress.GetClaims()), contradicted(progress.GetClaims()))
		}
		checked = event.GetCheck()
		return checked != nil, nil
	}, func() { line.Set("connection to the orchestrator lost, retrying …") })
	if err == io.EOF {
		return nil, errors.New("the orchestrator closed the stream before the check was complete; see the log of " +
			"`triplemesh up`")
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
