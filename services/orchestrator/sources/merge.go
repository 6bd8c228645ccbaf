package sources

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// The limits of the contract for requests that set none.
const (
	defaultLinks      = 5
	defaultHits       = 10
	defaultPaths      = 10
	defaultNeighbours = 100
)

// LinkEntities merges links by their score. An entity that several knowledge graphs hold by the same
// name is one topic entity: its links, one for each knowledge graph, stand together in the place of
// the best of them, and count as one towards the limit.
func (r retriever) LinkEntities(ctx context.Context, req *retrieverv1.LinkEntitiesRequest,
	opts ...grpc.CallOption) (*retrieverv1.LinkEntitiesResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.LinkEntities, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.LinkEntitiesResponse]) *retrieverv1.LinkEntitiesResponse {
			var names []string
			byName := map[string][]*graphv1.EntityLink{}
			best := map[string]float32{}
			for _, r := range responses {
				for _, l := range r.resp.GetLinks() {
					l.KgName = r.kg
					name := l.GetEntity()
					if byName[name] == nil {
						names = append(names, name)
					}
					byName[name] = append(byName[name], l)
					best[name] = max(best[name], l.GetScore())
				}
			}
			sortBy(names, func(name string) float32 { return best[name] })
			merged := &retrieverv1.LinkEntitiesResponse{Kg: kg}
			for _, name := range truncate(names, req.GetLimit(), defaultLinks) {
				merged.Links = append(merged.Links, byName[name]...)
			}
			return merged
		})
}

// BatchGetEntities merges the entities by the names and ids they were requested by: the first
// knowledge graph that holds one counts.
func (r retriever) BatchGetEntities(ctx context.Context, req *retrieverv1.BatchGetEntitiesRequest,
	opts ...grpc.CallOption) (*retrieverv1.BatchGetEntitiesResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.BatchGetEntities, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.BatchGetEntitiesResponse]) *retrieverv1.BatchGetEntitiesResponse {
			merged := &retrieverv1.BatchGetEntitiesResponse{Kg: kg, Entities: map[string]*graphv1.Entity{}}
			for _, nameOrID := range req.GetEntities() {
				for _, r := range responses {
					if e := r.resp.GetEntities()[nameOrID]; e != nil && merged.Entities[nameOrID] == nil {
						e.KgName = r.kg
						merged.Entities[nameOrID] = e
					}
				}
				if merged.Entities[nameOrID] == nil && !slices.Contains(merged.UnknownEntities, nameOrID) {
					merged.UnknownEntities = append(merged.UnknownEntities, nameOrID)
				}
			}
			return merged
		})
}

// SearchTriples merges the hits of each query by their cosine.
func (r retriever) SearchTriples(ctx context.Context, req *retrieverv1.SearchTriplesRequest,
	opts ...grpc.CallOption) (*retrieverv1.SearchTriplesResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.SearchTriples, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.SearchTriplesResponse]) *retrieverv1.SearchTriplesResponse {
			merged := &retrieverv1.SearchTriplesResponse{Kg: kg}
			for i := range req.GetQueries() {
				var hits []*graphv1.ScoredTriple
				for _, r := range responses {
					if i < len(r.resp.GetResults()) {
						own := r.resp.GetResults()[i].GetTriples()
						label(own, r.kg)
						hits = append(hits, own...)
					}
				}
				sortBy(hits, (*graphv1.ScoredTriple).GetScore)
				merged.Results = append(merged.Results,
					&retrieverv1.TripleHits{Triples: truncate(hits, req.GetLimit(), defaultHits)})
			}
			return merged
		})
}

// SearchRelations merges the relations of each query by their cosine. Relations of the same name are
// one relation.
func (r retriever) SearchRelations(ctx context.Context, req *retrieverv1.SearchRelationsRequest,
	opts ...grpc.CallOption) (*retrieverv1.SearchRelationsResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.SearchRelations, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.SearchRelationsResponse]) *retrieverv1.SearchRelationsResponse {
			merged := &retrieverv1.SearchRelationsResponse{Kg: kg}
			for i := range req.GetQueries() {
				var hits []*retrieverv1.ScoredRelation
				byName := map[string]*retrieverv1.ScoredRelation{}
				for _, r := range responses {
					if i >= len(r.resp.GetResults()) {
						continue
					}
					for _, hit := range r.resp.GetResults()[i].GetRelations() {
						if same := byName[hit.GetRelation()]; same != nil {
							same.Score = max(same.GetScore(), hit.GetScore())
							same.Triples += hit.GetTriples()
							continue
						}
						byName[hit.GetRelation()] = hit
						hits = append(hits, hit)
					}
				}
				sortBy(hits, (*retrieverv1.ScoredRelation).GetScore)
				merged.Results = append(merged.Results,
					&retrieverv1.RelationHits{Relations: truncate(hits, req.GetLimit(), defaultHits)})
			}
			return merged
		})
}

