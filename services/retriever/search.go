package retriever

import (
	"context"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/subjectfirst"
)

// defaultHits is how many hits a query has where the request does not say.
const defaultHits = 10

// SearchTriples implements retrieverv1.RetrieverServiceServer.
func (s *Service) SearchTriples(ctx context.Context, req *retrieverv1.SearchTriplesRequest) (*retrieverv1.SearchTriplesResponse, error) {
	snap, err := s.openToGround(ctx, req.GetKg(), subjectfirst.Ask{Texts: req.GetQueries()})
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	filter, err := filterOf(ctx, snap, req.GetFilter())
	if err != nil {
		return nil, err
	}
	vectors, err := s.encode(ctx, req.GetQueries())
	if err != nil {
		return nil, err
	}
	var lists [][]store.Hit
	err = s.observe.step(ctx, "store.search_triples", func(ctx context.Context) (_ int, err error) {
		lists, err = snap.SearchTriples(ctx, vectors, defaulted(req.GetLimit(), defaultHits), filter)
		return len(lists), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SearchTriplesResponse{Kg: refOf(snap)}
	for _, list := range lists {
		hits := &retrieverv1.TripleHits{}
		for _, h := range list {
			hits.Triples = append(hits.Triples, &graphv1.ScoredTriple{Triple: tripleOf(snap, h.Triple), Score: h.Score})
		}
		resp.Results = append(resp.Results, hits)
	}
	return resp, nil
}

// SearchRelations implements retrieverv1.RetrieverServiceServer.
func (s *Service) SearchRelations(ctx context.Context, req *retrieverv1.SearchRelationsRequest) (*retrieverv1.SearchRelationsResponse, error) {
	snap, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	vectors, err := s.encode(ctx, req.GetQueries())
	if err != nil {
		return nil, err
	}
	var lists [][]store.RelationHit
	err = s.observe.step(ctx, "store.search_relations", func(ctx context.Context) (_ int, err error) {
		lists, err = snap.SearchRelations(ctx, vectors, defaulted(req.GetLimit(), defaultHits))
		return len(lists), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SearchRelationsResponse{Kg: refOf(snap)}
	for _, list := range lists {
		hits := &retrieverv1.RelationHits{}
		for _, h := range list {
			hits.Relations = append(hits.Relations, &retrieverv1.ScoredRelation{
				Relation: snap.RelationName(h.Relation), Score: h.Score, Triples: uint64(snap.RelationTriples(h.Relation)),
			})
		}
		resp.Results = append(resp.Results, hits)
	}
	return resp, nil
}

func (s *Service) encode(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	err = s.observe.step(ctx, "retriever.encode", func(ctx context.Context) (_ int, err error) {
		vectors, err = s.encoder.Encode(ctx, texts)
		return len(texts), err
	})
	return vectors, err
}

func tripleOf(snap store.Snapshot, id store.TripleID) *graphv1.Triple {
	t := snap.Triple(id)
	return &graphv1.Triple{
		Subject: snap.EntityName(t.Subject), Relation: snap.RelationName(t.Relation), Object: snap.EntityName(t.Object),
		Validity: validity(snap.Validity(id)), ObjectKind: termKind(snap.Kind(t.Object)),
	}
}
