package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/triplemesh/triplemesh/internal/telemetry"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// defaultKG is asked where there are several and none is named.
const defaultKG = "wikidata"

// parseKG reads NAME or NAME@SNAPSHOT; empty text is none.
func parseKG(text string) (*graphv1.KnowledgeGraphRef, error) {
	if text == "" {
		return nil, nil
	}
	name, number, pinned := strings.Cut(text, "@")
	ref := &graphv1.KnowledgeGraphRef{Name: name}
	if !pinned {
		return ref, nil
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%q names no snapshot: write NAME or NAME@N with N from 1", text)
	}
	ref.Snapshot = n
	return ref, nil
}

// parseKGs reads several, the first of which may be nil: none was named.
func parseKGs(texts []string) ([]*graphv1.KnowledgeGraphRef, error) {
	refs := make([]*graphv1.KnowledgeGraphRef, max(1, len(texts)))
	for i, text := range texts {
		ref, err := parseKG(text)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	return refs, nil
}

func refText(ref *graphv1.KnowledgeGraphRef) string {
	if ref.GetSnapshot() == 0 {
		return ref.GetName()
	}
	return fmt.Sprintf("%s@%d", ref.GetName(), ref.GetSnapshot())
}

// pickKG is the only knowledge graph there is, else wikidata. It is a guess
// that spares typing: where nobody answers, that is for the orchestrator to say.
// An older orchestrator does not list them, but the retriever does.
func (p *program) pickKG(ctx context.Context, s *session, retriever string) *graphv1.KnowledgeGraphRef {
	ref := &graphv1.KnowledgeGraphRef{Name: defaultKG}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	resp, err := retrieverv1.NewKnowledgeGraphServiceClient(s).List(ctx, &retrieverv1.ListRequest{})
	if err != nil {
		if s.mesh != nil {
			retriever = s.mesh.Addr("retriever")
		}
		conn, dialErr := p.dial(retriever, "retriever", telemetry.Discard())
		if dialErr != nil {
			return ref
		}
		defer conn.Close()
		if resp, err = retrieverv1.NewKnowledgeGraphServiceClient(conn).List(ctx, &retrieverv1.ListRequest{}); err != nil {
			return ref
		}
	}
	var names []string
	for _, info := range resp.GetSnapshots() {
		names = append(names, info.GetKg().GetName())
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		ref.Name = names[0]
	}
	return ref
}
