package explore

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/kgtext"
	"github.com/triplemesh/triplemesh/services/retriever/store"
	"github.com/triplemesh/triplemesh/services/retriever/walk"
)

// throughKin returns what leads to a relative over the relations to parents, children, siblings and spouses that there
// are, where no relation alone says it: to a grandmother over father or mother and then mother, to siblings over the
// parents.
func (e *explorer) throughKin(o open, candidates []Candidate) ([]Candidate, error) {
	from, to, reversed := o.start, o.end, len(o.start) == 0
	if reversed {
		from, to = o.end, nil
	}
	role := kgtext.KinRole(o.phrase, reversed)
	if role == "" || len(from) == 0 || slices.ContainsFunc(candidates, func(c Candidate) bool { return c.Words == 1 }) {
		return nil, nil
	}
	c := Candidate{ends: from, Coverage: 1}
	if len(from) <= linked {
		c.Anchors = from
	}
	sex := kgtext.SexSaid(o.phrase)
	if isOf := kgtext.EndsWithOf(o.phrase); isOf != reversed {
		sex = "" // it is that of whom the steps begin with
	}
	steps := kgtext.KinSteps(role)
	for i, next := range steps {
		asked := kgtext.Sex("")
		if i == len(steps)-1 {
			asked = sex
		}
		if err := e.followKin(&c, next, asked); err != nil || len(c.ends) == 0 {
			return nil, err
		}
	}
	if len(c.Steps) > maxKinSteps || sex == "" && e.saysOneSex(c) {
		return nil, nil
	}
	c.ends = slices.DeleteFunc(c.ends, func(id store.EntityID) bool { return len(from) == 1 && id == from[0] })
	c.Joins = slices.ContainsFunc(c.ends, func(id store.EntityID) bool { return slices.Contains(to, id) })
	if len(c.ends) == 0 || len(to) > 0 && !c.Joins {
		return nil, nil
	}
	e.classifyEnds(&c)
	c.say()
	last := c.Steps[len(c.Steps)-1].Relation
	c.Question, c.Triples = e.cosine(last, ""), e.snap.RelationTriples(last)
	if c.reverse(reversed); reversed {
		slices.Reverse(c.Alternatives)
	}
	return []Candidate{c}, e.typeEnds(&c)
}

// saysOneSex reports whether a candidate leads to relatives of one sex alone: a father is not both parents.
func (e *explorer) saysOneSex(c Candidate) bool {
	last := len(c.Steps) - 1
	sex := kgtext.SexSaid(e.snap.RelationName(c.Steps[last].Relation))
	isOther := func(r store.RelationID) bool { return kgtext.SexSaid(e.snap.RelationName(r)) != sex }
	return !c.Steps[last].Inverse && sex != "" && !slices.ContainsFunc(c.Alternatives[last], isOther)
}

// maxKinSteps is how many steps a pattern may have: to a cousin over a parent, a grandparent and the parent's sibling.
const maxKinSteps = 4

// followKin adds the steps from the ends of a candidate to relatives of a role, of one sex if relations tell it. Where
// none leads to siblings they are the children of the parents. No ends are left if there are no such relatives.
func (e *explorer) followKin(c *Candidate, role string, sex kgtext.Sex) error {
	relations, dir, err := e.kinRelations(c.ends, role, sex)
	if err != nil {
		return err
	}
	if len(relations) == 0 && role == "sibling" {
		if err := e.followKin(c, "parent", ""); err != nil || len(c.ends) == 0 {
			return err
		}
		return e.followKin(c, "child", sex)
	}
	if len(relations) == 0 {
		c.ends = nil
		return nil
	}
	if c.ends, c.Examples, err = e.followAny(c.ends, dir, relations); err != nil {
		return err
	}
	c.Steps = append(c.Steps, walk.Step{Relation: relations[0], Inverse: dir == store.In})
	c.Alternatives = append(c.Alternatives, relations[1:])
	return nil
}

// kinRelations returns the relations by which some have a relative of a role, else those by which such relatives have
// them. Where some are of the sex alone that is asked for, the others do not count.
func (e *explorer) kinRelations(ids []store.EntityID, role string, sex kgtext.Sex) (found []store.RelationID,
	dir store.Direction, err error) {
	for _, dir = range []store.Direction{store.Out, store.In} {
		for _, id := range sample(ids, sampled) {
			relations, err := e.snap.Relations(e.ctx, id, dir)
			if err != nil {
				return nil, dir, err
			}
			for _, r := range relations {
				if kgtext.KinRole(e.snap.RelationName(r.Relation), dir == store.In) == role &&
					!slices.Contains(found, r.Relation) {
					found = append(found, r.Relation)
				}
			}
		}
		if len(found) > 0 {
			break
		}
	}
	slices.Sort(found)
	if sex == "" || dir == store.In { // whose father somebody is does not say what they are
		return found, dir, nil
	}
	said := func(r store.RelationID) kgtext.Sex { return kgtext.SexSaid(e.snap.RelationName(r)) }
	isOfSex := func(r store.RelationID) bool { return said(r) == sex }
	hasSex := slices.ContainsFunc(found, isOfSex)
	return slices.DeleteFunc(found, func(r store.RelationID) bool {
		return hasSex && !isOfSex(r) || said(r) != "" && said(r) != sex
	}), dir, nil
}
