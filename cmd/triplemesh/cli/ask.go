package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/eval"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
)

type askCommand struct {
	ServerFlags
	Question []string `arg:"" help:"The question; - reads it from standard input."`

	Method       string        `default:"auto" help:"How to answer; see triplemesh methods."`
	KG           []string      `name:"kg" placeholder:"NAME" sep:"none" help:"${ask_kg}"`
	After        string        `placeholder:"RUN" help:"Ask a follow-up question to a run; last is the newest."`
	Topic        []string      `placeholder:"ENTITY" sep:"none" help:"${ask_topic}"`
	Plan         string        `placeholder:"PLAN" help:"${ask_plan}"`
	Until        string        `placeholder:"STAGE" help:"Stop after a stage: ${stages}."`
	Verification string        `placeholder:"MODE" enum:",align,edits,rewrite" default:"" help:"${ask_verification}"`
	Reflection   string        `placeholder:"MODE" enum:",weigh,model" default:"" help:"${ask_reflection}"`
	Ablation     string        `placeholder:"NAME" help:"Ablation: skip a part of the method; see triplemesh methods."`
	Preset       string        `placeholder:"NAME" enum:",default,paper" default:"" help:"${ask_preset}"`
	At           string        `placeholder:"DATE" help:"${ask_at}"`
	AbstainBelow float32       `placeholder:"P" help:"${ask_abstain_below}"`
	MaxHops      uint32        `placeholder:"N" help:"Longest relation path (ger)."`
	Model        string        `placeholder:"NAME" help:"Model to ask, as the endpoint knows it."`
	Timeout      time.Duration `default:"5m" help:"Longest time for an answer."`
	MaxCalls     uint32        `placeholder:"N" help:"Most model calls."`
	MaxTokens    uint64        `placeholder:"N" help:"Most tokens, read and written."`

	Compare []string `placeholder:"METHOD,…" help:"${ask_compare}"`
	Watch   bool     `help:"Show each graph as soon as its stage ends."`
	Explain bool     `help:"Show all intermediate graphs, edits and verdicts with their evidence, and the cost."`
	Trace   bool     `help:"Show the trace with the duration of each call."`
	JSON    bool     `name:"json" help:"Print only the run, as JSON."`
}

func (askCommand) Help() string {
	return "Exit codes: 0 answered; 1 failed; 2 wrong usage; 3 no answer; 4 no server reachable; 6 the knowledge " +
		"graph does not say, the answer is the model's own. Methods that read no knowledge graph exit with 0."
}

