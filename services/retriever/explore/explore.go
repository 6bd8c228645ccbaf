// Package explore finds what the names and relations of a drafted query plan may mean: which
// entities, which relations these really have, in which direction, and what lies at their ends.
package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/execute"
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/vector"
)

const (
	// sampled is how many of the entities that a variable can be are looked at.
	sampled = 32
	// domainSize bounds what a variable can be.
	domainSize = 2000
	// maxCandidates and maxElsewhere bound the candidates of a pattern.
	maxCandidates, maxElsewhere = 12, 4
	// linked is how many entities a name is linked to.
	linked = 8
	// probed is how many candidates are looked at beyond their name.
	probed = 16
	// examples is how many triples of a candidate are shown.
	examples = 3
)

// Snapshot is the part of a knowledge graph that exploration reads.
type Snapshot interface {
	Info() store.Info
	store.Names
	store.Facts
	store.Walker
	store.Searcher
}

// Step is one hop.
type Step struct {
	Relation store.RelationID
	Inverse  bool
}

// Candidate is a relation that a pattern may mean.
type Candidate struct {
	Steps []Step
	// Phrase and Question are the cosines to the words of the pattern and to the question without names.
	Phrase, Question float32
	// Coverage is the share of the known entities that have it, Triples the number of its triples.
	Coverage float32
	Triples  int
	// EndKind is what most ends are, Comparable the share that are numbers or dates.
	EndKind    store.Kind
	Comparable float32
	// Joins reports whether it joins both ends of the pattern, if both are known.
	Joins    bool
	Examples []store.TripleID
	// Implied is how near what a clause says that a variable is comes to the other relations of it.
	Implied float32
	// Trust is how far the words of the pattern count.
	Trust float32
	// Words is the share of the words of the pattern that the relation has, by their beginnings.
	Words float32
	// Time reports whether both the words of the pattern and the relation are about a time.
	Time bool
	// OtherTime reports whether the relation is about a time and the plan is not.
	OtherTime bool
	// TypeMatch reports whether the words of the pattern say what the ends are.
	TypeMatch bool
	// TypeMiss reports whether the ends are something else than the plan says.
	TypeMiss bool
	// Anchors are the known entities that have it, if they are few.
	Anchors []store.EntityID
	// EndTypes are what the ends are, the most frequent first.
	EndTypes []string
	ends     []store.EntityID
}

// Pattern holds the candidates of a pattern.
type Pattern struct {
	Clause     int
	Candidates []Candidate
	Elsewhere  []Candidate
}

// Term holds the links of a name.
type Term struct {
	Name  string
	Links []link.Link
}

// Plan explores a drafted plan. topics are entities that the caller knows.
func Plan(ctx context.Context, snap Snapshot, encoder link.Encoder, question string, plan *graphv1.QueryPlan,
	topics []store.EntityID) ([]Term, []Pattern, error) {
	e := &explorer{ctx: ctx, snap: snap, encoder: encoder, plan: plan, question: question,
		domains: map[string][]store.EntityID{}, links: map[string][]store.EntityID{}, valued: map[string]bool{},
		vectors: map[string][]float32{}, cosines: map[store.RelationID]map[string]float32{},
		bound: map[string][]store.RelationID{}, starts: map[Step][]store.EntityID{}}
	if err := e.link(topics); err != nil {
		return nil, nil, err
	}
	if err := e.encode(); err != nil {
		return nil, nil, err
	}
	e.findTypes()
	e.markValued()
	if err := e.explore(); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(e.patterns, func(a, b Pattern) int { return cmp.Compare(a.Clause, b.Clause) })
	return e.terms, e.patterns, nil
}

type explorer struct {
	ctx      context.Context
	snap     Snapshot
	encoder  link.Encoder
	plan     *graphv1.QueryPlan
	question string
	residue  string // the question without the names of the plan

	terms    []Term
	links    map[string][]store.EntityID
	domains  map[string][]store.EntityID
	valued   map[string]bool // variables that are compared or computed with
	vectors  map[string][]float32
	cosines  map[store.RelationID]map[string]float32
	types    []store.RelationID // relations such as "type" and "instance of"
	patterns []Pattern
	bound    map[string][]store.RelationID // the best relations of the clauses on each variable
	starts   map[Step][]store.EntityID     // some entities that have a relation
}

