package retriever

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/prune"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/subjectfirst"
)

// GroundGraph implements retrieverv1.RetrieverServiceServer.
func (s *Service) GroundGraph(ctx context.Context, req *retrieverv1.GroundGraphRequest) (*retrieverv1.GroundGraphResponse, error) {
	var pseudo []ground.Fact
	for _, t := range req.GetPseudoGraph().GetTriples() {
		pseudo = append(pseudo, ground.Fact{Subject: t.GetSubject(), Relation: t.GetRelation(), Object: t.GetObject()})
	}
	snap, err := s.openToGround(ctx, req.GetKg(), subjectfirst.AskOf(req.GetQuestion(), pseudo))
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	options, err := s.grounding.options(ctx, snap, req.GetOptions())
	if err != nil {
		return nil, err
	}
	result, err := ground.Ground(ctx, snap, s.encoder, s.observe.step, req.GetQuestion(), pseudo, options)
	if err != nil {
		return nil, err
	}
	s.observe.hits.Record(ctx, int64(len(result.Hits)), by(ctx))
	resp := &retrieverv1.GroundGraphResponse{GroundGraph: &graphv1.GroundGraph{}, Hits: scoredTriples(result.Hits), Kg: refOf(snap)}
	for _, e := range result.Subjects {
		resp.GroundGraph.Subjects = append(resp.GroundGraph.Subjects, &graphv1.SubjectEvidence{
			Subject: e.Subject, Confidence: e.Confidence, Hits: uint32(e.Hits), Triples: scoredTriples(e.Facts),
		})
	}
	pruned := map[graphv1.DropReason]int64{}
	for _, d := range result.Dropped {
		reason := dropReasons[d.Reason]
		pruned[reason]++
		resp.Dropped = append(resp.Dropped, &graphv1.DroppedSubject{
			Subject: d.Subject, Confidence: d.Confidence, Hits: uint32(d.Hits), Reason: reason,
		})
	}
	for reason, subjects := range pruned {
		s.observe.pruned.Add(ctx, subjects, by(ctx, attribute.String("reason", reason.String())))
	}
	return resp, nil
}

var dropReasons = map[prune.Reason]graphv1.DropReason{
	prune.Selection:  graphv1.DropReason_DROP_REASON_CANDIDATE_SELECTION,
	prune.Confidence: graphv1.DropReason_DROP_REASON_CONFIDENCE,
}

func scoredTriples(facts []ground.Scored) []*graphv1.ScoredTriple {
	triples := make([]*graphv1.ScoredTriple, len(facts))
	for i, f := range facts {
		triples[i] = &graphv1.ScoredTriple{
			Triple: &graphv1.Triple{
				Subject: f.Subject, Relation: f.Relation, Object: f.Object, Validity: validity(f.Validity), ObjectKind: termKind(f.Kind),
			},
			Score: f.Score, PseudoTripleScores: f.Pseudo, QuestionScore: f.Question,
		}
	}
	return triples
}

// validity leaves the interval unset where the graph does not say.
func validity(v store.Validity) *graphv1.ValidityInterval {
	if v == (store.Validity{}) {
		return nil
	}
	return &graphv1.ValidityInterval{Start: v.Start, End: v.End}
}