// GroundGraph merges ground graphs. A subject that two knowledge graphs hold stays two, one for each,
// so that both are shown. All are sorted by confidence and cut as one list.
func (r retriever) GroundGraph(ctx context.Context, req *retrieverv1.GroundGraphRequest,
	opts ...grpc.CallOption) (*retrieverv1.GroundGraphResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.GroundGraph, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.GroundGraphResponse]) *retrieverv1.GroundGraphResponse {
			merged := &retrieverv1.GroundGraphResponse{Kg: kg}
			var subjects []*graphv1.SubjectEvidence
			for _, r := range responses {
				for _, s := range r.resp.GetGroundGraph().GetSubjects() {
					s.KgName = r.kg
					label(s.GetTriples(), r.kg)
					subjects = append(subjects, s)
				}
				label(r.resp.GetHits(), r.kg)
				merged.Hits = append(merged.Hits, r.resp.GetHits()...)
				for _, p := range r.resp.GetPaths() {
					p.KgName = r.kg
					merged.Paths = append(merged.Paths, p)
				}
				for _, d := range r.resp.GetDropped() {
					d.KgName = r.kg
					merged.Dropped = append(merged.Dropped, d)
				}
			}
			sortBy(subjects, (*graphv1.SubjectEvidence).GetConfidence)
			sortBy(merged.GetHits(), (*graphv1.ScoredTriple).GetScore)
			subjects, dropped := limitSubjects(subjects, subjectLimit(responses))
			merged.GroundGraph = &graphv1.GroundGraph{Subjects: subjects}
			merged.Dropped = append(merged.Dropped, dropped...)
			return merged
		})
}

// subjectLimit returns the maximum number of subjects: as many as a knowledge graph selected that had
// more. A longer prompt makes answers of small models worse. It is 0 if none had to select: then the
// limit is unknown, and nothing is cut.
func subjectLimit(responses []response[*retrieverv1.GroundGraphResponse]) (limit int) {
	for _, r := range responses {
		selected, hadMore := len(r.resp.GetGroundGraph().GetSubjects()), false
		for _, d := range r.resp.GetDropped() {
			switch d.GetReason() {
			case graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION:
				hadMore = true
			case graphv1.DropReason_DROP_REASON_CONFIDENCE:
				selected++ // dropped after the selection
			}
		}
		if hadMore {
			limit = max(limit, selected)
		}
	}
	return limit
}

// limitSubjects returns the first subjects of limit distinct names, and those that it dropped; 0 is
// no limit.
func limitSubjects(subjects []*graphv1.SubjectEvidence,
	limit int) (selected []*graphv1.SubjectEvidence, dropped []*graphv1.DroppedSubject) {
	names := map[string]bool{}
	for _, s := range subjects {
		name := kgtext.Fold(s.GetSubject())
		if limit > 0 && len(names) == limit && !names[name] {
			dropped = append(dropped, &graphv1.DroppedSubject{
				Subject: s.GetSubject(), Confidence: s.GetConfidence(), Hits: s.GetHits(), KgName: s.GetKgName(),
				Reason: graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION,
			})
			continue
		}
		names[name] = true
		selected = append(selected, s)
	}
	return selected, dropped
}

// label names the knowledge graph of triples.
func label(triples []*graphv1.ScoredTriple, kg string) {
	for _, t := range triples {
		if t.GetTriple() != nil {
			t.Triple.KgName = kg
		}
	}
}

// ListNeighbours merges the triples around an entity, outgoing ones first, those of the knowledge graphs
// in turn so that the limit leaves some of each. Relations of the same name are one relation with the
// triples of all.
func (r retriever) ListNeighbours(ctx context.Context, req *retrieverv1.ListNeighboursRequest,
	opts ...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.ListNeighbours, nil,
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.ListNeighboursResponse]) *retrieverv1.ListNeighboursResponse {
			merged := &retrieverv1.ListNeighboursResponse{Kg: kg, Relations: mergeRelations(responses)}
			var out, in [][]*graphv1.Triple
			for _, r := range responses {
				merged.Total += r.resp.GetTotal()
				triples := r.resp.GetTriples()
				for _, t := range triples {
					t.KgName = r.kg
				}
				firstIn := slices.IndexFunc(triples, func(t *graphv1.Triple) bool {
					return t.GetSubject() != req.GetEntity()
				})
				if firstIn < 0 {
					firstIn = len(triples)
				}
				out, in = append(out, triples[:firstIn]), append(in, triples[firstIn:])
			}
			merged.Triples = truncate(append(interleave(out), interleave(in)...), req.GetLimit(), defaultNeighbours)
			return merged
		})
}

// interleave takes one element of each list in turn.
func interleave(lists [][]*graphv1.Triple) (all []*graphv1.Triple) {
	for i, more := 0, true; more; i++ {
		more = false
		for _, list := range lists {
			if i < len(list) {
				all, more = append(all, list[i]), true
			}
		}
	}
	return all
}

