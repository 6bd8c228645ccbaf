package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// Walker is what making questions reads of a mesh.
type Walker interface {
	Retriever
	SampleEntities(context.Context, *retrieverv1.SampleEntitiesRequest,
		...grpc.CallOption) (*retrieverv1.SampleEntitiesResponse, error)
	ListNeighbours(context.Context, *retrieverv1.ListNeighboursRequest,
		...grpc.CallOption) (*retrieverv1.ListNeighboursResponse, error)
}

// Synthesiser makes questions of a knowledge graph: random paths from random entities, put into words
// by templates. Their answers are the ends of the paths.
type Synthesiser struct {
	Walker Walker
	KG     *graphv1.KnowledgeGraphRef
	// Count is the number of questions, MaxHops the length of the longest path.
	Count, MaxHops int
	Seed           int64
	// Parallel is the number of questions at a time.
	Parallel int
	// Progress is called with the number of questions made; may be nil.
	Progress func(made int)
}

const (
	// maxAnswers is the largest number of answers of a synthesised question.
	maxAnswers = 100
	// perQuestion is the number of entities that are tried for a question: many have no path of the
	// length wanted.
	perQuestion = 3
	// sampleLimit is the contract's bound on sampled entities.
	sampleLimit = 10000
)

// Make returns a set of questions, fewer than Count if the knowledge graph is small.
func (s *Synthesiser) Make(ctx context.Context) (*Set, error) {
	resp, err := s.Walker.SampleEntities(ctx, &retrieverv1.SampleEntitiesRequest{Kg: s.KG, Seed: uint64(s.Seed),
		Limit: uint32(min(sampleLimit, perQuestion*s.Count))})
	if err != nil {
		return nil, fmt.Errorf("sample entities of %s: %w", kgtext.FormatKG(s.KG), err)
	}
	entities := resp.GetEntities()
	if len(entities) == 0 {
		return nil, refuse("%s has no entities to ask about", kgtext.FormatKG(s.KG))
	}
	made := make([]*dataset.Question, max(len(entities), s.Count))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.Parallel))
	for i := range made {
		group.Go(func() (err error) {
			random := rand.New(rand.NewPCG(uint64(s.Seed), uint64(i)))
			made[i], err = s.question(ctx, resp.GetKg(), entities[i%len(entities)], i, random)
			if s.Progress != nil && err == nil {
				s.Progress(i + 1)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("make questions of %s: %w", kgtext.FormatKG(s.KG), err)
	}
	var questions []dataset.Question
	seen := map[string]bool{}
	for _, q := range made {
		if q != nil && !seen[q.Question] && len(questions) < s.Count {
			seen[q.Question] = true
			questions = append(questions, *q)
		}
	}
	set, err := NewSet("synthesised from "+s.KG.GetName(), s.KG, questions, 0, s.Seed)
	if err != nil {
		return nil, err
	}
	set.Synthetic = true
	return set, nil
}

// question makes a question about an entity, nil if there is no path of the length that chance wants.
func (s *Synthesiser) question(ctx context.Context, kg *graphv1.KnowledgeGraphRef, entity *graphv1.Entity, number int,
	random *rand.Rand) (*dataset.Question, error) {
	var steps []*graphv1.RelationStep
	var hops [][]*graphv1.RelationStep
	at := entity.GetName()
	var ends []string
	for range 1 + number%s.MaxHops {
		hop, err := s.chooseHop(ctx, kg, at, random)
		if err != nil || hop == nil {
			return nil, err
		}
		steps, hops = append(steps, hop...), append(hops, hop)
		resp, err := s.Walker.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{Kg: kg,
			TopicEntities: []string{entity.GetName()}, Paths: []*graphv1.RelationPath{{Steps: steps}},
			LimitPerPath: maxWalks})
		if err != nil {
			return nil, err
		}
		ends = nil
		for _, w := range resp.GetPaths() {
			if end := kgtext.PathEnd(w); end != entity.GetName() {
				ends = append(ends, end)
			}
		}
		if ends = dataset.Distinct(ends); len(ends) == 0 || len(ends) > maxAnswers {
			return nil, nil
		}
		at = ends[random.IntN(len(ends))]
	}
	return &dataset.Question{ID: fmt.Sprint(number), Question: phrase(entity.GetName(), hops, random), Answers: ends,
		TopicEntities: []string{entity.GetName()}, Kind: dataset.Set, Hops: len(hops)}, nil
}

// chooseHop chooses a relation around an entity, with the relation that goes on from a mediator. It may
// be the one that led there: people ask for the other films of an actor.
func (s *Synthesiser) chooseHop(ctx context.Context, kg *graphv1.KnowledgeGraphRef, at string,
	random *rand.Rand) ([]*graphv1.RelationStep, error) {
	resp, err := s.Walker.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: kg, Entity: at,
		RelationsOnly: true})
	if err != nil {
		return nil, nil // a value, or an entity whose name is another's
	}
	var hops [][]*graphv1.RelationStep
	for _, r := range resp.GetRelations() {
		step := &graphv1.RelationStep{Relation: r.GetRelation(), Inverse: r.GetInverse()}
		if !r.GetOpaque() {
			hops = append(hops, []*graphv1.RelationStep{step})
		}
		for _, on := range r.GetOnward() {
			hops = append(hops, []*graphv1.RelationStep{step, on})
		}
	}
	if len(hops) == 0 {
		return nil, nil
	}
	return hops[random.IntN(len(hops))], nil
}

