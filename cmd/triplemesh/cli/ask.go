package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/eval"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/terminal"
	"github.com/triplemesh/triplemesh/internal/enum"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

type askCommand struct {
	serverFlags
	Question []string `arg:"" help:"The question; - reads it from standard input."`

	Method       string        `default:"pg-akv" help:"How to answer; see triplemesh methods. (default: ${default})"`
	KG           []string      `name:"kg" placeholder:"NAME" sep:"none" help:"Knowledge graph, or one snapshot of it, such as wikidata@3; may be given again to read several. (default: the only one there is, else wikidata)"`
	After        string        `placeholder:"RUN" help:"Ask a question that follows that of a run; last is the newest."`
	Topic        []string      `placeholder:"ENTITY" sep:"none" help:"Topic entity, where you know it; may be given again. Otherwise the question is linked."`
	Until        string        `placeholder:"STAGE" help:"Stop after a stage: ${stages}."`
	Verification string        `placeholder:"MODE" enum:",align,edits,rewrite" default:"" help:"How the pseudo-graph is corrected: align, edits or rewrite."`
	Reflection   string        `placeholder:"MODE" enum:",weigh,model" default:"" help:"How the answers of ger are settled: weigh or model."`
	Ablation     string        `placeholder:"NAME" help:"Do without a part of the method; see triplemesh methods."`
	Preset       string        `placeholder:"NAME" enum:",default,paper" default:"" help:"Grounding parameters: default or paper."`
	At           string        `placeholder:"DATE" help:"Ground only in triples that held at this date, such as 2005 or 2005-03-01 (pg-akv)."`
	AbstainBelow float32       `placeholder:"P" help:"Answer that it is not in the knowledge graph where the confidence is below this, 0 to 1."`
	MaxHops      uint32        `placeholder:"N" help:"Longest relation path (ger)."`
	Model        string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Timeout      time.Duration `default:"5m" help:"Longest time for an answer. (default: ${default})"`
	MaxCalls     uint32        `placeholder:"N" help:"Most model calls."`
	MaxTokens    uint64        `placeholder:"N" help:"Most tokens, read and written."`

	Compare []string `placeholder:"METHOD,…" help:"Answer by several methods, one after the other, and show them side by side."`
	Watch   bool     `help:"Show every graph as soon as its stage ends."`
	Explain bool     `help:"Show every graph on the way, each edit or verdict with its evidence, and the cost."`
	Trace   bool     `help:"Show the trace: which service took how long."`
	JSON    bool     `name:"json" help:"Print the run as JSON and nothing else."`
}

// Help is printed below the flags.
func (askCommand) Help() string {
	return "Exit codes: 0 answered; 1 failed; 2 wrong usage; 3 no answer; 4 no server there."
}

// Run asks and prints.
func (c *askCommand) Run(p *program) error {
	req, err := c.request(p.stdin)
	if err != nil {
		return exitError{exitUsage, err}
	}
	s, err := p.connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if c.After != "" {
		if err := follow(p.ctx, orchestratorv1.NewOrchestratorServiceClient(s), c.After, req); err != nil {
			return errors.Join(err, s.end())
		}
	}
	if req.GetKg() == nil {
		req.Kg = p.pickKG(p.ctx, s, c.Retriever)
	}
	if err := checkTopics(p.ctx, retrieverv1.NewRetrieverServiceClient(s), req); err != nil {
		return errors.Join(err, s.end())
	}
	if len(c.Compare) > 0 {
		return errors.Join(c.compare(p, s, req), s.end())
	}
	run, err := c.ask(p, s, req)
	if err = errors.Join(err, s.end()); err != nil {
		return err
	}
	if err := c.print(p, run); err != nil {
		return err
	}
	if c.Until == "" && unanswered(run) || run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED {
		return exitError{exitNoAnswer, errSilent}
	}
	return nil
}

// maxQuestion is the contract's bound in bytes.
const maxQuestion = 16384

