package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/llamaserver"
	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/lab/profile"
	"github.com/triplemesh/triplemesh/services/evaluator"
	"github.com/triplemesh/triplemesh/services/generator"
	"github.com/triplemesh/triplemesh/services/orchestrator"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
	"github.com/triplemesh/triplemesh/services/reflector"
	"github.com/triplemesh/triplemesh/services/retriever"
	"github.com/triplemesh/triplemesh/services/verifier"
)

// loader reads the configuration of one service after another; addrs are where
// those it has read so far are reached.
type loader struct {
	opts     Options
	registry *prometheus.Registry
	addrs    map[string]string
	// secret is by which the services of this process know each other; nobody else ever has it.
	secret string
}

func newLoader(o Options) loader {
	return loader{opts: o, registry: prometheus.NewRegistry(), addrs: map[string]string{}, secret: auth.NewToken()}
}

// parts are what the mesh sets in a stage's configuration, whatever stage.
type parts struct {
	server    *server.Config
	telemetry *telemetry.Config
	// llm is nil where the stage asks no model.
	llm *llm.Config
	// http is nil where the stage serves gRPC alone.
	http *web.Config
}

func (b loader) load(name string) (*service, error) {
	switch name {
	case "generator":
		return load(b, name, generator.DefaultConfig(), func(c *generator.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry, llm: &c.LLM}
		}, generator.Run)
	case "retriever":
		return load(b, name, b.retriever(), func(c *retriever.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry}
		}, retriever.Run)
	case "verifier":
		return load(b, name, verifier.DefaultConfig(), func(c *verifier.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry, llm: &c.LLM}
		}, verifier.Run)
	case "evaluator":
		return load(b, name, evaluator.DefaultConfig(), func(c *evaluator.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry, llm: &c.LLM}
		}, evaluator.Run)
	case "reflector":
		return load(b, name, reflector.DefaultConfig(), func(c *reflector.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry, llm: &c.LLM}
		}, reflector.Run)
	case "orchestrator":
		return load(b, name, b.orchestrator(), func(c *orchestrator.Config) parts {
			return parts{server: &c.Server, telemetry: &c.Telemetry, http: &c.HTTP}
		}, b.runOrchestrator)
	}
	return nil, fmt.Errorf("no such service: %s", name)
}

// retriever reads and writes below the home unless configured otherwise.
func (b loader) retriever() retriever.Config {
	c := retriever.DefaultConfig()
	files := setup.Layout{Cache: b.opts.Home.Cache}
	c.Encoder.Library, c.Encoder.File, c.Encoder.Vocabulary = files.Runtime(), files.EncoderModel(),
		files.EncoderVocab()
	c.Encoder.Cache.Dir = filepath.Join(b.opts.Home.Cache, "vectors")
	c.Store.Dir = filepath.Join(b.opts.Home.Data, "kg")
	return c
}

// orchestrator finds the stages of this mesh where they listen.
func (b loader) orchestrator() orchestrator.Config {
	c := orchestrator.DefaultConfig()
	c.Runs.File = filepath.Join(b.opts.Home.Data, "runs.db")
	c.Version = b.opts.Version
	c.HTTP.Reports = b.opts.Home.Reports()
	for name, to := range map[string]*client.Config{
		"generator": &c.Generator, "retriever": &c.Retriever, "verifier": &c.Verifier,
		"evaluator": &c.Evaluator, "reflector": &c.Reflector,
	} {
		if addr := b.addrs[name]; addr != "" {
			to.Addr = addr
		}
	}
	return c
}

// runOrchestrator runs the orchestrator. A private mesh beside a running one, which has the run
// database open, keeps its runs in a temporary one.
func (b loader) runOrchestrator(ctx context.Context, cfg orchestrator.Config) error {
	if b.opts.Private && cfg.Runs.Dir == "" && runs.Locked(cfg.Runs.File) {
		dir, err := os.MkdirTemp("", "triplemesh-runs-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if b.opts.Log != nil {
			fmt.Fprintf(b.opts.Log, "triplemesh: another process has %s open; this run is not kept\n", cfg.Runs.File)
		}
		cfg.Runs.File = filepath.Join(dir, "runs.db")
	}
	return orchestrator.Run(ctx, cfg)
}

// unset stand in for a model endpoint that nobody configured, so that the rest
// of the configuration can be checked before there is one.
const (
	unsetURL   = "http://local-model-server.invalid/v1"
	unsetModel = "local"
)

