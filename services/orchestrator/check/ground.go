package check

import (
	"context"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/sentence"
	"github.com/triplemesh/triplemesh/internal/verbalise"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// relations is how many relations of the knowledge graph are weighed for a
	// claim, and likely how many of them it may mean whatever its entities have.
	relations, likely = 256, 12
	// links is how many entities a name may mean.
	links = 3
	// around is the most triples of an entity that are all read; of one with more
	// those of likely relations are, up to listed.
	around, listed = 300, 1000
	// against is the most values of a subject that are looked around for what
	// holds them.
	against = 8
	// lookups is how many of the retriever's calls are made at a time.
	lookups = 8
	// longestName is more bytes than a name has; what is longer is not looked up.
	longestName = 400
)

// ground gathers what the knowledge graph holds near claims: the ground graph of
// the pseudo-graph that they are, the entities and relations that they may mean,
// and all that it lists of these.
func (c *Checker) ground(ctx context.Context, q *question.Question, sentences []sentence.Sentence, found []*Finding, options *retrieverv1.GroundingOptions) (*verifierv1.JudgeClaimsRequest, error) {
	g := &gathering{Checker: c, q: q, links: map[string][]*graphv1.EntityLink{}, req: &verifierv1.JudgeClaimsRequest{}, phrases: phrases(sentences, found)}
	claims := &graphv1.PseudoGraph{}
	for _, f := range found {
		claims.Triples = append(claims.Triples, f.Extracted.GetTriple())
		g.req.Claims = append(g.req.Claims, &verifierv1.ClaimToJudge{Triple: f.Extracted.GetTriple(), Negated: f.Extracted.GetNegated()})
	}
	var text []string
	for _, s := range sentences {
		text = append(text, s.Text)
	}
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return g.groundGraph(within, strings.Join(text, " "), claims, options) })
	group.Go(func() error { return g.relations(within) })
	group.Go(func() error { return g.link(within) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := g.list(ctx); err != nil {
		return nil, err
	}
	return g.req, g.count(ctx)
}

// gathering is what is being gathered for the claims of one batch.
type gathering struct {
	*Checker
	q   *question.Question
	req *verifierv1.JudgeClaimsRequest
	// phrases are the words that the text has for each claim's relation.
	phrases []string

	mu    sync.Mutex
	links map[string][]*graphv1.EntityLink
}

// groundGraph makes G_g of the claims, by the text.
func (g *gathering) groundGraph(ctx context.Context, text string, claims *graphv1.PseudoGraph, options *retrieverv1.GroundingOptions) error {
	resp, err := g.Retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
		Kg: g.q.KG(), Question: strings.ToValidUTF8(text[:min(len(text), longest)], ""), PseudoGraph: claims, Options: options,
	})
	if err != nil {
		return err
	}
	g.req.GroundGraph = resp.GetGroundGraph()
	if g.req.GroundGraph == nil {
		g.req.GroundGraph = &graphv1.GroundGraph{}
	}
	return nil
}

// relations finds the relations that the claims may mean: by their own, and by
// the words that the text has for them.
func (g *gathering) relations(ctx context.Context) error {
	type query struct {
		claim int
		words string
	}
	var queries []query
	for i, c := range g.req.GetClaims() {
		queries = append(queries, query{i, verbalise.Relation(c.GetTriple().GetRelation())})
		if g.phrases[i] != "" {
			queries = append(queries, query{i, g.phrases[i]})
		}
	}
	const most = 256 // queries that a request may hold
	for part := range slices.Chunk(queries, most) {
		req := &retrieverv1.SearchRelationsRequest{Kg: g.q.KG(), Limit: relations}
		for _, q := range part {
			req.Queries = append(req.Queries, q.words)
		}
		resp, err := g.Retriever.SearchRelations(ctx, req)
		if err != nil {
			return err
		}
		for i, hits := range resp.GetResults() {
			c := g.req.Claims[part[i].claim]
			for _, r := range hits.GetRelations() {
				c.Relations = append(c.Relations, &verifierv1.RelationMatch{Relation: r.GetRelation(), Score: r.GetScore()})
			}
		}
	}
	return nil
}

// link finds the entities that the claims may name.
func (g *gathering) link(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for _, c := range g.req.GetClaims() {
		for _, n := range []string{c.GetTriple().GetSubject(), c.GetTriple().GetObject()} {
			if _, asked := g.links[n]; asked || len(n) > longestName {
				continue
			}
			g.links[n] = nil
		}
	}
	names := make([]string, 0, len(g.links))
	for n := range g.links {
		names = append(names, n)
	}
	for _, n := range names {
		group.Go(func() error {
			resp, err := g.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: g.q.KG(), Text: n, Limit: links})
			if err != nil {
				return err
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, l := range resp.GetLinks() {
				if verbalise.Fold(l.GetMention()) == verbalise.Fold(n) { // else it is a part of the name only
					g.links[n] = append(g.links[n], l)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, c := range g.req.GetClaims() {
		c.Subjects, c.Objects = g.links[c.GetTriple().GetSubject()], g.links[c.GetTriple().GetObject()]
	}
	return nil
}

// count finds how the relations in the ground graph are used that a claim may
// mean.
func (g *gathering) count(ctx context.Context) error {
	meant := map[string]bool{}
	for _, c := range g.req.GetClaims() {
		for _, r := range c.GetRelations() {
			meant[r.GetRelation()] = true
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for _, s := range g.req.GetGroundGraph().GetSubjects() {
		for _, t := range s.GetTriples() {
			r := t.GetTriple().GetRelation()
			if !meant[r] {
				continue
			}
			meant[r] = false
			group.Go(func() error {
				use, err := g.uses.of(ctx, g.q, g.Retriever, r)
				if err != nil {
					return err
				}
				g.mu.Lock()
				defer g.mu.Unlock()
				g.req.Uses = append(g.req.Uses, use)
				return nil
			})
		}
	}
	return group.Wait()
}

// key tells triples apart to the letter, the time they hold and who holds them
// included.
func key(t *graphv1.Triple) string {
	return strings.Join([]string{t.GetSubject(), t.GetRelation(), t.GetObject(), t.GetValidity().GetStart(), t.GetValidity().GetEnd(), t.GetKg()}, "\x00")
}
