package train

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
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
	SearchRelations(context.Context, *retrieverv1.SearchRelationsRequest,
		...grpc.CallOption) (*retrieverv1.SearchRelationsResponse, error)
}

// WordFinder finds the words by which people ask for what a relation leads to.
type WordFinder interface {
	GenerateRelationWords(context.Context, *generatorv1.GenerateRelationWordsRequest,
		...grpc.CallOption) (*generatorv1.GenerateRelationWordsResponse, error)
}

// Synthesiser makes questions of a knowledge graph: random paths from random entities, put into words
// by templates. Their answers are the ends of the paths.
type Synthesiser struct {
	Walker Walker
	// Words finds other words of the relations than their names; nil for none.
	Words WordFinder
	// MaxRelations is the number of relations that it is asked about, those of the most questions.
	MaxRelations int
	KG           *graphv1.KnowledgeGraphRef
	// Count is the number of questions, MaxHops the length of the longest path.
	Count, MaxHops int
	Seed           int64
	// Parallel is the number of questions at a time.
	Parallel int
	// Progress is called with what is done, and how many times; may be nil.
	Progress func(what string, done int)
}

// draft is a question that is not in words yet.
type draft struct {
	topic   string
	hops    [][]*graphv1.RelationStep
	walk    *graphv1.ReasoningPath // one of those that lead to answers
	answers []string
	random  *rand.Rand
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
	drafts := make([]*draft, max(len(entities), s.Count))
	if err := s.runAll(ctx, "questions", len(drafts), func(ctx context.Context, i int) (err error) {
		random := rand.New(rand.NewPCG(uint64(s.Seed), uint64(i)))
		drafts[i], err = s.draft(ctx, resp.GetKg(), entities[i%len(entities)], i, random)
		return err
	}); err != nil {
		return nil, fmt.Errorf("make questions of %s: %w", kgtext.FormatKG(s.KG), err)
	}
	words, err := s.findWords(ctx, drafts)
	if err != nil {
		return nil, fmt.Errorf("find words of the relations of %s: %w; --relation-words 0 does without",
			kgtext.FormatKG(s.KG), err)
	}
	var questions []dataset.Question
	seen := map[string]bool{}
	for i, d := range drafts {
		if d == nil {
			continue
		}
		text := phrase(d.topic, d.hops, words, d.random)
		if !seen[text] && len(questions) < s.Count {
			seen[text] = true
			questions = append(questions, dataset.Question{ID: fmt.Sprint(i), Question: text, Answers: d.answers,
				TopicEntities: []string{d.topic}, Kind: dataset.Set, Hops: len(d.hops)})
		}
	}
	set, err := NewSet("synthesised from "+s.KG.GetName(), s.KG, questions, 0, s.Seed)
	if err != nil {
		return nil, err
	}
	set.Synthetic = true
	return set, nil
}

// runAll calls do for 0 to n-1, Parallel at a time.
func (s *Synthesiser) runAll(ctx context.Context, what string, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.Parallel))
	for i := range n {
		group.Go(func() error {
			err := do(ctx, i)
			if s.Progress != nil && err == nil {
				s.Progress(what, i+1)
			}
			return err
		})
	}
	return group.Wait()
}

// draft drafts a question about an entity, nil if there is no path of the length that chance wants.
func (s *Synthesiser) draft(ctx context.Context, kg *graphv1.KnowledgeGraphRef, entity *graphv1.Entity, number int,
	random *rand.Rand) (*draft, error) {
	d := &draft{topic: entity.GetName(), random: random}
	var steps []*graphv1.RelationStep
	at := d.topic
	for range 1 + number%s.MaxHops {
		hop, err := s.chooseHop(ctx, kg, at, random)
		if err != nil || hop == nil {
			return nil, err
		}
		steps, d.hops = append(steps, hop...), append(d.hops, hop)
		resp, err := s.Walker.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{Kg: kg,
			TopicEntities: []string{d.topic}, Paths: []*graphv1.RelationPath{{Steps: steps}}, LimitPerPath: maxWalks})
		if err != nil {
			return nil, err
		}
		d.answers = nil
		for _, w := range resp.GetPaths() {
			if end := kgtext.PathEnd(w); end != d.topic {
				d.answers, d.walk = append(d.answers, end), w
			}
		}
		if d.answers = dataset.Distinct(d.answers); len(d.answers) == 0 || len(d.answers) > maxAnswers {
			return nil, nil
		}
		at = d.answers[random.IntN(len(d.answers))]
	}
	return d, nil
}

