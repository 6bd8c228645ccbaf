// Package openapi makes the OpenAPI document of the HTTP API from the contract:
// its comments, the rules by which it is validated, and where its methods are
// over HTTP.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
)

// object is a JSON object.
type object = map[string]any

// list is a JSON array.
type list = []any

// description is what the document begins with.
const description = "Answers questions from knowledge graphs, and shows the triples that each answer rests on.\n\n" +
	"The methods are those of the gRPC contract, the JSON is that of protobuf: names in lowerCamelCase, what is unset left out, " +
	"enumerations by name, 64-bit integers as strings (numbers are taken too), durations such as \"1.5s\". " +
	"Errors are problem details (RFC 9457). Streams are server-sent events; they cannot be taken up again where they broke off: " +
	"an answered question is found among the runs."

// Document is the OpenAPI document, indented JSON. rules names the file of the
// places of the methods.
func Document(p *protogen.Plugin, rulesFile string) ([]byte, error) {
	rules, err := readRules(rulesFile)
	if err != nil {
		return nil, err
	}
	c := newContract(p)
	paths := object{}
	for _, r := range rules {
		for i, b := range r.bindings() {
			if err := c.add(paths, b, i); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Selector, err)
			}
		}
	}
	if err := c.addUpload(paths); err != nil {
		return nil, err
	}
	addReports(paths)
	c.schemas["Problem"] = problemSchema
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "triplemesh", "version": "1", "description": description,
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  list{object{"url": "/"}},
		"security": list{object{}, object{"bearer": list{}}},
		"paths":    paths,
		"components": object{
			"schemas": c.schemas,
			"securitySchemes": object{"bearer": object{
				"type": "http", "scheme": "bearer", "description": "A token, where the mesh asks callers who they are.",
			}},
			"responses": object{"Problem": object{
				"description": "What is wrong, and what to do next.",
				"headers":     object{"X-Request-Id": requestIDHeader, "Retry-After": retryAfterHeader},
				"content":     object{"application/problem+json": object{"schema": ref("Problem")}},
			}},
		},
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(document)
	return out.Bytes(), err
}

var (
	requestIDHeader = object{
		"description": "Under which the logs have the request.", "schema": object{"type": "string"},
	}
	retryAfterHeader = object{
		"description": "After how many seconds it is worth trying again.", "schema": object{"type": "integer", "minimum": 0},
	}
	problemSchema = object{
		"type": "object", "description": "An error (RFC 9457).",
		"required": list{"type", "title", "status", "detail", "code"},
		"properties": object{
			"type":   object{"type": "string", "description": "Always about:blank: what there is to know is in code and reason."},
			"title":  object{"type": "string", "description": "The status in words."},
			"status": object{"type": "integer", "description": "The HTTP status."},
			"detail": object{"type": "string", "description": "What is wrong and what to do next."},
			"code":   object{"type": "string", "description": "The gRPC code, such as NOT_FOUND."},
			"reason": object{"type": "string", "description": "Tells errors of one code apart, such as TOKEN_EXPIRED."},
			"violations": object{"type": "array", "description": "The fields of the request that cannot be.", "items": object{
				"type": "object", "required": list{"field", "description"},
				"properties": object{"field": object{"type": "string"}, "description": object{"type": "string"}},
			}},
			"retryAfter": object{"type": "number", "description": "After how many seconds it is worth trying again."},
			"requestId":  object{"type": "string", "description": "Under which the logs have the request."},
		},
	}
)

// ref points to a schema.
func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// said is a comment as text: its lines joined, its paragraphs kept.
func said(c protogen.Comments) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(c)), "\n\n") {
		paragraphs = append(paragraphs, strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.Join(paragraphs, "\n\n")
}
