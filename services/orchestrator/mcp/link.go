package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/enum"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const linkDescription = `Find which entities of a knowledge graph a text means, and how it spells them.

Use it before neighbours, paths or the topic_entities of ask, which want names spelt as the knowledge graph spells them: with a mention ("stam, robert") or a whole question. No model is called.`

type linkInput struct {
	Text  string `json:"text" jsonschema:"a mention of an entity, or a whole question"`
	KG    string `json:"kg,omitempty" jsonschema:"knowledge graph, such as wikidata, or one snapshot of it, such as wikidata@3; without it the only one there is"`
	Limit uint32 `json:"limit,omitempty" jsonschema:"most entities; 0 takes 5"`
}

type entity struct {
	Entity  string  `json:"entity" jsonschema:"its name in the knowledge graph"`
	Mention string  `json:"mention" jsonschema:"the words that were matched"`
	Match   string  `json:"match" jsonschema:"exact, normalised, alias or fuzzy"`
	Score   float64 `json:"score" jsonschema:"how likely the text means it, 0 to 1"`
}

type linkOutput struct {
	Entities []entity `json:"entities" jsonschema:"likeliest first"`
	KG       string   `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *door) addLink(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "link", Title: "Find entities", Description: linkDescription}, d.link)
}

func (d *door) link(ctx context.Context, _ *sdk.CallToolRequest, in linkInput) (linkOutput, error) {
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return linkOutput{}, err
	}
	resp, err := d.retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: kg, Text: in.Text, Limit: in.Limit})
	if err != nil {
		return linkOutput{}, err
	}
	out := linkOutput{Entities: []entity{}, KG: kgText(resp.GetKg())}
	for _, l := range resp.GetLinks() {
		out.Entities = append(out.Entities, entity{l.GetEntity(), l.GetMention(), enum.Name(l.GetMatch()), round(l.GetScore())})
	}
	return out, nil
}

func (o linkOutput) text() string {
	var p page
	if len(o.Entities) == 0 {
		p.line("%s holds no entity that the text could mean: try another spelling, or search.", name(o.KG))
	}
	for _, e := range o.Entities {
		p.line("- %s (%s match of %q, score %v, in %s)", name(e.Entity), e.Match, clean(e.Mention), e.Score, name(o.KG))
	}
	return p.String()
}
