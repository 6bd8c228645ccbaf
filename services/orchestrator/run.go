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
	"github.com/triplemesh/triplemesh/services/orchestrator/forward"
	"github.com/triplemesh/triplemesh/services/orchestrator/method"
	"github.com/triplemesh/triplemesh/services/orchestrator/quota"
	"github.com/triplemesh/triplemesh/services/orchestrator/runs"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
	"github.com/triplemesh/triplemesh/services/orchestrator/web"
)

// Config is what the orchestrator can be told.
type Config struct {
	Server server.Config `koanf:"server"`
	// HTTP is where those who do not speak gRPC come in.
	HTTP      web.Config       `koanf:"http"`
	Telemetry telemetry.Config `koanf:"telemetry"`
	// Generator, Retriever, Verifier, Evaluator and Reflector are where the
	// stages are.
	Generator client.Config `koanf:"generator"`
	Retriever client.Config `koanf:"retriever"`
	Verifier  client.Config `koanf:"verifier"`
	Evaluator client.Config `koanf:"evaluator"`
	Reflector client.Config `koanf:"reflector"`
	// Runs is where answered questions are kept.
	Runs RunsConfig `koanf:"runs"`
	// Quotas are what tenants may use, by tenant; "*" is for those that are not
	// named.
	Quotas quota.Config `koanf:"quotas"`
	// Confidence is how sure answers are.
	Confidence ConfidenceConfig `koanf:"confidence"`
	// Version is the build's, as GetMesh tells it; empty takes the commit that it
	// was built from.
	Version string `koanf:"-"`
	// Ger bounds how far the method ger looks.
	Ger method.GerConfig `koanf:"ger"`
}

// RunsConfig is where answered questions are kept.
type RunsConfig struct {
	// File is the database file, which one orchestrator has open at a time: for
	// a mesh with one.
	File string `koanf:"file"`
	// Dir is a directory with a file for each run, which several orchestrators
	// share: for replicas, on a volume that all of them can write. Where it is
	// set, File is left alone.
	Dir string `koanf:"dir"`
	// Keep is the most runs kept of each tenant; the oldest go first. 0 keeps
	// all.
	Keep int `koanf:"keep"`
}

// ConfidenceConfig is how sure answers are.
type ConfidenceConfig struct {
	// Weights is a file of weights, fitted on runs of the model and the
	// knowledge graphs in use. Empty takes those built in, as do the families of
	// methods that the file does not have.
	Weights string `koanf:"weights"`
}

// DefaultConfig serves gRPC on port 9090 and HTTP on port 9080, and finds the
// stages on the ports after 9090.
func DefaultConfig() Config {
	return Config{
		Server:    server.DefaultConfig("127.0.0.1:9090"),
		HTTP:      web.DefaultConfig(),
		Telemetry: telemetry.DefaultConfig(),
		Generator: client.DefaultConfig("127.0.0.1:9091"),
		Retriever: client.DefaultConfig("127.0.0.1:9092"),
		Verifier:  client.DefaultConfig("127.0.0.1:9093"),
		Evaluator: client.DefaultConfig("127.0.0.1:9094"),
		Reflector: client.DefaultConfig("127.0.0.1:9095"),
		Runs:      RunsConfig{File: ".triplemesh/runs.db", Keep: 10000},
		Ger:       method.GerConfig{MaxPaths: 10, MaxEnds: 100, MaxCandidates: 12},
	}
}

// Validate names the first setting that cannot be.
func (c Config) Validate() error {
	switch {
	case c.Runs.File == "" && c.Runs.Dir == "":
		return errors.New("runs.file: name a file to keep runs in, or in runs.dir a directory")
	case c.Runs.Keep < 0:
		return fmt.Errorf("runs.keep: %d is less than 0", c.Runs.Keep)
	case c.Ger.MaxPaths < 1 || c.Ger.MaxPaths > 64 || c.Ger.MaxCandidates < 1:
		return errors.New("ger.max_paths must be 1 to 64 and ger.max_candidates at least 1")
	}
	return nil
}

