package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/setup"
	"github.com/triplemesh/triplemesh/cmd/triplemesh/show"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/paging"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	"github.com/triplemesh/triplemesh/internal/terminal"
	"github.com/triplemesh/triplemesh/lab/profile"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

type doctorCommand struct {
	JSON      bool `name:"json" help:"Print the findings as JSON."`
	TestModel bool `help:"First measure how well the model reads facts, and keep its profile."`
}

func (doctorCommand) Help() string {
	return "Exit codes: 0 everything required works; 1 something is missing.\n\n--test-model has the model read two " +
		"dozen lists of invented facts and judge answers to them, some 70 calls. `triplemesh up` then uses the " +
		"settings that suit it where llm.reader is auto; for other deployments they are printed."
}

// finding is the result of one check.
type finding struct {
	Name string `json:"name"`
	// State is ok, off (absent and not required) or missing.
	State string `json:"state"`
	Found string `json:"found"`
	// Mend is what the user should do; empty if nothing.
	Mend string `json:"mend,omitempty"`
}

const (
	ok      = "ok"
	off     = "off"
	missing = "missing"
)

// Run checks, prints, and fails if something is missing.
func (c *doctorCommand) Run(p *Program) error {
	if c.TestModel {
		if err := p.testModel(); err != nil {
			return err
		}
	}
	findings := p.examine()
	if c.JSON {
		if err := printIndented(p.Stdout, findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(p.Stdout, "%-8s %-14s %s\n", f.State, f.Name, show.Line(f.Found, 200))
			if f.Mend != "" {
				fmt.Fprintf(p.Stdout, "%-8s %-14s → %s\n", "", "", f.Mend)
			}
		}
	}
	for _, f := range findings {
		if f.State == missing {
			return ExitError{ExitFailed, errSilent}
		}
	}
	return nil
}

func (p *Program) examine() []finding {
	all := []finding{{Name: "version", State: ok, Found: p.version}}
	plan, err := mesh.ReadPlan(mesh.Options{Home: p.Home, Sources: p.Sources})
	if err != nil {
		return append(all, finding{"configuration", missing, err.Error(),
			"correct the setting; `triplemesh up --print-config` shows the source of each value"})
	}
	endpoints, local := plan.Endpoints()
	all = append(all, finding{Name: "configuration", State: ok, Found: cmp.Or(p.Sources.File,
		"no file; defaults and environment")})
	all = append(all, p.assets(local)...)
	all = append(all, p.folder("cache", p.Home.Cache), p.folder("data", p.Home.Data))
	for _, e := range endpoints {
		all = append(all, p.endpoint(e))
	}
	all = append(all, p.modelProfile(plan.ReadingModel()))
	serves := map[string]bool{}
	for _, name := range mesh.StageNames() {
		f := p.service(plan, name)
		serves[name] = f.State == ok
		all = append(all, f)
	}
	if serves["orchestrator"] {
		all = append(all, p.sameVersion(plan)...)
	}
	if !p.Access.usesTLS() {
		p.Access.CA = plan.CAFile("retriever")
	}
	if !serves["retriever"] {
		return append(all, finding{Name: "knowledge graph", State: off,
			Found: "the retriever is not running"})
	}
	return append(all, p.graphsThere(plan.Addr("retriever")))
}

