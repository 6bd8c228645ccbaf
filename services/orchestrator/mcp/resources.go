package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const jsonType = "application/json"

func runURI(id string) string { return "run://" + url.PathEscape(id) }

// addResources adds what can be read by its address. Clients list kg:// and the
// knowledge graphs that the caller may see.
func (d *door) addResources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{
		URI: "kg://", Name: "knowledge graphs", Title: "Knowledge graphs", MIMEType: jsonType,
		Description: "The knowledge graphs there are, with their snapshots and sizes.",
	}, d.read(func(ctx context.Context, _ []string) (any, error) { return d.list(ctx, "") }))
	for _, t := range []struct {
		sdk.ResourceTemplate
		get func(context.Context, []string) (any, error)
	}{
		{sdk.ResourceTemplate{
			URITemplate: "kg://{kg}", Name: "knowledge graph", Title: "A knowledge graph",
			Description: "One knowledge graph: its snapshots and their sizes.",
		}, d.readKG},
		{sdk.ResourceTemplate{
			URITemplate: "kg://{kg}/entity/{entity}", Name: "entity", Title: "An entity's neighbourhood",
			Description: "What a knowledge graph holds about an entity, whose name stands percent-encoded.",
		}, d.readEntity},
		{sdk.ResourceTemplate{
			URITemplate: "run://{id}", Name: "run", Title: "A run",
			Description: "An answered question with every graph on the way, scores, edits and cost.",
		}, d.readRun},
	} {
		t.MIMEType = jsonType
		s.AddResourceTemplate(&t.ResourceTemplate, d.read(t.get))
	}
	s.AddReceivingMiddleware(d.listed)
}

// read reads the resource that the parts of a URI's path name, as JSON.
func (d *door) read(get func(ctx context.Context, parts []string) (any, error)) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		uri := req.Params.URI
		_, path, _ := strings.Cut(uri, "://")
		parts := strings.Split(path, "/")
		for i, p := range parts {
			var err error
			if parts[i], err = url.PathUnescape(p); err != nil {
				return nil, sdk.ResourceNotFoundError(uri)
			}
		}
		value, err := get(ctx, parts)
		if code := status.Code(err); code == codes.NotFound || code == codes.InvalidArgument {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		if err != nil {
			return nil, d.explain(ctx, err)
		}
		text, ready := value.(string)
		if !ready {
			if text, err = indented(value); err != nil {
				return nil, err
			}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: text}}}, nil
	}
}

func (d *door) readKG(ctx context.Context, parts []string) (any, error) { return d.list(ctx, parts[0]) }

func (d *door) readEntity(ctx context.Context, parts []string) (any, error) {
	return d.neighbours(ctx, neighboursInput{KG: parts[0], Entity: parts[2], Limit: 200})
}

func (d *door) readRun(ctx context.Context, parts []string) (any, error) {
	resp, err := d.orchestrator.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: parts[0]})
	if err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{Multiline: true, Indent: "  "}.Format(resp.GetRun()), nil
}

// listed adds the knowledge graphs to the list of resources: they come and go,
// and every caller sees their own.
func (d *door) listed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*sdk.ListResourcesResult)
		if err != nil || !ok {
			return result, err
		}
		names, err := d.names(ctx)
		if err != nil {
			return result, nil // reading kg:// says why
		}
		for _, n := range names {
			list.Resources = append(list.Resources, &sdk.Resource{
				URI: "kg://" + n, Name: n, Title: "Knowledge graph " + n, MIMEType: jsonType, Description: "Its snapshots and their sizes.",
			})
		}
		return list, nil
	}
}

// cache says that what is read belongs to the caller alone, and may be another
// thing the next moment. What the server is, and what tools it has, stays.
func cache(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	switch req.(type) {
	case *sdk.ReadResourceRequest, *sdk.ListResourcesRequest:
		c.CacheScope, c.TTLMs = "private", 0
	}
}