func (c *askCommand) Run(p *Program) error {
	req, err := c.request(p.stdin)
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	if c.After != "" {
		if err := follow(p.Ctx, orchestratorv1.NewOrchestratorServiceClient(s), c.After, req); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	// Else the orchestrator chooses: it knows which methods read none.
	if req.GetKg() == nil && len(req.GetTopicEntities()) > 0 {
		if req.Kg, err = p.PickKG(p.Ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if err := checkTopics(p.Ctx, retrieverv1.NewRetrieverServiceClient(s), req); err != nil {
		return errors.Join(err, s.Close())
	}
	if len(c.Compare) > 0 {
		return errors.Join(c.compare(p, s, req), s.Close())
	}
	run, err := c.ask(p, s, req)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := c.print(p, run); err != nil {
		return err
	}
	if c.Until == "" && unanswered(run) || run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED {
		return ExitError{exitNoAnswer, errSilent}
	}
	if ungrounded(run) {
		return ExitError{exitUngrounded, errSilent}
	}
	return nil
}

// maxQuestion is the API's bound in bytes.
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
		return nil, errors.New("--watch and --json exclude each other; remove one")
	}
	if strings.TrimSpace(question) == "" {
		return nil, errors.New("the question is empty; put it in quotes after ask")
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
	ablation, err := config.ParseEnum[orchestratorv1.Ablation](c.Ablation)
	if err != nil {
		return nil, fmt.Errorf("--ablation: %w", err)
	}
	options := &orchestratorv1.AskOptions{
		MaxHops: c.MaxHops, Until: until, Ablation: ablation, Spans: c.Trace, AbstainBelow: c.AbstainBelow,
		Verification: verifierv1.VerificationMode(verifierv1.VerificationMode_value["VERIFICATION_MODE_"+
			strings.ToUpper(c.Verification)]),
		Reflection: reflectorv1.ReflectionMode(reflectorv1.ReflectionMode_value["REFLECTION_MODE_"+
			strings.ToUpper(c.Reflection)]),
	}
	if c.Preset != "" || c.At != "" {
		options.Grounding = &retrieverv1.GroundingOptions{Preset: retrieverv1.Preset(retrieverv1.Preset_value["PRESET_"+
			strings.ToUpper(c.Preset)])}
	}
	if c.At != "" {
		if _, ok := kgtext.ParseDate(c.At); !ok || strings.Contains(c.At, " ") {
			return nil, usageError("--at %q is no date: write it as 2005, 2005-03 or 2005-03-01", c.At)
		}
		options.Grounding.Filter = &retrieverv1.Filter{At: c.At}
	}
	return &orchestratorv1.AskRequest{
		Question: strings.ToValidUTF8(question, "\uFFFD"), Method: c.Method,
		Plan: strings.ToValidUTF8(c.Plan, "\uFFFD"), Kg: kgs[0], OtherKgs: kgs[1:], TopicEntities: c.Topic,
		Options: options, Limits: limits(c.Model, c.MaxCalls, c.MaxTokens),
	}, nil
}

// limits returns the budget and the model of a request; 0 and "" set none.
func limits(model string, calls uint32, tokens uint64) *llmv1.Limits {
	l := &llmv1.Limits{Budget: &llmv1.Budget{MaxCalls: calls, MaxTokens: tokens}}
	if model != "" {
		l.Model = &llmv1.ModelRef{Model: model}
	}
	return l
}

// ask streams, so that the terminal shows the running stage.
func (c *askCommand) ask(p *Program, s *Session, req *orchestratorv1.AskRequest) (*orchestratorv1.Run, error) {
	ctx, cancel := context.WithTimeout(p.Ctx, c.Timeout)
	defer cancel()
	live := p.live()
	defer live.end()
	if len(c.Compare) > 0 {
		live.say("%s", req.GetMethod())
	}
	var run *orchestratorv1.Run
	err := consumeStream(func() (grpc.ServerStreamingClient[orchestratorv1.AskStreamResponse], error) {
		return orchestratorv1.NewOrchestratorServiceClient(s).AskStream(ctx,
			&orchestratorv1.AskStreamRequest{Request: req})
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
				return false, live.printAside(func() error {
					return show.Stage(p.Stdout, e.StageFinished.GetReport().GetStage(), e.StageFinished.GetRun(),
						p.style())
				})
			}
		case *orchestratorv1.AskStreamResponse_Run:
			run = e.Run
		}
		return run != nil, nil
	}, func() {
		live.forgot()
		live.say("connection to the orchestrator lost, retrying")
	})
	if err == io.EOF {
		return nil, errors.New("the orchestrator closed the stream before the answer was complete; see the log of " +
			"`triplemesh up`")
	}
	return run, err
}

func (c *askCommand) print(p *Program, run *orchestratorv1.Run) error {
	if c.JSON {
		return printJSON(p.Stdout, run)
	}
	if c.Watch || terminal.IsTerminal(p.Stderr) && terminal.IsTerminal(p.Stdout) {
		fmt.Fprintln(p.Stdout) // separates the answer from the progress
	}
	style := p.style()
	err := show.Answer(p.Stdout, run, style)
	switch {
	case err != nil:
	case c.Explain:
		err = show.Explain(p.Stdout, run, style)
	case !c.Watch: // --watch has shown them with the edits
		err = show.Changes(p.Stdout, run, style)
	}
	if err == nil && c.Trace {
		err = show.Trace(p.Stdout, run, style)
	}
	return err
}

// maxMention is how long a name may be to be linked, in bytes, by the contract.
const maxMention = 16384

