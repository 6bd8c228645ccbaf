package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print the findings as JSON."`
}

// Help is printed below the flags.
func (doctorCommand) Help() string {
	return "Exit codes: 0 everything that is needed is there; 1 something is missing."
}

// finding is one thing the doctor looked at.
type finding struct {
	Name string `json:"name"`
	// State is ok, off (not there, and not needed now) or missing.
	State string `json:"state"`
	Found string `json:"found"`
	// Mend says what to do; empty where there is nothing to do.
	Mend string `json:"mend,omitempty"`
}

const (
	ok      = "ok"
	off     = "off"
	missing = "missing"
)

// Run looks, prints, and fails where something is missing.
func (c *doctorCommand) Run(p *program) error {
	findings := p.examine()
	if c.JSON {
		if err := printIndented(p.stdout, findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(p.stdout, "%-8s %-14s %s\n", f.State, f.Name, show.Line(f.Found, 200))
			if f.Mend != "" {
				fmt.Fprintf(p.stdout, "%-8s %-14s → %s\n", "", "", f.Mend)
			}
		}
	}
	for _, f := range findings {
		if f.State == missing {
			return exitError{exitFailed, errSilent}
		}
	}
	return nil
}

func (p *program) examine() []finding {
	all := []finding{{Name: "version", State: ok, Found: p.version}}
	plan, err := mesh.ReadPlan(mesh.Options{Home: p.home, Sources: p.sources})
	if err != nil {
		return append(all, finding{"configuration", missing, err.Error(), "correct the setting; `triplemesh up --print-config` shows where each value comes from"})
	}
	endpoints, local := plan.Endpoints()
	all = append(all, finding{Name: "configuration", State: ok, Found: orNone(p.sources.File, "no file; defaults and environment")})
	all = append(all, p.assets(local)...)
	all = append(all, p.folder("cache", p.home.Cache), p.folder("data", p.home.Data))
	for _, e := range endpoints {
		all = append(all, p.endpoint(e))
	}
	for _, name := range mesh.StageNames() {
		all = append(all, p.service(plan, name))
	}
	if !p.access.secure() {
		p.access.CA = plan.CAFile("retriever")
	}
	return append(all, p.graphsThere(plan.Addr("retriever")))
}

// assets are the fetched files. The model and its server are needed only where
// no other endpoint is configured.
func (p *program) assets(local bool) []finding {
	var all []finding
	incomplete := false
	for _, s := range setup.Look(p.home.Cache) {
		f := finding{Name: s.Name, State: ok, Found: s.Path, Mend: s.Mend}
		forModel := s.Name == "model" || s.Name == "llama-server"
		switch {
		case s.OK:
		case forModel && !local:
			f.State, f.Found, f.Mend = off, "another model endpoint is configured", ""
		default:
			f.State, incomplete = missing, true
		}
		all = append(all, f)
	}
	if incomplete {
		all = append(all, p.tools()...)
	}
	return all
}

// tools are what setup needs.
func (p *program) tools() []finding {
	var all []finding
	pip := finding{Name: "python", State: ok, Found: "python3 with pip"}
	if out, err := exec.CommandContext(p.ctx, "python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		pip.State, pip.Found = missing, strings.TrimSpace(string(out)+" "+err.Error())
		pip.Mend = "install Python 3.8 or newer with pip (on Debian and Ubuntu: apt install python3-pip)"
	}
	all = append(all, pip)
	for _, tool := range []string{"cmake", "make", "c++"} {
		f := finding{Name: tool, State: ok}
		path, err := exec.LookPath(tool)
		if f.Found = path; err != nil {
			f.State, f.Found = missing, "not on PATH"
			f.Mend = "install cmake, make and a C++ compiler (on Debian and Ubuntu: apt install cmake make g++), or put a llama-server on PATH"
		}
		all = append(all, f)
	}
	return all
}

// folder tells whether triplemesh can write there.
func (p *program) folder(name, dir string) finding {
	f := finding{Name: name, State: ok, Found: dir}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".doctor"); err == nil {
			_ = probe.Close()
			err = os.Remove(probe.Name())
		}
	}
	if err != nil {
		f.State, f.Found = missing, err.Error()
		f.Mend = "make the folder writable, or name another with --" + name
	}
	return f
}

// endpoint asks a model endpoint for its models, which costs nothing.
func (p *program) endpoint(e mesh.Endpoint) finding {
	f := finding{Name: "model endpoint", State: ok, Found: e.BaseURL + ", model " + e.Model}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(e.BaseURL, "/")+"/models", nil)
	if err == nil {
		if e.APIKey != "" {
			req.Header.Set("Authorization", "Bearer "+e.APIKey)
		}
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
				err = fmt.Errorf("it refuses the key: %s", resp.Status)
			}
		}
	}
	if err != nil {
		f.State, f.Found = missing, err.Error()
		f.Mend = "start the endpoint, or correct OPENAI_BASE_URL and OPENAI_API_KEY, or unset them to use the local model"
	}
	return f
}

// service asks a service for its health, as it is configured.
func (p *program) service(plan *mesh.Plan, name string) finding {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	addr := plan.Addr(name)
	secure, err := plan.Credentials(name)
	if err != nil {
		return finding{name, missing, err.Error(), "correct server.tls, or make certificates with `triplemesh certs`"}
	}
	if err := mesh.Serving(ctx, addr, secure); err != nil {
		f := finding{Name: name, State: off, Found: "nothing serves at " + addr, Mend: ""}
		if why := p.access.whyNot(err); why != "" {
			f.Found = fmt.Sprintf("what serves at %s cannot be asked: %s", addr, why)
		}
		if name == "orchestrator" {
			f.Mend = "start the mesh with `triplemesh up`"
		}
		return f
	}
	return finding{Name: name, State: ok, Found: "serving at " + addr}
}

// graphsThere asks the retriever which knowledge graphs have an active
// snapshot.
func (p *program) graphsThere(retriever string) finding {
	f := finding{Name: "knowledge graph", State: ok}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var names []string
	if conn, err := p.dial(retriever, "retriever", telemetry.Discard()); err == nil {
		defer conn.Close()
		resp, err := retrieverv1.NewKnowledgeGraphServiceClient(conn).List(ctx, &retrieverv1.ListRequest{})
		if err != nil {
			f.State, f.Found = off, "the retriever does not run, which keeps them"
			return f
		}
		for _, s := range resp.GetSnapshots() {
			if s.GetActive() {
				names = append(names, fmt.Sprintf("%s (%d triples, built %s)", refText(s.GetKg()), s.GetTriples(), s.GetCreated().AsTime().Local().Format(time.DateOnly)))
			}
		}
	}
	if len(names) == 0 {
		f.State, f.Found = missing, "none"
		f.Mend = "load one: triplemesh kg load wikidata examples/wikidata/triples.tsv.gz"
	} else {
		f.Found = strings.Join(names, ", ")
	}
	return f
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}
