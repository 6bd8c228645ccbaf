package judge

import (
	"slices"

	"github.com/triplemesh/triplemesh/internal/value"
	graphv1 "github.com/triplemesh/triplemesh/proto/triplemesh/graph/v1"
)

// dateLike is how likely a date that was said is one that is held: less so where
// it says more than is held.
func dateLike(said, held value.Date) float32 {
	switch {
	case !said.Agrees(held):
		return 0
	case said.Says(held):
		return 0.8
	}
	return 1
}

// quantityLike is how likely a quantity that was said is one that is held: as
// near as people round, in the same unit or in none.
func quantityLike(said, held value.Quantity) float32 {
	off := said.Off(held)
	switch {
	case !said.Comparable(held):
		return 0
	case off == 0:
		return 1
	case off <= 0.01:
		return 0.8
	}
	return 0
}

// differs tells whether a triple's value is of the kind that the claim's is,
// and different for sure: a day is none of a person's names, "New York" may be "New
// York City", and a country holds its cities.
func (c *caseOf) differs(v *view) bool {
	said := c.claim.GetTriple().GetObject()
	if v.role == reversed {
		said = c.claim.GetTriple().GetSubject()
	}
	if !overlap(c.claim.GetTriple().GetValidity(), v.GetTriple().GetValidity()) {
		return false
	}
	if v.GetTriple().GetObjectKind() == graphv1.TermKind_TERM_KIND_MEDIATOR && v.role != inverse {
		return false
	}
	_, a := value.ParseDate(said)
	_, b := value.ParseDate(v.value)
	if a || b {
		return a && b
	}
	q, a := value.ParseQuantity(said)
	r, b := value.ParseQuantity(v.value)
	if a != b && (a && q.Unit == "" || b && r.Unit == "") {
		return false // a bare number is none of the other's names
	}
	return !within(said, v.value) && !c.nests(said, v)
}

// nests tells whether what a claim says lies in what a triple says, or the other
// way about: who was born in a city was born in its country too.
func (c *caseOf) nests(said string, v *view) bool {
	links := c.claim.GetObjects()
	if v.role == reversed {
		links = c.claim.GetSubjects()
	}
	return slices.ContainsFunc(c.nested, func(t *graphv1.Triple) bool {
		return t.GetSubject() == v.value && alike(said, t.GetObject(), links) > 0 || t.GetObject() == v.value && alike(said, t.GetSubject(), links) > 0
	})
}

// overlap tells whether two spans of time have a moment in common, as far as
// they are known.
func overlap(a, b *graphv1.ValidityInterval) bool {
	if a == nil || b == nil {
		return true
	}
	return before(a.GetStart(), b.GetEnd()) && before(b.GetStart(), a.GetEnd())
}

// before tells whether a start is not after an end, by the precision of both.
func before(start, end string) bool {
	if start == "" || end == "" {
		return true
	}
	n := min(len(start), len(end))
	return start[:n] <= end[:n]
}
