package check

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	retrieverv1 "github.com/triplemesh/triplemesh/proto/triplemesh/retriever/v1"
	verifierv1 "github.com/triplemesh/triplemesh/proto/triplemesh/verifier/v1"
	"github.com/triplemesh/triplemesh/services/orchestrator/question"
	"github.com/triplemesh/triplemesh/services/orchestrator/sources"
)

// surroundings are the triples around an entity.
type surroundings struct {
	triples []*graphv1.Triple
	// takes are the relations with the entity as object.
	takes map[string]bool
}

// list adds the triples of the claims' entities to the ground graph; of objects too, because small
// models swap subject and object. It sets the candidate relations of each claim.
func (g *gathering) list(ctx context.Context) error {
	byName := map[string]surroundings{}
	err := g.readAround(ctx, byName)
	if err == nil && g.linkNamed(byName) {
		err = g.readAround(ctx, byName)
	}
	if err != nil {
		return err
	}
	if err := g.inside(ctx, byName); err != nil {
		return err
	}
	g.add(slices.Sorted(maps.Keys(byName)), byName)
	for i, c := range g.req.GetClaims() {
		c.Relations = matches(c, byName, g.near[i])
		if g.isPresent[i] {
			c.Relations = slices.DeleteFunc(c.Relations,
				func(m *verifierv1.RelationMatch) bool { return kgtext.SaysFormer(m.GetRelation()) })
		}
	}
	return nil
}

