package sft

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/lab/dataset"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

const (
	// maxFrom and maxTo are the most entities that the contract lets a search
	// begin and end at.
	maxFrom, maxTo = 64, 1024
	// maxWalks is the most shortest walks asked for of a pair. Many of them go
	// the same relations.
	maxWalks = 64
	// maxFollowed is the most relation paths of shortest walks that are
	// followed, those that reach the most answers first.
	maxFollowed = 16
	// maxSuggested is how many relation paths that resemble the question stand
	// beside them: as many as ger follows.
	maxSuggested = 10
	// nearHops is the longest of them, as it is in ger.
	nearHops = 2
	// maxPlans is how many relation paths a planner is to write: as many as it is
	// asked for.
	maxPlans = 3
)

// evidence is what the knowledge graph holds of a question.
type evidence struct {
	kg *graphv1.KnowledgeGraphRef
	// reached are the answers that a walk leads to.
	reached int
	// truncated says that the search for walks was cut short.
	truncated bool
	// plans are the relation paths that lead to answers best, best first.
	plans []plan
	// near are the relation paths that resemble the question; they may lead to
	// answers too.
	near []*kgtext.PathGroup
}

// plan is a relation path that leads to answers.
type plan struct {
	path *graphv1.RelationPath
	// answers are those that its shortest walks end in.
	answers map[string]bool
	// groups is where it leads, for each topic entity.
	groups []*kgtext.PathGroup
	// f1 compares where it leads with the answers that can be reached at all.
	f1 float64
}

// gather asks the retriever for the shortest walks from the topic entities to
// the answers, for relation paths that resemble the question, and where all of
// them lead. Without a walk there are no plans.
func gather(ctx context.Context, r Retriever, kg *graphv1.KnowledgeGraphRef, q dataset.Question,
	maxHops int) (evidence, error) {
	topics := dataset.Distinct(q.TopicEntities)
	topics = topics[:min(len(topics), maxFrom)]
	answers := dataset.Distinct(q.Names())
	joined, err := r.FindShortestPaths(ctx, &retrieverv1.FindShortestPathsRequest{
		Kg: kg, From: topics, To: answers[:min(len(answers), maxTo)], MaxHops: uint32(maxHops), Limit: maxWalks,
	})
	if err != nil {
		return evidence{}, fmt.Errorf("find walks to the answers: %w", err)
	}
	k := evidence{kg: joined.GetKg(), truncated: joined.GetTruncated()}
	plans, ends := collectPlans(joined.GetPaths())
	k.reached = countReached(q, ends)
	if len(plans) == 0 {
		return k, nil
	}
	kg = k.kg // all calls read one snapshot
	near, err := r.SuggestPaths(ctx, &retrieverv1.SuggestPathsRequest{
		Kg: kg, Question: q.Question, TopicEntities: topics, MaxHops: nearHops, Limit: maxSuggested,
	})
	if err != nil {
		return evidence{}, fmt.Errorf("find relation paths that resemble the question: %w", err)
	}
	followed, err := follow(ctx, r, kg, q.Question, topics, plans, near.GetPaths())
	if err != nil {
		return evidence{}, err
	}
	k.plans = best(plans, followed, newGold(q), k.reached)
	for _, p := range near.GetPaths() {
		k.near = append(k.near, followed[kgtext.StepsKey(p.GetSteps())]...)
	}
	return k, nil
}

// collectPlans collects the relation paths of walks, those that reach the most
// answers first, then the shortest, and the ends of all.
func collectPlans(walks []*graphv1.ReasoningPath) (plans []plan, ends map[string]bool) {
	at := map[string]int{}
	ends = map[string]bool{}
	for _, w := range walks {
		steps := kgtext.StepsKey(w.GetSteps())
		i, ok := at[steps]
		if !ok {
			i = len(plans)
			at[steps] = i
			plans = append(plans, plan{path: &graphv1.RelationPath{Steps: w.GetSteps()}, answers: map[string]bool{}})
		}
		end := key(kgtext.PathEnd(w))
		plans[i].answers[end], ends[end] = true, true
	}
	slices.SortStableFunc(plans, func(a, b plan) int {
		return cmp.Or(cmp.Compare(len(b.answers), len(a.answers)), cmp.Compare(len(a.path.GetSteps()),
			len(b.path.GetSteps())))
	})
	return plans[:min(len(plans), maxFollowed)], ends
}

// countReached counts the answers that are among the ends by any of their names.
func countReached(q dataset.Question, ends map[string]bool) int {
	reached := 0
	for i := range q.Answers {
		if slices.ContainsFunc(q.NamesOf(i), func(name string) bool { return ends[key(name)] }) {
			reached++
		}
	}
	return reached
}

// follow goes all relation paths, each once, and tells where each leads.
func follow(ctx context.Context, r Retriever, kg *graphv1.KnowledgeGraphRef, question string, topics []string,
	plans []plan, near []*graphv1.RelationPath) (map[string][]*kgtext.PathGroup, error) {
	req := &retrieverv1.FollowPathsRequest{Kg: kg, TopicEntities: topics, Question: question}
	asked := map[string]bool{}
	for _, p := range plans {
		asked[kgtext.StepsKey(p.path.GetSteps())] = true
		req.Paths = append(req.Paths, p.path)
	}
	for _, p := range near {
		if k := kgtext.StepsKey(p.GetSteps()); !asked[k] {
			asked[k] = true
			req.Paths = append(req.Paths, p)
		}
	}
	resp, err := r.FollowPaths(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("follow relation paths: %w", err)
	}
	groups := map[string][]*kgtext.PathGroup{}
	for _, g := range kgtext.GroupPaths(resp.GetPaths()) {
		k := kgtext.StepsKey(g.Steps)
		groups[k] = append(groups[k], g)
	}
	return groups, nil
}

// best returns the plans whose ends agree best with the answers: up to maxPlans, of
// which none agrees less than half as well as the first. A relation path to
// everything that has a nationality holds the answer too, and is no plan.
func best(plans []plan, followed map[string][]*kgtext.PathGroup, g gold, reached int) []plan {
	for i := range plans {
		p := &plans[i]
		p.groups = followed[kgtext.StepsKey(p.path.GetSteps())]
		ends := map[string]bool{}
		right := 0
		for _, group := range p.groups {
			for _, end := range group.Ends {
				if k := key(end); !ends[k] {
					ends[k] = true
					if _, ok := g[k]; ok {
						right++
					}
				}
			}
		}
		if right > 0 {
			p.f1 = 2 * float64(right) / float64(len(ends)+reached)
		}
	}
	slices.SortStableFunc(plans, func(a, b plan) int { return cmp.Compare(b.f1, a.f1) })
	kept := 0
	for kept < min(len(plans), maxPlans) && plans[kept].f1 > 0 && plans[kept].f1 >= plans[0].f1/2 {
		kept++
	}
	return plans[:kept]
}