// checkTopics finds topic entities that no knowledge graph of a question holds by this name or id:
// a method that starts from them would find nothing, and answer from the model's own knowledge.
// Knowledge graphs that the server does not look up are not checked.
func checkTopics(ctx context.Context, client retrieverv1.RetrieverServiceClient, req *orchestratorv1.AskRequest) error {
	topics := req.GetTopicEntities()
	if len(topics) == 0 {
		return nil
	}
	var looked []*graphv1.KnowledgeGraphRef
	found := map[string]bool{}
	for _, kg := range append([]*graphv1.KnowledgeGraphRef{req.GetKg()}, req.GetOtherKgs()...) {
		resp, err := client.BatchGetEntities(ctx, &retrieverv1.BatchGetEntitiesRequest{Kg: kg, Entities: topics})
		if err != nil {
			continue
		}
		looked = append(looked, kg)
		for topic := range resp.GetEntities() {
			found[topic] = true
		}
	}
	for _, topic := range topics {
		if len(looked) > 0 && !found[topic] {
			return usageError("--topic %s: %s holds no entity with this name or id%s", topic,
				kgtext.FormatKG(req.GetKg()), orMeant(similarNames(ctx, client, looked, topic)))
		}
	}
	return nil
}

// similarNames returns the names of entities that a text may mean; none if the lookup fails.
func similarNames(ctx context.Context, client retrieverv1.RetrieverServiceClient, kgs []*graphv1.KnowledgeGraphRef,
	text string) (names []string) {
	if len(text) > maxMention {
		return nil
	}
	for _, kg := range kgs {
		resp, err := client.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: kg, Text: text})
		if err != nil {
			continue
		}
		for _, link := range resp.GetLinks() {
			names = append(names, link.GetEntity())
		}
	}
	return names
}

// orMeant proposes the entities that a name may have meant, best first.
func orMeant(names []string) string {
	if len(names) == 0 {
		return ", nor one with a name like it"
	}
	meant := "; did you mean " + names[0]
	for i, name := range names[1:min(3, len(names))] {
		if i == min(3, len(names))-2 {
			meant += " or " + name
		} else {
			meant += ", " + name
		}
	}
	return meant + "?"
}

// compare asks one question with several methods, sequentially, so that they do not compete for
// the model.
func (c *askCommand) compare(p *Program, s *Session, req *orchestratorv1.AskRequest) error {
	if err := c.checkMethods(p.Ctx, orchestratorv1.NewOrchestratorServiceClient(s)); err != nil {
		return err
	}
	var all []show.Contestant
	for _, method := range c.Compare {
		one := proto.CloneOf(req)
		one.Method = method
		run, err := c.ask(p, s, one)
		if p.Ctx.Err() != nil {
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
			return ExitError{ExitFailed, errSilent}
		case unanswered(one.Run) && c.Until == "":
		case !ungrounded(one.Run):
			code = ExitOK
		case code == exitNoAnswer:
			code = exitUngrounded
		}
	}
	if code == ExitOK {
		return nil
	}
	return ExitError{code, errSilent}
}

// checkMethods checks before the first question that the mesh has all methods.
func (c *askCommand) checkMethods(ctx context.Context, client orchestratorv1.OrchestratorServiceClient) error {
	if len(c.Compare) < 2 {
		return usageError("--compare: want two methods or more, such as --compare pg-akv,ger")
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
			return usageError("--compare: there is no method %s%s; there are: %s", method,
				didYouMean(method, names), strings.Join(names, ", "))
		}
	}
	return nil
}

func (c *askCommand) printCompared(p *Program, req *orchestratorv1.AskRequest, all []show.Contestant) error {
	if !c.JSON {
		return show.Compare(p.Stdout, all, p.style())
	}
	var runs []json.RawMessage
	for _, one := range all {
		run := one.Run
		if run == nil {
			// A failed run, so that the array has one entry per method.
			run = &orchestratorv1.Run{Question: req.GetQuestion(), Method: one.Method, Kg: req.GetKg(), Partial: true,
				GroundingReason: "failed: " + one.Failed}
		}
		text, err := protojson.Marshal(run)
		if err != nil {
			return fmt.Errorf("print the runs as JSON: %w", err)
		}
		runs = append(runs, text)
	}
	return printIndented(p.Stdout, runs)
}

// ungrounded reports whether a run read a knowledge graph, and its answer is the model's own.
func ungrounded(run *orchestratorv1.Run) bool {
	return run.GetKg() != nil && run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED
}

// unanswered reports whether a run ended without an answer.
func unanswered(run *orchestratorv1.Run) bool {
	return len(run.GetAnswers()) == 0 && run.GetText() == "" ||
		run.GetGrounding() == orchestratorv1.Grounding_GROUNDING_ABSTAINED
}
