package retriever

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// Defaults of SuggestPaths and FollowPaths.
const (
	defaultHops = 2
	// rankedHops is the default with a ranker, which was trained on as many.
	rankedHops          = 3
	defaultPaths        = 10
	defaultLimitPerPath = 100
)

// SuggestPaths implements retrieverv1.RetrieverServiceServer.
func (s *Service) SuggestPaths(ctx context.Context,
	req *retrieverv1.SuggestPathsRequest) (*retrieverv1.SuggestPathsResponse, error) {
	snap, enc, err := s.openForSearch(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, unknown, err := resolveEntities(ctx, snap, req.GetTopicEntities())
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.SuggestPathsResponse{UnknownEntities: unknown, Kg: graphRef(snap)}
	ask := walk.SuggestRequest{
		Question: req.GetQuestion(), Topics: orderedIDs(ids, req.GetTopicEntities()),
		MaxHops: orDefault(req.GetMaxHops(), defaultHops),
		Limit:   orDefault(req.GetLimit(), defaultPaths),
		MaxEnds: int(req.GetMaxEnds()),
		Ranker:  s.rankers.forSnapshot(ctx, snap),
	}
	if req.GetMaxHops() == 0 {
		ask.RankedHops = rankedHops
	}
	for _, p := range req.GetProposed() {
		var steps []walk.NamedStep
		for _, step := range p.GetSteps() {
			steps = append(steps, walk.NamedStep{Relation: step.GetRelation(), Inverse: step.GetInverse()})
		}
		ask.Proposed = append(ask.Proposed, walk.DescribePath(steps))
	}
	if req.GetIncludeFeatures() {
		candidates, err := walk.ListCandidates(ctx, snap, enc, ask)
		if err != nil {
			return nil, err
		}
		resp.Paths = suggestedPaths(snap, candidates.Paths)
		resp.Features = pathFeatures(candidates.Question, snap.Info().Encoder)
		return resp, nil
	}
	var paths []walk.Suggestion
	err = s.observe.step(ctx, "retriever.suggest_paths", func(ctx context.Context) (_ int, err error) {
		paths, err = walk.Suggest(ctx, snap, enc, ask)
		return len(paths), err
	})
	if err != nil {
		return nil, err
	}
	resp.Paths = suggestedPaths(snap, paths)
	return resp, nil
}

func suggestedPaths(snap store.Snapshot, suggestions []walk.Suggestion) []*graphv1.RelationPath {
	paths := make([]*graphv1.RelationPath, len(suggestions))
	for i, p := range suggestions {
		paths[i] = &graphv1.RelationPath{
			Steps: relationSteps(snap, p.Steps), Score: proto.Float32(p.Score), Ends: proto.Uint32(uint32(p.Ends)),
			Hops: proto.Uint32(uint32(p.Hops)), Probability: p.Probability,
			LeastHopScore: proto.Float32(p.LeastHopScore), TopicEntities: mapEntities(p.Topics, snap.EntityName),
		}
	}
	return paths
}

// FollowPaths implements retrieverv1.RetrieverServiceServer.
func (s *Service) FollowPaths(ctx context.Context,
	req *retrieverv1.FollowPathsRequest) (*retrieverv1.FollowPathsResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	ids, unknown, err := resolveEntities(ctx, snap, req.GetTopicEntities())
	if err != nil {
		return nil, err
	}
	plans := make([]walk.Plan, len(req.GetPaths()))
	for i, p := range req.GetPaths() {
		if plans[i], err = resolvePlan(ctx, snap, p, ids, req.GetTopicEntities()); err != nil {
			return nil, err
		}
	}
	resp := &retrieverv1.FollowPathsResponse{UnknownEntities: unknown, Kg: graphRef(snap)}
	var walks [][]walk.Walk
	err = s.observe.step(ctx, "retriever.follow_paths", func(ctx context.Context) (n int, err error) {
		walks, resp.Truncated, err = walk.Follow(ctx, snap, plans, s.walkLimit(snap, req))
		for _, of := range walks {
			n += len(of)
		}
		return n, err
	})
	if err != nil {
		return nil, err
	}
	resp.Paths = reasoningPaths(snap, req.GetPaths(), plans, walks)
	s.observe.paths.Record(ctx, int64(len(resp.GetPaths())), withTenant(ctx))
	return resp, nil
}

// walkLimit returns the limit of a request's walks. The question selects them if the snapshot's
// vectors can be compared with it.
func (s *Service) walkLimit(snap store.Snapshot, req *retrieverv1.FollowPathsRequest) walk.Limit {
	limit := walk.Limit{Walks: orDefault(req.GetLimitPerPath(), defaultLimitPerPath)}
	if name := snap.Info().Encoder; req.GetQuestion() != "" && name != "" {
		limit.Question = func(ctx context.Context) ([]float32, error) {
			enc, err := s.encoderFor(ctx, name)
			if err != nil {
				return nil, nil
			}
			vectors, err := enc.Encode(ctx, []string{req.GetQuestion()})
			if err != nil {
				return nil, err
			}
			return vectors[0], nil
		}
	}
	return limit
}

// reasoningPaths converts the walks of each plan. Recurring names are read once and the messages
// allocated together, because there may be thousands.
func reasoningPaths(snap store.Snapshot, paths []*graphv1.RelationPath, plans []walk.Plan,
	walks [][]walk.Walk) []*graphv1.ReasoningPath {
	count, passed := 0, 0
	for _, of := range walks {
		count += len(of)
		for _, w := range of {
			passed += len(w.Entities)
		}
	}
	named := make([]*graphv1.ReasoningPath, 0, count)
	messages, entities, keys := make([]graphv1.ReasoningPath, count), make([]string, 0, passed),
		make([]string, 0, passed)
	known := map[store.EntityID][2]string{}
	for i, of := range walks {
		steps := relationSteps(snap, plans[i].Steps)
		for _, w := range of {
			began := len(entities)
			for _, e := range w.Entities {
				nameAndKey, ok := known[e]
				if !ok {
					nameAndKey = [2]string{snap.EntityName(e), snap.EntityKey(e)}
					known[e] = nameAndKey
				}
				entities, keys = append(entities, nameAndKey[0]), append(keys, nameAndKey[1])
			}
			m := &messages[len(named)]
			m.Entities, m.EntityIds = entities[began:len(entities):len(entities)], keys[began:len(keys):len(keys)]
			m.Steps, m.Score, m.Probability = steps, proto.Float32(paths[i].GetScore()), paths[i].Probability
			m.LeastHopScore = paths[i].LeastHopScore
			if w.Validity != nil {
				m.Validity = &graphv1.ValidityInterval{Start: w.Validity.Start, End: w.Validity.End}
			}
			named = append(named, m)
		}
	}
	return named
}

// resolvePlan resolves the names of a relation path. The plan of a path with an unknown relation
// has no topic entities and so no walks.
func resolvePlan(ctx context.Context, snap store.Snapshot, p *graphv1.RelationPath, ids map[string]store.EntityID,
	topics []string) (walk.Plan, error) {
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
	plan.Topics = orderedIDs(ids, topics)
	return plan, nil
}

// orderedIDs returns the entities of names in their order, without the unknown ones.
func orderedIDs(ids map[string]store.EntityID, names []string) []store.EntityID {
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

// mapEntities returns the names or keys of entities.
func mapEntities(entities []store.EntityID, name func(store.EntityID) string) []string {
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = name(e)
	}
	return names
}

// Defaults of ShortestPaths.
const (
	defaultShortestHops  = 4
	defaultShortestWalks = 16
)

// FindShortestPaths implements retrieverv1.RetrieverServiceServer.
func (s *Service) FindShortestPaths(ctx context.Context,
	req *retrieverv1.FindShortestPathsRequest) (*retrieverv1.FindShortestPathsResponse, error) {
	snap, err := s.open(ctx, req.GetKg())
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	names := slices.Concat(req.GetFrom(), req.GetTo())
	ids, unknown, err := resolveEntities(ctx, snap, names)
	if err != nil {
		return nil, err
	}
	resp := &retrieverv1.FindShortestPathsResponse{UnknownEntities: distinctNames(unknown), Kg: graphRef(snap)}
	ask := walk.ShortestRequest{
		From: orderedIDs(ids, req.GetFrom()), To: orderedIDs(ids, req.GetTo()),
		MaxHops: orDefault(req.GetMaxHops(), defaultShortestHops), Limit: orDefault(req.GetLimit(),
			defaultShortestWalks),
	}
	var walks []walk.Connection
	err = s.observe.step(ctx, "retriever.shortest_paths", func(ctx context.Context) (_ int, err error) {
		walks, resp.Truncated, err = walk.ShortestWalks(ctx, snap, ask)
		return len(walks), err
	})
	if err != nil {
		return nil, err
	}
	for _, w := range walks {
		p := &graphv1.ReasoningPath{Entities: mapEntities(w.Entities, snap.EntityName),
			EntityIds: mapEntities(w.Entities, snap.EntityKey), Steps: relationSteps(snap, w.Steps)}
		if w.Validity != nil {
			p.Validity = &graphv1.ValidityInterval{Start: w.Validity.Start, End: w.Validity.End}
		}
		resp.Paths = append(resp.Paths, p)
	}
	return resp, nil
}

// distinctNames keeps the first of equal names.
func distinctNames(names []string) []string {
	var kept []string
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			kept = append(kept, name)
		}
	}
	return kept
}
