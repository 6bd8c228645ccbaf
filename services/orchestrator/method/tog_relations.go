package method

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/triplemesh/triplemesh/internal/llm"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	evaluatorv1 "github.com/triplemesh/triplemesh/proto/triplemesh/evaluator/v1"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// togRelations is the most relations of one entity that the model sees. The
	// paper shows all; small models have room for a few thousand tokens.
	togRelations = 40
	// togParallel is the most rankings under way at once.
	togParallel = 4
)

// branch is a relation that a reasoning path may go on by, and where it leads.
type branch struct {
	from *graphv1.ReasoningPath
	// words are the relation as the model sees it.
	words string
	// steps are the relations that have these words. The paper goes over a
	// mediator in two hops; here the fact it stands for is one, in two steps.
	steps [][]*graphv1.RelationStep
	// triples is how many triples begin it.
	triples uint64
	// score is the model's, 0 to 1.
	score float32
	// ends are from, grown by the relation.
	ends []*graphv1.ReasoningPath
}

// exploreRelations finds the relations around the ends of the beam, lets the
// model prune those of each, and keeps the best of all (§2.1.2, relation
// exploration). An entity whose relations the model could not prune is left
// out; where that is all of them, the reason is the error.
func (m ToG) exploreRelations(ctx context.Context, q *question.Question, beam []*graphv1.ReasoningPath, width int, spent *spending) ([]*branch, error) {
	fronts := distinct(beam)
	found, failures := make([][]*branch, len(fronts)), make([]error, len(fronts))
	err := inParallel(q, len(fronts), func(i int) (err error) {
		if found[i], err = m.searchRelations(ctx, q, fronts[i], spent); err == nil {
			found[i], err = m.pruneRelations(ctx, q, found[i], width, spent)
		}
		if question.Survivable(ctx, err) {
			failures[i], err = err, nil
			spent.lacked("the exploration of "+verbalise.End(fronts[i]), failures[i])
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

// searchRelations lists the relations around the end of a path, each words
// once.
func (m ToG) searchRelations(ctx context.Context, q *question.Question, from *graphv1.ReasoningPath, spent *spending) ([]*branch, error) {
	resp, err := m.Retriever.Neighbours(ctx, &retrieverv1.NeighboursRequest{Kg: q.KG(), Entity: verbalise.End(from), RelationsOnly: true})
	switch {
	case reasonOf(err) == "ENTITY_NOT_FOUND":
		spent.warn(llm.WarnUnknown, "the knowledge graph has no entity "+verbalise.End(from))
		return nil, nil
	case err != nil:
		return nil, err
	case isValue(resp.GetKind()):
		return nil, nil // what else has this date or number says nothing
	}
	var found []*branch
	byWords := map[string]*branch{}
	for _, c := range resp.GetRelations() {
		step := &graphv1.RelationStep{Relation: c.GetRelation(), Inverse: c.GetInverse()}
		if aboutTheDatabase(c.GetRelation()) || (c.GetTriples() == 1 && undoes(step, from)) {
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
			words := verbalise.Steps(steps)
			b := byWords[words]
			if b == nil {
				b = &branch{from: from, words: words}
				byWords[words] = b
				found = append(found, b)
			}
			b.steps = append(b.steps, steps)
			b.triples += c.GetTriples()
		}
	}
	return likely(found, q.Text()), nil
}

// aboutTheDatabase tells the relations of Freebase that the authors' code leaves
// out: they say how a thing is kept, nothing of the thing.
func aboutTheDatabase(relation string) bool {
	return strings.HasPrefix(relation, "common.") || strings.HasPrefix(relation, "freebase.") ||
		relation == "type.object.type" || relation == "type.object.name" || strings.Contains(relation, "sameAs")
}

// likely keeps what the model has room for: relations that share a word with
// the question, then those of most triples. What is kept is in the order of
// its words, as in the authors' code.
func likely(found []*branch, text string) []*branch {
	asked := map[string]bool{}
	for word := range strings.FieldsSeq(verbalise.Fold(text)) {
		asked[word] = len(word) > 3
	}
	shares := func(b *branch) int {
		if slices.ContainsFunc(strings.Fields(verbalise.Fold(b.words)), func(w string) bool { return asked[w] }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(a, b *branch) int {
		return cmp.Or(cmp.Compare(shares(a), shares(b)), cmp.Compare(b.triples, a.triples))
	})
	found = found[:min(len(found), togRelations)]
	slices.SortFunc(found, func(a, b *branch) int { return cmp.Compare(a.words, b.words) })
	return found
}

// pruneRelations keeps the relations that the model thinks help most, with its
// scores.
func (m ToG) pruneRelations(ctx context.Context, q *question.Question, found []*branch, width int, spent *spending) ([]*branch, error) {
	if len(found) == 0 {
		return nil, nil
	}
	words := make([]string, len(found))
	for i, b := range found {
		words[i] = b.words
	}
	ranked, err := m.rank(ctx, q, verbalise.Walk(found[0].from), words, width, spent)
	if err != nil {
		return nil, err
	}
	var kept []*branch
	for _, r := range ranked {
		b := found[r.GetIndex()]
		b.score = weight(b.from) * r.GetScore()
		kept = append(kept, b)
	}
	return kept, nil
}

// rank lets the model choose among candidates. One alone needs no call.
func (m ToG) rank(ctx context.Context, q *question.Question, about string, among []string, width int, spent *spending) ([]*evaluatorv1.RankedCandidate, error) {
	if len(among) == 1 {
		return []*evaluatorv1.RankedCandidate{{Score: 1}}, nil
	}
	limits, err := spent.limits()
	if err != nil {
		return nil, err
	}
	resp, err := m.Evaluator.RankCandidates(ctx, &evaluatorv1.RankCandidatesRequest{
		Question: q.Text(), Context: about, Candidates: among, Limit: uint32(width), Limits: limits,
	})
	if err != nil {
		spent.ledger.Charge(llm.Spent(err))
		return nil, err
	}
	spent.add(resp)
	return slices.DeleteFunc(resp.GetRanked(), func(r *evaluatorv1.RankedCandidate) bool { return int(r.GetIndex()) >= len(among) }), nil
}

// relationPaths are branches as the run records them.
func relationPaths(branches []*branch) []*graphv1.RelationPath {
	var paths []*graphv1.RelationPath
	for _, b := range branches {
		for _, steps := range b.steps {
			paths = append(paths, &graphv1.RelationPath{Steps: steps, Score: b.score, TopicEntities: []string{verbalise.End(b.from)}})
		}
	}
	return paths
}

// inParallel calls do with 0 to n-1, some at once; with a budget one after the
// other, since each would take all that is left.
func inParallel(q *question.Question, n int, do func(int) error) error {
	var group errgroup.Group
	group.SetLimit(togParallel)
	if budgeted(q) {
		group.SetLimit(1)
	}
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

func isValue(kind graphv1.TermKind) bool {
	switch kind {
	case graphv1.TermKind_TERM_KIND_TEXT, graphv1.TermKind_TERM_KIND_NUMBER, graphv1.TermKind_TERM_KIND_QUANTITY, graphv1.TermKind_TERM_KIND_DATE:
		return true
	}
	return false
}

// reasonOf is what a stage's error says of its cause; empty where it says none.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
