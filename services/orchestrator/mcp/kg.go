package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// kg reads "wikidata" or "wikidata@3". Empty text takes the only knowledge
// graph there is; where there are several, the error names them.
func (d *door) kg(ctx context.Context, text string) (*graphv1.KnowledgeGraphRef, error) {
	if text != "" {
		return parseKG(text)
	}
	names, err := d.names(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, advice("there is no knowledge graph to read. Whoever runs the mesh loads one by: triplemesh kg load NAME FILE")
	case len(names) > 1:
		return nil, advice("there are several knowledge graphs: name one in kg, one of " + strings.Join(names, ", "))
	}
	return &graphv1.KnowledgeGraphRef{Name: names[0]}, nil
}

// kgs reads the knowledge graph of kg and those to read beside it.
func (d *door) kgs(ctx context.Context, text string, others []string) (*graphv1.KnowledgeGraphRef, []*graphv1.KnowledgeGraphRef, error) {
	first, err := d.kg(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	refs := make([]*graphv1.KnowledgeGraphRef, len(others))
	for i, other := range others {
		if refs[i], err = parseKG(other); err != nil {
			return nil, nil, err
		}
	}
	return first, refs, nil
}

// names are the knowledge graphs that have an active snapshot, each once.
func (d *door) names(ctx context.Context) ([]string, error) {
	list, err := d.graphs.List(ctx, &retrieverv1.ListRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range list.GetSnapshots() {
		if s.GetActive() {
			names = append(names, s.GetKg().GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func parseKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	name, number, pinned := strings.Cut(text, "@")
	ref := &graphv1.KnowledgeGraphRef{Name: name}
	if pinned {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 {
			return nil, advice(fmt.Sprintf("kg: %q names no snapshot: write NAME, or NAME@N with N from 1", text))
		}
		ref.Snapshot = n
	}
	return ref, nil
}

// kgText is the opposite of parseKG.
func kgText(ref *graphv1.KnowledgeGraphRef) string {
	if ref.GetSnapshot() == 0 {
		return ref.GetName()
	}
	return fmt.Sprintf("%s@%d", ref.GetName(), ref.GetSnapshot())
}
