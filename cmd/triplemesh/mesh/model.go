package mesh

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llamaserver"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/lab/profile"
)

// ModelServer says how the local llama-server is run, if one is needed.
type ModelServer struct {
	// Binary is llama-server; empty takes the one setup built, then the one on PATH.
	Binary string `koanf:"binary"`
	// Model is a GGUF file; empty takes the one setup fetched.
	Model string `koanf:"model"`
	// Threads is how many threads compute; 0 finds the fastest number.
	Threads int `koanf:"threads"`
	// Slots is how many requests are answered at once.
	Slots int `koanf:"slots"`
	// Context is how many tokens a slot holds.
	Context int `koanf:"context"`
}

// programConfig is the section "triplemesh" of the configuration.
type programConfig struct {
	ModelServer ModelServer      `koanf:"model_server"`
	Telemetry   telemetry.Config `koanf:"telemetry"`
}

// Validate names the first setting that cannot be.
func (c ModelServer) Validate() error {
	if c.Threads < 0 || c.Slots < 1 || c.Context < 512 {
		return fmt.Errorf("threads must be at least 0, slots at least 1 and context at least 512")
	}
	return nil
}

// localRetries with the delays doubling from half a second are some 15 seconds.
const localRetries = 5

func loadModelServer(o Options) (ModelServer, error) {
	defaults := programConfig{
		ModelServer: ModelServer{Slots: 2, Context: 8192},
		Telemetry:   telemetry.DefaultConfig(),
	}
	cfg, err := config.Load("triplemesh", defaults, o.Sources)
	if err != nil {
		return ModelServer{}, err
	}
	return cfg.ModelServer.withDefaults(o.Home), nil
}

// withDefaults names the files that are not configured.
func (c ModelServer) withDefaults(h setup.Home) ModelServer {
	files := setup.Layout{Cache: h.Cache}
	c.Model = cmp.Or(c.Model, files.Model())
	if c.Binary == "" {
		c.Binary = files.Server()
		if path, err := exec.LookPath("llama-server"); err == nil && !setup.ServerReady(h.Cache) {
			c.Binary = path
		}
	}
	return c
}

// startModel runs a llama-server if any service needs one. Until await has returned, calls of models
// fail and the orchestrator is not ready. stop ends the server.
func (m *Mesh) startModel(ctx context.Context) (await func(context.Context) error, stop func(), err error) {
	var need []*service
	for _, s := range m.stages {
		if s.needsModel() {
			need = append(need, s)
		}
	}
	if len(need) == 0 {
		return func(context.Context) error { return nil }, func() {}, nil
	}
	tel, err := telemetry.Start(ctx, telemetry.Config{LogLevel: m.opts.LogLevel, LogWriter: m.opts.Log}, "model-server")
	if err != nil {
		return nil, nil, err
	}
	server := llamaserver.New(llamaserver.Config{
		Binary: m.model.Binary, Model: m.model.Model, Threads: m.model.Threads,
		Slots: m.model.Slots, Context: m.model.Context, Prefixes: Prefixes(),
		StateDir: filepath.Join(m.home.Cache, "llama"), Log: tel.Logger(),
	})
	m.opts.Tell("starting the model server: " + filepath.Base(m.model.Model))
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	const advice = "%w\nor set OPENAI_BASE_URL (and llm.model) to a model endpoint you have"
	if err := server.Start(life); err != nil {
		end()
		return nil, nil, fmt.Errorf(advice, err)
	}
	ready := make(chan struct{})
	if s := find(m.stages, "orchestrator"); s != nil {
		s.server.Ready = ready
	}
	for _, s := range need {
		s.llm.BaseURL, s.llm.Model, s.llm.Started = server.BaseURL(), server.ModelName(), ready
		// A local server that died is back within seconds: worth waiting for.
		s.llm.Retries = max(s.llm.Retries, localRetries)
	}
	await = func(ctx context.Context) error {
		// An end asked for while the model is read ends the server; later ones wait until the services have
		// drained.
		detach := context.AfterFunc(ctx, end)
		defer detach()
		if err := server.Await(); err != nil {
			return fmt.Errorf(advice, err)
		}
		m.opts.Tell(fmt.Sprintf("model server at %s, %s", server.BaseURL(),
			kgtext.FormatCount(server.Threads(), "thread")))
		close(ready)
		return nil
	}
	return await, func() {
		server.Stop()
		end()
		_ = tel.Shutdown(context.WithoutCancel(ctx))
	}, nil
}

// Profiles returns the store of model profiles below a home.
func Profiles(h setup.Home) profile.Store {
	return profile.Store{Dir: filepath.Join(h.Cache, "profiles")}
}

// applyProfiles sets what suits the models of the stages, where they were measured and the user has
// left it to be chosen.
func (m *Mesh) applyProfiles() error {
	for _, s := range m.stages {
		if s.llm == nil || s.llm.Substitute != nil {
			continue
		}
		p, ok, err := Profiles(m.home).Load(s.llm.Model)
		if err != nil {
			return err
		}
		if ok {
			p.Apply(s.llm)
		}
	}
	return nil
}
