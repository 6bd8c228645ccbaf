package sft

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/internal/llm"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
)

// fakeRetriever walks a small graph in memory.
type fakeRetriever map[string][]edge

// edge leads from an entity to another.
type edge struct {
	step *graphv1.RelationStep
	end  string
}

// newRetriever returns a retriever over the small graph.
func newRetriever(testing.TB) Retriever {
	g := fakeRetriever{}
	for line := range strings.Lines(triples) {
		t := strings.Split(strings.TrimSpace(line), "\t")
		g[t[0]] = append(g[t[0]], edge{&graphv1.RelationStep{Relation: t[1]}, t[2]})
		g[t[2]] = append(g[t[2]], edge{&graphv1.RelationStep{Relation: t[1], Inverse: true}, t[0]})
	}
	for _, edges := range g {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.end, b.end) })
	}
	return g
}

// walks returns all walks of a length from an entity that visit none twice.
func (g fakeRetriever) walks(from string, length int) []*graphv1.ReasoningPath {
	walks := []*graphv1.ReasoningPath{{Entities: []string{from}}}
	for range length {
		var longer []*graphv1.ReasoningPath
		for _, w := range walks {
			for _, e := range g[kgtext.PathEnd(w)] {
				if !slices.Contains(w.Entities, e.end) {
					longer = append(longer, &graphv1.ReasoningPath{Entities: append(slices.Clone(w.Entities), e.end),
						Steps: append(slices.Clone(w.Steps), e.step)})
				}
			}
		}
		walks = longer
	}
	return walks
}

func (g fakeRetriever) FindShortestPaths(_ context.Context, req *retrieverv1.FindShortestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FindShortestPathsResponse, error) {
	resp := &retrieverv1.FindShortestPathsResponse{Kg: &graphv1.KnowledgeGraphRef{Name: "small", Snapshot: 1}}
	for _, from := range req.GetFrom() {
		for _, to := range req.GetTo() {
			var shortest []*graphv1.ReasoningPath
			for length := 1; length <= int(req.GetMaxHops()) && len(shortest) == 0; length++ {
				for _, w := range g.walks(from, length) {
					if kgtext.PathEnd(w) == to {
						shortest = append(shortest, w)
					}
				}
			}
			resp.Paths = append(resp.Paths, shortest...)
		}
	}
	return resp, nil
}

func (g fakeRetriever) SuggestPaths(_ context.Context, req *retrieverv1.SuggestPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.SuggestPathsResponse, error) {
	suggested := map[string]*graphv1.RelationPath{}
	for _, topic := range req.GetTopicEntities() {
		for length := range req.GetMaxHops() {
			for _, w := range g.walks(topic, int(length)+1) {
				suggested[kgtext.StepsKey(w.GetSteps())] = &graphv1.RelationPath{Steps: w.GetSteps()}
			}
		}
	}
	paths := slices.SortedFunc(maps.Values(suggested), func(a, b *graphv1.RelationPath) int {
		return cmp.Compare(kgtext.StepsKey(a.GetSteps()), kgtext.StepsKey(b.GetSteps()))
	})
	return &retrieverv1.SuggestPathsResponse{Paths: paths[:min(len(paths), int(req.GetLimit()))]}, nil
}

func (g fakeRetriever) FollowPaths(_ context.Context, req *retrieverv1.FollowPathsRequest,
	_ ...grpc.CallOption) (*retrieverv1.FollowPathsResponse, error) {
	resp := &retrieverv1.FollowPathsResponse{}
	for _, topic := range req.GetTopicEntities() {
		for _, p := range req.GetPaths() {
			for _, w := range g.walks(topic, len(p.GetSteps())) {
				if kgtext.StepsKey(w.GetSteps()) == kgtext.StepsKey(p.GetSteps()) {
					resp.Paths = append(resp.Paths, w)
				}
			}
		}
	}
	return resp, nil
}

// fakePrompts shows what the stages show. How they word it is tested beside their prompts, in
// cmd/triplemesh/cli.
type fakePrompts struct{}

func userMessage(lines ...string) []llm.Message {
	return []llm.Message{{Role: llm.RoleUser, Content: strings.Join(lines, "\n")}}
}

func showEvidence(question string, paths []*kgtext.PathGroup, l Limits) string {
	return strings.Join(append([]string{"Question: " + question}, kgtext.FormatGroups(paths, l.MaxGroups,
		l.MaxEnds)...), "\n")
}

func candidateNames(candidates []*graphv1.CandidateAnswer) (names []string) {
	for _, c := range candidates {
		names = append(names, c.GetAnswer())
	}
	return names
}

func (fakePrompts) PlanRelationPaths(question string, topics []string) ([]llm.Message, error) {
	return userMessage("Entities: "+strings.Join(topics, "; "), "Question: "+question), nil
}

func (fakePrompts) ReadCandidates(question string, groups []*kgtext.PathGroup) ([]llm.Message, error) {
	return userMessage(showEvidence(question, groups, settings.Candidates)), nil
}

func (fakePrompts) EvaluateQuestion(question string, candidates []*graphv1.CandidateAnswer,
	paths []*graphv1.ReasoningPath) ([]llm.Message, error) {
	return userMessage(showEvidence(question, kgtext.GroupPaths(paths), settings.Verdict),
		"Candidates: "+strings.Join(candidateNames(candidates), "; ")), nil
}

func (fakePrompts) EvaluateAnswer(question string, c *graphv1.CandidateAnswer) ([]llm.Message, error) {
	return userMessage("Question: "+question, "Path: "+kgtext.FormatPath(c.GetPaths()[0]),
		fmt.Sprintf("Is %q a right answer? yes or no", c.GetAnswer())), nil
}

func (fakePrompts) Reflect(r Reflection) ([]llm.Message, []string, error) {
	groups := kgtext.GroupPaths(r.Paths)
	names := candidateNames(r.Candidates)
	lines := []string{showEvidence(r.Question, groups, settings.Reflection), "Review: " + r.Verdict.GetReason()}
	for _, name := range names {
		v := r.Verdicts[name]
		lines = append(lines, fmt.Sprintf("- %s: %t, %.2f", name, v.GetCorrect(), v.GetProbability()))
	}
	options := slices.Clone(names)
	for _, g := range groups {
		for _, end := range g.Ends {
			if !slices.Contains(options, end) {
				options = append(options, end)
			}
		}
	}
	return userMessage(append(lines, "Others: "+strings.Join(options[len(names):], "; "))...), options, nil
}
