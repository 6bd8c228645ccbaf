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
	"github.com/triplemesh/triplemesh/services/retriever/link"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
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

// Candidate is a relation that a pattern may mean.
type Candidate struct {
	Steps []walk.Step
	// Alternatives are the further relations of each step that will do as well, nil if there are none: mother beside
	// father.
	Alternatives [][]store.RelationID
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
	// Implied is how near what a clause says that a variable is comes to the other relations of it; of a cell of a
	// table, 1 if no other relation can be meant.
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
	// misfit is what is taken from its score since it cannot be meant.
	misfit float32
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
	// OfKind reports that the links are not what the name means but the things of that kind, by their own names.
	OfKind bool
}

// Plan explores a drafted plan. topics are entities that the caller knows.
func Plan(ctx context.Context, snap Snapshot, encoder link.Encoder, question string, plan *graphv1.QueryPlan,
	topics []store.EntityID) ([]Term, []Pattern, error) {
	e := &explorer{ctx: ctx, snap: snap, encoder: encoder, plan: plan, question: question,
		valued: kgtext.ValuedVariables(plan), domains: map[string][]store.EntityID{},
		links: map[string][]store.EntityID{}, ofName: map[string][]store.EntityID{},
		vectors: map[string][]float32{}, cosines: map[store.RelationID]map[string]float32{},
		bound: map[string][]store.RelationID{}, named: map[string][]store.RelationID{},
		starts: map[walk.Step][]store.EntityID{}}
	e.findTypes()
	if err := e.findUniform(); err != nil {
		return nil, nil, err
	}
	if err := e.link(topics); err != nil {
		return nil, nil, err
	}
	if err := e.encode(); err != nil {
		return nil, nil, err
	}
	if err := e.narrowByType(); err != nil {
		return nil, nil, err
	}
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

	terms   []Term
	links   map[string][]store.EntityID
	domains map[string][]store.EntityID
	valued  map[string]bool // variables that are compared or computed with
	vectors map[string][]float32
	cosines map[store.RelationID]map[string]float32
	types   []store.RelationID            // relations such as "type" and "instance of"
	sorts   [][]store.RelationID          // relations such as "genre", then such as "occupation", where no type says it
	named   map[string][]store.RelationID // the relations that names end in
	ofName  map[string][]store.EntityID   // what has a kind in its name, where nothing else says it
	// isUniform reports that the graph tells no kinds of things apart.
	isUniform bool
	patterns  []Pattern
	bound     map[string][]store.RelationID  // the best relations of the clauses on each variable
	starts    map[walk.Step][]store.EntityID // some entities that have a relation
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
		for _, p := range []*graphv1.QueryPattern{c.GetMatch(), c.GetExclude()} {
			if p != nil {
				pending = append(pending, open{clause: i, pattern: p, excluded: p == c.GetExclude(),
					phrase: kgtext.DescribeRelation(p)})
			}
		}
	}
	for len(pending) > 0 {
		for i, o := range pending { // what the one before has told of the variables
			pending[i].start, pending[i].end = e.domainOf(o.pattern.GetStart()), e.domainOf(o.pattern.GetEnd())
		}
		next := slices.MinFunc(pending, func(a, b open) int { return cmp.Compare(e.priority(a), e.priority(b)) })
		pending = slices.DeleteFunc(pending, func(o open) bool { return o.pattern == next.pattern })
		p, err := e.explorePattern(next)
		if err != nil {
			return err
		}
		e.patterns = append(e.patterns, p)
	}
	for i := range e.patterns { // what nothing is by its type may be it by the relations, which are known now
		p := &e.patterns[i]
		m := e.plan.GetClauses()[p.Clause].GetMatch()
		if kgtext.DescribeRelation(m) != "type" || len(p.Candidates)+len(p.Elsewhere) > 0 ||
			e.ofName[m.GetEnd().GetEntity()] != nil {
			continue
		}
		o := open{clause: p.Clause, pattern: m}
		isRow, err := e.isRow(o)
		if err != nil {
			return err
		}
		if isRow {
			p.Elsewhere = e.findRows(o)
			continue
		}
		r, near, err := e.implying(m.GetStart().GetVariable(), m.GetEnd().GetEntity())
		if err != nil {
			return err
		}
		if near > 0 {
			p.Elsewhere = []Candidate{{Steps: []walk.Step{{Relation: r}}, Implied: near,
				Triples: e.snap.RelationTriples(r)}}
		}
	}
	return nil
}

// isRow reports whether the things that a kind is said of are rows of a table, which are whatever that is of.
func (e *explorer) isRow(o open) (bool, error) {
	v := o.pattern.GetStart().GetVariable()
	things := e.domains[v]
	if !e.isTable() || e.isPredicate(o) || len(things) == 0 || e.areCells(things) {
		return false, nil
	}
	isOther, err := e.isOther(v, o.pattern.GetEnd().GetEntity())
	return !isOther, err
}

