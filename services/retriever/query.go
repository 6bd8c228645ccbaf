package retriever

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/explore"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// defaultRows is the default number of rows of ExecuteQuery.
const defaultRows = 100

// ExploreQueryPlan implements retrieverv1.RetrieverServiceServer.
func (s *Service) ExploreQueryPlan(ctx context.Context,
	req *retrieverv1.ExploreQueryPlanRequest) (*retrieverv1.ExploreQueryPlanResponse, error) {
	snap, enc, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, _, err := resolveEntities(ctx, snap, req.GetTopicEntities())
	if err != nil {
		return nil, err
	}
	var terms []explore.Term
	var patterns []explore.Pattern
	err = s.observe.step(ctx, "retriever.explore_query_plan", func(ctx context.Context) (_ int, err error) {
		terms, patterns, err = explore.Plan(ctx, snap, enc, req.GetQuestion(), req.GetPlan(),
			orderedIDs(ids, req.GetTopicEntities()))
		return len(patterns), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.ExploreQueryPlanResponse{Kg: graphRef(snap)}
	for _, t := range terms {
		term := &graphv1.TermCandidates{Name: t.Name, OfKind: t.OfKind}
		for _, l := range t.Links {
			term.Links = append(term.Links, newLink(snap, l))
		}
		resp.Terms = append(resp.Terms, term)
	}
	for _, p := range patterns {
		resp.Patterns = append(resp.Patterns, &graphv1.PatternCandidates{Clause: uint32(p.Clause),
			Candidates: relationCandidates(snap, p.Candidates), Elsewhere: relationCandidates(snap, p.Elsewhere)})
	}
	return resp, nil
}

func relationCandidates(snap store.Snapshot, candidates []explore.Candidate) []*graphv1.RelationCandidate {
	all := make([]*graphv1.RelationCandidate, len(candidates))
	for i, c := range candidates {
		all[i] = &graphv1.RelationCandidate{PhraseScore: c.Phrase, QuestionScore: c.Question,
			Coverage: min(c.Coverage, 1),
			Triples:  uint64(c.Triples), EndKind: termKinds[c.EndKind], Comparable: c.Comparable, Joins: c.Joins,
			EndTypes: c.EndTypes, Words: c.Words, Implied: c.Implied, TypeMatch: c.TypeMatch,
			Anchors: mapEntities(c.Anchors, snap.EntityName), Steps: relationSteps(snap, c.Steps)}
		for at, others := range c.Alternatives {
			for _, id := range others {
				step := all[i].GetSteps()[at]
				step.Alternatives = append(step.Alternatives, snap.RelationName(id))
			}
		}
		for _, id := range c.Examples {
			all[i].Examples = append(all[i].Examples, newTriple(snap, id))
		}
	}
	return all
}

// ExecuteQuery implements retrieverv1.RetrieverServiceServer.
func (s *Service) ExecuteQuery(ctx context.Context,
	req *retrieverv1.ExecuteQueryRequest) (*retrieverv1.ExecuteQueryResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	var result *execute.Result
	err = s.observe.step(ctx, "retriever.execute_query", func(ctx context.Context) (_ int, err error) {
		result, err = execute.Run(ctx, snap, req.GetPlan(), orDefault(req.GetMaxRows(), defaultRows), execute.Limits{})
		if result != nil {
			return result.Total, err
		}
		return 0, err
	})
	if invalid, ok := errors.AsType[*execute.InvalidError](err); ok {
		return nil, status.Errorf(codes.InvalidArgument, "execute query in %s: %s", req.GetKg().GetName(),
			invalid.Reason)
	}
	if err != nil {
		return nil, err
	}
	table := &graphv1.QueryTable{Value: result.Value, Unit: result.Unit, Columns: result.Columns,
		Total: uint64(result.Total), Compared: uint64(result.Compared), Lacking: uint64(result.Lacking),
		Limits: result.Limits, Reason: result.Reason}
	for _, row := range result.Rows {
		out := &graphv1.QueryRow{}
		for _, id := range row.Cells {
			out.Cells = append(out.Cells, newEntity(snap, id))
		}
		if row.Value != "" {
			out.Cells = append(out.Cells, &graphv1.Entity{Name: row.Value})
		}
		for _, id := range row.Triples {
			out.Triples = append(out.Triples, newTriple(snap, id))
		}
		table.Rows = append(table.Rows, out)
	}
	return &retrieverv1.ExecuteQueryResponse{Table: table, Cypher: strings.TrimSpace(result.Cypher),
		Kg: graphRef(snap)}, nil
}