// phrase puts a path from a topic entity into words.
func phrase(topic string, hops [][]*graphv1.RelationStep, random *rand.Rand) string {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	words := topic
	for _, hop := range hops {
		words = phraseHop(words, hop, pick)
	}
	switch first := strings.Fields(words)[0]; {
	case first == "who" || first == "which" || first == "what" || first == "when" || first == "where":
		return words
	}
	return pick("what is ", "who is ", "which is ", "what are ", "", "name ", "who are ") + words
}

// phraseHop puts one hop from what other words say into words.
func phraseHop(from string, hop []*graphv1.RelationStep, pick func(...string) string) string {
	var parts []string
	for _, step := range hop {
		w := strings.TrimPrefix(kgtext.VerbaliseRelation(step.GetRelation()), "has ")
		if len(parts) == 0 || !strings.Contains(parts[len(parts)-1], w) {
			parts = append(parts, w)
		}
	}
	// Over a mediator the last relation says what is asked for.
	relation := strings.Join(parts, " ")
	if len(parts) > 1 {
		relation = pick(parts[0], parts[len(parts)-1], relation)
	}
	inverse := hop[len(hop)-1].GetInverse()
	if verb, ok := strings.CutSuffix(relation, " by"); ok {
		agent := agentOf(verb)
		if inverse {
			return pick(pick("the ones ", "the things ", "what was ", "")+relation+" "+from,
				"those that "+from+" "+verb,
				"those with the "+agent+" "+from, "what "+from+" was the "+agent+" of")
		}
		return pick("the "+agent+" of "+from, from+" 's "+agent, "who "+verb+" "+from, "who "+from+" was "+relation,
			"the person "+from+" is "+relation)
	}
	if noun, ok := strings.CutPrefix(relation, "in "); ok {
		relation = noun
	}
	if inverse {
		return pick("those whose "+relation+" is "+from, "the ones with "+relation+" "+from,
			"what has the "+relation+" "+from,
			"the "+relation+" "+from+" ones", "the things that have "+from+" as "+relation)
	}
	return pick("the "+relation+" of "+from, "the "+relation+" of "+from, from+" 's "+relation,
		"the "+relation+" for "+from)
}

// agentOf returns who does what a past participle says: director for directed. Irregular verbs stay
// as they are, with "er".
func agentOf(participle string) string {
	stem, regular := strings.CutSuffix(participle, "ed")
	switch {
	case !regular:
		return strings.TrimSuffix(participle, "en") + "er"
	case strings.HasSuffix(stem, "t") || strings.HasSuffix(stem, "s"):
		return stem + "or"
	}
	return stem + "er"
}