// names lists the names of a plan, each once.
func names(plan *graphv1.QueryPlan) []string {
	var all []string
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, c := range plan.GetClauses() {
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			add(p.GetStart().GetEntity())
			add(p.GetEnd().GetEntity())
		}
		for _, name := range c.GetValues().GetEntities() {
			add(name)
		}
	}
	return all
}

// link links the names. A topic entity that a name is part of, or that is part of it, is what it
// means.
func (e *explorer) link(topics []store.EntityID) error {
	inQuestion, err := link.Entities(e.ctx, e.snap, e.encoder, e.question, 32)
	if err != nil {
		return err
	}
	for _, name := range names(e.plan) {
		term := Term{Name: name}
		key := store.Fold(name)
		for _, t := range topics {
			known := store.Fold(e.snap.EntityName(t))
			if known == key || strings.HasPrefix(known, key+" ") || strings.HasPrefix(key, known+" ") {
				term.Links = append(term.Links, link.Link{Entity: t, Mention: name, Match: link.Exact, Score: 1})
			}
		}
		if len(term.Links) == 0 {
			found, err := link.Entities(e.ctx, e.snap, e.encoder, name, linked)
			if err != nil {
				return err
			}
			for _, l := range found {
				// The mention is the whole name, not a word of it.
				if len(store.Fold(l.Mention))*5 < len(key)*4 {
					continue
				}
				for _, q := range inQuestion {
					if q.Entity == l.Entity && store.Fold(q.Mention) == store.Fold(l.Mention) {
						l.Score = max(l.Score, q.Score)
					}
				}
				term.Links = append(term.Links, l)
			}
			slices.SortStableFunc(term.Links, func(a, b link.Link) int {
				return cmp.Or(cmp.Compare(matchRank(a.Match), matchRank(b.Match)), cmp.Compare(b.Score, a.Score))
			})
		}
		if err := e.addNamed(&term); err != nil {
			return err
		}
		if e.isType(name) {
			e.preferLonger(&term, inQuestion)
		}
		fuzzyOnly := !slices.ContainsFunc(term.Links, func(l link.Link) bool { return l.Match != link.Fuzzy })
		for i, l := range term.Links {
			if l.Match != link.Fuzzy || fuzzyOnly && i < 2 {
				e.links[name] = append(e.links[name], l.Entity)
			}
		}
		e.terms = append(e.terms, term)
	}
	return nil
}

// addNamed adds what has the linked entity as its name: "springfield" names several cities.
func (e *explorer) addNamed(term *Term) error {
	var relations []store.RelationID
	for _, name := range []string{"name", "label", "alias", "also known as", "short name"} {
		if id, ok, err := e.snap.Relation(e.ctx, name); err == nil && ok {
			relations = append(relations, id)
		}
	}
	if len(relations) == 0 || len(term.Links) == 0 {
		return nil
	}
	ids := make([]store.EntityID, len(term.Links))
	for i, l := range term.Links {
		ids[i] = l.Entity
	}
	lists, err := e.snap.Edges(e.ctx, ids, store.In, relations)
	if err != nil {
		return err
	}
	for i, edges := range lists {
		if term.Links[i].Match == link.Fuzzy {
			continue
		}
		for _, edge := range sample(edges, linked) {
			at := slices.IndexFunc(term.Links, func(l link.Link) bool { return l.Entity == edge.Entity })
			if at >= 0 && term.Links[at].Match == link.Fuzzy {
				term.Links[at].Match = link.Alias
			} else if at < 0 {
				term.Links = append(term.Links, link.Link{Entity: edge.Entity, Mention: term.Name, Match: link.Alias,
					Score: term.Links[i].Score})
			}
		}
	}
	return nil
}

// preferLonger puts a kind first that the question says more precisely: "major city" for city.
func (e *explorer) preferLonger(term *Term, inQuestion []link.Link) {
	key := store.Fold(term.Name)
	for _, q := range inQuestion {
		name := store.Fold(e.snap.EntityName(q.Entity))
		if strings.HasSuffix(name, " "+key) && kgtext.SharedWords(name, e.question) == 1 && q.Match != link.Exact &&
			len(strings.Fields(name)) == len(strings.Fields(store.Fold(q.Mention))) {
			q.Match = link.Exact
			term.Links = append([]link.Link{q}, slices.DeleteFunc(term.Links,
				func(l link.Link) bool { return l.Entity == q.Entity })...)
			return
		}
		if name == key && q.Match == link.Exact {
			continue
		}
		if strings.HasSuffix(name, " "+key) && q.Match == link.Exact {
			term.Links = append([]link.Link{q}, term.Links...)
			return
		}
	}
}

