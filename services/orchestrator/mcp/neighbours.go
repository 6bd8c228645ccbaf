package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/enum"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const neighboursDescription = `List what a knowledge graph holds about one entity: its triples, as subject and as object, and which relations it has.

Use it to read everything about something, or to see which relations there are before you follow them by paths. The entity must be spelt as the knowledge graph spells it: the tool link finds that. No model is called.`

type neighboursInput struct {
	Entity    string   `json:"entity" jsonschema:"the entity, spelt as the knowledge graph spells it"`
	KG        string   `json:"kg,omitempty" jsonschema:"knowledge graph, such as wikidata, or one snapshot of it, such as wikidata@3; without it the only one there is"`
	Direction string   `json:"direction,omitempty" jsonschema:"out for triples of which it is the subject, in for those of which it is the object; without it both"`
	Relations []string `json:"relations,omitempty" jsonschema:"only these relations"`
	Limit     uint32   `json:"limit,omitempty" jsonschema:"most triples; 0 takes 50"`
}

type relationCount struct {
	Relation string `json:"relation"`
	Inverse  bool   `json:"inverse,omitempty" jsonschema:"true where the entity is its object"`
	Triples  uint64 `json:"triples" jsonschema:"how many there are"`
}

type neighboursOutput struct {
	Entity    string          `json:"entity"`
	Triples   []triple        `json:"triples" jsonschema:"those it is the subject of first"`
	Total     uint64          `json:"total" jsonschema:"how many there are in all"`
	Relations []relationCount `json:"relations" jsonschema:"all its relations, most triples first"`
	KG        string          `json:"kg" jsonschema:"the snapshot that was read"`
}

// moreNeighbours are listed where nobody says how many.
const moreNeighbours = 50

func (d *door) addNeighbours(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "neighbours", Title: "Facts about an entity", Description: neighboursDescription},
		func(ctx context.Context, _ *sdk.CallToolRequest, in neighboursInput) (neighboursOutput, error) {
			return d.neighbours(ctx, in)
		})
}

func (d *door) neighbours(ctx context.Context, in neighboursInput) (neighboursOutput, error) {
	direction, err := enum.Parse[retrieverv1.Direction](in.Direction)
	if err != nil {
		return neighboursOutput{}, advice("direction: " + err.Error())
	}
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return neighboursOutput{}, err
	}
	if in.Limit == 0 {
		in.Limit = moreNeighbours
	}
	resp, err := d.retriever.Neighbours(ctx, &retrieverv1.NeighboursRequest{
		Kg: kg, Entity: in.Entity, Direction: direction, Relations: in.Relations, Limit: in.Limit,
	})
	if err != nil {
		return neighboursOutput{}, err
	}
	out := neighboursOutput{
		Entity: in.Entity, Triples: triplesOf(resp.GetTriples()), Total: resp.GetTotal(), Relations: []relationCount{}, KG: kgText(resp.GetKg()),
	}
	for _, r := range resp.GetRelations() {
		out.Relations = append(out.Relations, relationCount{r.GetRelation(), r.GetInverse(), r.GetTriples()})
	}
	return out, nil
}

func (o neighboursOutput) text() string {
	var p page
	p.line("%s in %s: %d of %s", name(o.Entity), name(o.KG), len(o.Triples), count(int(o.Total), "triple"))
	for _, t := range o.Triples {
		p.line("  %s", t)
	}
	if uint64(len(o.Triples)) < o.Total {
		p.line("Its relations, with how many triples each; ^ before those of which it is the object:")
		for _, r := range o.Relations {
			p.line("  %s", fmt.Sprintf("%s: %d", step{r.Relation, r.Inverse}, r.Triples))
		}
	}
	return p.String()
}
