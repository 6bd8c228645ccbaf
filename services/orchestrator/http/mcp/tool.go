package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// renderer is the output of a tool: its fields are the structured output, text() the readable one.
type renderer interface{ text() string }

// argumentDescriptions describes the arguments that several tools share or that need more than a
// struct tag holds.
var argumentDescriptions = map[string]string{
	"kg": "knowledge graph, such as wikidata, or one snapshot of it, such as wikidata@3; default: the only one",
	"method": "auto (the default) chooses query, which counts, compares, orders and excludes, or pg-akv, which " +
		"answers by facts; ger starts from topic entities and judges each candidate; rag, rog, tog and others are " +
		"for comparison",
	"plan": "for the methods auto and query: what to compute, as Cypher MATCH … RETURN in the words of the " +
		"question, whose names are aligned to the knowledge graph; default: its model plans it",
	"topic_entities": "entities that the question is about, by id or by name as the knowledge graph spells it (see " +
		"the tool link); ger starts from them",
}

// add adds a tool. All tools are read-only.
func add[In any, Out renderer](s *sdk.Server, d *handler, t sdk.Tool, call func(context.Context, *sdk.CallToolRequest,
	In) (Out, error)) {
	no := false
	t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no,
		OpenWorldHint: &no}
	input := schemaOf[In]()
	for name, p := range input.Properties {
		p.Description = cmp.Or(p.Description, argumentDescriptions[name])
	}
	t.InputSchema, t.OutputSchema = input, schemaOf[Out]()
	d.takes[t.Name] = describeArguments(input)
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

// schemaOf returns the schema of a type. It panics for a type without one, a bug of this package.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(T), err))
	}
	removeNull(s)
	return s
}

// removeNull removes "or null" from the types of lists: some clients reject a schema with two types
// for one value.
func removeNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	removeNull(s.Items)
	for _, p := range s.Properties {
		removeNull(p)
	}
}

// describeArguments lists a tool's arguments in a sentence.
func describeArguments(s *jsonschema.Schema) string {
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

// explainArguments describes a tool's arguments if the library rejected a call for its arguments.
func (d *handler) explainArguments(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		call, isCall := req.(*sdk.CallToolRequest)
		refused, ok := result.(*sdk.CallToolResult)
		if err != nil || !isCall || !ok || !refused.IsError || len(refused.Content) == 0 {
			return result, err
		}
		if text, ok := refused.Content[0].(*sdk.TextContent); ok {
			if why, found := strings.CutPrefix(text.Text, `validating "arguments": `); found {
				text.Text = fmt.Sprintf("arguments of %s: %s. %s", call.Params.Name, clean(why),
					d.takes[call.Params.Name])
			}
		}
		return result, err
	}
}
