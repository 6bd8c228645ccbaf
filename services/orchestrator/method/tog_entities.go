package method

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// togTails is the most walks that are read of one relation of one entity: those to
	// the best known ends.
	togTails = 200
	// togEntities is the most entities of a branch that are looked at; where it
	// leads to more, they are sampled. The authors' code samples 5 where there are
	// 20 or more.
	togEntities = 20
)

// searchEntities follows the branches and leaves out those that lead nowhere
// new (§2.1.2, entity exploration).
func (m ToG) searchEntities(ctx context.Context, q *question.Question, branches []*branch) ([]*branch, error) {
	if len(branches) == 0 {
		return nil, nil
	}
	var topics []string
	for _, b := range branches {
		if end := verbalise.End(b.from); !slices.Contains(topics, end) {
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
			key := w.GetEntities()[0] + "\x00" + stepsKey(w.GetSteps())
			walks[key] = append(walks[key], w)
		}
	}
	for _, b := range branches {
		for _, steps := range b.steps {
			b.grow(walks[verbalise.End(b.from)+"\x00"+stepsKey(steps)])
		}
		b.ends = sample(q, b.from, b.words, b.ends, togEntities)
	}
	return slices.DeleteFunc(branches, func(b *branch) bool { return len(b.ends) == 0 }), nil
}

// grow adds walks to the path of a branch, one for each entity they end in.
// Walks that go back over the triple just walked, or end where the path has
// been, are left out: they lead nowhere new.
func (b *branch) grow(walks []*graphv1.ReasoningPath) {
	for _, w := range walks {
		end := verbalise.End(w)
		been := slices.Contains(b.from.GetEntities(), end)
		reached := slices.ContainsFunc(b.ends, func(p *graphv1.ReasoningPath) bool { return verbalise.End(p) == end })
		if been || reached || goesBack(w, b.from) {
			continue
		}
		b.ends = append(b.ends, joined(b.from, w))
	}
}

// joined is a path and the walk that goes on from its end.
func joined(from, walk *graphv1.ReasoningPath) *graphv1.ReasoningPath {
	p := &graphv1.ReasoningPath{
		Entities: slices.Concat(from.GetEntities(), walk.GetEntities()[1:]),
		Steps:    slices.Concat(from.GetSteps(), walk.GetSteps()),
		Validity: walk.GetValidity(),
	}
	if len(from.GetSteps()) == 0 || from.GetKg() == walk.GetKg() {
		p.Kg = walk.GetKg() // else it passes several knowledge graphs
	}
	return p
}

// pruneEntities lets the model prune the entities of each branch and keeps the
// best of all: a path's score is that of its last relation times that of its
// last entity (§2.1.2). Where the model cannot be had, the entities of a branch
// count alike.
func (m ToG) pruneEntities(ctx context.Context, q *question.Question, branches []*branch, width int, spent *spending) ([]*graphv1.ReasoningPath, error) {
	kept := make([][]*graphv1.ReasoningPath, len(branches))
	err := inParallel(q, len(branches), func(i int) error {
		b := branches[i]
		names := make([]string, len(b.ends))
		for j, p := range b.ends {
			names[j] = verbalise.End(p)
			p.Score = b.score / float32(len(b.ends))
		}
		ranked, err := m.rank(ctx, q, verbalise.Walk(b.from)+" -> "+b.words, names, width, spent)
		if question.Survivable(ctx, err) {
			spent.lacked("the pruning of entities", err)
			kept[i] = b.ends[:min(len(b.ends), width)]
			return nil
		}
		for _, r := range ranked {
			p := b.ends[r.GetIndex()]
			p.Score = b.score * r.GetScore()
			kept[i] = append(kept[i], p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(kept...)
	slices.SortStableFunc(all, func(a, b *graphv1.ReasoningPath) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	return all[:min(len(all), width)], nil
}

// atRandom keeps entities by chance (ToG-R, §2.2), of each branch in turn, the
// best first. The same question chooses the same ones.
func atRandom(q *question.Question, branches []*branch, width int) []*graphv1.ReasoningPath {
	drawn := make([][]*graphv1.ReasoningPath, len(branches))
	for i, b := range branches {
		for _, p := range b.ends {
			p.Score = b.score / float32(len(b.ends))
		}
		drawn[i] = shuffled(q, b.from, b.words, b.ends)
	}
	var kept []*graphv1.ReasoningPath
	for turn, more := 0, true; more; turn++ {
		more = false
		for _, ends := range drawn {
			if turn < len(ends) && len(kept) < width {
				kept, more = append(kept, ends[turn]), true
			}
		}
	}
	return kept
}

// sample is some of the ends of a branch, in the order they have.
func sample(q *question.Question, from *graphv1.ReasoningPath, words string, ends []*graphv1.ReasoningPath, most int) []*graphv1.ReasoningPath {
	if len(ends) <= most {
		return ends
	}
	drawn := shuffled(q, from, words, ends)[:most]
	return slices.DeleteFunc(ends, func(p *graphv1.ReasoningPath) bool { return !slices.Contains(drawn, p) })
}

// shuffled puts ends into an order that the question and the path decide, so
// that a run can be had again.
func shuffled(q *question.Question, from *graphv1.ReasoningPath, words string, ends []*graphv1.ReasoningPath) []*graphv1.ReasoningPath {
	text, path := fnv.New64a(), fnv.New64a()
	text.Write([]byte(q.Text()))
	path.Write([]byte(verbalise.Walk(from) + " -> " + words))
	drawn := slices.Clone(ends)
	rand.New(rand.NewPCG(text.Sum64(), path.Sum64())).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn
}