// matchRank puts fuzzy matches behind all others.
func matchRank(m link.Match) int {
	if m == link.Fuzzy {
		return 1
	}
	return 0
}

// phraseOf returns the words of a pattern's relation.
func phraseOf(p *graphv1.QueryPattern) string {
	words := make([]string, len(p.GetSteps()))
	for i, s := range p.GetSteps() {
		words[i] = s.GetRelation()
	}
	return strings.Join(words, " ")
}

// encode encodes the phrases and the question without names.
func (e *explorer) encode() error {
	e.residue = " " + e.question + " "
	for _, t := range e.terms {
		lower := strings.ToLower(e.residue)
		if i := strings.Index(lower, strings.ToLower(t.Name)); i >= 0 && len(lower) == len(e.residue) &&
			len(t.Name) > 2 &&
			strings.ToLower(t.Name) != "state" {
			if e.isType(t.Name) {
				continue
			}
			e.residue = e.residue[:i] + e.residue[i+len(t.Name):]
		}
	}
	e.residue = strings.Join(strings.Fields(e.residue), " ")
	texts := []string{cmp.Or(e.residue, e.question), "type", "occupation"}
	for _, c := range e.plan.GetClauses() {
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			phrase := phraseOf(p)
			if phrase == "type" {
				phrase = p.GetEnd().GetEntity()
			}
			if phrase != "" && !slices.Contains(texts, phrase) {
				texts = append(texts, phrase)
			}
		}
	}
	if e.snap.Info().Dims == 0 {
		return nil
	}
	vectors, err := e.encoder.Encode(e.ctx, texts)
	if err != nil {
		return err
	}
	for i, text := range texts {
		e.vectors[text] = vectors[i]
	}
	e.vectors[""] = vectors[0]
	return nil
}

// isType reports whether a name of the plan is only what a variable is.
func (e *explorer) isType(name string) bool {
	for _, c := range e.plan.GetClauses() {
		if p := c.GetMatch(); p.GetEnd().GetEntity() == name && phraseOf(p) != "type" {
			return false
		}
		if c.GetExclude().GetEnd().GetEntity() == name || slices.Contains(c.GetValues().GetEntities(), name) {
			return false
		}
	}
	return true
}

// cosine is that of a relation to a phrase; "" is the question.
func (e *explorer) cosine(r store.RelationID, phrase string) float32 {
	if c, ok := e.cosines[r][phrase]; ok {
		return c
	}
	v := e.vectors[phrase]
	own := e.snap.RelationVector(r)
	var c float32
	if len(v) > 0 && len(v) == len(own) {
		c = vector.Dot(v, own)
	}
	if e.cosines[r] == nil {
		e.cosines[r] = map[string]float32{}
	}
	e.cosines[r][phrase] = c
	return c
}

// findTypes finds the relations that say what a thing is.
func (e *explorer) findTypes() {
	for _, name := range []string{"type", "instance of", "is a", "rdf:type", "kind", "category", "class",
		"http://www.w3.org/1999/02/22-rdf-syntax-ns#type"} {
		if id, ok, err := e.snap.Relation(e.ctx, name); err == nil && ok {
			e.types = append(e.types, id)
		}
	}
}

// markValued marks the variables that must be numbers or dates.
func (e *explorer) markValued() {
	for _, c := range e.plan.GetClauses() {
		if cond := c.GetCondition(); cond != nil {
			text := cond.GetValue()
			if text == "" || execute.Comparable(text, store.Text) {
				e.valued[cond.GetVariable()] = true
			}
			if cond.GetOtherVariable() != "" {
				e.valued[cond.GetOtherVariable()] = true
			}
		}
		if r := c.GetRank(); r != nil && !r.GetCount() {
			e.valued[r.GetVariable()] = true
		}
	}
	switch r := e.plan.GetResult(); r.GetFunction() {
	case graphv1.QueryFunction_QUERY_FUNCTION_SUM, graphv1.QueryFunction_QUERY_FUNCTION_AVERAGE,
		graphv1.QueryFunction_QUERY_FUNCTION_MINIMUM, graphv1.QueryFunction_QUERY_FUNCTION_MAXIMUM,
		graphv1.QueryFunction_QUERY_FUNCTION_DIFFERENCE:
		e.valued[r.GetVariable()] = true
		if v := r.GetOtherVariable(); v != "" {
			e.valued[v] = true
		}
	}
}

// open is a pattern that is not explored yet.
type open struct {
	clause   int
	pattern  *graphv1.QueryPattern
	excluded bool
}

