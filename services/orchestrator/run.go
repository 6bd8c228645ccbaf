package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/client"
	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/server"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	reflectorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/reflector/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/confidence"
	"github.com/triplemesh/triplemesh/services/orchestrator/feedback"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/console"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/mcp"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/openai"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/reports"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/rest"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// Config is the configuration of the orchestrator.
type Config struct {
	Server server.Config `koanf:"server"`
	// HTTP is the listener of REST, OpenAI's API, MCP, the console and reports.
	HTTP      web.Config       `koanf:"http"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	// Generator, Retriever, Verifier, Evaluator and Reflector are the stages.
	Generator client.Config `koanf:"generator"`
	Retriever client.Config `koanf:"retriever"`
	Verifier  client.Config `koanf:"verifier"`
	Evaluator client.Config `koanf:"evaluator"`
	Reflector client.Config `koanf:"reflector"`
	// Runs is the storage of answered questions.
	Runs RunsConfig `koanf:"runs"`
	// Feedback is the storage of feedback, beside the runs.
	Feedback FeedbackConfig `koanf:"feedback"`
	// Quotas are the usage limits by tenant; "*" is for tenants without an entry.
	Quotas quota.Config `koanf:"quotas"`
	// Confidence is the estimate of the probability that answers are right.
	Confidence ConfidenceConfig `koanf:"confidence"`
	// UncoveredLanguage says what to do with questions in a language that the labels of their knowledge
	// graphs are not in: "abstain", or "answer", for models and encoders of many languages.
	UncoveredLanguage string `koanf:"uncovered_language"`
	// Version is the version that GetMesh reports; empty is that of the build.
	Version string `koanf:"-"`
	// Ger bounds the search of the method ger.
	Ger method.GerConfig `koanf:"ger"`
}

// RunsConfig is the storage of answered questions.
type RunsConfig struct {
	// File is the database file. Only one orchestrator can open it at a time.
	File string `koanf:"file"`
	// Dir is a directory with a file for each run, for replicas of the orchestrator that share a
	// writable volume. If set, File is ignored.
	Dir string `koanf:"dir"`
	// Keep is the maximum number of runs of each tenant; the oldest are removed first. 0 keeps all.
	Keep int `koanf:"keep"`
	// TenantWide lets callers read all runs of their tenant. By default they read their own, and the
	// scope admin reads all.
	TenantWide bool `koanf:"tenant_wide"`
}

// FeedbackConfig is the storage of feedback.
type FeedbackConfig struct {
	// MaxMarks is the maximum number of marks of each tenant; more are refused. 0 is unlimited.
	MaxMarks int `koanf:"max_marks"`
}

// ConfidenceConfig selects the weights of the confidence model.
type ConfidenceConfig struct {
	// Weights is a file of weights, fitted on runs of the model and the knowledge graphs in use. The
	// built-in weights serve if it is empty, and for families of methods that it lacks.
	Weights string `koanf:"weights"`
	// Grounded is the least confidence, 0 to 1, of answers that count as grounded: triples name those
	// below it, but may not say them.
	Grounded float32 `koanf:"grounded"`
}

// DefaultConfig serves gRPC on port 9090 and HTTP on port 9080, and expects the stages on ports 9091
// to 9095.
func DefaultConfig() Config {
	return Config{
		Server:     server.DefaultConfig("127.0.0.1:9090"),
		HTTP:       web.DefaultConfig(),
		Telemetry:  telemetry.DefaultConfig(),
		Generator:  client.DefaultConfig("127.0.0.1:9091"),
		Retriever:  client.DefaultConfig("127.0.0.1:9092"),
		Verifier:   client.DefaultConfig("127.0.0.1:9093"),
		Evaluator:  client.DefaultConfig("127.0.0.1:9094"),
		Reflector:  client.DefaultConfig("127.0.0.1:9095"),
		Runs:       RunsConfig{File: ".triplemesh/runs.db", Keep: 10000},
		Feedback:   FeedbackConfig{MaxMarks: 100_000},
		Confidence: ConfidenceConfig{Grounded: 0.8},

		UncoveredLanguage: abstainUncovered,
		Ger:               method.GerConfig{MaxPaths: 10, MaxEnds: 100, MaxCandidates: 12},
	}
}

// Validate returns an error for the first invalid setting.
func (c Config) Validate() error {
	switch {
	case c.Runs.File == "" && c.Runs.Dir == "":
		return errors.New("runs.file: name a file to keep runs in, or in runs.dir a directory")
	case c.Runs.Keep < 0:
		return fmt.Errorf("runs.keep: %d is less than 0", c.Runs.Keep)
	case c.Feedback.MaxMarks < 0:
		return fmt.Errorf("feedback.max_marks: %d is less than 0", c.Feedback.MaxMarks)
	case c.UncoveredLanguage != abstainUncovered && c.UncoveredLanguage != answerUncovered:
		return fmt.Errorf("uncovered_language: %q is neither %s nor %s", c.UncoveredLanguage, abstainUncovered,
			answerUncovered)
	case !(c.Confidence.Grounded >= 0 && c.Confidence.Grounded <= 1):
		return fmt.Errorf("confidence.grounded: %g is not 0 to 1", c.Confidence.Grounded)
	case c.Ger.MaxPaths < 1 || c.Ger.MaxPaths > 64 || c.Ger.MaxCandidates < 1:
		return errors.New("ger.max_paths must be 1 to 64 and ger.max_candidates at least 1")
	}
	return nil
}

// open opens the run storage. report is called for each file that cannot be read.
func (c RunsConfig) open(report func(path string, err error)) (runs.Tenants, error) {
	if c.Dir != "" {
		return runs.OpenDir(c.Dir, c.Keep, report)
	}
	return runs.Open(c.File, c.Keep)
}

// quotaDir returns the directory of usage counts, beside the runs.
func (c RunsConfig) quotaDir() string {
	if c.Dir != "" {
		return filepath.Join(c.Dir, "quota")
	}
	return c.File + ".quota"
}

// feedbackDir returns the directory of feedback, beside the runs.
func (c RunsConfig) feedbackDir() string {
	if c.Dir != "" {
		return filepath.Join(c.Dir, "feedback")
	}
	return c.File + ".feedback"
}

// stageConns are the connections to the stages.
type stageConns struct {
	generator, retriever, verifier, evaluator, reflector *grpc.ClientConn
	peers                                                []Peer
}

func (c *stageConns) close() {
	for _, p := range c.peers {
		p.Conn.(*grpc.ClientConn).Close()
	}
}

func dialStages(cfg Config, tel *telemetry.Telemetry) (*stageConns, error) {
	c := &stageConns{}
	for _, stage := range []struct {
		name   string
		client client.Config
		conn   **grpc.ClientConn
	}{
		{"generator", cfg.Generator, &c.generator},
		{"retriever", cfg.Retriever, &c.retriever},
		{"verifier", cfg.Verifier, &c.verifier},
		{"evaluator", cfg.Evaluator, &c.evaluator},
		{"reflector", cfg.Reflector, &c.reflector},
	} {
		conn, err := client.Dial(stage.client, tel, client.WithTLS(stage.name, cfg.Server.TLS.Files),
			client.WithMeshToken(cfg.Server.Auth))
		if err != nil {
			c.close()
			return nil, err
		}
		*stage.conn = conn
		c.peers = append(c.peers, Peer{Name: stage.name, Conn: conn})
	}
	return c, nil
}

func (c *stageConns) stages() method.Stages {
	return method.Stages{
		Generator: generatorv1.NewGeneratorServiceClient(c.generator),
		Retriever: sources.New(retrieverv1.NewRetrieverServiceClient(c.retriever)),
		Verifier:  verifierv1.NewVerifierServiceClient(c.verifier),
		Evaluator: evaluatorv1.NewEvaluatorServiceClient(c.evaluator),
		Reflector: reflectorv1.NewReflectorServiceClient(c.reflector),
	}
}

// Run serves until ctx is cancelled.
func Run(ctx context.Context, cfg Config) (err error) {
	tel, err := telemetry.Start(ctx, cfg.Telemetry, "orchestrator")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tel.Shutdown(context.WithoutCancel(ctx))) }()

	conns, err := dialStages(cfg, tel)
	if err != nil {
		return err
	}
	defer conns.close()

	store, err := cfg.Runs.open(func(path string, err error) {
		tel.Logger().WarnContext(ctx, logRunFileSkipped, "path", path, "error", err)
	})
	if err != nil {
		return err
	}
	keeper := runs.NewKeeper(store, func(run *orchestratorv1.Run, err error) {
		tel.Logger().ErrorContext(ctx, logRunNotStored, "run", run.GetId(), "error", err)
	})
	defer func() { err = errors.Join(err, keeper.Close()) }()

	marks, err := feedback.Open(cfg.Runs.feedbackDir(), cfg.Feedback.MaxMarks, func(path string, err error) {
		tel.Logger().WarnContext(ctx, logFeedbackFileSkipped, "path", path, "error", err)
	})
	if err != nil {
		return err
	}
	quotas, err := quota.Open(cfg.Quotas, cfg.Runs.quotaDir(), func(err error) {
		tel.Logger().ErrorContext(ctx, logQuotaNotStored, "error", err)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, quotas.Close()) }()

	model, err := confidence.Load(cfg.Confidence.Weights)
	if err != nil {
		return err
	}
	stages := conns.stages()
	service, err := New(Options{
		Stages: stages, Methods: method.All(stages, cfg.Ger),
		KnowledgeGraphs: retrieverv1.NewKnowledgeGraphServiceClient(conns.retriever),
		Confidence:      model, MinGrounded: cfg.Confidence.Grounded,
		AnswerUncovered: cfg.UncoveredLanguage == answerUncovered,
		Runs:            keeper, TenantRuns: cfg.Runs.TenantWide, Feedback: marks, Quotas: quotas,
		Mesh:      Mesh{Stages: conns.peers, Version: config.Version(cfg.Version), TraceURL: cfg.HTTP.TraceURL},
		Telemetry: tel,
	})
	if err != nil {
		return err
	}
	srv, err := server.New(cfg.Server, tel)
	if err != nil {
		return err
	}
	service.Register(srv.Registrar())
	if err := forwardServices(srv.Registrar(), conns.retriever, &retrieverv1.RetrieverService_ServiceDesc,
		&retrieverv1.KnowledgeGraphService_ServiceDesc); err != nil {
		return err
	}
	if cfg.HTTP.Enabled() {
		conn, err := srv.Local()
		if err != nil {
			return err
		}
		defer conn.Close()
		front, err := newHTTPServer(cfg, conn, tel)
		if err != nil {
			return err
		}
		srv.SetFront(front)
	}
	return srv.Serve(ctx)
}

// newHTTPServer returns the HTTP server with all interfaces. They call the orchestrator through conn,
// like callers from outside.
func newHTTPServer(cfg Config, conn grpc.ClientConnInterface, tel *telemetry.Telemetry) (*web.Server, error) {
	secure, err := cfg.Server.TLS.HTTPS(tel)
	if err != nil {
		return nil, err
	}
	api, err := rest.New(conn, cfg.HTTP.Heartbeat)
	if err != nil {
		return nil, err
	}
	reports := reports.New(conn, cfg.HTTP.Reports)
	return web.New(cfg.HTTP, secure, tel,
		web.Route{Pattern: "/api/", Handler: api, Uploads: rest.Uploads},
		web.Route{Pattern: "GET /api/v1/reports", Handler: reports},
		web.Route{Pattern: "/reports/", Handler: reports},
		web.Route{Pattern: "/v1/", Handler: openai.New(conn, openai.Config{Heartbeat: cfg.HTTP.Heartbeat})},
		web.Route{Pattern: "/mcp", Handler: mcp.Handler(mcp.New(conn, config.Version(cfg.Version))),
			Endless: mcp.Endless},
		web.Route{Pattern: "/", Handler: console.Handler(), Files: true},
	)
}