func (c *askCommand) request(stdin io.Reader) (*orchestratorv1.AskRequest, error) {
	question := strings.Join(c.Question, " ")
	if question == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, maxQuestion+1))
		if err != nil {
			return nil, fmt.Errorf("read the question from standard input: %w", err)
		}
		question = strings.TrimSpace(string(b))
	}
	if c.Watch && c.JSON {
		return nil, errors.New("--watch is for people and --json for programs: leave one out")
	}
	if strings.TrimSpace(question) == "" {
		return nil, errors.New("the question is empty: put it in quotes after ask")
	}
	kgs, err := parseKGs(c.KG)
	if err != nil {
		return nil, fmt.Errorf("--kg: %w", err)
	}
	if c.AbstainBelow < 0 || c.AbstainBelow > 1 {
		return nil, fmt.Errorf("--abstain-below: %g is not from 0 to 1", c.AbstainBelow)
	}
	until, err := eval.ParseStage(c.Until)
	if err != nil {
		return nil, fmt.Errorf("--until: %w", err)
	}
	ablation, err := enum.Parse[orchestratorv1.Ablation](c.Ablation)
	if err != nil {
		return nil, fmt.Errorf("--ablation: %w", err)
	}
	options := &orchestratorv1.AskOptions{
		MaxHops: c.MaxHops, Until: until, Ablation: ablation, Spans: c.Trace, AbstainBelow: c.AbstainBelow,
		Verification: verifierv1.VerificationMode(verifierv1.VerificationMode_value["VERIFICATION_MODE_"+strings.ToUpper(c.Verification)]),
		Reflection:   reflectorv1.ReflectionMode(reflectorv1.ReflectionMode_value["REFLECTION_MODE_"+strings.ToUpper(c.Reflection)]),
	}
	if c.Preset != "" || c.At != "" {
		options.Grounding = &retrieverv1.GroundingOptions{Preset: retrieverv1.Preset(retrieverv1.Preset_value["PRESET_"+strings.ToUpper(c.Preset)])}
	}
	if c.At != "" {
		options.Grounding.Filter = &retrieverv1.Filter{At: c.At}
	}
	return &orchestratorv1.AskRequest{
		Question: strings.ToValidUTF8(question, "\uFFFD"), Method: c.Method, Kg: kgs[0], OtherKgs: kgs[1:],
		TopicEntities: c.Topic, Limits: limits(c.Model, c.MaxCalls, c.MaxTokens), Options: options,
	}, nil
}

// limits are what may be spent and with which model; 0 and "" set none.
func limits(model string, calls uint32, tokens uint64) *llmv1.Limits {
	l := &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: calls, MaxTokens: tokens}}
	if model != "" {
		l.Model = &llmv1.ModelRef{Model: model}
	}
	return l
}

// ask streams, so that the user sees which stage is under way.
func (c *askCommand) ask(p *program, s *session, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
	ctx, cancel := context.WithTimeout(p.ctx, c.Timeout)
	defer cancel()
	live := p.live()
	defer live.end()
	if len(c.Compare) > 0 {
		live.say("%s", req.GetMethod())
	}
	var run *orchestratorv1.Run
	err := hear(func() (grpc.ServerStreamingClient[orchestratorv1.AskStreamResponse], error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).AskStream(ctx, &orchestratorv1.AskStreamRequest{Request: req})
	}, func(event *orchestratorv1.AskStreamResponse) (bool, error) {
		switch e := event.GetEvent().(type) {
		case *orchestratorv1.AskStreamResponse_StageStarted:
			live.started(e.StageStarted.GetStage())
		case *orchestratorv1.AskStreamResponse_AnswerDelta:
			live.wrote(e.AnswerDelta)
		case *orchestratorv1.AskStreamResponse_AnswerRestarted:
			live.forgot()
		case *orchestratorv1.AskStreamResponse_StageFinished:
			live.finished(e.StageFinished.GetReport())
			if c.Watch {
				return false, live.aside(func() error {
					return show.Stage(p.stdout, e.StageFinished.GetReport().GetStage(), e.StageFinished.GetRun(), p.style())
				})
			}
		case *orchestratorv1.AskStreamResponse_Run:
			run = e.Run
		}
		return run != nil, nil
	}, func() {
		live.forgot()
		live.say("the orchestrator was lost; another is asked")
	})
	if err == io.EOF {
		return nil, errors.New("the orchestrator ended the answer before its end: see the log of `triplemesh up`")
	}
	return run, err
}

func (c *askCommand) print(p *program, run *orchestratorv1.Run) error {
	if c.JSON {
		return printJSON(p.stdout, run)
	}
	if c.Watch || terminal.Is(p.stderr) && terminal.Is(p.stdout) {
		fmt.Fprintln(p.stdout) // below what was shown on the way
	}
	style := p.style()
	err := show.Answer(p.stdout, run, style)
	switch {
	case err != nil:
	case c.Explain:
		err = show.Explain(p.stdout, run, style)
	case !c.Watch: // that showed them among the edits
		err = show.Changes(p.stdout, run, style)
	}
	if err == nil && c.Trace {
		err = show.Trace(p.stdout, run, style)
	}
	return err
}