// implying returns which of the relations on a variable is nearest to a kind, and how near. Where a relation has the
// name of the kind, no other implies it: what has a country is no continent. Nor does one of things that are something
// else, nor that things are in a place: there it is what they all have, as dishes have ingredients.
func (e *explorer) implying(variable, kind string) (nearest store.RelationID, near float32, err error) {
	own, isOwn, err := e.snap.Relation(e.ctx, kind)
	if err != nil || isOwn && !e.isTable() && !slices.Contains(e.bound[variable], own) {
		return 0, 0, err
	}
	inPlace := false
	for _, r := range e.bound[variable] {
		if name := e.snap.RelationName(r); kgtext.IsPlace(name) && !kgtext.SharesWord(kind, name) {
			inPlace = true
		} else if c := e.cosine(r, kind); c > near {
			nearest, near = r, c
		}
	}
	if near == 0 && inPlace {
		if nearest, near, err = e.haveNear(variable, kind); err != nil {
			return 0, 0, err
		}
	}
	if isOther, err := e.isOther(variable, kind); isOther || err != nil {
		return 0, 0, err
	}
	if role := e.findRole(variable, kind); role != nil {
		return *role, 1, nil
	}
	return nearest, near, nil
}

// findRole returns the relation on a variable that says the role that a kind is, nil if none does: by whom things are
// made is a maker, whatever else it is.
func (e *explorer) findRole(variable, kind string) *store.RelationID {
	for _, r := range e.bound[variable] {
		if kgtext.SharesRole(kind, e.snap.RelationName(r)) {
			return &r
		}
	}
	return nil
}

// haveNear returns the relation to a kind of which all that a variable can be have one as near as that, and how near it
// is.
func (e *explorer) haveNear(variable, kind string) (nearest store.RelationID, near float32, err error) {
	things := sample(e.domains[variable], sampled)
	if len(things) == 0 {
		return 0, 0, nil
	}
	near = 1
	for _, id := range things {
		relations, err := e.snap.Relations(e.ctx, id, store.Out)
		if err != nil {
			return 0, 0, err
		}
		own, most := store.RelationID(0), float32(0)
		for _, r := range relations {
			if c := e.cosine(r.Relation, kind); c > most && !kgtext.IsPlace(e.snap.RelationName(r.Relation)) {
				own, most = r.Relation, c
			}
		}
		if most < near {
			nearest, near = own, most
		}
	}
	return nearest, near, nil
}

// leastTyped is how many of the things that a variable can be must have a type for that to say what they all are.
const leastTyped = 3

// isOther reports whether one of the things that a variable can be has somebody else in the role that a kind is, or
// some have a type, and none of these has the words of the kind.
func (e *explorer) isOther(variable, kind string) (bool, error) {
	things := sample(e.domains[variable], sampled)
	if words := strings.Fields(kind); len(words) > 0 && kgtext.IsRole(words[len(words)-1]) {
		for _, id := range things { // what was directed by somebody is no director
			relations, err := e.snap.Relations(e.ctx, id, store.Out)
			if err != nil || slices.ContainsFunc(relations, func(r store.RelationEdges) bool {
				return kgtext.IsRoleOf(kind, e.snap.RelationName(r.Relation))
			}) {
				return true, err
			}
		}
	}
	if len(e.types) == 0 || len(things) == 0 || e.findRole(variable, kind) != nil {
		return false, nil
	}
	lists, err := e.snap.Edges(e.ctx, things, store.Out, e.types)
	typed := 0
	for _, edges := range lists {
		if len(edges) > 0 {
			typed++
		}
		if slices.ContainsFunc(edges, func(edge store.Edge) bool {
			return kgtext.SharesWord(kind, e.snap.EntityName(edge.Entity))
		}) {
			return false, err
		}
	}
	return typed >= min(leastTyped, len(things)), err
}

// priority is when a pattern is explored, among those that are open; the least first.
func (e *explorer) priority(o open) int {
	anchored := o.start != nil || o.end != nil
	switch {
	case o.excluded:
		return 6
	case anchored && !o.isType() && (o.pattern.GetEnd().GetEntity() != "" || o.pattern.GetStart().GetEntity() != "" ||
		o.start == nil && kgtext.IsListed(e.plan, o.pattern.GetEnd().GetVariable())):
		return 0
	case o.isType() && o.start != nil:
		return 1
	case o.isType() && o.end != nil && len(e.types) > 0:
		return 2
	case anchored && !e.valued[o.pattern.GetEnd().GetVariable()]:
		return 3
	case anchored:
		return 4
	}
	return 5
}