// explore goes through the patterns: first those that a name anchors, then what hangs on them, what
// variables are, and last those that nothing anchors.
func (e *explorer) explore() error {
	var pending []open
	for i, c := range e.plan.GetClauses() {
		if v := c.GetValues(); v != nil {
			var ids []store.EntityID
			for _, name := range v.GetEntities() {
				ids = append(ids, e.links[name]...)
			}
			e.domains[v.GetVariable()] = ids
		}
		if c.GetMatch() != nil {
			pending = append(pending, open{i, c.GetMatch(), false})
		}
		if c.GetExclude() != nil {
			pending = append(pending, open{i, c.GetExclude(), true})
		}
	}
	for len(pending) > 0 {
		best, bestRank := 0, 100
		for i, o := range pending {
			if r := e.priority(o); r < bestRank {
				best, bestRank = i, r
			}
		}
		o := pending[best]
		pending = slices.Delete(pending, best, best+1)
		p, err := e.pattern(o)
		if err != nil {
			return err
		}
		e.patterns = append(e.patterns, p)
	}
	return nil
}

func (e *explorer) priority(o open) int {
	start, end := e.domainOf(o.pattern.GetStart()), e.domainOf(o.pattern.GetEnd())
	anchored := start != nil || end != nil
	isType := phraseOf(o.pattern) == "type"
	switch {
	case o.excluded:
		return 6
	case anchored && !isType && (o.pattern.GetEnd().GetEntity() != "" || o.pattern.GetStart().GetEntity() != ""):
		return 0
	case isType && start != nil:
		return 1
	case isType && end != nil:
		return 2
	case anchored && !e.valued[o.pattern.GetEnd().GetVariable()]:
		return 3
	case anchored:
		return 4
	}
	return 5
}

// domainOf returns what a term can be; nil if it can be anything.
func (e *explorer) domainOf(t *graphv1.QueryTerm) []store.EntityID {
	if v := t.GetVariable(); v != "" {
		return e.domains[v]
	}
	return e.links[t.GetEntity()]
}

// sample takes some of a list, evenly spread.
func sample[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	out := make([]T, most)
	for i := range out {
		out[i] = list[i*len(list)/most]
	}
	return out
}

// Score is how well a candidate fits a pattern, for their order: the words of the plan, those of the
// question, and what the graph says.
func Score(c Candidate, valued bool, joins float32) float32 {
	s := 0.55*c.Trust*c.Phrase + (1-0.55*c.Trust)*c.Question + 0.1*c.Coverage + 0.25*c.Trust*c.Words
	if c.Joins {
		s += joins
	}
	if c.Time {
		s += 0.25
	}
	if c.OtherTime && valued {
		s -= 0.3
	}
	if len(c.Steps) == 1 && !c.Steps[0].Inverse {
		s += 0.03
	}
	if c.TypeMatch {
		s += 0.3
	}
	if c.TypeMiss {
		s -= 0.6
	}
	if valued {
		s += 0.5 * (c.Comparable - 1)
	}
	return s
}

