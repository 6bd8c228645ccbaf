package method

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	orchestratorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/orchestrator/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// maxFollowedPaths is the maximum number of relation paths in one FollowPaths request.
	maxFollowedPaths = 256
	// maxWalks is the maximum number of reasoning paths that a stage reads.
	maxWalks = 4096
	// minWalksPerPath is the minimum limit for each relation path: most paths that are tried have no
	// walk.
	minWalksPerPath = 100
)

// link finds the topic entities, unless the caller names them, and passes them to save, which writes
// them to the run.
func (s Stages) link(ctx context.Context, q *question.Question, save func([]*graphv1.EntityLink)) error {
	return q.Stage(ctx, orchestratorv1.Stage_STAGE_LINK, func(ctx context.Context) (question.Cost, error) {
		links, err := s.topicEntities(ctx, q)
		if err != nil {
			return nil, err
		}
		q.Update(func(*orchestratorv1.Run) { save(links) })
		return question.NoCost, nil
	})
}

// topicEntities returns the topic entities that the caller names, by name or id, else those that
// the question is linked to. One that no knowledge graph holds stays as it was named.
func (s Stages) topicEntities(ctx context.Context, q *question.Question) ([]*graphv1.EntityLink, error) {
	requested := q.Request().GetTopicEntities()
	if len(requested) == 0 {
		resp, err := s.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: q.KG(), Text: q.Text()})
		return resp.GetLinks(), err
	}
	resp, err := s.Retriever.BatchGetEntities(ctx, &retrieverv1.BatchGetEntitiesRequest{Kg: q.KG(),
		Entities: requested})
	if err != nil {
		return nil, err
	}
	links := make([]*graphv1.EntityLink, len(requested))
	for i, nameOrID := range requested {
		links[i] = &graphv1.EntityLink{Entity: nameOrID, Mention: nameOrID,
			Match: graphv1.LinkMatch_LINK_MATCH_EXACT, Score: 1}
		if e := resp.GetEntities()[nameOrID]; e != nil {
			links[i].Entity, links[i].EntityId, links[i].KgName = e.GetName(), e.GetId(), e.GetKgName()
		}
	}
	return links, nil
}

// entityNames returns the distinct names of linked entities.
func entityNames(links []*graphv1.EntityLink) []string {
	var names []string
	seen := map[string]bool{}
	for _, l := range links {
		if !seen[l.GetEntity()] {
			seen[l.GetEntity()] = true
			names = append(names, l.GetEntity())
		}
	}
	return names
}

// followBothWays follows relation paths of unknown direction: in both directions of every step. It
// returns the paths that have walks, with their number of ends, and the walks.
func (s Stages) followBothWays(ctx context.Context, q *question.Question, topics []string,
	paths []*graphv1.RelationPath, b *stageBudget) ([]*graphv1.RelationPath, []*graphv1.ReasoningPath, error) {
	variants := directionVariants(paths)
	if len(variants) > maxFollowedPaths {
		b.warn(llm.WarnShortened,
			fmt.Sprintf("the relation paths are more than %d in both directions of each step; the first %d were "+
				"followed", maxFollowedPaths, maxFollowedPaths))
		variants = variants[:maxFollowedPaths]
	}
	if len(variants) == 0 || len(topics) == 0 {
		return nil, nil, nil
	}
	resp, err := s.Retriever.FollowPaths(ctx, &retrieverv1.FollowPathsRequest{
		Kg: q.KG(), TopicEntities: topics, Paths: variants, Question: q.Text(),
		LimitPerPath: uint32(max(minWalksPerPath, maxWalks/(len(variants)*len(topics)))),
	})
	if err != nil {
		return nil, nil, err
	}
	walks, groups := resp.GetPaths(), kgtext.GroupPaths(resp.GetPaths())
	if len(walks) > maxWalks {
		share := max(1, maxWalks/len(groups))
		b.warn(llm.WarnShortened,
			fmt.Sprintf("%d reasoning paths were found; %d of each relation path and topic entity were kept",
				len(walks), share))
		walks = nil
		for _, g := range groups[:min(len(groups), maxWalks)] {
			walks = append(walks, g.Paths[:min(len(g.Paths), share)]...)
		}
	}
	return pathsWithWalks(variants, groups), walks, nil
}

// directionVariants returns the distinct relation paths in both directions of every step: 2ⁿ of a
// path of n steps, its own direction first. It stops once they exceed maxFollowedPaths.
func directionVariants(paths []*graphv1.RelationPath) []*graphv1.RelationPath {
	var all []*graphv1.RelationPath
	seen := map[string]bool{}
	for _, p := range paths {
		for flips := range 1 << len(p.GetSteps()) {
			variant := &graphv1.RelationPath{Score: p.Score, TopicEntities: p.GetTopicEntities(), KgName: p.GetKgName()}
			for i, s := range p.GetSteps() {
				variant.Steps = append(variant.Steps, &graphv1.RelationStep{
					Relation: s.GetRelation(), Inverse: s.GetInverse() != (flips&(1<<i) != 0),
				})
			}
			key := strings.Join(append([]string{p.GetKgName(), kgtext.StepsKey(variant.GetSteps())},
				p.GetTopicEntities()...), "\x00")
			if !seen[key] {
				seen[key] = true
				all = append(all, variant)
			}
			if len(all) > maxFollowedPaths {
				return all
			}
		}
	}
	return all
}

// pathsWithWalks returns the relation paths that have reasoning paths, with the topic entities where
// these begin and the number of entities where they end.
func pathsWithWalks(paths []*graphv1.RelationPath, groups []*kgtext.PathGroup) []*graphv1.RelationPath {
	byKey := map[string][]*kgtext.PathGroup{}
	for _, g := range groups {
		key := kgtext.StepsKey(g.Steps)
		byKey[key] = append(byKey[key], g)
	}
	var found []*graphv1.RelationPath
	for _, p := range paths {
		key := kgtext.StepsKey(p.GetSteps())
		if len(byKey[key]) == 0 {
			continue
		}
		ends := map[string]bool{}
		p.TopicEntities = nil
		for _, g := range byKey[key] {
			p.TopicEntities = append(p.TopicEntities, g.TopicEntity)
			for _, end := range g.Ends {
				ends[end] = true
			}
		}
		p.Ends = proto.Uint32(uint32(len(ends)))
		found = append(found, p)
		delete(byKey, key)
	}
	return found
}
