package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const groundDescription = `Ground a draft of yours: find what a knowledge graph holds near facts that you expect, and near the question they are to answer.

Use it when you believe to know the answer and want the knowledge graph's own triples to correct yourself by. Write the facts that the question needs from memory; wrong names do no harm, they only point to where to look. You get the subjects that fit, with a confidence each and their triples. No model is called.`

type groundInput struct {
	Question string  `json:"question" jsonschema:"the question that the facts are to answer"`
	Draft    []draft `json:"draft,omitempty" jsonschema:"the facts as you remember them; without any, the question alone is looked up"`
	KG       string  `json:"kg,omitempty" jsonschema:"knowledge graph, such as wikidata, or one snapshot of it, such as wikidata@3; without it the only one there is"`
	At       string  `json:"at,omitempty" jsonschema:"ISO 8601 date, such as 2005: only what held then counts"`
}

type draft struct {
	Subject  string `json:"subject"`
	Relation string `json:"relation"`
	Object   string `json:"object" jsonschema:"your guess; a wrong one is fine"`
}

type subject struct {
	Subject    string   `json:"subject"`
	Confidence float64  `json:"confidence" jsonschema:"how well it fits the draft, -1 to 1"`
	Triples    []triple `json:"triples" jsonschema:"best first"`
}

type groundOutput struct {
	Subjects []subject `json:"subjects" jsonschema:"highest confidence first"`
	Dropped  []string  `json:"dropped,omitempty" jsonschema:"subjects that were found and fit too badly"`
	KG       string    `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *door) addGround(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "ground", Title: "Ground a draft", Description: groundDescription}, d.ground)
}

func (d *door) ground(ctx context.Context, _ *sdk.CallToolRequest, in groundInput) (groundOutput, error) {
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return groundOutput{}, err
	}
	req := &retrieverv1.GroundGraphRequest{Kg: kg, Question: in.Question, PseudoGraph: &graphv1.PseudoGraph{}}
	for _, f := range in.Draft {
		req.PseudoGraph.Triples = append(req.PseudoGraph.Triples, &graphv1.Triple{Subject: f.Subject, Relation: f.Relation, Object: f.Object})
	}
	if in.At != "" {
		req.Options = &retrieverv1.GroundingOptions{Filter: &retrieverv1.Filter{At: in.At}}
	}
	resp, err := d.retriever.GroundGraph(ctx, req)
	if err != nil {
		return groundOutput{}, err
	}
	out := groundOutput{Subjects: []subject{}, KG: kgText(resp.GetKg())}
	for _, s := range resp.GetGroundGraph().GetSubjects() {
		out.Subjects = append(out.Subjects, subject{s.GetSubject(), round(s.GetConfidence()), scoredOf(s.GetTriples())})
	}
	for _, s := range resp.GetDropped() {
		out.Dropped = append(out.Dropped, s.GetSubject())
	}
	return out, nil
}

func (o groundOutput) text() string {
	var p page
	if len(o.Subjects) == 0 {
		p.line("%s holds nothing near the draft. Find how it spells the names by link, or look them up by search.", name(o.KG))
	}
	for _, s := range o.Subjects {
		p.line("%s (confidence %v, from %s)", name(s.Subject), s.Confidence, name(o.KG))
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
