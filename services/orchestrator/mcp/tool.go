package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// shown is what a tool found: its fields are the structured output, its text
// what models and people read.
type shown interface{ text() string }

// add adds a tool. All of them only read.
func add[In any, Out shown](s *sdk.Server, d *door, t sdk.Tool, call func(context.Context, *sdk.CallToolRequest, In) (Out, error)) {
	no := false
	t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}
	input := schemaOf[In]()
	t.InputSchema, t.OutputSchema = input, schemaOf[Out]()
	d.takes[t.Name] = takes(input)
	sdk.AddTool(s, &t, func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
		out, err := call(ctx, req, in)
		if err != nil {
			return nil, out, d.explain(ctx, err)
		}
		content := []sdk.Content{&sdk.TextContent{Text: out.text()}}
		if more, ok := any(out).(interface{ links() []sdk.Content }); ok {
			content = append(content, more.links()...)
		}
		return &sdk.CallToolResult{Content: content}, out, nil
	})
}

// schemaOf is the schema of a type. A type that cannot have one is a fault of
// this package, which every test finds.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(T), err))
	}
	single(s)
	return s
}

// single takes "or null" away from lists: some clients take no schema in which
// a value has two types.
func single(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	single(s.Items)
	for _, p := range s.Properties {
		single(p)
	}
}

// takes lists a tool's arguments in a sentence.
func takes(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return "It takes no arguments."
	}
	all := make([]string, len(s.PropertyOrder))
	for i, p := range s.PropertyOrder {
		all[i] = p
		if slices.Contains(s.Required, p) {
			all[i] += " (needed)"
		}
	}
	return "It takes " + strings.Join(all, ", ") + "."
}

// told says what a tool takes, where a call was refused for its arguments
// before it came to the tool.
func (d *door) told(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		call, isCall := req.(*sdk.CallToolRequest)
		refused, ok := result.(*sdk.CallToolResult)
		if err != nil || !isCall || !ok || !refused.IsError || len(refused.Content) == 0 {
			return result, err
		}
		if text, ok := refused.Content[0].(*sdk.TextContent); ok {
			if why, found := strings.CutPrefix(text.Text, `validating "arguments": `); found {
				text.Text = fmt.Sprintf("arguments of %s: %s. %s", call.Params.Name, clean(why), d.takes[call.Params.Name])
			}
		}
		return result, err
	}
}
