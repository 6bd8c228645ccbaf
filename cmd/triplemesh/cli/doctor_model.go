package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/lab/profile"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
)

// testModel measures the configured model in stages of this process and keeps its profile.
func (p *Program) testModel() (err error) {
	plan, err := mesh.ReadPlan(mesh.Options{Home: p.Home, Sources: p.Sources})
	if err != nil {
		return err
	}
	session, err := p.Connect("", true, "generator", "evaluator")
	if err != nil {
		return fmt.Errorf("test the model: %w", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	evaluator, err := p.Dial(session.Mesh.Addr("evaluator"), "evaluator", telemetry.Discard())
	if err != nil {
		return fmt.Errorf("test the model: %w", err)
	}
	defer evaluator.Close()
	line := p.StatusLine()
	defer line.Clear()
	measured, err := profile.Measure(p.Ctx, profile.Services{
		Generator: generatorv1.NewGeneratorServiceClient(session),
		Evaluator: evaluatorv1.NewEvaluatorServiceClient(evaluator),
	}, func(done, total int) { line.Set("testing the model: %d of %d lists of facts", done, total) })
	if err != nil {
		return fmt.Errorf("test the model: %w", err)
	}
	return mesh.Profiles(p.Home).Save(profile.Choose(plan.ReadingModel(), measured, time.Now()))
}

// modelProfile reports the profile of a model.
func (p *Program) modelProfile(model string) finding {
	f := finding{Name: "model profile", State: ok, Mend: "measure it with `triplemesh doctor --test-model`"}
	measured, found, err := mesh.Profiles(p.Home).Load(model)
	switch {
	case err != nil:
		f.State, f.Found = missing, err.Error()
	case !found:
		reader := llm.Config{Model: model, Reader: llm.AutoReader}.ResolveReader()
		f.State = off
		f.Found = fmt.Sprintf("%s was not measured: by its name a %s reader, for GROUNDED a weak one", model, reader)
	default:
		f.Mend = ""
		m := measured.Measurement
		f.Found = fmt.Sprintf("%s on %s: F1 %.2f off 12 facts, %.2f off 40; verdicts right %.0f %%", strings.Join(
			measured.Settings(), " "), measured.MeasureTime.Local().Format(time.DateOnly), m.Few, m.Many,
			100*m.Verdicts)
	}
	return f
}
