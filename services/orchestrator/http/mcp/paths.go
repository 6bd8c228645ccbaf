package mcp

import (
	"cmp"
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const pathsDescription = `Follow relations over several hops from entities of a knowledge graph.

Three ways to call it:
- from and question: which relation paths around these entities fit the question, and where they lead. For questions
  such as "where did the director of Alexander study".
- from and follow: where relation paths that you choose lead. Give steps as this tool returned them.
- from and to: the shortest walks that join two sets of entities. For "what have A and B to do with each other".

Give entities by id, or by name as the knowledge graph spells it: the tool link finds both. No model is called.`

type pathsInput struct {
	From     []string `json:"from" jsonschema:"entities to start from: ids or exact names"`
	Question string   `json:"question,omitempty" jsonschema:"what you want to know: paths that fit it come first"`
	Follow   [][]step `json:"follow,omitempty" jsonschema:"relation paths to follow, each a list of steps"`
	To       []string `json:"to,omitempty" jsonschema:"entities to arrive at, by the shortest walks: ids or names"`
	KG       string   `json:"kg,omitempty"`
	MaxHops  uint32   `json:"max_hops,omitempty" jsonschema:"longest path, at most 4; 0 is 2, or 4 with to"`
	Limit    uint32   `json:"limit,omitempty" jsonschema:"most relation paths, or walks with to; 0 is 5"`
}

type relationPath struct {
	Steps []step  `json:"steps"`
	Score float64 `json:"score" jsonschema:"how well it fits the question, -1 to 1"`
	Ends  uint32  `json:"ends" jsonschema:"how many entities it ends in"`
}

type walk struct {
	Entities  []string `json:"entities" jsonschema:"the entities passed: one more than there are steps"`
	EntityIDs []string `json:"entity_ids,omitempty" jsonschema:"their ids, unless all are the names; values have none"`
	Steps     []step   `json:"steps"`
	From      string   `json:"from,omitempty" jsonschema:"ISO 8601 date since which it holds"`
	Until     string   `json:"until,omitempty" jsonschema:"ISO 8601 date until which it holds"`
}

type pathsOutput struct {
	RelationPaths []relationPath `json:"relation_paths,omitempty" jsonschema:"the relation paths that fit, best first"`
	Walks         []walk         `json:"walks" jsonschema:"where they lead"`
	Unknown       []string       `json:"unknown,omitempty" jsonschema:"entities that the knowledge graph does not hold"`
	Truncated     bool           `json:"truncated,omitempty" jsonschema:"true if there are more walks"`
	KG            string         `json:"kg" jsonschema:"the snapshot that was read"`
}

const (
	// defaultPaths is the default limit of relation paths.
	defaultPaths = 5
	// walksPerPath bounds the walks along one relation path.
	walksPerPath = 20
)

func (d *handler) addPaths(s *sdk.Server) {
	add(s, d, sdk.Tool{Name: "paths", Title: "Follow relations", Description: pathsDescription}, d.paths)
}

func (d *handler) paths(ctx context.Context, _ *sdk.CallToolRequest, in pathsInput) (pathsOutput, error) {
	if in.Question == "" && len(in.Follow) == 0 && len(in.To) == 0 {
		return pathsOutput{}, advice("beside from, give question, follow or to: what you want to know, which " +
			"relations to follow, or where to arrive")
	}
	kg, err := d.kg(ctx, in.KG)
	if err != nil {
		return pathsOutput{}, err
	}
	in.Limit = cmp.Or(in.Limit, defaultPaths)
	var out pathsOutput
	switch {
	case len(in.To) > 0:
		out, err = d.shortest(ctx, kg, in)
	case len(in.Follow) > 0:
		var paths []*graphv1.RelationPath
		for _, steps := range in.Follow {
			path := &graphv1.RelationPath{}
			for _, s := range steps {
				path.Steps = append(path.Steps, &graphv1.RelationStep{Relation: s.Relation, Inverse: s.Inverse})
			}
			paths = append(paths, path)
		}
		out, err = d.follow(ctx, kg, in, paths)
	default:
		out, err = d.suggest(ctx, kg, in)
	}
	if err == nil && len(out.Walks) == 0 && len(out.Unknown) > 0 {
		err = advice(name(out.KG) + " holds no entity with the name or id " + names(out.Unknown) +
			": find it by the tool link, and call again")
	}
	return out, err
}

func (d *handler) suggest(ctx context.Context, kg *graphv1.KnowledgeGraphRef, in pathsInput) (pathsOutput, error) {
	resp, err := d.retriever.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{
		Kg: kg, Question: in.Question, TopicEntities: in.From, MaxHops: in.MaxHops, Limit: in.Limit,
	})
	if err != nil {
		return pathsOutput{}, err
	}
	out := pathsOutput{Walks: []walk{}, Unknown: resp.GetUnknownEntities(), KG: kgtext.FormatKG(resp.GetKg())}
	if len(resp.GetPaths()) > 0 {
		// Read the same snapshot, even if another was activated meanwhile.
		if out, err = d.follow(ctx, resp.GetKg(), in, resp.GetPaths()); err != nil {
			return out, err
		}
	}
	for _, p := range resp.GetPaths() {
		out.RelationPaths = append(out.RelationPaths, relationPath{stepsOf(p.GetSteps()), round(p.GetScore()),
			p.GetEnds()})
	}
	return out, nil
}

