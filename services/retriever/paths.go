package retriever

import (
	"context"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// What a request that does not say takes.
const (
	defaultHops         = 2
	defaultPaths        = 10
	defaultLimitPerPath = 100
)

// SuggestPaths implements retrieverv1.RetrieverServiceServer.
func (s *Service) SuggestPaths(ctx context.Context, req *retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse, error) {
	snap, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, unknown, err := known(ctx, snap, req.GetTopicEntities())
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SuggestPathsResponse{UnknownEntities: unknown, Kg: refOf(snap)}
	ask := walk.Ask{
		Question: req.GetQuestion(), Topics: inOrder(ids, req.GetTopicEntities()),
		MaxHops: defaulted(req.GetMaxHops(), defaultHops),
		Limit:   defaulted(req.GetLimit(), defaultPaths),
		MaxEnds: int(req.GetMaxEnds()),
	}
	for _, p := range req.GetProposed() {
		var steps []walk.Named
		for _, step := range p.GetSteps() {
			steps = append(steps, walk.Named{Relation: step.GetRelation(), Inverse: step.GetInverse()})
		}
		ask.Proposed = append(ask.Proposed, walk.Words(steps))
	}
	var paths []walk.Suggestion
	err = s.observe.step(ctx, "retriever.suggest_paths", func(ctx context.Context) (_ int, err error) {
		paths, err = walk.Suggest(ctx, snap, s.encoder, ask)
		return len(paths), err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		resp.Paths = append(resp.Paths, &graphv1.RelationPath{
			Steps: relationSteps(snap, p.Steps), Score: p.Score, Ends: uint32(p.Ends), Hops: uint32(p.Hops), TopicEntities: entityNames(snap, p.Topics),
		})
	}
	return resp, nil
}

// FollowPaths implements retrieverv1.RetrieverServiceServer.
func (s *Service) FollowPaths(ctx context.Context, req *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, unknown, err := known(ctx, snap, req.GetTopicEntities())
	if err != nil {
		return nil, err
	}
	plans := make([]walk.Plan, len(req.GetPaths()))
	for i, p := range req.GetPaths() {
		if plans[i], err = planOf(ctx, snap, p, ids, req.GetTopicEntities()); err != nil {
			return nil, err
		}
	}
	resp := &retrieverv1.FollowPathsResponse{UnknownEntities: unknown, Kg: refOf(snap)}
	var walks [][]walk.Walk
	err = s.observe.step(ctx, "retriever.follow_paths", func(ctx context.Context) (n int, err error) {
		walks, resp.Truncated, err = walk.Follow(ctx, snap, plans, s.limitOf(snap, req))
		for _, of := range walks {
			n += len(of)
		}
		return n, err
	})
	if err != nil {
		return nil, err
	}
	resp.Paths = reasoningPaths(snap, req.GetPaths(), plans, walks)
	s.observe.paths.Record(ctx, int64(len(resp.GetPaths())), by(ctx))
	return resp, nil
}

// limitOf bounds the walks of a request, by its question where the snapshot's
// vectors can be compared with it.
func (s *Service) limitOf(snap store.Snapshot, req *retrieverv1.FollowPathsRequest) walk.Limit {
	limit := walk.Limit{Walks: defaulted(req.GetLimitPerPath(), defaultLimitPerPath)}
	if req.GetQuestion() != "" && snap.Info().Encoder == s.model {
		limit.Question = func(ctx context.Context) ([]float32, error) {
			vectors, err := s.encoder.Encode(ctx, []string{req.GetQuestion()})
			if err != nil {
				return nil, err
			}
			return vectors[0], nil
		}
	}
	return limit
}

// reasoningPaths names the walks of each plan. Names that come back from walk
// to walk are read once, and the messages made in one piece: there may be
// thousands.
func reasoningPaths(snap store.Snapshot, paths []*graphv1.RelationPath, plans []walk.Plan, walks [][]walk.Walk) []*graphv1.ReasoningPath {
	count, passed := 0, 0
	for _, of := range walks {
		count += len(of)
		for _, w := range of {
			passed += len(w.Entities)
		}
	}
	named := make([]*graphv1.ReasoningPath, 0, count)
	messages, entities := make([]graphv1.ReasoningPath, count), make([]string, 0, passed)
	names := map[store.EntityID]string{}
	for i, of := range walks {
		steps := relationSteps(snap, plans[i].Steps)
		for _, w := range of {
			began := len(entities)
			for _, e := range w.Entities {
				name, ok := names[e]
				if !ok {
					name = snap.EntityName(e)
					names[e] = name
				}
				entities = append(entities, name)
			}
			m := &messages[len(named)]
			m.Entities, m.Steps, m.Score = entities[began:len(entities):len(entities)], steps, paths[i].GetScore()
			if w.Validity != nil {
				m.Validity = &graphv1.ValidityInterval{Start: w.Validity.Start, End: w.Validity.End}
			}
			named = append(named, m)
		}
	}
	return named
}

// planOf turns a relation path into numbers. One with a relation that the
// snapshot does not hold leads nowhere: its plan has no topic entities.
func planOf(ctx context.Context, snap store.Snapshot, p *graphv1.RelationPath, ids map[string]store.EntityID, topics []string) (walk.Plan, error) {
	var plan walk.Plan
	for _, step := range p.GetSteps() {
		relation, ok, err := snap.Relation(ctx, step.GetRelation())
		if err != nil || !ok {
			return walk.Plan{}, err
		}
		plan.Steps = append(plan.Steps, walk.Step{Relation: relation, Inverse: step.GetInverse()})
	}
	if own := p.GetTopicEntities(); len(own) > 0 {
		topics = own
	}
	plan.Topics = inOrder(ids, topics)
	return plan, nil
}

// inOrder lists the entities of names, those not known left out.
func inOrder(ids map[string]store.EntityID, names []string) []store.EntityID {
	var entities []store.EntityID
	for _, name := range names {
		if id, ok := ids[name]; ok {
			entities = append(entities, id)
		}
	}
	return entities
}

func relationSteps(snap store.Snapshot, steps []walk.Step) []*graphv1.RelationStep {
	out := make([]*graphv1.RelationStep, len(steps))
	for i, step := range steps {
		out[i] = &graphv1.RelationStep{Relation: snap.RelationName(step.Relation), Inverse: step.Inverse}
	}
	return out
}

func entityNames(snap store.Snapshot, entities []store.EntityID) []string {
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = snap.EntityName(e)
	}
	return names
}
