package stagetest

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/errinfo"
	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Graph is a knowledge graph of subject, relation, object that can be walked
// hop by hop. Entities whose names begin with "m." are mediators.
type Graph [][3]string

// Walk scripts the calls that look around in the graph and follow relations.
func (g Graph) Walk(m *Mesh) {
	g.look(m)
	Script(m, func(_ context.Context, req *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
		resp := &retrieverv1.FollowPathsResponse{}
		for _, p := range req.GetPaths() {
			for _, from := range p.GetTopicEntities() {
				walks := []*graphv1.ReasoningPath{{Entities: []string{from}}}
				for _, step := range p.GetSteps() {
					walks = g.follow(walks, step)
				}
				for _, w := range walks {
					if !mediator(w.GetEntities()[len(w.GetEntities())-1]) {
						resp.Paths = append(resp.Paths, w)
					}
				}
			}
		}
		return resp, nil
	})
}

func (g Graph) look(m *Mesh) {
	Script(m, func(_ context.Context, req *retrieverv1.ListNeighboursRequest) (*retrieverv1.ListNeighboursResponse,
		error) {
		resp := &retrieverv1.ListNeighboursResponse{}
		g.around(req.GetEntity(), func(step *graphv1.RelationStep, to string) {
			at := slices.IndexFunc(resp.Relations, func(c *retrieverv1.RelationCount) bool {
				return c.GetRelation() == step.GetRelation() && c.GetInverse() == step.GetInverse()
			})
			if at < 0 {
				at = len(resp.Relations)
				resp.Relations = append(resp.Relations, &retrieverv1.RelationCount{Relation: step.GetRelation(),
					Inverse: step.GetInverse(), Opaque: true})
			}
			c := resp.Relations[at]
			c.Triples++
			if !mediator(to) {
				c.Opaque = false
				return
			}
			g.around(to, func(next *graphv1.RelationStep, end string) {
				known := slices.ContainsFunc(c.Onward,
					func(s *graphv1.RelationStep) bool { return s.GetRelation() == next.GetRelation() })
				if end != req.GetEntity() && !mediator(end) && !known {
					c.Onward = append(c.Onward, next)
				}
			})
		})
		if len(resp.Relations) == 0 {
			return nil, notFound(req.GetEntity())
		}
		return resp, nil
	})
}

func (g Graph) follow(walks []*graphv1.ReasoningPath, step *graphv1.RelationStep) (further []*graphv1.ReasoningPath) {
	for _, w := range walks {
		from := w.GetEntities()[len(w.GetEntities())-1]
		g.around(from, func(s *graphv1.RelationStep, to string) {
			if s.GetRelation() == step.GetRelation() && s.GetInverse() == step.GetInverse() {
				further = append(further, &graphv1.ReasoningPath{
					Entities: append(slices.Clone(w.GetEntities()), to), Steps: append(slices.Clone(w.GetSteps()), s),
				})
			}
		})
	}
	return further
}

// around calls see for every edge of an entity.
func (g Graph) around(entity string, see func(step *graphv1.RelationStep, to string)) {
	for _, t := range g {
		if t[0] == entity {
			see(&graphv1.RelationStep{Relation: t[1]}, t[2])
		}
		if t[2] == entity {
			see(&graphv1.RelationStep{Relation: t[1], Inverse: true}, t[0])
		}
	}
}

func mediator(name string) bool { return strings.HasPrefix(name, "m.") }

// notFound is what the retriever says of an entity that there is not.
func notFound(entity string) error {
	s, err := status.New(codes.NotFound, "there is no "+
		entity).WithDetails(errinfo.New(errorsv1.ErrorReason_ERROR_REASON_ENTITY_NOT_FOUND, nil))
	if err != nil {
		return err
	}
	return s.Err()
}

// scriptBeam scripts what tog calls beside the graph: a model that likes the
// first of any list best, and for which any path is enough.
func scriptBeam(m *Mesh) {
	Graph{{"Velmora", "river", "Tessen"}, {"Velmora", "river", "Orla"}, {"Velmora", "twin", "Harn"}}.look(m)
	Script(m, func(_ context.Context, req *evaluatorv1.RankCandidatesRequest) (*evaluatorv1.RankCandidatesResponse,
		error) {
		return &evaluatorv1.RankCandidatesResponse{Ranked: FirstBest(req), Usage: Usage()}, nil
	})
	Script(m, func(context.Context, *evaluatorv1.JudgeSufficiencyRequest) (*evaluatorv1.JudgeSufficiencyResponse,
		error) {
		sure := float32(.9)
		return &evaluatorv1.JudgeSufficiencyResponse{Sufficient: true, Probability: &sure, Usage: Usage()}, nil
	})
}

// FirstBest ranks candidates in the order they have.
func FirstBest(req *evaluatorv1.RankCandidatesRequest) (ranked []*evaluatorv1.RankedCandidate) {
	score := float32(.5)
	for i := range req.GetCandidates()[:min(len(req.GetCandidates()), int(req.GetLimit()))] {
		ranked = append(ranked, &evaluatorv1.RankedCandidate{Index: uint32(i), Score: score})
		score /= 2
	}
	return ranked
}
