package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
)

const jsonType = "application/json"

func runURI(id string) string { return "run://" + url.PathEscape(id) }

// addResources adds the resources. Clients list kg:// and the knowledge graphs that the caller may see.
func (d *handler) addResources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{
		URI: "kg://", Name: "knowledge graphs", Title: "Knowledge graphs", MIMEType: jsonType,
		Description: "The knowledge graphs there are, with their snapshots and sizes.",
	}, d.readResource(func(ctx context.Context, _ []string) (any, error) { return d.list(ctx, "") }))
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
			Description: "What a knowledge graph holds about an entity, whose name or id stands percent-encoded.",
		}, d.readEntity},
		{sdk.ResourceTemplate{
			URITemplate: "run://{id}", Name: "run", Title: "A run",
			Description: "An answered question with every graph on the way, scores, edits and cost.",
		}, d.readRun},
	} {
		t.MIMEType = jsonType
		s.AddResourceTemplate(&t.ResourceTemplate, d.readResource(t.get))
	}
	s.AddReceivingMiddleware(d.listGraphs)
}

// readResource reads the resource with the given path segments, as JSON.
func (d *handler) readResource(get func(ctx context.Context, parts []string) (any, error)) sdk.ResourceHandler {
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
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: text}}},
			nil
	}
}

func (d *handler) readKG(ctx context.Context, parts []string) (any, error) {
	return d.list(ctx, parts[0])
}

func (d *handler) readEntity(ctx context.Context, parts []string) (any, error) {
	return d.neighbours(ctx, neighboursInput{KG: parts[0], Entity: parts[2], Limit: 200})
}

func (d *handler) readRun(ctx context.Context, parts []string) (any, error) {
	resp, err := d.orchestrator.GetRun(ctx, &orchestratorv1.GetRunRequest{Id: parts[0]})
	if err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{Multiline: true, Indent: "  "}.Format(resp.GetRun()), nil
}

// listGraphs adds the caller's knowledge graphs to the list of resources, which is computed per call.
func (d *handler) listGraphs(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*sdk.ListResourcesResult)
		if err != nil || !ok {
			return result, err
		}
		names, err := d.names(ctx)
		if err != nil {
			return result, nil // reading kg:// returns the error
		}
		for _, n := range names {
			list.Resources = append(list.Resources, &sdk.Resource{
				URI: "kg://" + n, Name: n, Title: "Knowledge graph " + n, MIMEType: jsonType,
				Description: "Its snapshots and their sizes.",
			})
		}
		return list, nil
	}
}

// cache marks resources as private and not cacheable; the server's capabilities stay cacheable.
func cache(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	switch req.(type) {
	case *sdk.ReadResourceRequest, *sdk.ListResourcesRequest:
		c.CacheScope, c.TTLMs = "private", 0
	}
}

// advice is an error that already says what to do next.
type advice string

func (a advice) Error() string { return string(a) }

// explain turns a gRPC error into one that a model can act on: what is wrong and what to do next.
func (d *handler) explain(ctx context.Context, err error) error {
	if a := advice(""); errors.As(err, &a) {
		return a
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	st := status.Convert(err)
	text := clean(st.Message())
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				if !strings.Contains(text, v.GetDescription()) {
					text += fmt.Sprintf("; %s: %s", v.GetField(), v.GetDescription())
				}
			}
		case *errdetails.RetryInfo:
			text += fmt.Sprintf("; try again in %v", d.GetRetryDelay().AsDuration())
		}
	}
	if next := d.next(ctx, st.Code()); next != "" {
		text += ". " + next
	}
	return advice(text)
}

// next returns what to do about a status code.
func (d *handler) next(ctx context.Context, code codes.Code) string {
	switch code {
	case codes.InvalidArgument:
		return "Change the arguments and call again."
	case codes.NotFound:
		if names, err := d.names(ctx); err == nil && len(names) > 0 {
			return "The knowledge graphs are " + strings.Join(names, ", ") +
				"; entities have one spelling and one id, which the tool link finds."
		}
		return "The tool graphs lists the knowledge graphs."
	case codes.FailedPrecondition:
		return "Tell the user what is missing; the tool graphs shows which knowledge graphs are loaded and active."
	case codes.Unauthenticated:
		return "Tell the user that the mesh requires a token: they give this server one (triplemesh mcp " +
			"--token-file FILE, or the header Authorization: Bearer TOKEN over HTTP)."
	case codes.PermissionDenied:
		return "Tell the user that their token does not allow this: the operator can add the scope."
	case codes.ResourceExhausted:
		return "Ask for less, raise max_model_calls if it was set, or wait."
	case codes.DeadlineExceeded:
		return "Ask for less at a time, or try a quicker tool: search and neighbours call no model."
	case codes.Unavailable:
		return "Try again in a moment; if it stays so, tell the user to run: triplemesh doctor"
	case codes.Unimplemented:
		return "The mesh is too old for this tool: tell the user to upgrade it, or use another tool."
	}
	return ""
}
