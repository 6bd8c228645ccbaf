package cli

import (
	"errors"
	"io"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/lab/leak"
	"github.com/triplemesh/triplemesh/lab/sft"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/generator/candidates"
	"github.com/triplemesh/triplemesh/services/generator/paths"
	"github.com/triplemesh/triplemesh/services/generator/prompts"
	"github.com/triplemesh/triplemesh/services/reflector"
	"github.com/triplemesh/triplemesh/services/verifier"
)

type exportCommand struct {
	SFT exportSFT `cmd:"" name:"sft" help:"Write examples to fine-tune a model with, for the five tasks of ger."`
}

type exportSFT struct {
	sft.Command
	storeFlags
	KG    string `name:"kg" required:"" placeholder:"KG" help:"${export_sft_kg}"`
	Out   string `type:"path" placeholder:"FILE" help:"File to write, JSON Lines; otherwise standard output."`
	Force bool   `help:"Overwrite an existing file."`
	JSON  bool   `name:"json" help:"Print the summary as JSON."`
}

// Run exports training examples. Where they go to standard output, the summary
// goes to standard error.
func (c *exportSFT) Run(p *Program) error {
	kg, err := namedKG(c.KG)
	if err != nil {
		return err
	}
	settings, err := p.promptSettings()
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	if err := c.Prepare(kg.GetName()); err != nil {
		return err
	}
	s, err := p.Connect(c.Retriever, c.Local, "retriever")
	if err != nil {
		return err
	}
	task := p.Board().Start("export", "questions", 0)
	defer task.Stop()
	c.Progress = func(done, of int) {
		if task.SetProgress(int64(done), int64(of)); done == of {
			task.Finish()
		}
	}
	var summary sft.Summary
	write := func(out io.Writer) (err error) {
		summary, err = c.Write(p.Ctx, retrieverv1.NewRetrieverServiceClient(s), kg, settings, out)
		return err
	}
	report := p.Stdout
	if c.Out == "" {
		report = p.Stderr
		err = write(p.Stdout)
	} else {
		_, err = writeWhole(c.Out, c.Force, write)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if c.JSON {
		return printIndented(report, summary)
	}
	return summary.Print(report)
}

// promptFiles are the prompts of this build.
var promptFiles = []leak.Prompts{
	{Stage: "generator", Files: prompts.Files}, {Stage: "verifier", Files: verifier.Prompts()},
	{Stage: "evaluator", Files: evaluator.Prompts()}, {Stage: "reflector", Files: reflector.Prompts()},
}

// stagePrompts renders prompts as the stages do, without a model.
type stagePrompts struct {
	planner   *paths.Planner
	reader    *candidates.Reader
	judge     *evaluator.Judge
	reflector *reflector.Reflector
}

// promptSettings returns the stages' settings for prompts, as configured here.
func (p *Program) promptSettings() (sft.Settings, error) {
	// No model is called, but the configuration must name one.
	const noModel = "http://no-model.invalid/v1"
	g, e, r := generator.DefaultConfig(), evaluator.DefaultConfig(), reflector.DefaultConfig()
	g.LLM.BaseURL, e.LLM.BaseURL, r.LLM.BaseURL = noModel, noModel, noModel
	g.LLM.Model, e.LLM.Model, r.LLM.Model = "none", "none", "none"
	var errs [3]error
	g, errs[0] = config.Load("generator", g, p.Sources)
	e, errs[1] = config.Load("evaluator", e, p.Sources)
	r, errs[2] = config.Load("reflector", r, p.Sources)
	return newPromptSettings(g, e, r), errors.Join(errs[:]...)
}

func newPromptSettings(g generator.Config, e evaluator.Config, r reflector.Config) sft.Settings {
	plan := g.RelationPaths
	plan.Format = paths.FormatRoG
	return sft.Settings{
		Prompts: stagePrompts{
			planner: paths.New(nil, plan), reader: candidates.New(nil, g.Candidates),
			judge: evaluator.NewJudge(nil, e.Verdict), reflector: reflector.NewReflector(nil, r.Reflection),
		},
		Candidates: sft.Limits{MaxGroups: g.Candidates.MaxGroups, MaxEnds: g.Candidates.MaxEnds},
		Verdict:    sft.Limits{MaxGroups: e.Verdict.MaxGroups, MaxEnds: e.Verdict.MaxEnds},
		Reflection: sft.Limits{MaxGroups: r.Reflection.MaxGroups, MaxEnds: r.Reflection.MaxEnds},
	}
}

func (s stagePrompts) PlanRelationPaths(question string, topics []string) ([]llm.Message, error) {
	return s.planner.PlanMessages(question, topics)
}

func (s stagePrompts) ReadCandidates(question string, groups []*kgtext.PathGroup) ([]llm.Message, error) {
	return s.reader.Messages(question, groups)
}

func (s stagePrompts) EvaluateQuestion(question string, candidates []*graphv1.CandidateAnswer,
	paths []*graphv1.ReasoningPath) ([]llm.Message, error) {
	return s.judge.QuestionMessages(question, candidates, paths)
}

func (s stagePrompts) EvaluateAnswer(question string, candidate *graphv1.CandidateAnswer) ([]llm.Message, error) {
	return s.judge.AnswerMessages(question, candidate)
}

func (s stagePrompts) Reflect(r sft.Reflection) (messages []llm.Message, options []string, err error) {
	return s.reflector.Messages(reflector.Case(r))
}