// wordExamples is the number of triples by which words are found.
const wordExamples = 4

// hopGroup is the hops of one name, which words are found for: the name, its relations and some of its triples.
type hopGroup struct {
	name      string
	count     int
	relations []string
	examples  []*graphv1.Triple
}

// findWords returns other words for the names of hops, of those that most questions have.
func (s *Synthesiser) findWords(ctx context.Context, drafts []*draft) (map[string][]string, error) {
	if s.Words == nil {
		return nil, nil
	}
	hops := map[string]*hopGroup{}
	for _, d := range drafts {
		if d != nil {
			d.addHops(hops)
		}
	}
	all := slices.SortedFunc(maps.Values(hops), func(a, b *hopGroup) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	all = all[:min(len(all), s.MaxRelations)]
	found := make([][]string, len(all))
	err := s.runAll(ctx, "words of relations", len(all), func(ctx context.Context, i int) error {
		resp, err := s.Words.GenerateRelationWords(ctx,
			&generatorv1.GenerateRelationWordsRequest{Examples: all[i].examples})
		if err == nil && len(resp.GetWords()) > 0 {
			found[i], err = s.checkWords(ctx, resp.GetWords(), all[i].relations)
		}
		return err
	})
	words := map[string][]string{}
	for i, hop := range all {
		words[hop.name] = found[i]
	}
	return words, err
}

// addHops counts the hops of a draft and keeps examples of them.
func (d *draft) addHops(hops map[string]*hopGroup) {
	at := 0
	for _, hop := range d.hops {
		name := strings.Join(hopNames(hop), " ")
		entities := d.walk.GetEntities()[at:]
		t := &graphv1.Triple{Subject: entities[0], Relation: name, Object: entities[len(hop)]}
		if at += len(hop); hop[len(hop)-1].GetInverse() {
			t.Subject, t.Object = t.GetObject(), t.GetSubject()
		}
		h := hops[name]
		switch {
		case name == "":
			continue
		case h == nil:
			h = &hopGroup{name: name}
			for _, step := range hop {
				h.relations = append(h.relations, step.GetRelation())
			}
			hops[name] = h
		}
		if h.count++; len(h.examples) < wordExamples {
			h.examples = append(h.examples, t)
		}
	}
}

// checkWords returns the words that lead back to the relations: those to which no other of the graph is nearer.
func (s *Synthesiser) checkWords(ctx context.Context, words, relations []string) ([]string, error) {
	resp, err := s.Walker.SearchRelations(ctx, &retrieverv1.SearchRelationsRequest{Kg: s.KG, Queries: words, Limit: 1})
	var kept []string
	for i, hits := range resp.GetResults() {
		if nearest := hits.GetRelations(); len(nearest) > 0 && slices.Contains(relations, nearest[0].GetRelation()) {
			kept = append(kept, words[i])
		}
	}
	return kept, err
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

// hopNames returns the names of the relations of a hop, without those that repeat the one before.
func hopNames(hop []*graphv1.RelationStep) (parts []string) {
	for _, step := range hop {
		w := strings.TrimPrefix(kgtext.VerbaliseRelation(step.GetRelation()), "has ")
		if len(parts) == 0 || !strings.Contains(parts[len(parts)-1], w) {
			parts = append(parts, w)
		}
	}
	return parts
}

// phrase puts a path from a topic entity into words, some of them those that were found for its hops.
func phrase(topic string, hops [][]*graphv1.RelationStep, found map[string][]string, random *rand.Rand) string {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	words := topic
	for _, hop := range hops {
		words = phraseHop(words, hop, found, pick)
	}
	switch first := strings.Fields(words)[0]; {
	case first == "who" || first == "which" || first == "what" || first == "when" || first == "where":
		return words
	}
	return pick("what is ", "who is ", "which is ", "what are ", "", "name ", "who are ") + words
}

// phraseHop puts one hop from what other words say into words: three of five times into those that were found for
// it, if there are any.
func phraseHop(from string, hop []*graphv1.RelationStep, found map[string][]string,
	pick func(...string) string) string {
	parts := hopNames(hop)
	relation := strings.Join(parts, " ")
	if others := found[relation]; len(others) > 0 && pick("graph", "graph", "model", "model", "model") == "model" {
		relation = pick(others...)
	} else if len(parts) > 1 { // over a mediator the last relation says what is asked for
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
