package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// Snapshot is the part of a knowledge graph that execution reads.
type Snapshot interface {
	Info() store.Info
	store.Names
	store.Facts
	store.Walker
}

// Limits bound what one query may read and use. A zero field takes its default.
type Limits struct {
	// Triples that are read into the part of the graph that the query runs on (default 400,000).
	Triples int
	// Entities that are looked at for a pattern whose ends are both unknown (default 2 million).
	Entities int
	// Rows, Steps and Memory of the Cypher engine (defaults 200,000, 50 million, 192 MiB).
	Rows, Steps, Memory int
}

func (l Limits) orDefault() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Triples, 400_000}, {&l.Entities, 2_000_000}, {&l.Rows, 200_000}, {&l.Steps, 50_000_000},
		{&l.Memory, 192 << 20},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// readChunk is how many entities one read of the store takes.
const readChunk = 2048

// MissingError says that a plan names what the knowledge graph does not hold.
type MissingError struct{ Reason string }

func (e *MissingError) Error() string { return e.Reason }

// set is a set of entities in the order in which they were found.
type set struct {
	has  map[store.EntityID]struct{}
	list []store.EntityID
}

func newSet(ids ...store.EntityID) *set {
	s := &set{has: make(map[store.EntityID]struct{}, len(ids))}
	for _, id := range ids {
		s.add(id)
	}
	return s
}

func (s *set) add(id store.EntityID) {
	if _, ok := s.has[id]; !ok {
		s.has[id] = struct{}{}
		s.list = append(s.list, id)
	}
}

func (s *set) contains(id store.EntityID) bool {
	_, ok := s.has[id]
	return ok
}

// fact is a triple by its number.
type fact struct {
	id store.TripleID
	store.Triple
}

// part is the part of a knowledge graph that a plan reads, and what its variables can be there.
type part struct {
	ctx     context.Context
	snap    Snapshot
	limits  Limits
	facts   []fact
	seen    map[store.TripleID]struct{}
	domains map[string]*set
	names   map[string]store.EntityID
	rels    map[string]store.RelationID
	reached []string // the limits
	// compared and lacking count, for each variable that a pattern binds, the starts of the pattern
	// and those of them that lack an end.
	compared, lacking map[string]int
}

func newPart(ctx context.Context, snap Snapshot, limits Limits) *part {
	return &part{ctx: ctx, snap: snap, limits: limits, seen: map[store.TripleID]struct{}{},
		domains: map[string]*set{}, names: map[string]store.EntityID{}, rels: map[string]store.RelationID{},
		compared: map[string]int{}, lacking: map[string]int{}}
}

func (p *part) reach(limit string) {
	if !slices.Contains(p.reached, limit) {
		p.reached = append(p.reached, limit)
	}
}

// entity resolves a name.
func (p *part) entity(name string) (store.EntityID, error) {
	if id, ok := p.names[name]; ok {
		return id, nil
	}
	id, ok, err := store.FindEntity(p.ctx, p.snap, name)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, &MissingError{fmt.Sprintf("the knowledge graph has no entity %q", name)}
	}
	p.names[name] = id
	return id, nil
}

func (p *part) relation(name string) (store.RelationID, error) {
	if id, ok := p.rels[name]; ok {
		return id, nil
	}
	id, ok, err := p.snap.Relation(p.ctx, name)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, &MissingError{fmt.Sprintf("the knowledge graph has no relation %q", name)}
	}
	p.rels[name] = id
	return id, nil
}

// gather reads what the clauses need. Patterns between two ranks are read in the order that keeps
// what is read small: those with a known end first.
func (p *part) gather(plan *compiled) error {
	pending := slices.Clone(plan.patterns)
	for _, v := range plan.values {
		ids := newSet()
		for _, name := range v.GetEntities() {
			id, err := p.entity(name)
			if err != nil {
				return err
			}
			ids.add(id)
		}
		p.narrow(v.GetVariable(), ids)
	}
	for len(pending) > 0 {
		best, bestSize := 0, int(^uint(0)>>1)
		for i, pattern := range pending {
			// An exclusion or a counted pattern does not narrow what others read: it comes after them.
			size, err := p.size(pattern)
			if err != nil {
				return err
			}
			if size < bestSize {
				best, bestSize = i, size
			}
		}
		pattern := pending[best]
		pending = slices.Delete(pending, best, best+1)
		if err := p.readPattern(pattern); err != nil {
			return err
		}
	}
	return nil
}

// size estimates what reading a pattern costs, in entities.
func (p *part) size(pattern *pattern) (int, error) {
	size := int(p.limits.Entities)
	if pattern.kind != matched {
		size *= 2
	}
	for _, t := range []*graphv1.QueryTerm{pattern.GetStart(), pattern.GetEnd()} {
		s, err := p.domainOf(t)
		if err != nil {
			return 0, err
		}
		if s != nil {
			n := len(s.list)
			if pattern.kind != matched {
				n += int(p.limits.Entities)
			}
			size = min(size, n)
		}
	}
	return size, nil
}

// domainOf returns what a term can be; nil if it can be anything.
func (p *part) domainOf(t *graphv1.QueryTerm) (*set, error) {
	if v := t.GetVariable(); v != "" {
		return p.domains[v], nil
	}
	id, err := p.entity(t.GetEntity())
	if err != nil {
		return nil, err
	}
	return newSet(id), nil
}

// narrow intersects what a variable can be.
func (p *part) narrow(variable string, ids *set) {
	if variable == "" {
		return
	}
	before := p.domains[variable]
	if before == nil {
		p.domains[variable] = ids
		return
	}
	both := newSet()
	for _, id := range before.list {
		if ids.contains(id) {
			both.add(id)
		}
	}
	p.domains[variable] = both
}

