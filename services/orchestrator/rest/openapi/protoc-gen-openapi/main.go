// Command protoc-gen-openapi is a plugin of buf that writes the OpenAPI document
// of the HTTP API: see package openapi.
package main

import (
	"flag"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/triplemesh/triplemesh/services/orchestrator/rest/openapi"
)

func main() {
	var flags flag.FlagSet
	rules := flags.String("rules", "", "file of HTTP rules")
	protogen.Options{ParamFunc: flags.Set}.Run(func(p *protogen.Plugin) error {
		p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		document, err := openapi.Document(p, *rules)
		if err != nil {
			return err
		}
		_, err = p.NewGeneratedFile("openapi.json", "").Write(document)
		return err
	})
}