// assets checks the downloaded files. The model and its server are required only if no other
// endpoint is configured.
func (p *Program) assets(local bool) []finding {
	var all []finding
	incomplete := false
	for _, s := range setup.Inspect(p.Home.Cache) {
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

// tools checks the programs that setup needs.
func (p *Program) tools() []finding {
	var all []finding
	pip := finding{Name: "python", State: ok, Found: "python3 with pip"}
	if out, err := exec.CommandContext(p.Ctx, "python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		pip.State, pip.Found = missing, strings.TrimSpace(string(out)+" "+err.Error())
		pip.Mend = "install Python 3.8 or newer with pip (on Debian and Ubuntu: apt install python3-pip)"
	}
	all = append(all, pip)
	for _, tool := range []string{"cmake", "make", "c++"} {
		f := finding{Name: tool, State: ok}
		path, err := exec.LookPath(tool)
		if f.Found = path; err != nil {
			f.State, f.Found = missing, "not on PATH"
			f.Mend = "needed only if the prebuilt llama-server does not run here: install cmake, make and a C++ " +
				"compiler (on Debian and Ubuntu: apt install cmake make g++), or put a llama-server on PATH"
		}
		all = append(all, f)
	}
	return all
}

// folder checks that a directory is writable and has free space.
func (p *Program) folder(name, dir string) finding {
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
		f.Mend = "make the directory writable, or choose another with --" + name
		return f
	}
	if free, err := setup.FreeSpace(dir); err == nil {
		f.Found += ", " + terminal.FormatSize(free) + " free"
		if free < leastSpace {
			f.State, f.Mend = missing, "free space on that disk, or choose another directory with --"+name
		}
	}
	return f
}

// leastSpace is the required free disk space, in bytes.
const leastSpace = 100 << 20

// service probes the health of a service at its configured address.
func (p *Program) service(plan *mesh.Plan, name string) finding {
	ctx, cancel := context.WithTimeout(p.Ctx, probeTimeout)
	defer cancel()
	addr := plan.Addr(name)
	secure, err := plan.Credentials(name)
	if err != nil {
		return finding{name, missing, err.Error(), "correct server.tls, or make certificates with `triplemesh certs`"}
	}
	if err := mesh.Serving(ctx, addr, secure); err != nil {
		f := finding{Name: name, State: off, Found: "nothing listens at " + addr}
		if name == "orchestrator" {
			f.Mend = "start the mesh with `triplemesh up`"
		}
		why := p.Access.explainRefusal(err)
		switch {
		case errors.Is(err, mesh.ErrNotServing):
			f.Found, f.Mend = addr+": "+err.Error(), ""
		case speaksHTTP(p.Ctx, addr) || why == "" && isListening(p.Ctx, addr):
			f.State, f.Found = missing, fmt.Sprintf("the port is in use: another program than the %s listens at %s",
				name,
				addr)
			f.Mend = fmt.Sprintf("stop it, or set %s.server.addr to another port", name)
		case why != "":
			f.State, f.Found = missing, fmt.Sprintf("connect to %s: %s", addr, why)
			f.Mend = fmt.Sprintf("correct --tls, --ca, --cert and --key; if it is not the %s, stop it or set "+
				"%s.server.addr to another port", name, name)
		}
		return f
	}
	return finding{Name: name, State: ok, Found: "serving at " + addr}
}

// graphsThere checks that a knowledge graph is active and that the retriever's encoder fits it.
func (p *Program) graphsThere(retriever string) finding {
	f := finding{Name: "knowledge graph", State: ok}
	ctx, cancel := context.WithTimeout(p.Ctx, probeTimeout)
	defer cancel()
	var names []string
	var snapshots []*retrieverv1.SnapshotInfo
	conn, err := p.Dial(retriever, "retriever", telemetry.Discard())
	if err == nil {
		defer conn.Close()
		snapshots, err = paging.KnowledgeGraphs(ctx, retrieverv1.NewKnowledgeGraphServiceClient(conn), "")
	}
	if err != nil {
		f.State, f.Found = off, "the retriever is not running"
		return f
	}
	for _, s := range snapshots {
		if !s.GetActive() {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%d triples, built %s)", kgtext.FormatKG(s.GetKg()),
			s.GetTriples(), s.GetCreateTime().AsTime().Local().Format(time.DateOnly)))
		_, err := retrieverv1.NewRetrieverServiceClient(conn).SearchTriples(ctx,
			&retrieverv1.SearchTriplesRequest{Kg: s.GetKg(), Queries: []string{"anything"}})
		if status.Code(err) == codes.FailedPrecondition { // the encoder is not that of the vectors
			f.State, f.Found, f.Mend = missing, advice(err), "reload the knowledge graph, or configure the encoder "+
				"of its vectors (retriever.encoder)"
			return f
		}
	}
	if len(names) == 0 {
		f.State, f.Found = missing, "none"
		f.Mend = "load one with triplemesh kg load wikidata examples/wikidata/triples.tsv.gz"
	} else {
		f.Found = strings.Join(names, ", ")
	}
	return f
}

// sameVersion compares the version of the running mesh with this program's.
func (p *Program) sameVersion(plan *mesh.Plan) []finding {
	ctx, cancel := context.WithTimeout(p.Ctx, probeTimeout)
	defer cancel()
	conn, err := p.Dial(plan.Addr("orchestrator"), "orchestrator", telemetry.Discard())
	if err != nil {
		return nil
	}
	defer conn.Close()
	const mend = "restart the mesh with this program's `triplemesh up`"
	resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).GetMesh(ctx, &orchestratorv1.GetMeshRequest{})
	switch running := resp.GetVersion(); {
	case status.Code(err) == codes.Unimplemented:
		return []finding{{"mesh version", missing, "the running mesh is older than this program, " +
			p.version, mend}}
	case err != nil || running == "" || running == p.version:
		return nil
	default:
		return []finding{{"mesh version", missing, fmt.Sprintf("the running mesh is %s, this program is %s", running,
			p.version), mend}}
	}
}

// answerWithin bounds the wait for a short model answer. A slower model is not an error: it may
// be loading or busy.
const answerWithin = 15 * time.Second

// endpoint requests a short answer from a model endpoint.
func (p *Program) endpoint(e profile.Endpoint) finding {
	f := finding{Name: "model endpoint", State: ok, Found: e.BaseURL + ", model " + e.Model}
	ctx, cancel := context.WithTimeout(p.Ctx, answerWithin)
	defer cancel()
	can, err := profile.Probe(ctx, e)
	switch unknown := new(profile.UnknownModelError); {
	case err == nil:
		f.Found += fmt.Sprintf("; it answers in %s; JSON schema: %s; probabilities of tokens: %s", seconds(can.Took),
			yesNo(can.Schema), yesNo(can.LogProbs))
	case errors.As(err, &unknown):
		f.State, f.Found = missing, err.Error()
		f.Mend = "set llm.model or TRIPLEMESH_LLM_MODEL to an existing model"
	case errors.Is(err, context.DeadlineExceeded):
		f.Found += fmt.Sprintf("; no answer within %v, it may be slow", answerWithin)
		if _, err := profile.ListModels(p.Ctx, e); err != nil {
			f.State, f.Found, f.Mend = missing, err.Error(), "check the endpoint's log"
		}
	default:
		f.State, f.Found = missing, err.Error()
		f.Mend = "start the endpoint, or correct OPENAI_BASE_URL and OPENAI_API_KEY, or unset them to use the local " +
			"model; `triplemesh init` tests an endpoint"
	}
	return f
}