// step is one hop of a pattern by its number.
type step struct {
	relations []store.RelationID
	dirs      []store.Direction
}

// readPattern reads the triples of a pattern.
func (p *part) readPattern(pattern *pattern) error {
	start, err := p.domainOf(pattern.GetStart())
	if err != nil {
		return err
	}
	end, err := p.domainOf(pattern.GetEnd())
	if err != nil {
		return err
	}
	steps := make([]step, len(pattern.GetSteps()))
	for i, s := range pattern.GetSteps() {
		steps[i].dirs = []store.Direction{store.Out}
		for _, name := range append([]string{s.GetRelation()}, s.GetAlternatives()...) {
			relation, err := p.relation(name)
			if err != nil {
				return err
			}
			steps[i].relations = append(steps[i].relations, relation)
		}
		switch {
		case pattern.undirected:
			steps[i].dirs = append(steps[i].dirs, store.In)
		case s.GetInverse():
			steps[i].dirs[0] = store.In
		}
	}
	from, to, backward := start, end, false
	if start == nil && end != nil || start != nil && end != nil && len(end.list) < len(start.list) {
		from, to, backward = end, start, true
		slices.Reverse(steps)
		for _, s := range steps {
			for i, dir := range s.dirs {
				s.dirs[i] = store.Out + store.In - dir
			}
		}
	}
	if from == nil {
		if from, err = p.scan(steps[0]); err != nil {
			return err
		}
	}
	origins, ends, err := p.follow(from, to, steps)
	if err != nil {
		return err
	}
	if backward {
		origins, ends = ends, origins
	}
	if v := pattern.GetEnd().GetVariable(); v != "" && start != nil && pattern.kind == matched {
		had := 0
		for _, id := range start.list {
			if origins.contains(id) {
				had++
			}
		}
		p.compared[v], p.lacking[v] = len(start.list), len(start.list)-had
	}
	switch pattern.kind {
	case matched:
		p.narrow(pattern.GetStart().GetVariable(), origins)
		p.narrow(pattern.GetEnd().GetVariable(), ends)
	case counted:
		// A group without a member stays; members are new.
		if v := pattern.GetEnd().GetVariable(); v != "" && p.domains[v] == nil {
			p.domains[v] = ends
		}
		if v := pattern.GetStart().GetVariable(); v != "" && p.domains[v] == nil {
			p.domains[v] = origins
		}
	}
	return nil
}

// scan returns every entity that has a relation.
func (p *part) scan(s step) (*set, error) {
	found := newSet()
	looked := 0
	chunk := make([]store.EntityID, 0, readChunk)
	flush := func() error {
		for _, dir := range s.dirs {
			lists, err := p.snap.Edges(p.ctx, chunk, dir, s.relations)
			if err != nil {
				return err
			}
			for i, edges := range lists {
				if len(edges) > 0 {
					found.add(chunk[i])
				}
			}
		}
		chunk = chunk[:0]
		return p.ctx.Err()
	}
	for id := range p.snap.Entities() {
		if looked++; looked > p.limits.Entities {
			p.reach(fmt.Sprintf("%d entities were looked at", p.limits.Entities))
			break
		}
		if chunk = append(chunk, id); len(chunk) == readChunk {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	return found, flush()
}

// link is a triple that a step follows.
type link struct{ from, to store.EntityID }

// follow reads steps from a set. It returns the origins that lead to an end, and the ends; to limits
// these.
func (p *part) follow(from, to *set, steps []step) (origins, ends *set, err error) {
	frontier := from
	var links []link
	for i, s := range steps {
		wanted := to
		if i < len(steps)-1 {
			wanted = nil
		}
		if links, err = p.followStep(frontier, wanted, s); err != nil {
			return nil, nil, err
		}
		frontier = newSet()
		for _, l := range links {
			frontier.add(l.to)
		}
	}
	switch {
	case len(steps) == 1:
		origins = newSet()
		for _, l := range links {
			origins.add(l.from)
		}
	case len(frontier.list) == 0:
		origins = newSet()
	default: // over several steps the engine joins them
		origins = from
	}
	return origins, frontier, nil
}

// followStep reads the triples of a step from a set, those that lead to one of the wanted entities if it is not nil.
func (p *part) followStep(from, wanted *set, s step) ([]link, error) {
	var links []link
	for chunk := range slices.Chunk(from.list, readChunk) {
		for _, dir := range s.dirs {
			lists, err := p.snap.Edges(p.ctx, chunk, dir, s.relations)
			if err != nil {
				return nil, err
			}
			for i, edges := range lists {
				for _, e := range edges {
					if wanted != nil && !wanted.contains(e.Entity) {
						continue
					}
					if len(p.facts) >= p.limits.Triples {
						p.reach(fmt.Sprintf("%d triples were read", p.limits.Triples))
						break
					}
					p.add(chunk[i], dir, e)
					links = append(links, link{chunk[i], e.Entity})
				}
			}
		}
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return links, nil
}

func (p *part) add(from store.EntityID, dir store.Direction, e store.Edge) {
	if _, ok := p.seen[e.Triple]; ok {
		return
	}
	p.seen[e.Triple] = struct{}{}
	t := store.Triple{Subject: from, Relation: e.Relation, Object: e.Entity}
	if dir == store.In {
		t.Subject, t.Object = t.Object, t.Subject
	}
	p.facts = append(p.facts, fact{e.Triple, t})
}

// isMissing returns the reason of a MissingError.
func isMissing(err error) (string, bool) {
	var missing *MissingError
	if errors.As(err, &missing) {
		return missing.Reason, true
	}
	return "", false
}
