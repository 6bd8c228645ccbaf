package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

// maxKindPaths bounds the relations of an answer by which something of another kind is looked for.
const maxKindPaths = 64

// findOtherKind returns why the first answer is not what was asked for: the knowledge graph says that it is of another
// kind, and that something it leads to is of the one asked for, as the country of a town, or by a relation of that
// name. Empty if it does not; a retriever that fails says nothing.
func (s *Service) findOtherKind(ctx context.Context, q *question.Question) string {
	kinds := kgtext.AskedKinds(q.Text())
	if len(kinds) == 0 || len(q.OtherKGs()) > 0 {
		return ""
	}
	run := q.Snapshot()
	if len(run.GetAnswers()) == 0 || run.GetGrounding() != orchestratorv1.Grounding_GROUNDING_GROUNDED {
		return ""
	}
	answer := run.GetAnswers()[0]
	isKind := func(name string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return kgtext.SameNoun(kgtext.Fold(name), kind) })
	}
	saysKind := func(t *graphv1.Triple) bool {
		isSaid := func(kind string) bool { return kgtext.SharedWords(kind, t.GetRelation()) == 1 }
		return slices.ContainsFunc(kinds, isSaid)
	}
	if slices.ContainsFunc(answer.GetEvidence(), saysKind) {
		return ""
	}
	name := cmp.Or(answer.GetId(), answer.GetAnswer())
	around, err := s.Stages.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: q.KG(), Entity: name,
		Direction: retrieverv1.Direction_DIRECTION_OUT})
	if err != nil {
		return ""
	}
	var own *graphv1.Triple
	for _, t := range around.GetTriples() {
		if !kgtext.IsType(t.GetRelation()) {
			continue
		}
		if own = t; isKind(t.GetObject()) {
			return ""
		}
	}
	req := &retrieverv1.FollowPathsRequest{Kg: q.KG(), TopicEntities: []string{name}}
	for _, r := range around.GetRelations() {
		if own != nil && isKind(kgtext.VerbaliseRelation(r.GetRelation())) {
			return fmt.Sprintf("%s is a %s, and has the %s that the question asks for", answer.GetAnswer(),
				own.GetObject(), kgtext.VerbaliseRelation(r.GetRelation()))
		}
		if own != nil && !kgtext.IsType(r.GetRelation()) && len(req.GetPaths()) < maxKindPaths {
			req.Paths = append(req.Paths, &graphv1.RelationPath{Steps: []*graphv1.RelationStep{
				{Relation: r.GetRelation()}, {Relation: own.GetRelation()}}})
		}
	}
	if len(req.GetPaths()) == 0 {
		return ""
	}
	followed, err := s.Stages.Retriever.FollowPaths(ctx, req)
	if err != nil {
		return ""
	}
	for _, p := range followed.GetPaths() {
		if isKind(kgtext.PathEnd(p)) {
			return fmt.Sprintf("the kind of %s is \u201c%s\u201d, and the question asks for that of %s, "+
				"\u201c%s\u201d", answer.GetAnswer(), own.GetObject(), p.GetEntities()[1], kgtext.PathEnd(p))
		}
	}
	return ""
}
