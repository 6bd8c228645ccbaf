package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// maxCompletions is the protocol's.
const maxCompletions = 100

// complete proposes knowledge graphs and entities for the templates of
// resources. Where nothing can be found out there is nothing to propose.
func (d *door) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	values := []string{}
	typed := req.Params.Argument.Value
	switch req.Params.Argument.Name {
	case "kg":
		names, _ := d.names(ctx)
		for _, n := range names {
			if strings.HasPrefix(n, typed) {
				values = append(values, n)
			}
		}
	case "entity":
		kg := ""
		if req.Params.Context != nil {
			kg = req.Params.Context.Arguments["kg"]
		}
		if ref, err := d.kg(ctx, kg); err == nil && typed != "" {
			resp, _ := d.retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: ref, Text: typed, Limit: 10})
			for _, l := range resp.GetLinks() {
				values = append(values, l.GetEntity())
			}
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values[:min(len(values), maxCompletions)], Total: len(values)}}, nil
}
