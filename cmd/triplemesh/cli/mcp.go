package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/services/orchestrator/mcp"
	"github.com/triplemesh/triplemesh/services/orchestrator/web"
)

type mcpCommand struct {
	serverFlags
	HTTP string `name:"http" placeholder:"ADDR" help:"Serve streamable HTTP at this address, host:port, in the place of standard input and output."`
}

// Help is printed below the flags.
func (mcpCommand) Help() string {
	return `A program that speaks the Model Context Protocol runs this itself and talks to it over standard input and output; everything else is said on standard error. docs/mcp.md shows how to tell it to, and what the tools do.

A mesh that runs serves the same at /mcp of its HTTP port. With --http every caller shows a token of their own, and yours is not sent.`
}

// Run serves until the client is gone or the program is interrupted.
func (c *mcpCommand) Run(p *program) error {
	if c.HTTP != "" {
		p.access.tokenFlags = tokenFlags{}
	}
	s, err := c.open(p)
	if err != nil {
		return err
	}
	server := mcp.New(s, p.version)
	if c.HTTP != "" {
		err = c.serveHTTP(p, server)
	} else {
		err = mcp.Serve(p.ctx, server, &sdk.IOTransport{Reader: closable(p.stdin), Writer: unclosed{p.stdout}})
	}
	if p.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.end())
}

// open connects to a mesh, or runs one. A mesh that is not there yet is no
// reason to end: programs start their servers first and ask much later.
func (c *mcpCommand) open(p *program) (*session, error) {
	if c.Local {
		return p.connect(c.Server, true, mesh.StageNames()...)
	}
	tel, err := telemetry.Start(p.ctx, telemetry.Config{LogLevel: "warn", LogWriter: p.stderr}, "triplemesh")
	if err != nil {
		return nil, err
	}
	end := func() error { return tel.Shutdown(context.WithoutCancel(p.ctx)) }
	conn, err := p.dial(c.Server, "orchestrator", tel)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	if err := p.reachable(c.Server, "orchestrator"); err != nil {
		fmt.Fprintf(p.stderr, "triplemesh: %v; waiting for questions all the same\n", err)
	}
	return &session{ClientConn: conn, end: func() error { return errors.Join(conn.Close(), end()) }}, nil
}

func (c *mcpCommand) serveHTTP(p *program, server *sdk.Server) error {
	tel, err := telemetry.Start(p.ctx, telemetry.Config{LogLevel: "warn", LogWriter: p.stderr}, "triplemesh")
	if err != nil {
		return err
	}
	defer func() { _ = tel.Shutdown(context.WithoutCancel(p.ctx)) }()
	cfg := web.DefaultConfig()
	cfg.Addr = c.HTTP
	if cfg.Listener, err = net.Listen("tcp", c.HTTP); err != nil {
		return exitError{exitUsage, fmt.Errorf("--http: %w", err)}
	}
	front, err := web.New(cfg, nil, tel, web.Door{Pattern: "/mcp", Handler: mcp.Handler(server), Endless: mcp.Endless})
	if err == nil {
		err = front.Listen()
	}
	if err != nil {
		return errors.Join(err, cfg.Listener.Close())
	}
	fmt.Fprintf(p.stderr, "triplemesh: serving the Model Context Protocol at http://%s/mcp; Ctrl-C ends it\n", cfg.Listener.Addr())
	served := make(chan error, 1)
	go func() { served <- front.Serve() }()
	select {
	case err := <-served:
		return err
	case <-p.ctx.Done():
		_ = front.Close() // what is under way is cut: whoever asked can ask again
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
