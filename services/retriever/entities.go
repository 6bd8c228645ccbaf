package retriever

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"google.golang.org/grpc/codes"

	errorsv1 "github.com/triplemesh/triplemesh/proto/triplemesh/errors/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/encoder"
	"github.com/triplemesh/triplemesh/services/retriever/ground"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// defaultLinks is the default limit of LinkEntities.
const defaultLinks = 5

// LinkEntities implements retrieverv1.RetrieverServiceServer.
func (s *Service) LinkEntities(ctx context.Context,
	req *retrieverv1.LinkEntitiesRequest) (*retrieverv1.LinkEntitiesResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	enc, err := s.encoderFor(ctx, snap.Info().Encoder)
	if err != nil {
		enc = s.encoder // a snapshot without vectors is linked by names
	}
	var links []link.Link
	err = s.observe.step(ctx, "retriever.link_entities", func(ctx context.Context) (_ int, err error) {
		links, err = link.Entities(ctx, snap, enc, req.GetText(), orDefault(req.GetLimit(), defaultLinks))
		return len(links), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.LinkEntitiesResponse{Kg: graphRef(snap)}
	for _, l := range links {
		resp.Links = append(resp.Links, newLink(snap, l))
	}
	return resp, nil
}

// BatchGetEntities implements retrieverv1.RetrieverServiceServer.
func (s *Service) BatchGetEntities(ctx context.Context,
	req *retrieverv1.BatchGetEntitiesRequest) (*retrieverv1.BatchGetEntitiesResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, unknown, err := resolveEntities(ctx, snap, req.GetEntities())
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.BatchGetEntitiesResponse{
		Entities: make(map[string]*graphv1.Entity, len(ids)), UnknownEntities: distinctNames(unknown),
		Kg: graphRef(snap),
	}
	for name, id := range ids {
		resp.Entities[name] = newEntity(snap, id)
	}
	return resp, nil
}

// SampleEntities implements retrieverv1.RetrieverServiceServer.
func (s *Service) SampleEntities(ctx context.Context,
	req *retrieverv1.SampleEntitiesRequest) (*retrieverv1.SampleEntitiesResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	limit := orDefault(req.GetLimit(), defaultSample)
	random := rand.New(rand.NewPCG(req.GetSeed(), 0))
	var chosen []store.EntityID
	seen := 0
	for id := range snap.Entities() { // reservoir sampling (Vitter 1985)
		if snap.Kind(id) != store.Entity {
			continue
		}
		if seen++; seen%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(chosen) < limit {
			chosen = append(chosen, id)
		} else if at := random.IntN(seen); at < limit {
			chosen[at] = id
		}
	}
	resp := &retrieverv1.SampleEntitiesResponse{Kg: graphRef(snap)}
	for _, id := range chosen {
		resp.Entities = append(resp.Entities, newEntity(snap, id))
	}
	return resp, nil
}

// defaultSample is the default number of sampled entities.
const defaultSample = 100

func newEntity(snap store.Snapshot, id store.EntityID) *graphv1.Entity {
	return &graphv1.Entity{Id: snap.EntityKey(id), Name: snap.EntityName(id), Kind: termKinds[snap.Kind(id)]}
}

func newLink(snap store.Snapshot, l link.Link) *graphv1.EntityLink {
	return &graphv1.EntityLink{Entity: snap.EntityName(l.Entity), EntityId: snap.EntityKey(l.Entity),
		Mention: l.Mention, Match: linkMatches[l.Match], Score: l.Score}
}

var linkMatches = map[link.Match]graphv1.LinkMatch{
	link.Exact:      graphv1.LinkMatch_LINK_MATCH_EXACT,
	link.Normalised: graphv1.LinkMatch_LINK_MATCH_NORMALISED,
	link.Alias:      graphv1.LinkMatch_LINK_MATCH_ALIAS,
	link.Fuzzy:      graphv1.LinkMatch_LINK_MATCH_FUZZY,
}

// defaultHits is the default number of hits per query.
const defaultHits = 10

// SearchTriples implements retrieverv1.RetrieverServiceServer.
func (s *Service) SearchTriples(ctx context.Context,
	req *retrieverv1.SearchTriplesRequest) (*retrieverv1.SearchTriplesResponse, error) {
	snap, enc, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	var triples store.Searcher = snap
	if !snap.Info().TripleVectors {
		triples = ground.NewSubjectFirst(snap, enc, ground.SubjectQuery{Texts: req.GetQueries()})
	}
	filter, err := resolveFilter(ctx, snap, req.GetFilter())
	if err != nil {
		return nil, err
	}
	vectors, err := s.encode(ctx, enc, req.GetQueries())
	if err != nil {
		return nil, err
	}
	var lists [][]store.Hit
	err = s.observe.step(ctx, "store.search_triples", func(ctx context.Context) (_ int, err error) {
		lists, err = triples.SearchTriples(ctx, vectors, orDefault(req.GetLimit(), defaultHits), filter)
		return len(lists), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SearchTriplesResponse{Kg: graphRef(snap)}
	for _, list := range lists {
		hits := &retrieverv1.TripleHits{}
		for _, h := range list {
			hits.Triples = append(hits.Triples, &graphv1.ScoredTriple{Triple: newTriple(snap, h.Triple),
				Score: h.Score})
		}
		resp.Results = append(resp.Results, hits)
	}
	return resp, nil
}

// SearchRelations implements retrieverv1.RetrieverServiceServer.
func (s *Service) SearchRelations(ctx context.Context,
	req *retrieverv1.SearchRelationsRequest) (*retrieverv1.SearchRelationsResponse, error) {
	snap, enc, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	vectors, err := s.encode(ctx, enc, req.GetQueries())
	if err != nil {
		return nil, err
	}
	var lists [][]store.RelationHit
	err = s.observe.step(ctx, "store.search_relations", func(ctx context.Context) (_ int, err error) {
		lists, err = snap.SearchRelations(ctx, vectors, orDefault(req.GetLimit(), defaultHits))
		return len(lists), err
	})
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SearchRelationsResponse{Kg: graphRef(snap)}
	for _, list := range lists {
		hits := &retrieverv1.RelationHits{}
		for _, h := range list {
			hits.Relations = append(hits.Relations, &retrieverv1.ScoredRelation{
				Relation: snap.RelationName(h.Relation), Score: h.Score,
				Triples: uint64(snap.RelationTriples(h.Relation)),
			})
		}
		resp.Results = append(resp.Results, hits)
	}
	return resp, nil
}

func (s *Service) encode(ctx context.Context, enc *encoder.Cache, texts []string) (vectors [][]float32, err error) {
	err = s.observe.step(ctx, "retriever.encode", func(ctx context.Context) (_ int, err error) {
		vectors, err = enc.Encode(ctx, texts)
		return len(texts), err
	})
	return vectors, err
}

func newTriple(snap store.Snapshot, id store.TripleID) *graphv1.Triple {
	t := snap.Triple(id)
	return &graphv1.Triple{
		Subject: snap.EntityName(t.Subject), Relation: snap.RelationName(t.Relation), Object: snap.EntityName(t.Object),
		Validity: validity(snap.Validity(id)), ObjectKind: termKinds[snap.Kind(t.Object)],
		SubjectId: snap.EntityKey(t.Subject), ObjectId: snap.EntityKey(t.Object), Provenance: snap.Provenance(id),
	}
}

// termKinds are kinds by the contract; it is unset for named entities.
var termKinds = map[store.Kind]graphv1.TermKind{
	store.Mediator: graphv1.TermKind_TERM_KIND_MEDIATOR,
	store.Text:     graphv1.TermKind_TERM_KIND_TEXT,
	store.Number:   graphv1.TermKind_TERM_KIND_NUMBER,
	store.Quantity: graphv1.TermKind_TERM_KIND_QUANTITY,
	store.Date:     graphv1.TermKind_TERM_KIND_DATE,
}

// defaultNeighbours is the default limit of Neighbours.
const defaultNeighbours = 100

// ListNeighbours implements retrieverv1.RetrieverServiceServer. Hubs are counted, not read: of a
// relation that does not fit in the limit, triples are taken evenly spread.
func (s *Service) ListNeighbours(ctx context.Context,
	req *retrieverv1.ListNeighboursRequest) (*retrieverv1.ListNeighboursResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	entity, ok, err := store.FindEntity(ctx, snap, req.GetEntity())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, newStatusError(codes.NotFound, errorsv1.ErrorReason_ERROR_REASON_ENTITY_NOT_FOUND,
			graphRef(snap), fmt.Sprintf(
				"list neighbours in %s@%d: no entity has this name or id; LinkEntities finds names that resemble it",
				snap.Info().KG, snap.Info().Number))
	}
	resp := &retrieverv1.ListNeighboursResponse{Kg: graphRef(snap), Entity: newEntity(snap, entity)}
	relations, err := resolveNames(ctx, req.GetRelations(), snap.Relation)
	if err != nil {
		return nil, err
	}
	if len(req.GetRelations()) > 0 && len(relations) == 0 {
		return resp, nil
	}
	err = s.observe.step(ctx, "store.edges", func(ctx context.Context) (int, error) {
		ways, err := walk.ListWays(ctx, snap, entity, directions(req.GetDirection()), relations)
		if err != nil {
			return 0, err
		}
		if req.GetRelationsOnly() {
			err = walk.FindOnward(ctx, snap, entity, ways)
		} else {
			resp.Triples, err = sampleTriples(ctx, snap, entity, ways, orDefault(req.GetLimit(), defaultNeighbours))
		}
		resp.Relations, resp.Total = relationCounts(snap, ways)
		return max(len(resp.GetTriples()), len(resp.GetRelations())), err
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

// sampleTriples reads at most limit triples, way by way.
func sampleTriples(ctx context.Context, snap store.Snapshot, entity store.EntityID, ways []walk.Way,
	limit int) ([]*graphv1.Triple, error) {
	var triples []*graphv1.Triple
	for _, w := range ways {
		if len(triples) == limit {
			break
		}
		edges, err := snap.Sample(ctx, entity, w.Direction(), w.Relation, limit-len(triples))
		if err != nil {
			return nil, err
		}
		for _, e := range edges {
			triples = append(triples, newTriple(snap, e.Triple))
		}
	}
	return triples, nil
}

// relationCounts returns the ways with the names of their relations, by falling number of triples,
// and the total of triples.
func relationCounts(snap store.Snapshot, ways []walk.Way) (counts []*retrieverv1.RelationCount, total uint64) {
	for _, w := range ways {
		counts = append(counts, &retrieverv1.RelationCount{
			Relation: snap.RelationName(w.Relation), Inverse: w.Inverse, Triples: uint64(w.Triples),
			Onward: relationSteps(snap, w.Onward), Opaque: w.Opaque,
		})
		total += uint64(w.Triples)
	}
	slices.SortStableFunc(counts, func(a, b *retrieverv1.RelationCount) int {
		return cmp.Or(cmp.Compare(b.GetTriples(), a.GetTriples()), cmp.Compare(a.GetRelation(), b.GetRelation()))
	})
	return counts, total
}