// mergeRelations sums up relations of the same name and direction, most triples first.
func mergeRelations(responses []response[*retrieverv1.ListNeighboursResponse]) (all []*retrieverv1.RelationCount) {
	type key struct {
		relation string
		inverse  bool
	}
	byKey := map[key]*retrieverv1.RelationCount{}
	for _, r := range responses {
		for _, c := range r.resp.GetRelations() {
			k := key{c.GetRelation(), c.GetInverse()}
			if same := byKey[k]; same != nil {
				same.Triples += c.GetTriples()
				same.Opaque = same.GetOpaque() && c.GetOpaque()
				same.Onward = mergeSteps(same.GetOnward(), c.GetOnward())
				continue
			}
			byKey[k] = c
			all = append(all, c)
		}
	}
	sortBy(all, (*retrieverv1.RelationCount).GetTriples)
	return all
}

func mergeSteps(steps, more []*graphv1.RelationStep) []*graphv1.RelationStep {
	for _, s := range more {
		if !slices.ContainsFunc(steps, func(f *graphv1.RelationStep) bool { return proto.Equal(f, s) }) {
			steps = append(steps, s)
		}
	}
	return steps
}

// SuggestPaths merges relation paths by their score, each labelled with its knowledge graph. The
// limit on paths holds for all together, the one on their ends for each knowledge graph: whether two
// ends are the same only the store knows.
func (r retriever) SuggestPaths(ctx context.Context, req *retrieverv1.SuggestPathsRequest,
	opts ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.SuggestPaths,
		func(own *retrieverv1.SuggestPathsRequest) bool {
			unlabel(own.GetProposed())
			return true
		},
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.SuggestPathsResponse]) *retrieverv1.SuggestPathsResponse {
			merged := &retrieverv1.SuggestPathsResponse{Kg: kg, UnknownEntities: unknownToAll(responses)}
			for _, r := range responses {
				for _, p := range r.resp.GetPaths() {
					p.KgName = r.kg
					merged.Paths = append(merged.Paths, p)
				}
			}
			sortBy(merged.GetPaths(), (*graphv1.RelationPath).GetScore)
			merged.Paths = truncate(merged.GetPaths(), req.GetLimit(), defaultPaths)
			return merged
		})
}

// FollowPaths follows a labelled relation path in its own knowledge graph, one without a label in
// all. The walks are labelled, and in the order of the relation paths.
func (r retriever) FollowPaths(ctx context.Context, req *retrieverv1.FollowPathsRequest,
	opts ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	return fanOut(ctx, req, opts, r.RetrieverServiceClient.FollowPaths, func(own *retrieverv1.FollowPathsRequest) bool {
		own.Paths = slices.DeleteFunc(own.GetPaths(), func(p *graphv1.RelationPath) bool {
			return p.GetKgName() != "" && p.GetKgName() != own.GetKg().GetName()
		})
		unlabel(own.GetPaths())
		return len(own.GetPaths()) > 0
	},
		func(kg *graphv1.KnowledgeGraphRef,
			responses []response[*retrieverv1.FollowPathsResponse]) *retrieverv1.FollowPathsResponse {
			merged := &retrieverv1.FollowPathsResponse{Kg: kg, UnknownEntities: unknownToAll(responses)}
			for _, r := range responses {
				for _, w := range r.resp.GetPaths() {
					w.KgName = r.kg
					merged.Paths = append(merged.Paths, w)
				}
				merged.Truncated = merged.GetTruncated() || r.resp.GetTruncated()
			}
			sortWalks(merged.GetPaths(), req.GetPaths())
			return merged
		})
}

// unlabel removes the names of knowledge graphs from outgoing paths.
func unlabel(paths []*graphv1.RelationPath) {
	for _, p := range paths {
		p.KgName = ""
	}
}

// sortWalks sorts walks by the relation path that they follow.
func sortWalks(walks []*graphv1.ReasoningPath, paths []*graphv1.RelationPath) {
	place := make(map[*graphv1.ReasoningPath]int, len(walks))
	for _, w := range walks {
		place[w] = slices.IndexFunc(paths, func(p *graphv1.RelationPath) bool { return follows(w, p) })
		if place[w] < 0 {
			place[w] = len(paths)
		}
	}
	slices.SortStableFunc(walks, func(a, b *graphv1.ReasoningPath) int { return cmp.Compare(place[a], place[b]) })
}

func follows(w *graphv1.ReasoningPath, p *graphv1.RelationPath) bool {
	if p.GetKgName() != "" && p.GetKgName() != w.GetKgName() {
		return false
	}
	if topics := p.GetTopicEntities(); len(topics) > 0 && (len(w.GetEntities()) == 0 ||
		!slices.Contains(topics, w.GetEntities()[0])) {
		return false
	}
	return slices.EqualFunc(w.GetSteps(), p.GetSteps(), func(a, b *graphv1.RelationStep) bool {
		return a.GetRelation() == b.GetRelation() && a.GetInverse() == b.GetInverse()
	})
}