// load reads a stage's configuration and leaves a service that runs with it.
func load[C any](b loader, name string, defaults C, of func(*C) parts,
	run func(context.Context, C) error) (*service, error) {
	p := of(&defaults)
	p.telemetry.LogLevel = cmp.Or(b.opts.LogLevel, p.telemetry.LogLevel)
	if p.llm != nil {
		p.llm.BaseURL, p.llm.Model = unsetURL, unsetModel
		p.llm.Cache.Dir = filepath.Join(b.opts.Home.Cache, "answers")
	}
	cfg, err := config.Load(name, defaults, b.opts.Sources)
	if err != nil {
		return nil, err
	}
	s := &service{name: name, parts: of(&cfg)}
	if b.opts.Trusting {
		s.server.TLS, s.server.Auth = server.TLSConfig{}, auth.DefaultConfig()
	}
	if s.server.Auth.MeshTokenFile == "" {
		s.server.Auth.MeshToken = b.secret
	}
	if s.llm != nil && !s.needsModel() && s.llm.Model == unsetModel {
		return nil, fmt.Errorf("configuration of %s: no model is named: say which one %s is to answer with, by "+
			"TRIPLEMESH_LLM_MODEL, --set llm.model=NAME or llm.model in the configuration file", name, s.llm.BaseURL)
	}
	if s.llm != nil {
		if s.llm.Substitute = b.opts.Substitute; s.llm.Substitute != nil {
			// What it reads is not the model's reading.
			s.llm.Reader, s.llm.ReadingShare = llm.StrongReader, s.llm.Substitute.ReadingShare()
		}
	}
	s.telemetry.LogWriter, s.telemetry.Registry = b.opts.Log, b.registry
	s.run = func(ctx context.Context) error { return run(ctx, cfg) }
	s.print = func(w io.Writer) error { return config.Print(w, name, defaults, b.opts.Sources) }
	b.addrs[name] = dialable(s.server.Addr)
	return s, nil
}

// find returns the service of a name; nil if there is none.
func find(services []*service, name string) *service {
	for _, s := range services {
		if s.name == name {
			return s
		}
	}
	return nil
}

// needsModel says that no model endpoint is configured for a service that asks a model.
func (s *service) needsModel() bool { return s.llm != nil && s.llm.BaseURL == unsetURL }

// listen takes the service's ports, or a free one for gRPC alone.
func (s *service) listen(private bool) error {
	if private {
		s.server.Addr, s.server.MetricsAddr, s.server.HealthAddr = "127.0.0.1:0", "", ""
		if s.http != nil {
			s.http.Addr = ""
		}
	}
	l, err := listen(s.name, "server.addr", s.server.Addr)
	if err != nil {
		return err
	}
	s.server.Listener = l
	if s.http == nil || s.http.Addr == "" {
		return nil
	}
	if s.http.Listener, err = listen(s.name, "http.addr", s.http.Addr); err != nil {
		return errors.Join(fmt.Errorf("%w; or to nothing for no HTTP", err), s.close())
	}
	return nil
}

// close gives the ports back.
func (s *service) close() error {
	err := s.server.Listener.Close()
	if s.http != nil && s.http.Listener != nil {
		err = errors.Join(err, s.http.Listener.Close())
	}
	return err
}

// addr is where the service listens; call it after listen.
func (s *service) addr() string { return s.server.Listener.Addr().String() }

// dialable returns an address that reaches a listener from this machine: one that
// listens everywhere is reached over loopback.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Plan is a mesh as it is configured, with nothing started.
type Plan struct {
	services []*service
	model    ModelServer
}

// ReadPlan reads the configuration of every target. The error names the setting that is wrong.
func ReadPlan(o Options) (*Plan, error) {
	names, err := targets(o.Targets)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if p.model, err = loadModelServer(o); err != nil {
		return nil, err
	}
	l := newLoader(o)
	for _, name := range names {
		s, err := l.load(name)
		if err != nil {
			return nil, err
		}
		p.services = append(p.services, s)
	}
	slices.Reverse(p.services)
	return p, nil
}

// Print writes the configuration as one YAML file, each value with where it
// comes from, secrets hidden.
func (p *Plan) Print(w io.Writer) error {
	for _, s := range p.services {
		if err := s.print(w); err != nil {
			return err
		}
	}
	return nil
}

// Addr is where a service is reached; empty if it is not a target.
func (p *Plan) Addr(name string) string {
	if s := find(p.services, name); s != nil {
		return dialable(s.server.Addr)
	}
	return ""
}

// Credentials reach a service for its health, with its own certificate where
// connections are secured.
func (p *Plan) Credentials(name string) (credentials.TransportCredentials, error) {
	if s := find(p.services, name); s != nil {
		return s.credentials()
	}
	return insecure.NewCredentials(), nil
}

// CAFile has the authorities that clients of a service believe; empty where its
// connections are plain.
func (p *Plan) CAFile(name string) string {
	if s := find(p.services, name); s != nil && s.server.TLS.Enabled() {
		return s.server.TLS.Visitor(name).CAFile
	}
	return ""
}

// Endpoints returns the distinct model endpoints configured, and whether some
// service has none and needs the local model server.
func (p *Plan) Endpoints() (endpoints []profile.Endpoint, needsLocal bool) {
	for _, s := range p.services {
		if s.llm == nil {
			continue
		}
		e := profile.Endpoint{BaseURL: s.llm.BaseURL, Model: s.llm.Model, APIKey: s.llm.APIKey}
		if s.needsModel() {
			needsLocal = true
		} else if !slices.Contains(endpoints, e) {
			endpoints = append(endpoints, e)
		}
	}
	return endpoints, needsLocal
}

// ReadingModel returns the name of the model that writes the answers, as its endpoint knows it.
func (p *Plan) ReadingModel() string {
	if s := find(p.services, "generator"); s != nil && !s.needsModel() {
		return s.llm.Model
	}
	return llamaserver.ModelName(p.model.Model)
}

// ModelServer returns how the local model server would be run.
func (p *Plan) ModelServer() ModelServer { return p.model }
