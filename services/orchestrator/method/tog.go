package method

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	generatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/generator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	llmv1 "github.com/triplemesh/triplemesh/proto/triplemesh/llm/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

const (
	// togWidth and togDepth are the defaults of the paper (Sun et al., §3.1).
	togWidth = 3
	togDepth = 3
	// togRelations is the maximum number of relations of one entity in a prompt. The paper shows all;
	// small models have room for a few thousand tokens.
	togRelations = 40
	// togParallel is the maximum number of rankings in flight.
	togParallel = 4
	// togTails is the maximum number of walks read for one relation of one entity, best known ends
	// first.
	togTails = 200
	// togEntities is the maximum number of entities of a branch to rank; more are sampled. The
	// authors' code samples 5 of 20 or more.
	togEntities = 20
)

// ToG is Think-on-Graph (Sun et al., ICLR 2024): a beam of reasoning paths grows hop by hop; at each
// hop the model prunes the relations, then the entities, and judges whether the paths suffice to
// answer.
type ToG struct {
	Stages
	// Relations samples entities at random instead of ranking them, and shows the model all ends of
	// the kept relations: ToG-R (§2.2).
	Relations bool
}

// Info implements Method.
func (m ToG) Info() *orchestratorv1.Method {
	info := &orchestratorv1.Method{
		Name: "tog",
		Description: "Explores the graph hop by hop: the model prunes relations and entities and says when it has " +
			"seen enough.",
		Calls:   "up to 2 · beam width · hops + hops + 1 (22 with a width of 3 and 3 hops)",
		NeedsKg: true,
		Stages: []orchestratorv1.Stage{
			orchestratorv1.Stage_STAGE_LINK,
			orchestratorv1.Stage_STAGE_EXPLORE,
			orchestratorv1.Stage_STAGE_ANSWER,
		},
	}
	if m.Relations {
		info.Name = "tog-r"
		info.Description = "Explores the graph hop by hop as tog does, but the model prunes relations only."
		info.Calls = "up to beam width · hops + hops + 1 (13 with a width of 3 and 3 hops)"
	}
	return info
}

// Answer implements Method.
func (m ToG) Answer(ctx context.Context, q *question.Question) error {
	g := &orchestratorv1.TogGraphs{}
	q.Update(func(r *orchestratorv1.Run) { r.Graphs = &orchestratorv1.Run_Tog{Tog: g} })
	width := int(cmp.Or(q.Request().GetOptions().GetBeamWidth(), togWidth))
	depth := int(cmp.Or(q.Request().GetOptions().GetMaxHops(), togDepth))

	if err := m.link(ctx, q, func(links []*graphv1.EntityLink) {
		g.TopicEntities = bestLinks(links, width)
	}); err != nil {
		return err
	}
	beam := initialBeam(g.GetTopicEntities())
	for range depth {
		hop, err := m.explore(ctx, q, g, beam, width)
		switch {
		case err != nil && !errors.Is(err, question.ErrStopped): // which ends the last hop, not the first
			return err
		case hop.cause != nil:
			return settleOnEnds(ctx, q, g.GetReasoningPaths(), hop.cause)
		case hop.sufficient, len(hop.beam) == 0: // the paths suffice, or there are no more
			return m.conclude(ctx, q, g, m.answerFromPaths)
		}
		beam = hop.beam
	}
	return m.conclude(ctx, q, g, m.answerWithoutPaths)
}

