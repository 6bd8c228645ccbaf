package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

func TestResourcesAreReadByURI(t *testing.T) {
	f := newFake()
	s := connect(t, f, nil)
	for _, c := range []struct{ name, uri, has string }{
		{"all knowledge graphs", "kg://", `"kg": "wikidata@3"`},
		{"one", "kg://wikidata", `"triples": 10`},
		{"an entity", "kg://wikidata/entity/Robert%20Stam", `"subject": "Robert Stam"`},
		{"an entity whose name has a slash", "kg://wikidata/entity/AC%2FDC", `"entity": "AC/DC"`},
		{"a run", "run://01RUN", `"Who?"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: c.uri})
			if err != nil {
				t.Fatal(err)
			}
			text := got.Contents[0].Text
			if !json.Valid([]byte(text)) || !strings.Contains(text, c.has) || got.CacheScope != "private" {
				t.Errorf("%s (%s) is %s", c.uri, got.CacheScope, text)
			}
		})
	}
	if n := last[*retrieverv1.ListNeighboursRequest](t, f); n.GetKg().GetName() != "wikidata" {
		t.Errorf("neighbours were asked of %v", n.GetKg())
	}
	for _, uri := range []string{"kg://nowhere", "run://none", "kg://wikidata/entity/%zz", "file:///etc/passwd",
		"kg://wikidata/elsewhere"} {
		if got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is %v", uri, got.Contents)
		}
	}
}

func TestResourceListContainsKnowledgeGraphs(t *testing.T) {
	f := newFake()
	f.kgs = []string{"wikidata", "mine"}
	s := connect(t, f, nil)
	var uris []string
	for r, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URI)
	}
	for r, err := range s.ResourceTemplates(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URITemplate)
	}
	slices.Sort(uris)
	want := []string{"kg://", "kg://mine", "kg://wikidata", "kg://{kg}", "kg://{kg}/entity/{entity}", "run://{id}"}
	if !slices.Equal(uris, want) {
		t.Errorf("they are %q, want %q", uris, want)
	}
}

func TestTemplateArgumentsAreCompleted(t *testing.T) {
	f := newFake()
	f.kgs = []string{"wikidata", "mine"}
	s := connect(t, f, nil)
	for _, c := range []struct {
		name, argument, typed string
		context               map[string]string
		want                  []string
	}{
		{"knowledge graphs by their beginning", "kg", "wi", nil, []string{"wikidata"}},
		{"entities by their names", "entity", "stam", map[string]string{"kg": "wikidata"}, []string{"Robert Stam"}},
		{"entities of no knowledge graph", "entity", "stam", nil, nil},
		{"runs have nothing to go by", "id", "0", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := &sdk.CompleteParams{
				Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: "kg://{kg}/entity/{entity}"},
				Argument: sdk.CompleteParamsArgument{Name: c.argument, Value: c.typed},
			}
			if c.context != nil {
				params.Context = &sdk.CompleteContext{Arguments: c.context}
			}
			got, err := s.Complete(t.Context(), params)
			if err != nil || !slices.Equal(got.Completion.Values, c.want) {
				t.Errorf("got %v, %v; want %q", got, err, c.want)
			}
		})
	}
}