// readAround reads what is around the claims' entities, as far as it has not been read.
func (g *gathering) readAround(ctx context.Context, byName map[string]surroundings) error {
	var entities []string
	wanted := map[string][]string{} // likely relations, by entity
	for _, c := range g.req.GetClaims() {
		best := likeliest(c.GetRelations())
		for _, l := range slices.Concat(c.GetSubjects(), c.GetObjects()) {
			e := l.GetEntity()
			if _, read := byName[e]; read {
				continue
			}
			if wanted[e] == nil {
				entities = append(entities, e)
			}
			for _, r := range best {
				if !slices.Contains(wanted[e], r) {
					wanted[e] = append(wanted[e], r)
				}
			}
		}
	}
	found := make([]surroundings, len(entities))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for i, e := range entities {
		group.Go(func() (err error) {
			found[i], err = g.around(within, e, wanted[e])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, e := range entities {
		byName[e] = found[i]
	}
	return nil
}

// naming matches relations to another name of a thing.
var naming = regexp.MustCompile(`(?i)\b(?:(?:full|former|other|official|native|birth|short|alternative|original|` +
	`maiden|stage|pen) ?names?|nicknames?|alias(?:es)?|also known as|abbreviation|acronym|pseudonym)\b`)

// linkNamed takes that for the subjects of claims of which they are other names, if the knowledge graph has nothing
// else of them, and reports whether there are any: 1928 SJ, the former name of an asteroid.
func (g *gathering) linkNamed(byName map[string]surroundings) (linked bool) {
	for _, c := range g.req.GetClaims() {
		for _, l := range c.GetSubjects() {
			triples := byName[l.GetEntity()].triples
			if slices.ContainsFunc(triples, func(t *graphv1.Triple) bool { return t.GetSubject() == l.GetEntity() }) {
				continue
			}
			for _, t := range triples {
				if naming.MatchString(kgtext.VerbaliseRelation(t.GetRelation())) {
					c.Subjects = append(c.Subjects, &graphv1.EntityLink{Entity: t.GetSubject(), Mention: l.GetMention(),
						Match: graphv1.LinkMatch_LINK_MATCH_ALIAS, Score: l.GetScore()})
					linked = true
					if kgtext.Fold(c.GetTriple().GetObject()) != kgtext.Fold(t.GetSubject()) { // else it says so
						c.Triple.Subject = t.GetSubject()
					}
				}
			}
		}
	}
	return linked
}

// inside adds the triples that connect competing values with the claims' objects: a person born in
// a city was born in its country too.
func (g *gathering) inside(ctx context.Context, byName map[string]surroundings) error {
	wanted := map[string][]string{} // the objects of claims, by what stands against them
	for _, c := range g.req.GetClaims() {
		best := likeliest(c.GetRelations())
		for _, l := range c.GetSubjects() {
			values := 0
			for _, t := range byName[l.GetEntity()].triples {
				o := t.GetObject()
				if t.GetSubject() != l.GetEntity() || values == against || len(o) > longestName ||
					!slices.Contains(best, t.GetRelation()) {
					continue
				}
				if _, read := byName[o]; read {
					continue
				}
				values++
				wanted[o] = append(wanted[o], c.GetTriple().GetObject())
				for _, object := range c.GetObjects() {
					wanted[o] = append(wanted[o], object.GetEntity())
				}
			}
		}
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for value, objects := range wanted {
		group.Go(func() error {
			resp, err := g.listNeighbours(ctx, g.q, value, retrieverv1.Direction_DIRECTION_OUT, around)
			triples := slices.DeleteFunc(resp.GetTriples(),
				func(t *graphv1.Triple) bool { return !slices.Contains(objects, t.GetObject()) })
			if len(triples) > 0 {
				mu.Lock()
				defer mu.Unlock()
				byName[value] = surroundings{triples: triples}
			}
			return err
		})
	}
	return group.Wait()
}

// listNeighbours reads what is around an entity; nothing of one that the knowledge graph lacks.
func (c *Checker) listNeighbours(ctx context.Context, q *question.Question, entity string,
	direction retrieverv1.Direction, limit uint32) (*retrieverv1.ListNeighboursResponse, error) {
	resp, err := c.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: q.KG(), Entity: entity,
		Direction: direction, Limit: limit})
	if sources.IsEntityNotFound(err) {
		return nil, nil
	}
	return resp, err
}

// around reads the triples of an entity.
func (g *gathering) around(ctx context.Context, entity string, wanted []string) (surroundings, error) {
	s := surroundings{takes: map[string]bool{}}
	resp, err := g.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{Kg: g.q.KG(), Entity: entity,
		Limit: around})
	if sources.IsEntityNotFound(err) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.triples = resp.GetTriples()
	for _, r := range resp.GetRelations() {
		if r.GetInverse() {
			s.takes[r.GetRelation()] = true
		}
	}
	if resp.GetTotal() <= around {
		return s, nil
	}
	const most = 256 // relations that a request may name
	resp, err = g.Retriever.ListNeighbours(ctx, &retrieverv1.ListNeighboursRequest{
		Kg: g.q.KG(), Entity: entity, Relations: wanted[:min(len(wanted), most)], Limit: listed,
	})
	s.triples = resp.GetTriples()
	return s, err
}

// likeliest returns the relations nearest to a claim's.
func likeliest(matches []*verifierv1.RelationMatch) []string {
	sorted := slices.Clone(matches)
	slices.SortStableFunc(sorted, func(a, b *verifierv1.RelationMatch) int {
		return cmp.Compare(b.GetScore(), a.GetScore())
	})
	var names []string
	for _, m := range sorted {
		if !slices.Contains(names, m.GetRelation()) {
			names = append(names, m.GetRelation())
		}
		if len(names) == likely {
			break
		}
	}
	return names
}

// matches returns the candidate relations of a claim without duplicates: the likeliest, and those
// of its entities and objects. What a relation holds elsewhere counts less if others are much nearer.
func matches(c *verifierv1.ClaimToJudge, found map[string]surroundings,
	near map[string]bool) []*verifierv1.RelationMatch {
	keep := map[string]*verifierv1.RelationMatch{}
	var names []string
	need := func(relation string) *verifierv1.RelationMatch {
		if keep[relation] == nil {
			keep[relation] = &verifierv1.RelationMatch{Relation: relation, Score: -1}
			names = append(names, relation)
		}
		return keep[relation]
	}
	for _, r := range likeliest(c.GetRelations()) {
		need(r)
	}
	for _, l := range slices.Concat(c.GetSubjects(), c.GetObjects()) {
		for _, t := range found[l.GetEntity()].triples {
			need(t.GetRelation())
		}
	}
	for _, m := range c.GetRelations() { // of the objects' too, as far as they were compared
		if slices.ContainsFunc(c.GetObjects(), func(l *graphv1.EntityLink) bool {
			return found[l.GetEntity()].takes[m.GetRelation()]
		}) {
			need(m.GetRelation()).TakesObject = true
		}
	}
	for _, l := range c.GetSubjects() {
		for r := range found[l.GetEntity()].takes {
			if keep[r] != nil {
				keep[r].TakesSubject = true
			}
		}
	}
	for _, m := range c.GetRelations() {
		if k := keep[m.GetRelation()]; k != nil {
			k.Score = max(k.GetScore(), m.GetScore())
		}
	}
	all := make([]*verifierv1.RelationMatch, len(names))
	for i, n := range names {
		all[i] = keep[n]
		all[i].Far = !near[n]
		all[i].Score = max(all[i].GetScore(), 0)
	}
	return all
}

// add adds missing triples to the ground graph, scored by the similarity of their relation to a
// claim's.
func (g *gathering) add(entities []string, found map[string]surroundings) {
	known := map[string]bool{}
	for _, s := range g.req.GetGroundGraph().GetSubjects() {
		for _, t := range s.GetTriples() {
			known[key(t.GetTriple())] = true
		}
	}
	score := map[string]float32{}
	for _, c := range g.req.GetClaims() {
		for _, r := range c.GetRelations() {
			score[r.GetRelation()] = max(score[r.GetRelation()], r.GetScore())
		}
	}
	for _, e := range entities {
		s := &graphv1.SubjectEvidence{Subject: e}
		for _, t := range found[e].triples {
			if k := key(t); !known[k] {
				known[k] = true
				s.Triples = append(s.Triples, &graphv1.ScoredTriple{Triple: t, Score: score[t.GetRelation()]})
			}
		}
		if len(s.GetTriples()) > 0 {
			g.req.GroundGraph.Subjects = append(g.req.GroundGraph.Subjects, s)
		}
	}
}
