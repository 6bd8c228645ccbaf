package sim

import (
	"context"
	"fmt"
	"net"
	"strings"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/testkit/simnet"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	"github.com/triplemesh/triplemesh/services/reflector"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/verifier"
)

// modelServer is the name of the model servers, which are no stage.
const modelServer = "model"

// sort is a type of process.
type sort struct {
	name string
	run  func(*mesh) func(context.Context, *process) error
}

// sorts returns the types of process, callees before callers. Each stage is the real one, run like
// its binary except for the retriever's store and encoder.
func sorts() []sort {
	return []sort{
		{modelServer, func(m *mesh) func(context.Context, *process) error { return m.serveModel }},
		{"generator", func(m *mesh) func(context.Context, *process) error { return m.generator }},
		{"retriever", func(m *mesh) func(context.Context, *process) error { return m.retriever }},
		{"verifier", func(m *mesh) func(context.Context, *process) error { return m.verifier }},
		{"evaluator", func(m *mesh) func(context.Context, *process) error { return m.evaluator }},
		{"reflector", func(m *mesh) func(context.Context, *process) error { return m.reflector }},
		{"orchestrator", func(m *mesh) func(context.Context, *process) error { return m.orchestrator }},
	}
}

func (m *mesh) generator(ctx context.Context, p *process) (err error) {
	cfg := generator.DefaultConfig()
	cfg.Telemetry, cfg.LLM = m.telling(), m.asking(p.machine())
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	return generator.Run(ctx, cfg)
}

func (m *mesh) verifier(ctx context.Context, p *process) (err error) {
	cfg := verifier.DefaultConfig()
	cfg.Telemetry, cfg.LLM = m.telling(), m.asking(p.machine())
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	return verifier.Run(ctx, cfg)
}

func (m *mesh) evaluator(ctx context.Context, p *process) (err error) {
	cfg := evaluator.DefaultConfig()
	cfg.Telemetry, cfg.LLM = m.telling(), m.asking(p.machine())
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	return evaluator.Run(ctx, cfg)
}

func (m *mesh) reflector(ctx context.Context, p *process) (err error) {
	cfg := reflector.DefaultConfig()
	cfg.Telemetry, cfg.LLM = m.telling(), m.asking(p.machine())
	cfg.Reflection.Mode = "model" // the default calls no model
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	return reflector.Run(ctx, cfg)
}

func (m *mesh) retriever(ctx context.Context, p *process) (err error) {
	cfg := retriever.DefaultConfig()
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	register := func(tel *telemetry.Telemetry) (server.Service, error) {
		service, err := retriever.New(m.graphs, encoder, nil, tel)
		if err != nil {
			return nil, err
		}
		return server.Services{service, retriever.NewKnowledgeGraphs(m.graphs, encoder, "")}, nil
	}
	return server.Run(ctx, "retriever", m.telling(), cfg.Server, register)
}

func (m *mesh) orchestrator(ctx context.Context, p *process) (err error) {
	cfg := orchestrator.DefaultConfig()
	cfg.Telemetry, cfg.HTTP.Addr, cfg.Runs.Dir = m.telling(), "", shared.runs
	for stage, to := range map[string]*client.Config{
		"generator": &cfg.Generator, "retriever": &cfg.Retriever, "verifier": &cfg.Verifier,
		"evaluator": &cfg.Evaluator, "reflector": &cfg.Reflector,
	} {
		*to = m.dialling(p.machine(), stage)
	}
	if m.narrow {
		cfg.Server.MaxInFlight, cfg.Server.MaxQueue = 2, 2
	}
	if cfg.Server, err = m.serving(p, cfg.Server); err != nil {
		return err
	}
	return orchestrator.Run(ctx, cfg)
}

// telling returns the telemetry configuration of a process.
func (m *mesh) telling() telemetry.Config {
	return telemetry.Config{LogFormat: "text", LogWriter: m}
}

// serving returns the server configuration of a process.
func (m *mesh) serving(p *process, cfg server.Config) (server.Config, error) {
	l, err := p.machine().Listen()
	cfg.Listener, cfg.Validator, cfg.Options = l, shared.validator, p.holding()
	return cfg, err
}

// asking returns the model client's configuration on a host. Two model servers are each other's
// fallback.
func (m *mesh) asking(h *simnet.Host) llm.Config {
	cfg := llm.DefaultConfig()
	cfg.Reader = llm.WeakReader // as the bundled model
	cfg.Model, cfg.BaseURL, cfg.Cache = "scripted", "http://model-0/v1", llm.CacheConfig{}
	if m.replicas > 1 {
		cfg.Fallbacks = []llm.Endpoint{{BaseURL: "http://model-1/v1"}}
	}
	cfg.Dial = func(ctx context.Context, _, addr string) (net.Conn, error) { return h.Dial(ctx, addr) }
	return cfg
}

// dialling returns the client configuration for a stage on a host.
func (m *mesh) dialling(h *simnet.Host, stage string) client.Config {
	var addrs []string
	for i := range m.replicas {
		addrs = append(addrs, fmt.Sprint(stage, "-", i, ":80"))
	}
	cfg := client.DefaultConfig("sim:///" + strings.Join(addrs, ","))
	cfg.Options = []grpc.DialOption{grpc.WithContextDialer(h.Dial), grpc.WithResolvers(listed{})}
	return cfg
}