// pattern finds the candidates of a pattern and what its new variable can be by the best of them.
func (e *explorer) pattern(o open) (Pattern, error) {
	p := Pattern{Clause: o.clause}
	start, end := e.domainOf(o.pattern.GetStart()), e.domainOf(o.pattern.GetEnd())
	phrase := phraseOf(o.pattern)
	valued := e.valued[o.pattern.GetEnd().GetVariable()]
	// Of two names that are asked about, any relation may join them; of a variable and a name, the one
	// that joins is meant.
	joins := float32(0.35)
	if e.plan.GetResult().GetFunction() == graphv1.QueryFunction_QUERY_FUNCTION_EXISTS || o.excluded {
		joins = 0.05
	}
	var err error
	switch {
	case phrase == "type" && start == nil && end != nil && len(e.types) == 0 && e.isPredicate(o):
		p.Candidates, err = e.around(end, nil, phrase, true, nil)
		p.Candidates = slices.DeleteFunc(p.Candidates, func(c Candidate) bool { return c.Steps[0].Inverse })
		for i := range p.Candidates {
			p.Candidates[i].Joins = true
		}
	case phrase == "type" && start == nil && end != nil:
		p.Candidates, err = e.around(end, nil, phrase, true, append([]store.RelationID{}, e.types...))
		p.Candidates = slices.DeleteFunc(p.Candidates, func(c Candidate) bool { return c.Steps[0].Inverse })
		for i := range p.Candidates {
			p.Candidates[i].Joins = true // it is all that the variable can be
		}
	case phrase == "type" && end == nil: // no entity has this name
	case start != nil:
		p.Candidates, err = e.around(start, end, phrase, false, nil)
	case end != nil:
		p.Candidates, err = e.around(end, nil, phrase, true, nil)
	default:
		p.Candidates, err = e.everywhere(phrase, maxCandidates)
	}
	if err != nil {
		return p, err
	}
	e.matchTypes(o.pattern, start, end, p.Candidates)
	missTypes(p.Candidates)
	trust := kgtext.Trust(phrase, e.question)
	for i := range p.Candidates {
		c := &p.Candidates[i]
		c.Trust = trust
		isTime := kgtext.IsTime(e.snap.RelationName(c.Steps[len(c.Steps)-1].Relation))
		c.Time = isTime && kgtext.IsTime(phrase)
		c.OtherTime = isTime && !kgtext.IsTime(phrase) && !kgtext.AsksTime(e.question)
	}
	share := coverageWeight(phrase, p.Candidates)
	slices.SortStableFunc(p.Candidates, func(a, b Candidate) int {
		return cmp.Compare(Score(b, valued, joins)+share*b.Coverage, Score(a, valued, joins)+share*a.Coverage)
	})
	e.preferNamed(o, p.Candidates)
	p.Candidates = p.Candidates[:min(len(p.Candidates), maxCandidates)]
	for _, t := range []*graphv1.QueryTerm{o.pattern.GetStart(), o.pattern.GetEnd()} {
		v := t.GetVariable()
		if v == "" || len(p.Candidates) == 0 {
			continue
		}
		if phrase == "type" {
			for _, r := range e.bound[v] {
				p.Candidates[0].Implied = max(p.Candidates[0].Implied, e.cosine(r, o.pattern.GetEnd().GetEntity()))
			}
			continue
		}
		for _, s := range p.Candidates[0].Steps {
			e.bound[v] = append(e.bound[v], s.Relation)
		}
	}
	if phrase == "type" && len(e.types) == 0 && len(p.Candidates) == 0 && start == nil {
		p.Elsewhere = e.widest()
		if len(p.Elsewhere) > 0 && !e.isPredicate(o) {
			e.domains[o.pattern.GetStart().GetVariable()], err = e.subjects(p.Elsewhere[0].Steps[0])
		}
		return p, err
	}
	if (start != nil || end != nil) && phrase != "type" {
		if p.Elsewhere, err = e.everywhere(phrase, maxElsewhere); err != nil {
			return p, err
		}
	}
	if len(p.Candidates) > 0 && !o.excluded {
		err = e.bindDomains(o.pattern, start, end, p.Candidates[0])
	}
	return p, err
}

// isPredicate reports whether a clause says more of a variable than its kind, which comes first.
func (e *explorer) isPredicate(o open) bool {
	for _, c := range e.plan.GetClauses()[:o.clause] {
		if p := c.GetMatch(); p != nil && phraseOf(p) == "type" &&
			p.GetStart().GetVariable() == o.pattern.GetStart().GetVariable() {
			return true
		}
	}
	return false
}

// maxColumns is the number of relations up to which a graph without types is taken for a table.
const maxColumns = 64

// widest returns the relation of a table that most of its rows have: they are what a kind means there.
func (e *explorer) widest() []Candidate {
	relations := e.snap.Info().Relations
	if relations == 0 || relations > maxColumns || e.snap.Info().Entities > domainSize*10 {
		return nil
	}
	best := store.RelationID(0)
	for r := range relations {
		if id := store.RelationID(r); e.snap.RelationTriples(id) > e.snap.RelationTriples(best) {
			best = id
		}
	}
	return []Candidate{{Steps: []Step{{Relation: best}}, Coverage: 1, Triples: e.snap.RelationTriples(best)}}
}