func (d *handler) follow(ctx context.Context, kg *graphv1.KnowledgeGraphRef, in pathsInput,
	paths []*graphv1.RelationPath) (pathsOutput, error) {
	resp, err := d.retriever.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{
		Kg: kg, TopicEntities: in.From, Paths: paths, LimitPerPath: walksPerPath, Question: in.Question,
	})
	if err != nil {
		return pathsOutput{}, err
	}
	return pathsOutput{
		Walks: walksOf(resp.GetPaths()), Unknown: resp.GetUnknownEntities(), Truncated: resp.GetTruncated(),
		KG: kgtext.FormatKG(resp.GetKg()),
	}, nil
}

func (d *handler) shortest(ctx context.Context, kg *graphv1.KnowledgeGraphRef, in pathsInput) (pathsOutput, error) {
	resp, err := d.retriever.FindShortestPaths(ctx, &retrieverv1.FindShortestPathsRequest{
		Kg: kg, From: in.From, To: in.To, MaxHops: in.MaxHops, Limit: in.Limit,
	})
	if err != nil {
		return pathsOutput{}, err
	}
	return pathsOutput{
		Walks: walksOf(resp.GetPaths()), Unknown: resp.GetUnknownEntities(), Truncated: resp.GetTruncated(),
		KG: kgtext.FormatKG(resp.GetKg()),
	}, nil
}

func walksOf(all []*graphv1.ReasoningPath) []walk {
	out := make([]walk, len(all))
	for i, p := range all {
		out[i] = walk{p.GetEntities(), distinctIDs(p), stepsOf(p.GetSteps()), p.GetValidity().GetStart(),
			p.GetValidity().GetEnd()}
	}
	return out
}

// distinctIDs returns the ids of a path's entities, or none if each is the name or empty.
func distinctIDs(p *graphv1.ReasoningPath) []string {
	for i, id := range p.GetEntityIds() {
		if i < len(p.GetEntities()) && id != "" && id != p.GetEntities()[i] {
			return p.GetEntityIds()
		}
	}
	return nil
}

func (o pathsOutput) text() string {
	var p page
	for _, r := range o.RelationPaths {
		p.line("relation path (score %v, %d ends): %s", r.Score, r.Ends, stepsText(r.Steps))
	}
	if len(o.Walks) == 0 {
		p.line("%s holds no walk like that: try more hops, other relations, or neighbours to see which relations "+
			"there are.", name(o.KG))
	} else {
		p.line("walks in %s; ^ before a relation reads it backwards:", name(o.KG))
	}
	for _, w := range o.Walks {
		p.line("- %s", w)
	}
	if len(o.Unknown) > 0 {
		p.line("Not in %s: %s. The tool link finds how it spells names.", name(o.KG), names(o.Unknown))
	}
	if o.Truncated {
		p.line("There are more walks than these.")
	}
	return p.String()
}

// String formats the walk on one line.
func (w walk) String() string {
	var b strings.Builder
	for i, e := range w.Entities {
		if i > 0 && i <= len(w.Steps) {
			b.WriteString(" -> " + w.Steps[i-1].String() + " -> ")
		}
		b.WriteString(name(e))
	}
	if w.From+w.Until != "" {
		b.WriteString(" (" + name(w.From) + " to " + name(w.Until) + ")")
	}
	return b.String()
}

// names quotes names for one line.
func names(all []string) string {
	shown := make([]string, len(all))
	for i, n := range all {
		shown[i] = `"` + name(n) + `"`
	}
	return strings.Join(shown, ", ")
}
