package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/progress"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
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
	serves := map[string]bool{}
	for _, name := range mesh.StageNames() {
		f := p.service(plan, name)
		serves[name] = f.State == ok
		all = append(all, f)
	}
	if serves["orchestrator"] {
		all = append(all, p.sameVersion(plan)...)
	}
	if !p.access.secure() {
		p.access.CA = plan.CAFile("retriever")
	}
	if !serves["retriever"] {
		return append(all, finding{Name: "knowledge graph", State: off, Found: "the retriever does not run, which keeps them"})
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
		return f
	}
	if free, err := setup.Free(dir); err == nil {
		f.Found += ", " + progress.Size(free) + " free"
		if free < leastSpace {
			f.State, f.Mend = missing, "make room on that disk, or name another folder with --"+name
		}
	}
	return f
}

// leastSpace is what a disk must have free for anything to work, in bytes.
const leastSpace = 100 << 20

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}