// matchTypes compares what lies beyond the known end with what the plan says that it is.
func (e *explorer) matchTypes(p *graphv1.QueryPattern, start, end []store.EntityID, candidates []Candidate) {
	v := p.GetEnd().GetVariable()
	if start == nil && end != nil {
		v = p.GetStart().GetVariable()
	} else if start == nil || end != nil {
		return
	}
	var wanted []string
	for _, c := range e.plan.GetClauses() {
		m := c.GetMatch()
		if m.GetStart().GetVariable() == v && v != "" && phraseOf(m) == "type" &&
			len(e.links[m.GetEnd().GetEntity()]) > 0 {
			for _, id := range e.links[m.GetEnd().GetEntity()] {
				wanted = append(wanted, e.snap.EntityName(id))
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	for i := range candidates {
		c := &candidates[i]
		if slices.ContainsFunc(c.EndTypes, func(t string) bool { return slices.Contains(wanted, t) }) {
			c.TypeMatch = true
		} else if len(e.types) > 0 && len(c.ends) > 0 {
			c.TypeMiss = true
		}
	}
}

// missTypes marks the candidates with other ends, if the ends of some are what the plan says.
func missTypes(candidates []Candidate) {
	if !slices.ContainsFunc(candidates, func(c Candidate) bool { return c.TypeMatch }) {
		return
	}
	for i := range candidates {
		candidates[i].TypeMiss = candidates[i].TypeMiss || !candidates[i].TypeMatch && len(candidates[i].EndTypes) > 0
	}
}

// bindDomains sets what a new variable can be.
func (e *explorer) bindDomains(p *graphv1.QueryPattern, start, end []store.EntityID, best Candidate) error {
	switch sv, ev := p.GetStart().GetVariable(), p.GetEnd().GetVariable(); {
	case start != nil && end == nil && ev != "":
		ids, err := e.follow(start, best.Steps)
		e.domains[ev] = ids
		return err
	case start == nil && end != nil && sv != "":
		ids, err := e.follow(end, invert(best.Steps))
		e.domains[sv] = ids
		return err
	case start == nil && end == nil:
		subjects, err := e.subjects(best.Steps[0])
		if err != nil {
			return err
		}
		if sv != "" {
			e.domains[sv] = subjects
		}
		if ev != "" {
			e.domains[ev], err = e.follow(subjects, best.Steps)
		}
		return err
	}
	return nil
}

func invert(steps []Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[len(steps)-1-i] = Step{s.Relation, !s.Inverse}
	}
	return out
}

func (s Step) direction() store.Direction {
	if s.Inverse {
		return store.In
	}
	return store.Out
}

// follow returns where steps lead from entities.
func (e *explorer) follow(from []store.EntityID, steps []Step) ([]store.EntityID, error) {
	for _, s := range steps {
		lists, err := e.snap.Edges(e.ctx, sample(from, domainSize), s.direction(), []store.RelationID{s.Relation})
		if err != nil {
			return nil, err
		}
		seen := map[store.EntityID]bool{}
		next := []store.EntityID{}
		for _, edges := range lists {
			for _, edge := range edges {
				if !seen[edge.Entity] && len(next) < domainSize {
					seen[edge.Entity] = true
					next = append(next, edge.Entity)
				}
			}
		}
		from = next
	}
	return from, nil
}

// subjects returns some entities that have a relation.
func (e *explorer) subjects(s Step) ([]store.EntityID, error) {
	err := e.findSubjects([]Step{s})
	return e.starts[s], err
}

// findSubjects looks for some entities that have each relation, in one pass over the entities.
func (e *explorer) findSubjects(steps []Step) error {
	open := map[store.Direction][]store.RelationID{}
	for _, s := range steps {
		if _, known := e.starts[s]; !known && !slices.Contains(open[s.direction()], s.Relation) {
			open[s.direction()] = append(open[s.direction()], s.Relation)
			e.starts[s] = []store.EntityID{}
		}
	}
	var chunk []store.EntityID
	flush := func() error {
		for dir, relations := range open {
			lists, err := e.snap.Edges(e.ctx, chunk, dir, relations)
			if err != nil {
				return err
			}
			for i, edges := range lists {
				for j, edge := range edges {
					s := Step{edge.Relation, dir == store.In}
					if (j == 0 || edges[j-1].Relation != edge.Relation) && len(e.starts[s]) < domainSize {
						e.starts[s] = append(e.starts[s], chunk[i])
					}
				}
			}
			open[dir] = slices.DeleteFunc(relations, func(r store.RelationID) bool {
				return len(e.starts[Step{r, dir == store.In}]) >= sampled*4
			})
			if len(open[dir]) == 0 {
				delete(open, dir)
			}
		}
		chunk = chunk[:0]
		return nil
	}
	looked := 0
	for id := range e.snap.Entities() {
		if len(open) == 0 || looked > 1_000_000 {
			break
		}
		looked++
		if chunk = append(chunk, id); len(chunk) == subjectChunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// subjectChunk is how many entities one read takes.
const subjectChunk = 4096
