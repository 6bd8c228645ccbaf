package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
)

type upCommand struct {
	Target      []string `default:"all" placeholder:"NAME,…" help:"Services to run: all, or some of orchestrator, generator, retriever, verifier, evaluator, reflector. (default: ${default})"`
	Certs       string   `type:"path" placeholder:"DIR" help:"Secure every connection by the certificates that triplemesh certs made in DIR."`
	PrintConfig bool     `help:"Print the configuration with where each value comes from, secrets hidden, and end."`
}

// Help is printed below the flags.
func (upCommand) Help() string {
	return `Ports: orchestrator 9090 and, for the console and all else that speaks HTTP, 9080 (orchestrator.http.addr), generator 9091, retriever 9092, verifier 9093, evaluator 9094, reflector 9095; each can be set (--set verifier.server.addr=127.0.0.1:9193).

A model endpoint is configured by OPENAI_BASE_URL, OPENAI_API_KEY and llm.model (--set llm.model=NAME), or for one service alone (--set evaluator.llm.model=NAME). With none, a local llama-server is started and kept running.`
}

// Run serves until it is interrupted.
func (c *upCommand) Run(p *program) error {
	if c.Certs != "" {
		p.sources.Set = withCerts(p.sources.Set, c.Certs)
	}
	opts := mesh.Options{
		Home: p.home, Targets: c.Target, Sources: p.sources, Version: p.version, Log: p.stderr,
		Tell: func(s string) { fmt.Fprintln(p.stderr, "triplemesh:", s) },
	}
	if c.PrintConfig {
		plan, err := mesh.ReadPlan(opts)
		if err != nil {
			return exitError{exitUsage, err}
		}
		return plan.Print(p.stdout)
	}
	m, err := mesh.New(opts)
	if err != nil {
		return exitError{exitUsage, err}
	}
	err = m.Run(p.ctx, func() {
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
		fmt.Fprintf(p.stderr, "triplemesh: ready\n%s\nask with: triplemesh ask%s \"…\"; Ctrl-C ends it\n", strings.Join(where, "\n"), ca)
	})
	if p.ctx.Err() != nil && errors.Is(err, p.ctx.Err()) {
		return nil
	}
	return err
}
