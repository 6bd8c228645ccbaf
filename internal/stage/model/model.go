// Package model is how a stage asks language models.
package model

import (
	"context"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// New makes the model client of a stage. Callers of the stage hear at once when
// their call comes to a model, which may take long to answer. Without that they
// could not tell it from a stage that hangs, and would soon ask another replica.
func New(cfg llm.Config, tel *telemetry.Telemetry) (llm.Completer, error) {
	m, err := llm.New(cfg, tel)
	if err != nil {
		return nil, err
	}
	return model{m}, nil
}

type model struct{ llm.Completer }

// Complete implements llm.Completer.
func (m model) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	server.AtWork(ctx)
	return m.Completer.Complete(ctx, req)
}
