package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const graphsDescription = `List the knowledge graphs there are, with their snapshots and sizes.

Use it when a tool asks you to name one in kg. No model is called.`

type graphsInput struct{}

type snapshot struct {
	KG        string `json:"kg" jsonschema:"as the argument kg takes it"`
	Active    bool   `json:"active" jsonschema:"whether it is the one that is read where no snapshot is named"`
	Triples   uint64 `json:"triples"`
	Entities  uint64 `json:"entities"`
	Relations uint64 `json:"relations"`
	Created   string `json:"created,omitempty" jsonschema:"when it was built, RFC 3339"`
}

type graphsOutput struct {
	Snapshots []snapshot `json:"snapshots" jsonschema:"by name, newest first"`
}

func (d *door) addGraphs(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "graphs", Title: "List knowledge graphs", Description: graphsDescription},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ graphsInput) (graphsOutput, error) {
			return d.list(ctx, "")
		})
}

// list is what there is of a knowledge graph, or of all.
func (d *door) list(ctx context.Context, kg string) (graphsOutput, error) {
	resp, err := d.graphs.List(ctx, &retrieverv1.ListRequest{Kg: kg})
	out := graphsOutput{Snapshots: []snapshot{}}
	for _, s := range resp.GetSnapshots() {
		one := snapshot{
			KG: kgText(s.GetKg()), Active: s.GetActive(), Triples: s.GetTriples(), Entities: s.GetEntities(), Relations: s.GetRelations(),
		}
		if s.GetCreated() != nil {
			one.Created = s.GetCreated().AsTime().Format("2006-01-02T15:04:05Z07:00")
		}
		out.Snapshots = append(out.Snapshots, one)
	}
	return out, err
}

func (o graphsOutput) text() string {
	var p page
	if len(o.Snapshots) == 0 {
		p.line("There is no knowledge graph. Whoever runs the mesh loads one by: triplemesh kg load NAME FILE")
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
