package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/terminal"
	web "github.com/triplemesh/triplemesh/services/orchestrator/http"
	"github.com/triplemesh/triplemesh/services/orchestrator/http/mcp"
)

type upCommand struct {
	Target      []string `default:"all" placeholder:"NAME,…" help:"${up_target}"`
	Certs       string   `type:"path" placeholder:"DIR" help:"${up_certs}"`
	PrintConfig bool     `help:"Print the configuration with the source of each value, secrets redacted, and exit."`
}

func (upCommand) Help() string {
	return "Ports: orchestrator 9090 and, for the console and all else that speaks HTTP, 9080 " +
		"(orchestrator.http.addr), generator 9091, retriever 9092, verifier 9093, evaluator 9094, reflector 9095; " +
		"each can be set (--set verifier.server.addr=127.0.0.1:9193).\n\nA model endpoint is configured by " +
		"OPENAI_BASE_URL, OPENAI_API_KEY and llm.model (--set llm.model=NAME), or for one service alone (--set " +
		"evaluator.llm.model=NAME). With none, a local llama-server is started and kept running.\n\nOn a terminal it " +
		"logs warnings and errors; --set telemetry.log_level=info shows every RPC."
}

// Run serves until it is interrupted.
func (c *upCommand) Run(p *Program) error {
	if c.Certs != "" {
		p.Sources.Set = withCerts(p.Sources.Set, c.Certs)
	}
	opts := mesh.Options{
		Home: p.Home, Targets: c.Target, Sources: p.Sources, Version: p.version, Log: p.Stderr,
		Tell: func(s string) { fmt.Fprintln(p.Stderr, "triplemesh:", s) },
	}
	if terminal.IsTerminal(p.Stderr) { // a line for each RPC would hide the banner
		opts.LogLevel = "warn"
	}
	if c.PrintConfig {
		plan, err := mesh.ReadPlan(opts)
		if err != nil {
			return ExitError{ExitUsage, err}
		}
		return plan.Print(p.Stdout)
	}
	m, err := mesh.New(opts)
	if err != nil {
		return ExitError{ExitUsage, err}
	}
	err = m.Run(p.Ctx, func() {
		var where []string
		for _, name := range mesh.StageNames() {
			if addr := m.Addr(name); addr != "" {
				where = append(where, fmt.Sprintf("  %-13s %s", name, addr))
			}
		}
		if url := m.URL(); url != "" {
			where = append(where, fmt.Sprintf("  %-13s %s", "console", url))
		}
		ca := ""
		if c.Certs != "" {
			ca = " --ca " + filepath.Join(c.Certs, caFile)
		}
		fmt.Fprintf(p.Stderr, "triplemesh: ready\n%s\nask with: triplemesh ask%s \"…\"; Ctrl-C ends it\n",
			strings.Join(where, "\n"), ca)
	})
	if p.Ctx.Err() != nil && errors.Is(err, p.Ctx.Err()) {
		return nil
	}
	return err
}

type setupCommand struct {
	Encoder     bool   `default:"true" negatable:"" help:"The encoder, for searching by meaning (106 MB to fetch)."`
	Runtime     bool   `default:"true" negatable:"" help:"ONNX Runtime, which runs the encoder (24 MB)."`
	Model       bool   `default:"true" negatable:"" help:"The language model, Qwen2.5-Coder-1.5B-Instruct (1.1 GB)."`
	ModelServer bool   `default:"true" negatable:"" help:"${setup_model_server}"`
	Own         bool   `help:"Build llama-server from source, for this processor (37 MB; minutes)."`
	ServerURL   string `name:"model-server-url" placeholder:"URL" help:"${setup_server_url}"`
	ServerSum   string `name:"model-server-sha256" placeholder:"SUM" help:"SHA-256 of that archive."`
	Verify      bool   `help:"Read every file again and compare its checksum."`
	Python      string `default:"python3" placeholder:"PATH" help:"${setup_python}"`
}

func (c *setupCommand) Run(p *Program) error {
	return setup.Run(p.Ctx, setup.Options{
		Cache: p.Home.Cache, Python: c.Python,
		SkipEncoder: !c.Encoder, SkipRuntime: !c.Runtime, SkipModel: !c.Model, SkipServer: !c.ModelServer,
		OwnServer: c.Own, ServerArchive: setup.Archive{URL: c.ServerURL, SHA256: c.ServerSum}, Again: c.Verify,
		Out: p.terminal(),
	})
}

type mcpCommand struct {
	ServerFlags
	HTTP string `name:"http" placeholder:"ADDR" help:"${mcp_http}"`
}

func (mcpCommand) Help() string {
	return "A program that speaks the Model Context Protocol runs this itself and talks to it over standard input " +
		"and output; everything else is said on standard error. docs/mcp.md shows how to tell it to, and what the " +
		"tools do.\n\nA mesh that runs serves the same at /mcp of its HTTP port. With --http every caller shows a " +
		"token of their own, and yours is not sent."
}

// Run serves until the client is gone or the program is interrupted.
func (c *mcpCommand) Run(p *Program) error {
	if c.HTTP != "" {
		p.Access.TokenFlags = TokenFlags{}
	}
	p.waits = true
	s, err := p.Connect(c.Server, c.Local, mesh.StageNames()...)
	if err != nil {
		return err
	}
	server := mcp.New(s, p.version)
	if c.HTTP != "" {
		err = c.serveHTTP(p, server)
	} else {
		err = mcp.Serve(p.Ctx, server, &sdk.IOTransport{Reader: closable(p.stdin), Writer: unclosed{p.Stdout}})
	}
	if p.Ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.Close())
}

func (c *mcpCommand) serveHTTP(p *Program, server *sdk.Server) error {
	tel, err := telemetry.Start(p.Ctx, telemetry.Config{LogLevel: "warn", LogWriter: p.Stderr}, "triplemesh")
	if err != nil {
		return err
	}
	defer func() { _ = tel.Shutdown(context.WithoutCancel(p.Ctx)) }()
	cfg := web.DefaultConfig()
	cfg.Addr = c.HTTP
	if cfg.Listener, err = net.Listen("tcp", c.HTTP); err != nil {
		return usageError("--http: %w", err)
	}
	front, err := web.New(cfg, nil, tel, web.Route{Pattern: "/mcp", Handler: mcp.Handler(server), Endless: mcp.Endless})
	if err == nil {
		err = front.Listen()
	}
	if err != nil {
		return errors.Join(err, cfg.Listener.Close())
	}
	fmt.Fprintf(p.Stderr, "triplemesh: serving the Model Context Protocol at http://%s/mcp; Ctrl-C ends it\n",
		cfg.Listener.Addr())
	served := make(chan error, 1)
	go func() { served <- front.Serve() }()
	select {
	case err := <-served:
		return err
	case <-p.Ctx.Done():
		_ = front.Close() // aborts calls in flight: clients can retry
		return <-served
	}
}

// closable lets the protocol's library stop reading where the input can be
// closed, as standard input can.
func closable(r io.Reader) io.ReadCloser {
	if c, ok := r.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(r)
}

// unclosed keeps standard output open.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }
