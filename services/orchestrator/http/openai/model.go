package openai

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/paging"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// owner prefixes the name of every model.
const owner = "triplemesh"

// model is a method and the knowledge graph that it reads.
type model struct {
	method *orchestratorv1.Method
	kg     *graphv1.KnowledgeGraphRef // nil if the name has none
}

// listed is a model in the API's format.
type listed struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Description string `json:"description"`
}

func (d *handler) show(id string, method *orchestratorv1.Method) listed {
	return listed{ID: id, Object: "model", Created: d.opened.Unix(), OwnedBy: owner,
		Description: method.GetDescription()}
}

// list serves GET /v1/models: every method and, if there are several knowledge graphs, every method
// with each of them.
func (d *handler) list(w http.ResponseWriter, r *http.Request) error {
	methods, err := d.methods(r.Context())
	if err != nil {
		return err
	}
	// On an error the list is shorter; a question returns the error.
	kgs, _ := d.active(r.Context())
	out := struct {
		Object string   `json:"object"`
		Data   []listed `json:"data"`
	}{Object: "list", Data: []listed{}}
	for _, m := range methods {
		out.Data = append(out.Data, d.show(owner+"/"+m.GetName(), m))
		if m.GetNeedsKg() && len(kgs) > 1 {
			for _, kg := range kgs {
				out.Data = append(out.Data, d.show(owner+"/"+m.GetName()+":"+kg, m))
			}
		}
	}
	return send(w, out)
}

// retrieve serves GET /v1/models/{id}.
func (d *handler) retrieve(w http.ResponseWriter, r *http.Request) error {
	m, err := d.model(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	id := owner + "/" + m.method.GetName()
	if m.kg != nil {
		snapshots, err := paging.KnowledgeGraphs(r.Context(), d.graphs, m.kg.GetName())
		if err != nil {
			return err
		}
		if n := m.kg.GetSnapshot(); n != 0 && !slices.ContainsFunc(snapshots,
			func(s *retrieverv1.SnapshotInfo) bool { return s.GetKg().GetSnapshot() == n }) {
			return status.Errorf(codes.NotFound, "the knowledge graph %s has no snapshot %d", m.kg.GetName(), n)
		}
		id += ":" + kgtext.FormatKG(m.kg)
	}
	return send(w, d.show(id, m.method))
}

// modelName matches METHOD, METHOD:KG or METHOD:KG@SNAPSHOT, with or without the owner.
var modelName = regexp.MustCompile(`^(?:` + owner + `/)?([^:/@]+)(?::(.+))?$`)

func (d *handler) model(ctx context.Context, name string) (model, error) {
	methods, err := d.methods(ctx)
	if err != nil {
		return model{}, err
	}
	if parts := modelName.FindStringSubmatch(name); parts != nil {
		i := slices.IndexFunc(methods, func(m *orchestratorv1.Method) bool { return m.GetName() == parts[1] })
		if i >= 0 && parts[2] == "" {
			return model{method: methods[i]}, nil
		}
		if kg, ok := parseReference(parts[2]); ok && i >= 0 {
			return model{methods[i], kg}, nil
		}
	}
	var names []string
	for _, m := range methods {
		names = append(names, owner+"/"+m.GetName())
	}
	return model{}, &failure{status: http.StatusNotFound, Type: invalidRequest, Param: "model", Code: "model_not_found",
		Message: fmt.Sprintf(
			"there is no model %q; there are: %s; each may be followed by a knowledge graph, %s:KG", name,
			strings.Join(names, ", "), names[0])}
}

// parseReference is the inverse of kgtext.FormatKG.
func parseReference(text string) (*graphv1.KnowledgeGraphRef, bool) {
	name, number, numbered := strings.Cut(text, "@")
	kg := &graphv1.KnowledgeGraphRef{Name: name}
	if numbered {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 {
			return nil, false
		}
		kg.Snapshot = n
	}
	return kg, kgName.MatchString(name)
}

// kgName matches valid names of knowledge graphs.
var kgName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

func (d *handler) methods(ctx context.Context) ([]*orchestratorv1.Method, error) {
	resp, err := d.orchestrator.ListMethods(ctx, &orchestratorv1.ListMethodsRequest{})
	return resp.GetMethods(), err
}

// active returns the names of the readable knowledge graphs.
func (d *handler) active(ctx context.Context) ([]string, error) {
	resp, err := d.graphs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{})
	var names []string
	for _, s := range resp.GetSnapshots() {
		if s.GetActive() {
			names = append(names, s.GetKg().GetName())
		}
	}
	return names, err
}

// onlyKG returns the only readable knowledge graph.
func (d *handler) onlyKG(ctx context.Context, m model) (*graphv1.KnowledgeGraphRef, error) {
	id := owner + "/" + m.method.GetName()
	names, err := d.active(ctx)
	switch {
	case status.Code(err) == codes.PermissionDenied:
		return nil, &failure{status: http.StatusForbidden, Type: permission, Param: "model", Code: "permission_denied",
			Message: fmt.Sprintf(
				"name the knowledge graph to answer from: model %s:KG; you may not list those there are (%s)", id,
				status.Convert(err).Message())}
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, &failure{status: http.StatusBadRequest, Type: invalidRequest, Param: "model",
			Code: "no_knowledge_graph",
			Message: fmt.Sprintf("%s reads a knowledge graph, and there is none that can be read: load one with "+
				"`triplemesh kg load NAME FILE`", id)}
	case len(names) > 1:
		return nil, &failure{status: http.StatusBadRequest, Type: invalidRequest, Param: "model",
			Code: "knowledge_graph_required",
			Message: fmt.Sprintf(
				`there are several knowledge graphs: %s. Say which in the model's name, "%s:%s", or in the request, `+
					`"triplemesh": {"kg": "%s"}`,
				strings.Join(names, ", "), id, names[0], names[0])}
	}
	return &graphv1.KnowledgeGraphRef{Name: names[0]}, nil
}
