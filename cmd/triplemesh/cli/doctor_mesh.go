package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/cmd/triplemesh/mesh"
	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

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
		f := finding{Name: name, State: off, Found: "nothing serves at " + addr}
		if name == "orchestrator" {
			f.Mend = "start the mesh with `triplemesh up`"
		}
		why := p.access.whyNot(err)
		switch {
		case speaksHTTP(p.ctx, addr) || why == "" && taken(p.ctx, addr):
			f.State, f.Found = missing, fmt.Sprintf("the port is taken: something else than the %s listens at %s", name, addr)
			f.Mend = fmt.Sprintf("end it, or set %s.server.addr to another port", name)
		case why != "":
			f.State, f.Found = missing, fmt.Sprintf("what serves at %s cannot be asked: %s", addr, why)
			f.Mend = fmt.Sprintf("correct --tls, --ca, --cert and --key; where it is no %s, end it, or set %s.server.addr to another port", name, name)
		}
		return f
	}
	return finding{Name: name, State: ok, Found: "serving at " + addr}
}

// graphsThere asks the retriever which knowledge graphs have an active
// snapshot, and whether its encoder can search them.
func (p *program) graphsThere(retriever string) finding {
	f := finding{Name: "knowledge graph", State: ok}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var names []string
	var readable []*graphv1.KnowledgeGraphRef
	if conn, err := p.dial(retriever, "retriever", telemetry.Discard()); err == nil {
		defer conn.Close()
		resp, err := retrieverv1.NewKnowledgeGraphServiceClient(conn).List(ctx, &retrieverv1.ListRequest{})
		if err != nil {
			f.State, f.Found = off, "the retriever does not run, which keeps them"
			return f
		}
		for _, s := range resp.GetSnapshots() {
			if s.GetActive() {
				readable = append(readable, s.GetKg())
				names = append(names, fmt.Sprintf("%s (%d triples, built %s)", refText(s.GetKg()), s.GetTriples(), s.GetCreated().AsTime().Local().Format(time.DateOnly)))
			}
		}
	}
	if err := p.searched(ctx, retriever, readable); err != nil {
		f.State, f.Found, f.Mend = missing, advice(err), "load the knowledge graph again, or configure the encoder that its vectors were made by (retriever.encoder)"
		return f
	}
	if len(names) == 0 {
		f.State, f.Found = missing, "none"
		f.Mend = "load one: triplemesh kg load wikidata examples/wikidata/triples.tsv.gz"
	} else {
		f.Found = strings.Join(names, ", ")
	}
	return f
}

// searched tells whether the retriever's encoder is the one that the vectors of
// knowledge graphs were made by.
func (p *program) searched(ctx context.Context, retriever string, kgs []*graphv1.KnowledgeGraphRef) error {
	conn, err := p.dial(retriever, "retriever", telemetry.Discard())
	if err != nil {
		return nil // which was told already
	}
	defer conn.Close()
	client := retrieverv1.NewRetrieverServiceClient(conn)
	for _, kg := range kgs {
		_, err := client.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{Kg: kg, Queries: []string{"anything"}})
		if status.Code(err) == codes.FailedPrecondition {
			return err
		}
	}
	return nil
}

// sameVersion compares the version of a mesh that runs with this program's.
func (p *program) sameVersion(plan *mesh.Plan) []finding {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	conn, err := p.dial(plan.Addr("orchestrator"), "orchestrator", telemetry.Discard())
	if err != nil {
		return nil
	}
	defer conn.Close()
	const mend = "end the mesh and start it anew with this program's `triplemesh up`"
	resp, err := orchestratorv1.NewOrchestratorServiceClient(conn).GetMesh(ctx, &orchestratorv1.GetMeshRequest{})
	switch running := resp.GetVersion(); {
	case status.Code(err) == codes.Unimplemented:
		return []finding{{"mesh version", missing, "the mesh that runs is older than this program, which is " + p.version, mend}}
	case err != nil || running == "" || running == p.version:
		return nil
	default:
		return []finding{{"mesh version", missing, fmt.Sprintf("the mesh that runs is %s, this program is %s", running, p.version), mend}}
	}
}
