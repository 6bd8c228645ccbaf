package mcp

import (
	"cmp"
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const searchDescription = `Search a knowledge graph for the triples that are nearest in meaning to texts.

Use it to look facts up when you do not know how the knowledge graph names things: "who employed Robert Stam" finds
Robert Stam | employer | New York University. Several queries in one call are cheaper than several calls. No model is
called.`

type searchInput struct {
	Queries   []string `json:"queries" jsonschema:"what to look for, in words: facts, questions or names"`
	KG        string   `json:"kg,omitempty"`
	Limit     uint32   `json:"limit,omitempty" jsonschema:"most triples for each query; 0 takes 10"`
	Subjects  []string `json:"subjects,omitempty" jsonschema:"only triples with one of these subjects: ids or names"`
	Relations []string `json:"relations,omitempty" jsonschema:"only triples with one of these relations"`
	At        string   `json:"at,omitempty" jsonschema:"ISO 8601 date, such as 2005: only facts valid then"`
}

type searchHit struct {
	Query   string   `json:"query"`
	Triples []triple `json:"triples" jsonschema:"nearest first"`
}

type searchOutput struct {
	Results []searchHit `json:"results" jsonschema:"one for each query"`
	KG      string      `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *handler) addSearch(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "search", Title: "Search triples", Description: searchDescription}, d.search)
}

func (d *handler) search(ctx context.Context, _ *sdk.CallToolRequest, in searchInput) (searchOutput, error) {
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
	out := searchOutput{Results: []searchHit{}, KG: kgtext.FormatKG(resp.GetKg())}
	for i, r := range resp.GetResults() {
		if i < len(in.Queries) {
			out.Results = append(out.Results, searchHit{in.Queries[i], scoredOf(r.GetTriples())})
		}
	}
	return out, nil
}

func (o searchOutput) text() string {
	var p page
	for _, r := range o.Results {
		p.line("%q in %s: %s", clean(r.Query), name(o.KG), kgtext.FormatCount(len(r.Triples), "triple"))
		for _, t := range r.Triples {
			p.line("  %.2f  %s", *t.Score, t)
		}
	}
	return p.String()
}

const neighboursDescription = `List the triples of one entity, as subject and as object, and its relations.

Use it to read everything about something, or to see which relations there are before you follow them by paths. Give
the entity's id, or its name as the knowledge graph spells it: the tool link finds both. No model is called.`

type neighboursInput struct {
	Entity    string   `json:"entity" jsonschema:"the entity's id, or its name as the knowledge graph spells it"`
	KG        string   `json:"kg,omitempty"`
	Direction string   `json:"direction,omitempty" jsonschema:"out: it is the subject; in: the object; default: both"`
	Relations []string `json:"relations,omitempty" jsonschema:"only these relations"`
	Limit     uint32   `json:"limit,omitempty" jsonschema:"most triples; 0 takes 50"`
}

type relationCount struct {
	Relation string `json:"relation"`
	Inverse  bool   `json:"inverse,omitempty" jsonschema:"true if the entity is the object"`
	Triples  uint64 `json:"triples" jsonschema:"how many there are"`
}

type neighboursOutput struct {
	Entity    string          `json:"entity" jsonschema:"its name"`
	ID        string          `json:"id,omitempty" jsonschema:"its id, such as an IRI, unless that is its name"`
	Triples   []triple        `json:"triples" jsonschema:"triples with the entity as subject first"`
	Total     uint64          `json:"total" jsonschema:"how many there are in all"`
	Relations []relationCount `json:"relations" jsonschema:"all its relations, most triples first"`
	KG        string          `json:"kg" jsonschema:"the snapshot that was read"`
}

// defaultNeighbours is the default limit of triples.
const defaultNeighbours = 50

func (d *handler) addNeighbours(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "neighbours", Title: "Facts about an entity", Description: neighboursDescription},
		func(ctx context.Context, _ *sdk.CallToolRequest, in neighboursInput) (neighboursOutput, error) {
			return d.neighbours(ctx, in)
		})
}

