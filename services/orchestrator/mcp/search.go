package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const searchDescription = `Search a knowledge graph for the triples that are nearest in meaning to texts.

Use it to look facts up when you do not know how the knowledge graph names things: "who employed Robert Stam" finds Robert Stam | employer | New York University. Several queries in one call are cheaper than several calls. No model is called.`

type searchInput struct {
	Queries   []string `json:"queries" jsonschema:"what to look for, in words: facts, questions or names"`
	KG        string   `json:"kg,omitempty" jsonschema:"knowledge graph, such as wikidata, or one snapshot of it, such as wikidata@3; without it the only one there is"`
	Limit     uint32   `json:"limit,omitempty" jsonschema:"most triples for each query; 0 takes 10"`
	Subjects  []string `json:"subjects,omitempty" jsonschema:"only triples with one of these subjects"`
	Relations []string `json:"relations,omitempty" jsonschema:"only triples with one of these relations"`
	At        string   `json:"at,omitempty" jsonschema:"ISO 8601 date, such as 2005: only what held then"`
}

type found struct {
	Query   string   `json:"query"`
	Triples []triple `json:"triples" jsonschema:"nearest first"`
}

type searchOutput struct {
	Results []found `json:"results" jsonschema:"one for each query"`
	KG      string  `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *door) addSearch(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "search", Title: "Search triples", Description: searchDescription}, d.search)
}

func (d *door) search(ctx context.Context, _ *sdk.CallToolRequest, in searchInput) (searchOutput, error) {
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return searchOutput{}, err
	}
	resp, err := d.retriever.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{
		Kg: kg, Queries: in.Queries, Limit: in.Limit,
		Filter: &retrieverv1.Filter{Subjects: in.Subjects, Relations: in.Relations, At: in.At},
	})
	if err != nil {
		return searchOutput{}, err
	}
	out := searchOutput{Results: []found{}, KG: kgText(resp.GetKg())}
	for i, r := range resp.GetResults() {
		if i < len(in.Queries) {
			out.Results = append(out.Results, found{in.Queries[i], scoredOf(r.GetTriples())})
		}
	}
	return out, nil
}

func (o searchOutput) text() string {
	var p page
	for _, r := range o.Results {
		p.line("%q in %s: %s", clean(r.Query), name(o.KG), count(len(r.Triples), "triple"))
		for _, t := range r.Triples {
			p.line("  %.2f  %s", *t.Score, t)
		}
	}
	return p.String()
}
