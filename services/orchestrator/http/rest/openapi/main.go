// Command openapi is a plugin of buf that makes the OpenAPI document of the HTTP API from the contract:
// its comments, the rules by which it is validated, and where its methods are over HTTP.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

// object is a JSON object.
type object = map[string]any

// list is a JSON array.
type list = []any

// base is the document without what follows from the contract.
//
//go:embed base.yaml
var base []byte

func main() {
	var flags flag.FlagSet
	rules := flags.String("rules", "", "file of HTTP rules")
	protogen.Options{ParamFunc: flags.Set}.Run(func(p *protogen.Plugin) error {
		p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		text, err := document(p, *rules)
		if err != nil {
			return err
		}
		_, err = p.NewGeneratedFile("openapi.json", "").Write(text)
		return err
	})
}

// document is the OpenAPI document, indented JSON. rulesFile names the file of the places of the
// methods.
func document(p *protogen.Plugin, rulesFile string) ([]byte, error) {
	rules, err := readRules(rulesFile)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Paths      object `yaml:"paths"`
		Components struct {
			Schemas object `yaml:"schemas"`
			Rest    object `yaml:",inline"`
		} `yaml:"components"`
		Rest object `yaml:",inline"`
	}
	if err := yaml.Unmarshal(base, &doc); err != nil {
		return nil, fmt.Errorf("base.yaml: %w", err)
	}
	c := newContract(p, doc.Components.Schemas)
	for _, r := range rules {
		for i, b := range r.bindings() {
			if err := c.add(doc.Paths, b, i); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Selector, err)
			}
		}
	}
	if err := c.addUpload(doc.Paths); err != nil {
		return nil, err
	}
	doc.Components.Rest["schemas"] = c.schemas
	doc.Rest["components"], doc.Rest["paths"] = doc.Components.Rest, doc.Paths
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(doc.Rest)
	return out.Bytes(), err
}

// ref points to a schema.
func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

// commentText is a comment as text: its lines joined, its paragraphs kept.
func commentText(c protogen.Comments) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(c)), "\n\n") {
		paragraphs = append(paragraphs, strings.Join(strings.Fields(paragraph), " "))
	}
	return strings.Join(paragraphs, "\n\n")
}
