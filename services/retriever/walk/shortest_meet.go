package walk

import (
	"cmp"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// meeting is a pair whose balls touch.
type meeting struct {
	from, to *ball
	// common are the entities at the frontier of both, ascending.
	common []store.EntityID
}

// meet returns the pairs that the last hop connected.
func (s *shortestSearch) meet() []meeting {
	var met []meeting
	for i, from := range s.sides[0] {
		for j, to := range s.sides[1] {
			if s.joined[i][j] {
				continue
			}
			at := intersect(from.frontier(), to.frontier())
			if len(at) == 0 {
				continue
			}
			s.joined[i][j] = true
			s.open--
			from.open--
			to.open--
			met = append(met, meeting{from, to, at})
		}
	}
	return met
}

// intersect returns the common entities of two ascending lists.
func intersect(a, b []store.EntityID) []store.EntityID {
	if len(a) > len(b) {
		a, b = b, a
	}
	var both []store.EntityID
	for _, e := range a {
		at, ok := slices.BinarySearch(b, e)
		if ok {
			both = append(both, e)
		}
		b = b[at:]
	}
	return both
}

// walkGraph holds all shortest walks of a pair: for each hop, the leaps from each entity. It has no
// dead ends.
type walkGraph struct {
	start store.EntityID
	hops  []map[store.EntityID][]leap
}

// leap is a step and the entity it leads to.
type leap struct {
	step Step
	to   store.EntityID
}

// buildWalkGraph collects the walks of a pair.
func (s *shortestSearch) buildWalkGraph(m meeting) walkGraph {
	before, after := len(m.from.levels)-1, len(m.to.levels)-1
	j := walkGraph{start: m.from.levels[0][0], hops: make([]map[store.EntityID][]leap, before+after)}
	for i, ends := before-1, m.common; i >= 0; i-- {
		j.hops[i], ends = s.leapsInto(m.from.levels[i], ends)
	}
	for i, begins := before, m.common; i < len(j.hops); i++ {
		var back map[store.EntityID][]leap
		back, begins = s.leapsInto(m.to.levels[len(j.hops)-1-i], begins)
		j.hops[i] = reverseLeaps(back)
	}
	for _, hop := range j.hops {
		for _, leaps := range hop {
			slices.SortFunc(leaps, compareLeaps)
		}
	}
	return j
}

// leapsInto returns the leaps from a level to ends, and the entities of the level that have any.
func (s *shortestSearch) leapsInto(level,
	ends []store.EntityID) (leaps map[store.EntityID][]leap, begins []store.EntityID) {
	leaps = map[store.EntityID][]leap{}
	for _, e := range level {
		for dir, list := range s.edges[e] {
			for _, edge := range list {
				if containsEntity(ends, edge.Entity) {
					step := Step{Relation: edge.Relation, Inverse: store.Direction(dir) == store.In}
					leaps[e] = append(leaps[e], leap{step, edge.Entity})
				}
			}
		}
		if len(leaps[e]) > 0 {
			begins = append(begins, e)
		}
	}
	return leaps, begins
}

func reverseLeaps(leaps map[store.EntityID][]leap) map[store.EntityID][]leap {
	back := map[store.EntityID][]leap{}
	for from, list := range leaps {
		for _, l := range list {
			back[l.to] = append(back[l.to], leap{l.step.Reverse(), from})
		}
	}
	return back
}

func compareLeaps(a, b leap) int {
	return cmp.Or(CompareSteps(a.step, b.step), cmp.Compare(a.to, b.to))
}

// firstWalks returns the first limit walks in order and reports whether there are more.
func (j walkGraph) firstWalks(limit int) (walks []Connection, more bool) {
	entities, steps := []store.EntityID{j.start}, []Step{}
	var from func() bool
	from = func() bool {
		if len(steps) == len(j.hops) {
			if len(walks) == limit {
				return false
			}
			walks = append(walks, Connection{Walk{Entities: slices.Clone(entities)}, slices.Clone(steps)})
			return true
		}
		for _, l := range j.hops[len(steps)][entities[len(entities)-1]] {
			entities, steps = append(entities, l.to), append(steps, l.step)
			ok := from()
			entities, steps = entities[:len(entities)-1], steps[:len(steps)-1]
			if !ok {
				return false
			}
		}
		return true
	}
	all := from()
	return walks, !all
}
