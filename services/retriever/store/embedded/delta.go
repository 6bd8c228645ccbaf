package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// maxDepth is how many deltas may lie on one another: each makes every lookup a little slower.
const maxDepth = 8

// delta is a store.Delta by the numbers of its base and those after them.
type delta struct {
	base  *snapshot
	input store.Delta
	first base

	// removed are triples of the base, ascending.
	removed []store.TripleID
	// added are new triples in order, facts the same by names.
	added      []store.DatedTriple
	addedFacts []store.Fact
	// entities and relations are new, in byte order of their names.
	entities    []store.NamedEntity
	relations   []string
	entityIDs   map[string]store.EntityID
	relationIDs map[string]store.RelationID
	aliases     []store.Alias
	// rows are the entities that added triples name, ascending.
	rows []store.EntityID
}

// resolve determines what of a delta is new to its base. It stands within store.Guard.
func resolve(ctx context.Context, on *snapshot, given store.Delta) (*delta, error) {
	d := &delta{base: on, input: given, first: on.nextBase()}
	switch {
	case d.first.Depth > maxDepth:
		return nil, fmt.Errorf("%d deltas on top of each other: %w", maxDepth, store.ErrTooManyDeltas)
	case given.Encoder != on.info.Encoder:
		return nil, store.Invalidf("the vectors are of encoder %q, those of the base of %q; load with that encoder",
			given.Encoder, on.info.Encoder)
	case len(given.Added) > 0 && (on.info.TripleVectors && given.TripleVectors == nil || on.info.Dims > 0 &&
		given.RelationVectors == nil):
		return nil, store.Invalidf("the base has vectors, the delta has none")
	}
	if err := d.nameByKeys(ctx); err != nil {
		return nil, err
	}
	removed := map[store.TripleID]struct{}{}
	for i, f := range d.input.Removed {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, id := range d.findFacts(f, f.Validity == store.Validity{}) {
			removed[id] = struct{}{}
		}
	}
	d.assignNumbers()
	if err := d.add(ctx, removed); err != nil {
		return nil, err
	}
	d.removed = slices.Sorted(maps.Keys(removed))
	if err := d.addAliases(ctx); err != nil {
		return nil, err
	}
	if len(d.added)+len(d.removed)+len(d.aliases) == 0 {
		return nil, store.Invalidf("nothing changes: all added triples exist already, and no removed triple does")
	}
	return d, d.checkSize()
}

// findFacts are the triples of the base that are a fact, of any validity or of its own.
func (d *delta) findFacts(f store.Fact, always bool) []store.TripleID {
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
	found := d.base.findTriples(nil, store.Triple{Subject: subject, Relation: store.RelationID(relation),
		Object: object})
	return slices.DeleteFunc(found, func(id store.TripleID) bool {
		return !always && d.base.Validity(id) != f.Validity
	})
}