// open opens the place that runs are kept in. report is told of what in it
// cannot be read.
func (c RunsConfig) open(report func(path string, err error)) (runs.Tenants, error) {
	if c.Dir != "" {
		return runs.OpenDir(c.Dir, c.Keep, report)
	}
	return runs.Open(c.File, c.Keep)
}

// quotas is the directory that what tenants used is counted in: beside the runs.
func (c RunsConfig) quotas() string {
	if c.Dir != "" {
		return filepath.Join(c.Dir, "quota")
	}
	return c.File + ".quota"
}

// Run serves until ctx ends.
func Run(ctx context.Context, cfg Config) (err error) {
	tel, err := telemetry.Start(ctx, cfg.Telemetry, "orchestrator")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tel.Shutdown(context.WithoutCancel(ctx))) }()

	var conns [5]*grpc.ClientConn
	mesh := Mesh{Version: config.Version(cfg.Version), TraceURL: cfg.HTTP.TraceURL}
	for i, stage := range []struct {
		name   string
		client client.Config
	}{
		{"generator", cfg.Generator}, {"retriever", cfg.Retriever}, {"verifier", cfg.Verifier},
		{"evaluator", cfg.Evaluator}, {"reflector", cfg.Reflector},
	} {
		if conns[i], err = client.Dial(stage.client.To(stage.name, cfg.Server.TLS.Files).Meshed(cfg.Server.Auth), tel); err != nil {
			return err
		}
		defer conns[i].Close()
		mesh.Stages = append(mesh.Stages, Peer{Name: stage.name, Conn: conns[i]})
	}
	stages := method.Stages{
		Generator: generatorv1.NewGeneratorServiceClient(conns[0]),
		Retriever: sources.New(retrieverv1.NewRetrieverServiceClient(conns[1])),
		Verifier:  verifierv1.NewVerifierServiceClient(conns[2]),
		Evaluator: evaluatorv1.NewEvaluatorServiceClient(conns[3]),
		Reflector: reflectorv1.NewReflectorServiceClient(conns[4]),
	}

	kept, err := cfg.Runs.open(func(path string, err error) {
		tel.Logger().WarnContext(ctx, "a file in the directory of runs was passed over", "path", path, "error", err)
	})
	if err != nil {
		return err
	}
	keeper := runs.NewKeeper(kept, func(run *orchestratorv1.Run, err error) {
		tel.Logger().ErrorContext(ctx, "a run was answered but not kept", "run", run.GetId(), "error", err)
	})
	defer func() { err = errors.Join(err, keeper.Close()) }()

	quotas, err := quota.Open(cfg.Quotas, cfg.Runs.quotas(), func(err error) {
		tel.Logger().ErrorContext(ctx, "what tenants used is counted in memory alone", "error", err)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, quotas.Close()) }()

	sure, err := confidence.Load(cfg.Confidence.Weights)
	if err != nil {
		return err
	}
	service, err := New(stages, method.All(stages, cfg.Ger), retrieverv1.NewKnowledgeGraphServiceClient(conns[1]), sure, keeper, quotas, tel)
	if err != nil {
		return err
	}
	service.Knows(mesh)
	srv, err := server.New(cfg.Server, tel)
	if err != nil {
		return err
	}
	service.Register(srv.Registrar())
	if err := forward.Register(srv.Registrar(), conns[1], &retrieverv1.RetrieverService_ServiceDesc, &retrieverv1.KnowledgeGraphService_ServiceDesc); err != nil {
		return err
	}
	if cfg.HTTP.On() {
		conn, err := srv.Local()
		if err != nil {
			return err
		}
		defer conn.Close()
		front, err := openDoors(cfg, conn, tel)
		if err != nil {
			return err
		}
		srv.Before(front)
	}
	return srv.Serve(ctx)
}
