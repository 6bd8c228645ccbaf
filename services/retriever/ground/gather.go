package ground

import (
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// gather chooses the evidence of the subjects that stay.
func (g *grounding) gather(ctx context.Context) (int, error) {
	candidates := map[store.EntityID][]found{}
	for _, h := range g.hits {
		candidates[h.about] = append(candidates[h.about], h)
	}
	if g.options.beyondHits {
		if err := g.readOn(ctx, candidates); err != nil {
			return 0, err
		}
	}
	g.evidence = map[store.EntityID][]found{}
	lists := g.lists(candidates)
	n := 0
	for i, take := range g.allot(lists) {
		subject := lists[i][0].about
		g.evidence[subject] = append(g.evidence[subject], lists[i][:take]...)
		n += take
	}
	for _, facts := range g.evidence {
		slices.SortFunc(facts, byScore)
	}
	return n, nil
}

// allot says how many facts of each list are shown. Every subject that stays
// has room for its best fact. The rest goes to the lists with the best claims,
// whoever they are about, and to each as a whole: a question that asks for one
// of a list asks for the list.
func (g *grounding) allot(lists [][]found) []int {
	taken := make([]int, len(lists))
	if len(lists) == 0 {
		return taken
	}
	room := g.options.MaxFacts
	shown := map[store.EntityID]bool{}
	for i, list := range lists {
		if !shown[list[0].about] {
			shown[list[0].about] = true
			taken[i] = 1
			room--
		}
	}
	for i, list := range lists {
		if list[0].claim < lists[0][0].claim-g.options.MaxGap {
			break
		}
		more := max(min(len(list), g.options.MaxList)-taken[i], 0)
		more = max(min(more, room), 0)
		taken[i] += more
		room -= more
	}
	return taken
}

// lists groups the candidates of the kept subjects by subject and relation,
// the list with the best claim first, each with its best fact first.
func (g *grounding) lists(candidates map[store.EntityID][]found) [][]found {
	type key struct {
		about            store.EntityID
		relation, second store.RelationID
		inverse, joined  bool
	}
	places := map[key]int{}
	var lists [][]found
	for _, s := range g.kept {
		for _, f := range candidates[s.Entity] {
			k := key{f.about, f.relation, f.second, f.about != f.subject, f.joined}
			at, ok := places[k]
			if !ok {
				at = len(lists)
				places[k] = at
				lists = append(lists, nil)
			}
			lists[at] = append(lists[at], f)
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, byClaim)
	}
	slices.SortFunc(lists, func(a, b []found) int { return byClaim(a[0], b[0]) })
	return lists
}

// readOn adds the facts around the kept subjects that were no hits.
func (g *grounding) readOn(ctx context.Context, candidates map[store.EntityID][]found) error {
	subjects := make([]store.EntityID, len(g.kept))
	for i, s := range g.kept {
		subjects[i] = s.Entity
	}
	if len(subjects) == 0 {
		return nil
	}
	seen := distinct{}
	for _, h := range g.hits {
		seen.add(h.id)
	}
	var veiled []found
	for _, dir := range []store.Direction{store.Out, store.In} {
		around, err := g.read(ctx, subjects, dir)
		if err != nil {
			return err
		}
		for _, s := range subjects {
			for _, f := range around[s] {
				switch {
				case dir == store.In && g.opaque(f.subject), !seen.add(f.id):
				case g.opaque(f.object):
					veiled = append(veiled, f)
				default:
					candidates[s] = append(candidates[s], f)
				}
			}
		}
	}
	var best float32
	for _, facts := range candidates {
		for _, f := range facts {
			best = max(best, f.claim)
		}
	}
	joined, err := g.lookBehind(ctx, veiled, best)
	for _, f := range joined {
		candidates[f.about] = append(candidates[f.about], f)
	}
	return err
}
