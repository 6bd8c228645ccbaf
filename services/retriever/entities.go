package retriever

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What a request that does not say takes.
const (
	defaultLinks      = 5
	defaultNeighbours = 100
)

// LinkEntities implements retrieverv1.RetrieverServiceServer.
func (s *Service) LinkEntities(ctx context.Context, req *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	var links []link.Link
	err = s.observe.step(ctx, "retriever.link_entities", func(ctx context.Context) (_ int, err error) {
		links, err = link.Entities(ctx, snap, s.encoder, req.GetText(), defaulted(req.GetLimit(), defaultLinks))
		return len(links), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.LinkEntitiesResponse{Kg: refOf(snap)}
	for _, l := range links {
		resp.Links = append(resp.Links, &graphv1.EntityLink{
			Entity: snap.EntityName(l.Entity), Mention: l.Mention, Match: linkMatches[l.Match], Score: l.Score,
		})
	}
	return resp, nil
}

var linkMatches = map[link.Match]graphv1.LinkMatch{
	link.Exact:      graphv1.LinkMatch_LINK_MATCH_EXACT,
	link.Normalised: graphv1.LinkMatch_LINK_MATCH_NORMALISED,
	link.Alias:      graphv1.LinkMatch_LINK_MATCH_ALIAS,
	link.Fuzzy:      graphv1.LinkMatch_LINK_MATCH_FUZZY,
}

// Neighbours implements retrieverv1.RetrieverServiceServer.
func (s *Service) Neighbours(ctx context.Context, req *retrieverv1.NeighboursRequest) (*retrieverv1.NeighboursResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	entity, ok, err := snap.Entity(ctx, req.GetEntity())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, failed(codes.NotFound, "ENTITY_NOT_FOUND", refOf(snap), fmt.Sprintf(
			"list neighbours in %s@%d: no entity has this name; LinkEntities finds names that resemble it", snap.Info().KG, snap.Info().Number))
	}
	resp := &retrieverv1.NeighboursResponse{Kg: refOf(snap)}
	relations, err := numbersOf(ctx, req.GetRelations(), snap.Relation)
	if err != nil {
		return nil, err
	}
	if len(req.GetRelations()) > 0 && len(relations) == 0 {
		return resp, nil
	}
	limit := defaulted(req.GetLimit(), defaultNeighbours)
	err = s.observe.step(ctx, "store.edges", func(ctx context.Context) (int, error) {
		for _, dir := range directions(req.GetDirection()) {
			lists, err := snap.Edges(ctx, []store.EntityID{entity}, dir, relations)
			if err != nil {
				return 0, err
			}
			resp.Total += uint64(len(lists[0]))
			for _, e := range lists[0][:min(len(lists[0]), limit-len(resp.GetTriples()))] {
				resp.Triples = append(resp.Triples, tripleOf(snap, e.Triple))
			}
		}
		return len(resp.GetTriples()), nil
	})
	return resp, err
}

func directions(d retrieverv1.Direction) []store.Direction {
	switch d {
	case retrieverv1.Direction_DIRECTION_OUT:
		return []store.Direction{store.Out}
	case retrieverv1.Direction_DIRECTION_IN:
		return []store.Direction{store.In}
	default:
		return []store.Direction{store.Out, store.In}
	}
}