// bestLinks returns the links of the width best linked entities.
func bestLinks(links []*graphv1.EntityLink, width int) []*graphv1.EntityLink {
	ranked := slices.Clone(links)
	slices.SortStableFunc(ranked, func(a, b *graphv1.EntityLink) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	names := entityNames(ranked)
	names = names[:min(len(names), width)]
	return slices.DeleteFunc(ranked, func(l *graphv1.EntityLink) bool { return !slices.Contains(names, l.GetEntity()) })
}

// initialBeam returns a path of no steps for each topic entity, with the score of its link.
func initialBeam(links []*graphv1.EntityLink) []*graphv1.ReasoningPath {
	var beam []*graphv1.ReasoningPath
	for _, l := range links {
		beam = append(beam, &graphv1.ReasoningPath{Entities: []string{l.GetEntity()},
			EntityIds: []string{l.GetEntityId()}, Score: proto.Float32(l.GetScore())})
	}
	return distinctPaths(beam)
}

// togHop is the outcome of one hop.
type togHop struct {
	// beam are the reasoning paths to extend, best first.
	beam []*graphv1.ReasoningPath
	// sufficient reports whether the model judged the paths so far to suffice.
	sufficient bool
	// cause is the error that cut the hop short.
	cause error
}

// explore extends the beam by one hop (§2.1.2, §2.1.3). A recoverable error ends the hop, but is no
// error of the stage: its cost and its partial result count.
func (m ToG) explore(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs,
	beam []*graphv1.ReasoningPath, width int) (hop togHop, err error) {
	err = multiCallStage(ctx, q, orchestratorv1.Stage_STAGE_EXPLORE, func(ctx context.Context, b *stageBudget) error {
		depth := &orchestratorv1.TogDepth{}
		var err error
		hop, err = m.extendBeam(ctx, q, g, depth, beam, width, b)
		q.Update(func(*orchestratorv1.Run) { g.Depths = append(g.Depths, depth) })
		if question.Recoverable(ctx, err) {
			b.warnEndedEarly("this hop", err)
			hop.cause, err = err, nil
		}
		return err
	})
	return hop, err
}

func (m ToG) extendBeam(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs,
	depth *orchestratorv1.TogDepth, beam []*graphv1.ReasoningPath, width int, b *stageBudget) (hop togHop, err error) {
	branches, err := m.exploreRelations(ctx, q, beam, width, b)
	if err != nil {
		return hop, err
	}
	q.Update(func(*orchestratorv1.Run) { depth.Relations = relationPaths(branches) })
	if branches, err = m.searchEntities(ctx, q, branches); err != nil {
		return hop, err
	}
	shown := g.GetReasoningPaths()
	if m.Relations {
		hop.beam = sampleEntities(q, branches, width)
		if len(hop.beam) > 0 {
			shown = allEnds(branches)
		}
	} else {
		if hop.beam, err = m.pruneEntities(ctx, q, branches, width, b); err != nil {
			return hop, err
		}
		shown = append(slices.Clone(hop.beam), withoutPrefixes(shown, hop.beam)...)
	}
	q.Update(func(*orchestratorv1.Run) {
		depth.Entities, depth.ReasoningPaths, g.ReasoningPaths = countEnds(branches), hop.beam, shown
	})
	if len(hop.beam) == 0 {
		return hop, nil
	}
	hop.sufficient, err = m.judgeSufficiency(ctx, q, depth, shown, b)
	return hop, err
}

// Relation exploration (§2.1.2).

// exploreRelations finds the relations around the ends of the beam, lets the model prune those of
// each end, and keeps the best of all. An end whose relations the model failed to prune is skipped;
// if that leaves none, the error is returned.
func (m ToG) exploreRelations(ctx context.Context, q *question.Question, beam []*graphv1.ReasoningPath, width int,
	b *stageBudget) ([]*branch, error) {
	paths := distinctPaths(beam)
	found, failures := make([][]*branch, len(paths)), make([]error, len(paths))
	err := inParallel(q, len(paths), func(i int) (err error) {
		if found[i], err = m.searchRelations(ctx, q, paths[i], b); err == nil {
			found[i], err = m.pruneRelations(ctx, q, found[i], width, b)
		}
		if question.Recoverable(ctx, err) {
			failures[i], err = err, nil
			b.warnEndedEarly("the exploration of "+kgtext.PathEnd(paths[i]), failures[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	if failed := slices.IndexFunc(failures, func(err error) bool { return err != nil }); len(all) == 0 && failed >= 0 {
		return nil, failures[failed]
	}
	slices.SortStableFunc(all, func(a, b *branch) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), width)], nil
}

// searchRelations lists the relations around the end of a path, one branch for each wording.
func (m ToG) searchRelations(ctx context.Context, q *question.Question, from *graphv1.ReasoningPath,
	b *stageBudget) ([]*branch, error) {
	resp, err := m.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: q.KG(),
		Entity: kgtext.PathEnd(from), RelationsOnly: true})
	switch {
	case sources.IsEntityNotFound(err):
		b.warn(llm.WarnUnknown, "the knowledge graph has no entity "+kgtext.PathEnd(from))
		return nil, nil
	case err != nil:
		return nil, err
	case isLiteral(resp.GetEntity().GetKind()):
		return nil, nil // other subjects of the same date or number are unrelated
	}
	var found []*branch
	byWords := map[string]*branch{}
	for _, c := range resp.GetRelations() {
		step := &graphv1.RelationStep{Relation: c.GetRelation(), Inverse: c.GetInverse()}
		if isMetadata(c.GetRelation()) || (c.GetTriples() == 1 && reverses(step, from)) {
			continue
		}
		var ways [][]*graphv1.RelationStep
		if !c.GetOpaque() {
			ways = append(ways, []*graphv1.RelationStep{step})
		}
		for _, next := range c.GetOnward() {
			ways = append(ways, []*graphv1.RelationStep{step, next})
		}
		for _, steps := range ways {
			words := kgtext.FormatSteps(steps)
			br := byWords[words]
			if br == nil {
				br = &branch{from: from, words: words}
				byWords[words] = br
				found = append(found, br)
			}
			br.steps = append(br.steps, steps)
			br.triples += c.GetTriples()
		}
	}
	return preselect(found, q.Text()), nil
}

// pruneRelations keeps the relations that the model ranks best, with its scores.
func (m ToG) pruneRelations(ctx context.Context, q *question.Question, found []*branch, width int,
	b *stageBudget) ([]*branch, error) {
	if len(found) == 0 {
		return nil, nil
	}
	words := make([]string, len(found))
	for i, br := range found {
		words[i] = br.words
	}
	ranked, err := m.rank(ctx, q, kgtext.FormatPath(found[0].from), words, width, b)
	if err != nil {
		return nil, err
	}
	var pruned []*branch
	for _, r := range ranked {
		br := found[r.GetIndex()]
		br.score = pathWeight(br.from) * r.GetScore()
		pruned = append(pruned, br)
	}
	return pruned, nil
}

// pathWeight scales the scores of the relations from a path: by the score of the entity link at the
// first hop. In the paper the topic entities are given, and each hop is scored on its own.
func pathWeight(from *graphv1.ReasoningPath) float32 {
	if len(from.GetSteps()) > 0 {
		return 1
	}
	return from.GetScore()
}

// rank lets the model rank candidates. A single candidate needs no call.
func (m ToG) rank(ctx context.Context, q *question.Question, path string, candidates []string, width int,
	b *stageBudget) ([]*evaluatorv1.RankedCandidate, error) {
	if len(candidates) == 1 {
		return []*evaluatorv1.RankedCandidate{{Score: 1}}, nil
	}
	resp, err := callModel(b, func(limits *llmv1.Limits) (*evaluatorv1.RankCandidatesResponse, error) {
		return m.Evaluator.RankCandidates(ctx, &evaluatorv1.RankCandidatesRequest{
			Question: q.Text(), Context: path, Candidates: candidates, Limit: uint32(width), Limits: limits,
		})
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(resp.GetRanked(),
		func(r *evaluatorv1.RankedCandidate) bool { return int(r.GetIndex()) >= len(candidates) }), nil
}

// Entity exploration (§2.1.2).

// searchEntities follows the branches and drops those without a new end.
func (m ToG) searchEntities(ctx context.Context, q *question.Question, branches []*branch) ([]*branch, error) {
	if len(branches) == 0 {
		return nil, nil
	}
	var topics []string
	for _, b := range branches {
		if end := kgtext.PathEnd(b.from); !slices.Contains(topics, end) {
			topics = append(topics, end)
		}
	}
	resp, err := m.Retriever.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{
		Kg: q.KG(), TopicEntities: topics, Paths: relationPaths(branches), LimitPerPath: togTails,
	})
	if err != nil {
		return nil, err
	}
	walks := map[string][]*graphv1.ReasoningPath{}
	for _, w := range resp.GetPaths() {
		if len(w.GetEntities()) > 1 {
			key := w.GetEntities()[0] + "\x00" + kgtext.StepsKey(w.GetSteps())
			walks[key] = append(walks[key], w)
		}
	}
	for _, b := range branches {
		for _, steps := range b.steps {
			b.extend(walks[kgtext.PathEnd(b.from)+"\x00"+kgtext.StepsKey(steps)])
		}
		b.ends = b.sample(q)
	}
	return slices.DeleteFunc(branches, func(b *branch) bool { return len(b.ends) == 0 }), nil
}

// pruneEntities lets the model rank the entities of each branch and keeps the best of all. The score
// of a path is that of its last relation times that of its last entity. If the model fails, the
// entities of a branch count equally.
func (m ToG) pruneEntities(ctx context.Context, q *question.Question, branches []*branch, width int,
	b *stageBudget) ([]*graphv1.ReasoningPath, error) {
	pruned := make([][]*graphv1.ReasoningPath, len(branches))
	err := inParallel(q, len(branches), func(i int) error {
		br := branches[i]
		names := make([]string, len(br.ends))
		for j, p := range br.ends {
			names[j] = kgtext.PathEnd(p)
			p.Score = proto.Float32(br.score / float32(len(br.ends)))
		}
		ranked, err := m.rank(ctx, q, kgtext.FormatPath(br.from)+" -> "+br.words, names, width, b)
		if question.Recoverable(ctx, err) {
			b.warnEndedEarly("the pruning of entities", err)
			pruned[i] = br.ends[:min(len(br.ends), width)]
			return nil
		}
		for _, r := range ranked {
			p := br.ends[r.GetIndex()]
			p.Score = proto.Float32(br.score * r.GetScore())
			pruned[i] = append(pruned[i], p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(pruned...)
	slices.SortStableFunc(all, func(a, b *graphv1.ReasoningPath) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	return all[:min(len(all), width)], nil
}

// sampleEntities keeps width random entities (ToG-R, §2.2), of each branch in turn, best branch
// first. The sample depends on the question alone.
func sampleEntities(q *question.Question, branches []*branch, width int) []*graphv1.ReasoningPath {
	shuffled := make([][]*graphv1.ReasoningPath, len(branches))
	for i, b := range branches {
		for _, p := range b.ends {
			p.Score = proto.Float32(b.score / float32(len(b.ends)))
		}
		shuffled[i] = b.shuffle(q)
	}
	var sample []*graphv1.ReasoningPath
	for i, more := 0, true; more; i++ {
		more = false
		for _, ends := range shuffled {
			if i < len(ends) && len(sample) < width {
				sample, more = append(sample, ends[i]), true
			}
		}
	}
	return sample
}

// Reasoning (§2.1.3).

// judgeSufficiency asks the model whether the reasoning paths suffice to answer.
func (m ToG) judgeSufficiency(ctx context.Context, q *question.Question, depth *orchestratorv1.TogDepth,
	paths []*graphv1.ReasoningPath, b *stageBudget) (bool, error) {
	resp, err := callModel(b, func(limits *llmv1.Limits) (*evaluatorv1.JudgeSufficiencyResponse, error) {
		return m.Evaluator.JudgeSufficiency(ctx, &evaluatorv1.JudgeSufficiencyRequest{Question: q.Text(),
			Paths: paths, Limits: limits})
	})
	if err != nil {
		return false, err
	}
	q.Update(func(*orchestratorv1.Run) {
		depth.Sufficient, depth.Probability = resp.GetSufficient(), resp.Probability
	})
	return resp.GetSufficient(), nil
}

// conclude answers, unless the caller asked to stop after the exploration.
func (m ToG) conclude(ctx context.Context, q *question.Question, g *orchestratorv1.TogGraphs,
	answer func(context.Context, *question.Question, []*graphv1.ReasoningPath) error) error {
	if q.Request().GetOptions().GetUntil() == orchestratorv1.Stage_STAGE_EXPLORE {
		return question.ErrStopped
	}
	if err := answer(ctx, q, g.GetReasoningPaths()); err != nil {
		return settleOnEnds(ctx, q, g.GetReasoningPaths(), err)
	}
	return nil
}

// answerFromPaths answers from the reasoning paths, or without them if there are none.
func (m ToG) answerFromPaths(ctx context.Context, q *question.Question, paths []*graphv1.ReasoningPath) error {
	if len(paths) == 0 {
		return m.answerWithoutPaths(ctx, q, nil)
	}
	return m.Stages.answerFromPaths(ctx, q, paths)
}

// answerWithoutPaths lets the model reason without the graph: the fallback if the paths do not
// suffice after the last hop.
func (m ToG) answerWithoutPaths(ctx context.Context, q *question.Question, unused []*graphv1.ReasoningPath) error {
	err := m.answerWithoutEvidence(ctx, q, generatorv1.AnswerStyle_ANSWER_STYLE_CHAIN_OF_THOUGHT)
	q.Update(func(r *orchestratorv1.Run) {
		if len(unused) > 0 && r.GetGrounding() == orchestratorv1.Grounding_GROUNDING_UNGROUNDED {
			r.GroundingReason = fmt.Sprintf("the model judged that %d reasoning paths are not enough to answer: the "+
				"answer is its own knowledge", len(unused))
		}
	})
	return err
}

// inParallel calls do with 0 to n-1.
func inParallel(q *question.Question, n int, do func(int) error) error {
	group := newGroup(q, togParallel)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}
