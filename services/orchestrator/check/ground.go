package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/auth"
	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
)

const (
	// relations is how many relations of the knowledge graph are compared with a claim, and likely
	// how many of them are considered whatever its entities have.
	relations, likely = 256, 12
	// links is how many entities a name may link to.
	links = 3
	// around is the largest entity whose triples are all read; of a larger one only likely
	// relations are, up to listed.
	around, listed = 300, 1000
	// against is how many values of a subject are searched for their containers.
	against = 8
	// lookups is the number of concurrent calls of the retriever.
	lookups = 8
	// lag is how much farther from a claim's words than the nearest relation one may be for what it holds
	// elsewhere to count: people are born where others died.
	lag = 0.15
	// A phrase of few words in the text that is clearly near to a relation says it as surely as the model's
	// words do: fewWords, clear and nearest bound these.
	fewWords, clear, nearest = 4, 0.5, 0.05
	// longestName bounds a name, in bytes; longer ones are not looked up.
	longestName = 400
)

// ground collects what the knowledge graph has near claims: the ground graph of the claims as a
// pseudo-graph, the linked entities and relations, and their triples.
func (c *Checker) ground(ctx context.Context, q *question.Question, sentences []kgtext.Sentence, found []*Finding,
	options *retrieverv1.GroundingOptions) (*verifierv1.JudgeClaimsRequest, error) {
	g := &gathering{Checker: c, q: q, links: map[string][]*graphv1.EntityLink{}, req: &verifierv1.JudgeClaimsRequest{},
		phrases: phrases(sentences, found), isPresent: map[int]bool{}}
	claims := &graphv1.PseudoGraph{}
	for i, f := range found {
		claims.Triples = append(claims.Triples, f.Extracted.GetTriple())
		g.req.Claims = append(g.req.Claims, &verifierv1.ClaimToJudge{Triple: f.Extracted.GetTriple(),
			Negated: f.Extracted.GetNegated()})
		g.isPresent[i] = slices.ContainsFunc(sentences, func(s kgtext.Sentence) bool {
			return beginsClaim(s, f) && !kgtext.IsPast(s.Text) && !kgtext.SaysFormer(s.Text)
		})
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
	g.attach()
	if err := g.list(ctx); err != nil {
		return nil, err
	}
	return g.req, g.count(ctx)
}

// gathering collects the evidence of one batch.
type gathering struct {
	*Checker
	q   *question.Question
	req *verifierv1.JudgeClaimsRequest
	// phrases are the text's words for each claim's relation.
	phrases []string
	// isPresent has the claims that say what is so now, and not what was.
	isPresent map[int]bool
	// near are the relations nearest to any words of each claim.
	near []map[string]bool

	mu    sync.Mutex
	links map[string][]*graphv1.EntityLink
}

// groundGraph computes G_g of the claims.
func (g *gathering) groundGraph(ctx context.Context, text string, claims *graphv1.PseudoGraph,
	options *retrieverv1.GroundingOptions) error {
	resp, err := g.Retriever.GroundGraph(ctx, &retrieverv1.GroundGraphRequest{
		Kg: g.q.KG(), Question: strings.ToValidUTF8(text[:min(len(text), longest)], ""), PseudoGraph: claims,
		Options: options,
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

// relations matches the claims' relations, and the text's words for them, with those of the
// knowledge graph.
func (g *gathering) relations(ctx context.Context) error {
	type query struct {
		claim int
		words string
	}
	var queries []query
	for i, c := range g.req.GetClaims() {
		g.near = append(g.near, map[string]bool{})
		queries = append(queries, query{i, kgtext.VerbaliseRelation(c.GetTriple().GetRelation())})
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
			c, near := g.req.Claims[part[i].claim], g.near[part[i].claim]
			best := float32(-1)
			for _, r := range c.GetRelations() {
				best = max(best, r.GetScore())
			}
			isPhrase := len(strings.Fields(part[i].words)) <= fewWords
			for _, r := range hits.GetRelations() {
				score, behind := r.GetScore(), hits.GetRelations()[0].GetScore()-r.GetScore()
				if behind <= lag {
					near[r.GetRelation()] = true
				}
				if isPhrase && score >= clear && behind <= nearest {
					score = max(score, best) // "built by" is a builder, even where the model says manufacturer
				}
				c.Relations = append(c.Relations, &verifierv1.RelationMatch{Relation: r.GetRelation(), Score: score})
			}
		}
	}
	return nil
}

// link links the names of the claims to entities, and what is left of them without the words that describe
// them.
func (g *gathering) link(ctx context.Context) error {
	var names []string
	for _, c := range g.req.GetClaims() {
		names = append(names, c.GetTriple().GetSubject(), c.GetTriple().GetObject())
	}
	if err := g.linkNames(ctx, names); err != nil {
		return err
	}
	for _, shorten := range shortenings {
		var bare []string
		for _, n := range names {
			if short := shorten(n); g.stripName(n) == n && len(g.links[n]) == 0 && short != n {
				bare = append(bare, short)
			}
		}
		if err := g.linkNames(ctx, bare); err != nil {
			return err
		}
	}
	return nil
}

// shortenings are ways of leaving words off a name that describe it, in the order in which they are tried.
var shortenings = []func(string) string{bareName, cutOf}

// stripName returns what is left of a name that links to nothing, if that links to something, else the name.
func (g *gathering) stripName(name string) string {
	for _, shorten := range shortenings {
		if short := shorten(name); len(g.links[name]) == 0 && len(g.links[short]) > 0 {
			return short
		}
	}
	return name
}

// cutOf returns a name of several words without what it is said to be of: "Lorn Motors of Tessen".
func cutOf(name string) string {
	if m := ofName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// attach gives the claims the entities that their names link to. Where a name links to none, and what is
// left of it without the words that describe it does, that is the name.
func (g *gathering) attach() {
	for _, c := range g.req.GetClaims() {
		t := c.GetTriple()
		t.Subject, t.Object = g.stripName(t.GetSubject()), g.stripName(t.GetObject())
		c.Subjects, c.Objects = g.links[t.GetSubject()], g.links[t.GetObject()]
	}
}

var (
	// apposition matches words in lower case before a name, parenthesis what is in brackets behind it.
	apposition  = regexp.MustCompile(`^((?:\p{Ll}[\p{L}-]* ){1,4})(\p{Lu}.*)$`)
	parenthesis = regexp.MustCompile(`^(.*\pL.*) \([^()]*\)$`)
	// adjunct matches what is said of a name of several words behind it.
	adjunct = regexp.MustCompile(`^['"“]?(\S+ .*?\S)['"”]? (?:in|by|from|at|near) (?:the )?\p{Lu}.*$`)
	// ofName matches a name of several words, and the thing that it is said to be of.
	ofName = regexp.MustCompile(`^(\p{Lu}\S* .*\S) of (?:the )?\p{Lu}.*$`)
	// class matches what a thing is behind its name.
	class = regexp.MustCompile(`^(.*\pL.*) (?:region|province|county|district|area|state|island|river|` +
		`film|movie|novel|book|album|song|band|rocket|asteroid|magazine|journal|aircraft|ship|` +
		`chain|company|group|brand|office|hotel|restaurant|club|team|league)$`)
	// tied matches words by which what is before a name is another thing: "the son of Kristina Holm".
	tied = regexp.MustCompile(`\b(?:of|in|by|from|at|on|for|with|and|or|to|near|von|van|de|la|le|du|da|al|el)\b`)
)

// bareName returns a name without the words that describe it: "musician Kristina Holm", "Tides (a
// film)", "the Tessen region", "'The Quiet Harbour' by Kristina Holm".
func bareName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "the "), "The ")
	if m := parenthesis.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if m := adjunct.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if m := class.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	if m := apposition.FindStringSubmatch(name); m != nil && !tied.MatchString(m[1]) {
		name = m[2]
	}
	return name
}

// linkNames links names that have not been linked.
func (g *gathering) linkNames(ctx context.Context, names []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for _, n := range names {
		g.mu.Lock()
		_, asked := g.links[n]
		if !asked && len(n) <= longestName {
			g.links[n] = nil
		}
		g.mu.Unlock()
		if asked || len(n) > longestName {
			continue
		}
		group.Go(func() error {
			resp, err := g.Retriever.LinkEntities(ctx, &retrieverv1.LinkEntitiesRequest{Kg: g.q.KG(),
				Text: n, Limit: links})
			if err != nil {
				return err
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, l := range resp.GetLinks() {
				if kgtext.Fold(l.GetMention()) == kgtext.Fold(n) { // else it is a part of the name only
					g.links[n] = append(g.links[n], l)
				}
			}
			nameQualified(n, g.links[n])
			return nil
		})
	}
	return group.Wait()
}

// nameQualified takes a name for another one of an entity that has it with words in parentheses behind it, if no entity
// has it without these and no other one with: "Abner (footballer)" where a text says Abner.
func nameQualified(name string, links []*graphv1.EntityLink) {
	var qualified []*graphv1.EntityLink
	for _, l := range links {
		if l.GetMatch() != graphv1.LinkMatch_LINK_MATCH_FUZZY {
			return
		}
		if m := parenthesis.FindStringSubmatch(l.GetEntity()); m != nil && kgtext.Fold(m[1]) == kgtext.Fold(name) {
			qualified = append(qualified, l)
		}
	}
	if len(qualified) == 1 {
		qualified[0].Match = graphv1.LinkMatch_LINK_MATCH_ALIAS
	}
}

// count reads how the candidate relations in the ground graph are used.
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
				use, err := g.uses.lookup(ctx, g.q, g.Retriever, r)
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

// key identifies a triple, including its validity and knowledge graph.
func key(t *graphv1.Triple) string {
	return strings.Join([]string{t.GetSubject(), t.GetRelation(), t.GetObject(), t.GetValidity().GetStart(),
		t.GetValidity().GetEnd(), t.GetKgName()}, "\x00")
}

const (
	// sampled is the number of triples sampled of a relation, and subjects how many of their
	// subjects are examined.
	sampled, subjects = 200, 100
	// remembered is the cache size, in relations.
	remembered = 4096
)

// uses caches how relations are used. Snapshots are immutable, so each relation is read once.
type uses struct {
	known *lru.Cache[string, *verifierv1.RelationUse]
}

func newUses() *uses {
	known, _ := lru.New[string, *verifierv1.RelationUse](remembered) // only a size under 1 fails
	return &uses{known}
}

// lookup returns how a relation is used, estimated from a sample: stores can search but not count.
func (u *uses) lookup(ctx context.Context, q *question.Question, retriever retrieverv1.RetrieverServiceClient,
	relation string) (*verifierv1.RelationUse, error) {
	caller, _ := auth.CallerFrom(ctx)
	key := fmt.Sprint(caller.Tenant, " ", q.KG(), " ", q.OtherKGs(), " ", relation)
	if use, ok := u.known.Get(key); ok {
		return use, nil
	}
	search := func(filter *retrieverv1.Filter, limit uint32) ([]*graphv1.ScoredTriple, error) {
		resp, err := retriever.SearchTriples(ctx, &retrieverv1.SearchTriplesRequest{
			Kg: q.KG(), Queries: []string{kgtext.VerbaliseRelation(relation)}, Limit: limit, Filter: filter,
		})
		if err != nil || len(resp.GetResults()) == 0 {
			return nil, err
		}
		return resp.GetResults()[0].GetTriples(), nil
	}
	filter := &retrieverv1.Filter{Relations: []string{relation}}
	sample, err := search(filter, sampled)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, t := range sample {
		if s := t.GetTriple().GetSubject(); !seen[s] && len(seen) < subjects {
			seen[s] = true
			filter.Subjects = append(filter.Subjects, s)
		}
	}
	use := &verifierv1.RelationUse{Relation: relation, Subjects: uint32(len(seen))}
	if len(seen) > 0 {
		whole, err := search(filter, 1000)
		if err != nil {
			return nil, err
		}
		use.Several = several(whole)
	}
	u.known.Add(key, use)
	return use, nil
}

// several returns the number of subjects with more than one object.
func several(triples []*graphv1.ScoredTriple) (n uint32) {
	objects := map[string]map[string]bool{}
	for _, t := range triples {
		s := t.GetTriple().GetKgName() + "\x00" + t.GetTriple().GetSubject()
		if objects[s] == nil {
			objects[s] = map[string]bool{}
		}
		objects[s][kgtext.Fold(t.GetTriple().GetObject())] = true
	}
	for _, o := range objects {
		if len(o) > 1 {
			n++
		}
	}
	return n
}