// assignNumbers gives the names of added facts their numbers.
func (d *delta) assignNumbers() {
	entities := map[string]store.NamedEntity{}
	relations := map[string]struct{}{}
	d.entityIDs, d.relationIDs = map[string]store.EntityID{}, map[string]store.RelationID{}
	for _, f := range d.input.Added {
		for _, e := range []store.NamedEntity{f.Subject, f.Object} {
			if _, ok := d.entityIDs[e.Name]; ok {
				continue
			}
			if id, ok := d.base.entityNumber(e.Name); ok {
				d.entityIDs[e.Name] = id
			} else if _, ok := entities[e.Name]; !ok {
				entities[e.Name] = e
			}
		}
		if id, ok := d.base.relationNumber(f.Relation); ok {
			d.relationIDs[f.Relation] = store.RelationID(id)
		} else {
			relations[f.Relation] = struct{}{}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(entities)) {
		d.entities = append(d.entities, entities[name])
		d.entityIDs[name] = store.EntityID(d.first.FirstEntity + i)
	}
	d.relations = slices.Sorted(maps.Keys(relations))
	for i, name := range d.relations {
		d.relationIDs[name] = store.RelationID(d.first.FirstRelation + i)
	}
}

// add takes the facts that the base does not hold. One that it does hold is not removed.
func (d *delta) add(ctx context.Context, removed map[store.TripleID]struct{}) error {
	type placed struct {
		store.DatedTriple
		fact store.Fact
	}
	var added []placed
	for i, f := range d.input.Added {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		held := d.findFacts(f, false)
		for _, id := range held {
			delete(removed, id)
		}
		if len(held) > 0 {
			continue
		}
		t := store.Triple{Subject: d.entityIDs[f.Subject.Name], Relation: d.relationIDs[f.Relation],
			Object: d.entityIDs[f.Object.Name]}
		added = append(added, placed{store.DatedTriple{Triple: t, Validity: f.Validity, Provenance: f.Provenance}, f})
	}
	slices.SortStableFunc(added, func(a, b placed) int { return compareDated(a.DatedTriple, b.DatedTriple) })
	added = slices.CompactFunc(added, func(a, b placed) bool { return compareDated(a.DatedTriple, b.DatedTriple) == 0 })
	for _, a := range added {
		d.added = append(d.added, a.DatedTriple)
		d.addedFacts = append(d.addedFacts, a.fact)
		d.rows = append(d.rows, a.Subject, a.Object)
	}
	slices.Sort(d.rows)
	d.rows = slices.Compact(d.rows)
	return nil
}

// addAliases takes the aliases that lead to entities that there are and did not before.
func (d *delta) addAliases(ctx context.Context) error {
	known := map[store.Alias]bool{}
	for _, a := range d.input.Aliases {
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

// checkSize refuses a delta that leaves nothing, or more than numbers reach.
func (d *delta) checkSize() error {
	if d.base.info.Triples-len(d.removed)+len(d.added) == 0 {
		return store.Invalidf("no triple would remain; drop the knowledge graph instead")
	}
	if most := max(d.first.FirstTriple+len(d.added), d.first.FirstEntity+len(d.entities)); int64(most) > maxCount {
		return store.Invalidf("%d triples or entities are more than 32-bit numbers reach; compact the base", most)
	}
	return nil
}

// nameByKeys gives the entities of a delta that have a key the names that they have in the base,
// and a name of its own to one that shares its name with another entity of the base.
func (d *delta) nameByKeys(ctx context.Context) error {
	names, taken := map[string]string{}, map[string]bool{}
	rename := func(e store.NamedEntity) (store.NamedEntity, error) {
		if e.Key == "" || e.Key == e.Name {
			return e, nil
		}
		name, ok := names[e.Key]
		if !ok {
			var err error
			if name, err = d.nameByKey(ctx, e, taken); err != nil {
				return e, err
			}
			names[e.Key], taken[name] = name, true
		}
		e.Name = name
		return e, nil
	}
	for _, facts := range []*[]store.Fact{&d.input.Removed, &d.input.Added} {
		*facts = slices.Clone(*facts)
		for i := range *facts {
			f := &(*facts)[i]
			var errs [2]error
			f.Subject, errs[0] = rename(f.Subject)
			f.Object, errs[1] = rename(f.Object)
			if err := errors.Join(errs[:]...); err != nil {
				return err
			}
		}
	}
	d.input.Aliases = slices.Clone(d.input.Aliases)
	for i, a := range d.input.Aliases {
		if name, ok := names[a.Key]; ok && a.Key != "" {
			d.input.Aliases[i].Entity = name
		}
	}
	return nil
}

// nameByKey returns the name of an entity: that of the base's entity of its key, else its own,
// with the key behind it if another entity has it.
func (d *delta) nameByKey(ctx context.Context, e store.NamedEntity, taken map[string]bool) (string, error) {
	if id, ok, err := d.base.EntityByKey(ctx, e.Key); err != nil || ok {
		if err != nil {
			return "", err
		}
		return d.base.EntityName(id), nil
	}
	for _, name := range []string{e.Name, kgtext.Disambiguate(e.Name, kgtext.LocalName(e.Key))} {
		// One without a key of its own is the same: its name is all that is known.
		if id, ok := d.base.entityNumber(name); !taken[name] && (!ok || d.base.ownKey(id) == "") {
			return name, nil
		}
	}
	return kgtext.Disambiguate(e.Name, e.Key), nil
}
