package embedded

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxDepth is how many deltas may lie on one another: each makes every lookup
// a little slower.
const maxDepth = 8

// delta is a store.Delta by the numbers of its base and those after them.
type delta struct {
	base  *snapshot
	given store.Delta
	first base

	// removed are triples of the base, ascending.
	removed []store.TripleID
	// added are new triples in order, facts the same by names.
	added []store.Dated
	facts []store.Fact
	// entities and relations are new, in byte order of their names.
	entities    []store.Named
	relations   []string
	entityIDs   map[string]store.EntityID
	relationIDs map[string]store.RelationID
	aliases     []store.Alias
	// rows are the entities that added triples name, ascending.
	rows []store.EntityID
}

// resolve finds out what of a delta is new to its base. It stands within
// store.Guard.
func resolve(ctx context.Context, on *snapshot, given store.Delta) (*delta, error) {
	d := &delta{base: on, given: given, first: on.next()}
	switch {
	case d.first.Depth > maxDepth:
		return nil, fmt.Errorf("%d deltas lie on one another: %w", maxDepth, store.ErrDeep)
	case given.Encoder != on.info.Encoder:
		return nil, fmt.Errorf("the vectors are of encoder %q, those of the base of %q; load with that encoder: %w", given.Encoder, on.info.Encoder, store.ErrInvalid)
	case len(given.Added) > 0 && (on.info.TripleVectors && given.TripleVectors == nil || on.info.Dims > 0 && given.RelationVectors == nil):
		return nil, fmt.Errorf("the base has vectors, the delta has none: %w", store.ErrInvalid)
	}
	removed := map[store.TripleID]struct{}{}
	for i, f := range given.Removed {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, id := range d.held(f, f.Validity == store.Validity{}) {
			removed[id] = struct{}{}
		}
	}
	d.number()
	if err := d.add(ctx, removed); err != nil {
		return nil, err
	}
	d.removed = slices.Sorted(maps.Keys(removed))
	if err := d.alias(ctx); err != nil {
		return nil, err
	}
	if len(d.added)+len(d.removed)+len(d.aliases) == 0 {
		return nil, fmt.Errorf("all that is added is there already and nothing that is removed was: nothing changes: %w", store.ErrInvalid)
	}
	return d, d.countable()
}

// held are the triples of the base that are a fact, of any validity or of its
// own.
func (d *delta) held(f store.Fact, always bool) []store.TripleID {
	subject, ok := d.base.entityNumber(f.Subject.Name)
	if !ok {
		return nil
	}
	object, ok := d.base.entityNumber(f.Object.Name)
	if !ok {
		return nil
	}
	relation, ok := d.base.relationNumber(f.Relation)
	if !ok {
		return nil
	}
	found := d.base.lookup(nil, store.Triple{Subject: subject, Relation: store.RelationID(relation), Object: object})
	return slices.DeleteFunc(found, func(id store.TripleID) bool { return !always && d.base.Validity(id) != f.Validity })
}

// number gives the names of added facts their numbers.
func (d *delta) number() {
	kinds := map[string]store.Kind{}
	relations := map[string]struct{}{}
	d.entityIDs, d.relationIDs = map[string]store.EntityID{}, map[string]store.RelationID{}
	for _, f := range d.given.Added {
		for _, e := range []store.Named{f.Subject, f.Object} {
			if _, ok := d.entityIDs[e.Name]; ok {
				continue
			}
			if id, ok := d.base.entityNumber(e.Name); ok {
				d.entityIDs[e.Name] = id
			} else if _, ok := kinds[e.Name]; !ok {
				kinds[e.Name] = e.Kind
			}
		}
		if id, ok := d.base.relationNumber(f.Relation); ok {
			d.relationIDs[f.Relation] = store.RelationID(id)
		} else {
			relations[f.Relation] = struct{}{}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		d.entities = append(d.entities, store.Named{Name: name, Kind: kinds[name]})
		d.entityIDs[name] = store.EntityID(d.first.FirstEntity + i)
	}
	d.relations = slices.Sorted(maps.Keys(relations))
	for i, name := range d.relations {
		d.relationIDs[name] = store.RelationID(d.first.FirstRelation + i)
	}
}

// add takes the facts that the base does not hold. One that it does hold is
// not removed.
func (d *delta) add(ctx context.Context, removed map[store.TripleID]struct{}) error {
	type placed struct {
		store.Dated
		fact store.Fact
	}
	var added []placed
	for i, f := range d.given.Added {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		held := d.held(f, false)
		for _, id := range held {
			delete(removed, id)
		}
		if len(held) > 0 {
			continue
		}
		t := store.Triple{Subject: d.entityIDs[f.Subject.Name], Relation: d.relationIDs[f.Relation], Object: d.entityIDs[f.Object.Name]}
		added = append(added, placed{store.Dated{Triple: t, Validity: f.Validity}, f})
	}
	slices.SortStableFunc(added, func(a, b placed) int { return compareDated(a.Dated, b.Dated) })
	added = slices.CompactFunc(added, func(a, b placed) bool { return a.Dated == b.Dated })
	for _, a := range added {
		d.added = append(d.added, a.Dated)
		d.facts = append(d.facts, a.fact)
		d.rows = append(d.rows, a.Subject, a.Object)
	}
	slices.Sort(d.rows)
	d.rows = slices.Compact(d.rows)
	return nil
}

// alias takes the aliases that lead to entities that there are and did not
// before.
func (d *delta) alias(ctx context.Context) error {
	known := map[store.Alias]bool{}
	for _, a := range d.given.Aliases {
		id, ok := d.entityIDs[a.Entity]
		if !ok {
			if id, ok = d.base.entityNumber(a.Entity); !ok {
				continue
			}
		}
		alias := store.Alias{Entity: id, Name: a.Name}
		if known[alias] {
			continue
		}
		known[alias] = true
		same, err := d.base.Match(ctx, store.Fold(a.Name))
		if err != nil {
			return err
		}
		if !slices.Contains(same, id) {
			d.aliases = append(d.aliases, alias)
		}
	}
	return nil
}

// countable refuses a delta that leaves nothing, or more than numbers reach.
func (d *delta) countable() error {
	if d.base.info.Triples-len(d.removed)+len(d.added) == 0 {
		return fmt.Errorf("no triple would be left; drop the knowledge graph instead: %w", store.ErrInvalid)
	}
	if most := max(d.first.FirstTriple+len(d.added), d.first.FirstEntity+len(d.entities)); int64(most) > maxCount {
		return fmt.Errorf("%d triples or entities are more than 32 bits number; compact the base: %w", most, store.ErrInvalid)
	}
	return nil
}
