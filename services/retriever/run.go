package retriever

import (
	"context"
	"errors"
	"slices"

	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/stage"
	"github.com/triplemesh/triplemesh/internal/telemetry"
)

// Config is what the retriever can be told.
type Config struct {
	Server    server.Config    `koanf:"server"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	// Store is where the knowledge graphs are.
	Store StoreConfig `koanf:"store"`
	// Encoder turns texts into vectors.
	Encoder EncoderConfig `koanf:"encoder"`
	// Grounding is how knowledge graphs are grounded, by their names; the key
	// "*" holds for all others.
	Grounding map[string]GroundingConfig `koanf:"grounding"`
}

// DefaultConfig serves on port 9092, from the directories that a checkout has.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9092"),
		Telemetry: telemetry.DefaultConfig(),
		Store:     defaultStore(),
		Encoder:   defaultEncoder(),
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	if err := c.Store.validate(); err != nil {
		return err
	}
	if _, err := newGrounding(c.Grounding); err != nil {
		return err
	}
	return c.Encoder.validate()
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) (err error) {
	var open closers
	// Closed by the stage, where it came to serve.
	defer func() { err = errors.Join(err, open.Close()) }()
	return stage.Run(ctx, "retriever", cfg.Telemetry, cfg.Server, func(tel *telemetry.Telemetry) (_ stage.Service, err error) {
		enc, closeEncoder, err := newEncoder(ctx, cfg.Encoder, tel.Logger())
		if err != nil {
			return nil, err
		}
		open.add(closeEncoder)
		stored, err := openBackend(ctx, cfg.Store, tel)
		if err != nil {
			return nil, err
		}
		open.add(stored.Close)
		graphs, err := cfg.Store.sharing(stored)
		if err != nil {
			return nil, err
		}
		service, err := New(graphs, enc, cfg.Grounding, tel)
		if err != nil {
			return nil, err
		}
		services := stage.Services{service, NewKnowledgeGraphs(graphs, enc, cfg.Store.scratch())}
		return struct {
			stage.Services
			*closers
		}{services, &open}, nil
	})
}

// closers let go of what was opened, the last first, and of each once.
type closers []func() error

func (c *closers) add(close func() error) { *c = append(*c, close) }

// Close implements io.Closer.
func (c *closers) Close() error {
	var errs []error
	for _, close := range slices.Backward(*c) {
		errs = append(errs, close())
	}
	*c = nil
	return errors.Join(errs...)
}
