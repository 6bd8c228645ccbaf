package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// kg parses "wikidata" or "wikidata@3". Empty text selects the only knowledge graph; if there are
// several, the error names them.
func (d *handler) kg(ctx context.Context, text string) (*graphv1.KnowledgeGraphRef, error) {
	if text != "" {
		return parseKG(text)
	}
	names, err := d.names(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, advice("there is no knowledge graph; tell the user to load one: triplemesh kg load NAME FILE")
	case len(names) > 1:
		return nil, advice("there are several knowledge graphs: name one in kg, one of " + strings.Join(names, ", "))
	}
	return &graphv1.KnowledgeGraphRef{Name: names[0]}, nil
}

// kgs parses the first knowledge graph and the others to read.
func (d *handler) kgs(ctx context.Context, text string,
	others []string) (*graphv1.KnowledgeGraphRef, []*graphv1.KnowledgeGraphRef, error) {
	first, err := d.kg(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	refs := make([]*graphv1.KnowledgeGraphRef, len(others))
	for i, other := range others {
		if refs[i], err = parseKG(other); err != nil {
			return nil, nil, err
		}
	}
	return first, refs, nil
}

// names returns the knowledge graphs that have an active snapshot, sorted.
func (d *handler) names(ctx context.Context) ([]string, error) {
	list, err := d.graphs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range list.GetSnapshots() {
		if s.GetActive() {
			names = append(names, s.GetKg().GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func parseKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	name, number, pinned := strings.Cut(text, "@")
	ref := &graphv1.KnowledgeGraphRef{Name: name}
	if pinned {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 {
			return nil, advice(fmt.Sprintf("kg: %q names no snapshot: write NAME, or NAME@N with N from 1", text))
		}
		ref.Snapshot = n
	}
	return ref, nil
}

const graphsDescription = `List the knowledge graphs there are, with their snapshots and sizes.

Use it when a tool asks you to name one in kg. No model is called.`

type graphsInput struct{}

type snapshot struct {
	KG        string `json:"kg" jsonschema:"a value for the argument kg"`
	Active    bool   `json:"active" jsonschema:"true if kg without a snapshot reads this one"`
	Triples   uint64 `json:"triples"`
	Entities  uint64 `json:"entities"`
	Relations uint64 `json:"relations"`
	Created   string `json:"created,omitempty" jsonschema:"when it was built, RFC 3339"`
}

type graphsOutput struct {
	Snapshots []snapshot `json:"snapshots" jsonschema:"by name, newest first"`
}

func (d *handler) addGraphs(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "graphs", Title: "List knowledge graphs", Description: graphsDescription},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ graphsInput) (graphsOutput, error) {
			return d.list(ctx, "")
		})
}

// list returns the snapshots of a knowledge graph; of all if kg is empty.
func (d *handler) list(ctx context.Context, kg string) (graphsOutput, error) {
	resp, err := d.graphs.ListKnowledgeGraphs(ctx, &retrieverv1.ListKnowledgeGraphsRequest{KgName: kg})
	out := graphsOutput{Snapshots: []snapshot{}}
	for _, s := range resp.GetSnapshots() {
		one := snapshot{
			KG: kgtext.FormatKG(s.GetKg()), Active: s.GetActive(), Triples: s.GetTriples(), Entities: s.GetEntities(),
			Relations: s.GetRelations(),
		}
		if s.GetCreateTime() != nil {
			one.Created = s.GetCreateTime().AsTime().Format("2006-01-02T15:04:05Z07:00")
		}
		out.Snapshots = append(out.Snapshots, one)
	}
	return out, err
}

func (o graphsOutput) text() string {
	var p page
	if len(o.Snapshots) == 0 {
		p.line("There is no knowledge graph. Load one: triplemesh kg load NAME FILE")
	}
	for _, s := range o.Snapshots {
		active := ""
		if s.Active {
			active = ", active"
		}
		p.line("- %s: %d triples, %d entities, %d relations%s", name(s.KG), s.Triples, s.Entities, s.Relations, active)
	}
	return p.String()
}