func (d *handler) neighbours(ctx context.Context, in neighboursInput) (neighboursOutput, error) {
	direction, err := config.ParseEnum[retrieverv1.Direction](in.Direction)
	if err != nil {
		return neighboursOutput{}, advice("direction: " + err.Error())
	}
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return neighboursOutput{}, err
	}
	in.Limit = cmp.Or(in.Limit, defaultNeighbours)
	resp, err := d.retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{
		Kg: kg, Entity: in.Entity, Direction: direction, Relations: in.Relations, Limit: in.Limit,
	})
	if err != nil {
		return neighboursOutput{}, err
	}
	out := neighboursOutput{
		Entity:  cmp.Or(resp.GetEntity().GetName(), in.Entity),
		ID:      distinctID(resp.GetEntity().GetId(), resp.GetEntity().GetName()),
		Triples: triplesOf(resp.GetTriples()), Total: resp.GetTotal(), Relations: []relationCount{},
		KG: kgtext.FormatKG(resp.GetKg()),
	}
	for _, r := range resp.GetRelations() {
		out.Relations = append(out.Relations, relationCount{r.GetRelation(), r.GetInverse(), r.GetTriples()})
	}
	return out, nil
}

func (o neighboursOutput) text() string {
	var p page
	p.line("%s in %s: %d of %s", nameAndID(o.Entity, o.ID), name(o.KG), len(o.Triples),
		kgtext.FormatCount(int(o.Total), "triple"))
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

const groundDescription = `Ground a draft of yours: find the triples of a knowledge graph near the facts you expect.

Use it when you believe to know the answer and want the knowledge graph's own triples to correct yourself by. Write the
facts that the question needs from memory; wrong names do no harm, they only point to where to look. You get the
subjects that fit, with a confidence each and their triples. No model is called.`

type groundInput struct {
	Question string  `json:"question" jsonschema:"the question that the facts answer"`
	Draft    []draft `json:"draft,omitempty" jsonschema:"the facts as you remember them; may be empty"`
	KG       string  `json:"kg,omitempty"`
	At       string  `json:"at,omitempty" jsonschema:"ISO 8601 date, such as 2005: use only facts valid then"`
}

type draft struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object" jsonschema:"your guess; a wrong one is fine"`
}

type subject struct {
	Subject    string   `json:"subject"`
	ID         string   `json:"id,omitempty" jsonschema:"its id, such as an IRI, unless that is its name"`
	Confidence float64  `json:"confidence" jsonschema:"how well it fits the draft, -1 to 1"`
	Triples    []triple `json:"triples" jsonschema:"best first"`
}

type groundOutput struct {
	Subjects []subject `json:"subjects" jsonschema:"highest confidence first"`
	Dropped  []string  `json:"dropped,omitempty" jsonschema:"subjects that were found and fit too badly"`
	KG       string    `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *handler) addGround(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "ground", Title: "Ground a draft", Description: groundDescription}, d.ground)
}

func (d *handler) ground(ctx context.Context, _ *sdk.CallToolRequest, in groundInput) (groundOutput, error) {
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return groundOutput{}, err
	}
	req := &retrieverv1.GroundGraphRequest{Kg: kg, Question: in.Question, PseudoGraph: &graphv1.PseudoGraph{}}
	for _, f := range in.Draft {
		req.PseudoGraph.Triples = append(req.PseudoGraph.Triples, &graphv1.Triple{Subject: f.Subject,
			Relation: f.Relation, Object: f.Object})
	}
	if in.At != "" {
		req.Options = &retrieverv1.GroundingOptions{Filter: &retrieverv1.Filter{At: in.At}}
	}
	resp, err := d.retriever.GroundGraph(ctx, req)
	if err != nil {
		return groundOutput{}, err
	}
	out := groundOutput{Subjects: []subject{}, KG: kgtext.FormatKG(resp.GetKg())}
	for _, s := range resp.GetGroundGraph().GetSubjects() {
		out.Subjects = append(out.Subjects, subject{s.GetSubject(), distinctID(s.GetSubjectId(), s.GetSubject()),
			round(s.GetConfidence()), scoredOf(s.GetTriples())})
	}
	for _, s := range resp.GetDropped() {
		out.Dropped = append(out.Dropped, s.GetSubject())
	}
	return out, nil
}

func (o groundOutput) text() string {
	var p page
	if len(o.Subjects) == 0 {
		p.line("%s holds nothing near the draft. Find how it spells the names by link, or look them up by search.",
			name(o.KG))
	}
	for _, s := range o.Subjects {
		p.line("%s (confidence %v, from %s)", nameAndID(s.Subject, s.ID), s.Confidence, name(o.KG))
		for _, t := range s.Triples {
			p.line("  %s", t)
		}
	}
	const most = 10
	for i, s := range o.Dropped {
		if i == most {
			p.line("… and %d more that fit too badly", len(o.Dropped)-most)
			break
		}
		p.line("Fits too badly: %s", name(s))
	}
	return p.String()
}
