package cli

import (
	"errors"
	"io"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/sft"
	"github.com/triplemesh/triplemesh/internal/config"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/reflector"
)

type exportCommand struct {
	SFT exportSFT `cmd:"" name:"sft" help:"Write examples to fine-tune a model with, for the five tasks of ger."`
}

type exportSFT struct {
	sft.Command
	storeFlags
	KG    string `name:"kg" required:"" placeholder:"KG" help:"Knowledge graph that holds the answers, or one snapshot of it, such as freebase@3."`
	Out   string `type:"path" placeholder:"FILE" help:"File to write, JSON Lines; otherwise standard output."`
	Force bool   `help:"Write over a file that is there."`
	JSON  bool   `name:"json" help:"Print the summary as JSON."`
}

// Run exports training examples. Where they go to standard output, the summary
// goes to standard error.
func (c *exportSFT) Run(p *program) error {
	kg, err := namedKG(c.KG)
	if err != nil {
		return err
	}
	settings, err := p.promptSettings()
	if err != nil {
		return exitError{exitUsage, err}
	}
	if err := c.Prepare(kg.GetName()); err != nil {
		return err
	}
	s, err := p.connect(c.Retriever, c.Local, "retriever")
	if err != nil {
		return err
	}
	task := p.board().Start("export", "questions", 0)
	defer task.Stop()
	c.Progress = func(done, of int) {
		if task.SetOf(int64(done), int64(of)); done == of {
			task.Done()
		}
	}
	var summary sft.Summary
	write := func(out io.Writer) (err error) {
		summary, err = c.Write(p.ctx, retrieverv1.NewRetrieverServiceClient(s), kg, settings, out)
		return err
	}
	report := p.stdout
	if c.Out == "" {
		report = p.stderr
		err = write(p.stdout)
	} else {
		_, err = writeWhole(c.Out, c.Force, write)
	}
	if err = errors.Join(err, s.end()); err != nil {
		return err
	}
	if c.JSON {
		return printIndented(report, summary)
	}
	return summary.Print(report)
}

// promptSettings are how much of a graph the stages show a model, as they are
// configured here.
func (p *program) promptSettings() (s sft.Settings, err error) {
	// No model is asked, so any endpoint will do for the configuration to be
	// whole.
	const noModel = "http://no-model.invalid/v1"
	g, e, r := generator.DefaultConfig(), evaluator.DefaultConfig(), reflector.DefaultConfig()
	g.LLM.BaseURL, e.LLM.BaseURL, r.LLM.BaseURL = noModel, noModel, noModel
	g.LLM.Model, e.LLM.Model, r.LLM.Model = "none", "none", "none"
	var errs [3]error
	g, errs[0] = config.Load("generator", g, p.sources)
	e, errs[1] = config.Load("evaluator", e, p.sources)
	r, errs[2] = config.Load("reflector", r, p.sources)
	return sft.Settings{RelationPaths: g.RelationPaths, Candidates: g.Candidates, Verdict: e.Verdict, Reflection: r.Reflection}, errors.Join(errs[:]...)
}
