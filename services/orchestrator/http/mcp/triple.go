package mcp

import (
	"context"
	"fmt"
	"math"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/config"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/prompt"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// triple is a fact as tools take and return it.
type triple struct {
	Subject    string   `json:"subject" jsonschema:"name of the subject"`
	SubjectID  string   `json:"subject_id,omitempty" jsonschema:"its id, unless that is its name"`
	Relation   string   `json:"relation" jsonschema:"name of the relation"`
	Object     string   `json:"object" jsonschema:"name of the object, or a value"`
	ObjectID   string   `json:"object_id,omitempty" jsonschema:"its id, unless that is its name; values have none"`
	From       string   `json:"from,omitempty" jsonschema:"ISO 8601 date since which it holds"`
	Until      string   `json:"until,omitempty" jsonschema:"ISO 8601 date until which it holds"`
	KG         string   `json:"kg,omitempty" jsonschema:"its knowledge graph, if several were read"`
	Provenance string   `json:"provenance,omitempty" jsonschema:"source: file and line, named graph or statement"`
	Score      *float64 `json:"score,omitempty" jsonschema:"similarity to the query, -1 to 1"`
}

func tripleOf(t *graphv1.Triple) triple {
	return triple{
		Subject: t.GetSubject(), SubjectID: distinctID(t.GetSubjectId(), t.GetSubject()),
		Relation: t.GetRelation(),
		Object:   t.GetObject(), ObjectID: distinctID(t.GetObjectId(), t.GetObject()),
		From: t.GetValidity().GetStart(), Until: t.GetValidity().GetEnd(), KG: t.GetKgName(),
		Provenance: t.GetProvenance(),
	}
}

// distinctID returns an entity's id, or nothing if the id is the name: that saves tokens.
func distinctID(id, name string) string {
	if id == name {
		return ""
	}
	return id
}

// nameAndID formats an entity's name, and its id if there is one: "Douglas Adams (id Q42)".
func nameAndID(entity, id string) string {
	if id == "" {
		return name(entity)
	}
	return name(entity) + " (id " + name(id) + ")"
}

func triplesOf(all []*graphv1.Triple) []triple {
	out := make([]triple, len(all))
	for i, t := range all {
		out[i] = tripleOf(t)
	}
	return out
}

func scoredOf(all []*graphv1.ScoredTriple) []triple {
	out := make([]triple, len(all))
	for i, t := range all {
		score := round(t.GetScore())
		out[i] = tripleOf(t.GetTriple())
		out[i].Score = &score
	}
	return out
}

// String formats the triple on one line: "Robert Stam | employer | New York
// University (since 1993), from facts.csv:12". The names identify its ends.
func (t triple) String() string {
	s := name(t.Subject) + " | " + name(t.Relation) + " | " + name(t.Object)
	switch {
	case t.From != "" && t.Until != "":
		s += fmt.Sprintf(" (%s to %s)", name(t.From), name(t.Until))
	case t.From != "":
		s += fmt.Sprintf(" (since %s)", name(t.From))
	case t.Until != "":
		s += fmt.Sprintf(" (until %s)", name(t.Until))
	}
	if t.KG != "" {
		s += " [" + name(t.KG) + "]"
	}
	if t.Provenance != "" {
		s += ", from " + name(t.Provenance)
	}
	return s
}

// step is one hop of a path.
type step struct {
	Relation string `json:"relation" jsonschema:"name of the relation"`
	Inverse  bool   `json:"inverse,omitempty" jsonschema:"true goes from the object to the subject"`
}

func stepsOf(all []*graphv1.RelationStep) []step {
	out := make([]step, len(all))
	for i, s := range all {
		out[i] = step{s.GetRelation(), s.GetInverse()}
	}
	return out
}

// String formats the hop; "^" marks an inverse one.
func (s step) String() string {
	if s.Inverse {
		return "^" + name(s.Relation)
	}
	return name(s.Relation)
}

func stepsText(all []step) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = s.String()
	}
	return strings.Join(parts, " -> ")
}

// maxName bounds the characters of a name in readable output; structured output has all of them.
const maxName = 300

// clean makes untrusted text safe within one line.
func clean(s string) string { return prompt.Line(s) }

// name formats a name of a knowledge graph within a line: bounded, and with the separator of
// triples escaped.
func name(s string) string {
	s = clean(s)
	if runes := []rune(s); len(runes) > maxName {
		s = string(runes[:maxName]) + "…"
	}
	return bars.Replace(s)
}

var bars = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// quote prefixes every line with a mark that no line of the server's own begins with.
func quote(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		if line = clean(line); line != "" {
			out.WriteString("> " + line + "\n")
		}
	}
	return out.String()
}

// round rounds a score to three digits.
func round[F float32 | float64](f F) float64 {
	return math.Round(float64(f)*1000) / 1000
}

// page builds a text line by line.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

const linkDescription = `Find which entities of a knowledge graph a text means, how it spells them, and their ids.

Use it before neighbours, paths or the topic_entities of ask, which want ids, or names spelt as the knowledge graph
spells them: with a mention ("stam, robert") or a whole question. No model is called.`

type linkInput struct {
	Text  string `json:"text" jsonschema:"a mention of an entity, or a whole question"`
	KG    string `json:"kg,omitempty"`
	Limit uint32 `json:"limit,omitempty" jsonschema:"most entities; 0 takes 5"`
}

type entity struct {
	Entity  string  `json:"entity" jsonschema:"its name in the knowledge graph"`
	ID      string  `json:"id,omitempty" jsonschema:"its id, such as an IRI, unless that is its name"`
	Mention string  `json:"mention" jsonschema:"the words that were matched"`
	Match   string  `json:"match" jsonschema:"exact, normalised, alias or fuzzy"`
	Score   float64 `json:"score" jsonschema:"how likely the text means it, 0 to 1"`
}

type linkOutput struct {
	Entities []entity `json:"entities" jsonschema:"likeliest first"`
	KG       string   `json:"kg" jsonschema:"the snapshot that was read"`
}

func (d *handler) addLink(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "link", Title: "Find entities", Description: linkDescription}, d.link)
}

func (d *handler) link(ctx context.Context, _ *sdk.CallToolRequest, in linkInput) (linkOutput, error) {
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return linkOutput{}, err
	}
	resp, err := d.retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: kg, Text: in.Text, Limit: in.Limit})
	if err != nil {
		return linkOutput{}, err
	}
	out := linkOutput{Entities: []entity{}, KG: kgtext.FormatKG(resp.GetKg())}
	for _, l := range resp.GetLinks() {
		out.Entities = append(out.Entities, entity{l.GetEntity(), distinctID(l.GetEntityId(), l.GetEntity()),
			l.GetMention(), config.EnumName(l.GetMatch()), round(l.GetScore())})
	}
	return out, nil
}

func (o linkOutput) text() string {
	var p page
	if len(o.Entities) == 0 {
		p.line("%s holds no entity that the text could mean: try another spelling, or search.", name(o.KG))
	}
	for _, e := range o.Entities {
		p.line("- %s (%s match of %q, score %v, in %s)", nameAndID(e.Entity, e.ID), e.Match, clean(e.Mention), e.Score,
			name(o.KG))
	}
	return p.String()
}
