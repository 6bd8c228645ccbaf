package ground

import (
	"cmp"
	"context"
	"slices"

	"github.com/triplemesh/triplemesh/services/retriever/store"
)

// What gathering may cost.
const (
	// readPerSubject is the most facts of a subject that are looked at in each
	// direction.
	readPerSubject = 2000
	// joinPerSubject is the most of its facts with a mediator that are looked
	// through: joined facts have to be encoded.
	joinPerSubject = 8
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
	// Every subject that stays has room for its best fact; the rest goes to the
	// lists nearest to what was asked, whoever they are about.
	n, room := 0, max(g.options.MaxFacts-len(g.kept), 0)
	for _, list := range g.lists(candidates) {
		subject := list[0].about
		own := 0
		if len(g.evidence[subject]) == 0 {
			own = 1
		}
		list = list[:min(len(list), g.options.MaxList, room+own)]
		g.evidence[subject] = append(g.evidence[subject], list...)
		n += len(list)
		room -= max(len(list)-own, 0)
	}
	for _, facts := range g.evidence {
		slices.SortFunc(facts, byScore)
	}
	return n, nil
}

// lists groups the candidates of the kept subjects by subject and relation,
// the list with the best claim first, each with its best fact first.
func (g *grounding) lists(candidates map[store.EntityID][]found) [][]found {
	type key struct {
		about    store.EntityID
		relation string
		inverse  bool
	}
	groups := map[key][]found{}
	for _, s := range g.kept {
		for _, f := range candidates[s.Entity] {
			k := key{f.about, f.relation, f.about != f.subject}
			groups[k] = append(groups[k], f)
		}
	}
	lists := make([][]found, 0, len(groups))
	for _, list := range groups {
		slices.SortFunc(list, byScore)
		lists = append(lists, list)
	}
	slices.SortFunc(lists, func(a, b []found) int {
		return cmp.Or(cmp.Compare(g.claim(b), g.claim(a)), byScore(a[0], b[0]))
	})
	return lists
}

// claim is how good a list's claim to be shown is: its best score, and more
// where the pseudo-graph names its subject.
func (g *grounding) claim(list []found) float32 {
	if g.named[list[0].about] {
		return list[0].score + g.options.NamedBonus
	}
	return list[0].score
}

// readOn adds the facts of the kept subjects that were no hits.
func (g *grounding) readOn(ctx context.Context, candidates map[store.EntityID][]found) error {
	subjects := make([]store.EntityID, len(g.kept))
	for i, s := range g.kept {
		subjects[i] = s.Entity
	}
	if len(subjects) == 0 {
		return nil
	}
	seen := map[store.TripleID]bool{}
	for _, h := range g.hits {
		seen[h.id] = true
	}
	for _, dir := range []store.Direction{store.Out, store.In} {
		lists, err := g.snap.Edges(ctx, subjects, dir, nil)
		if err != nil {
			return err
		}
		for i, s := range subjects {
			var more []found
			for _, e := range lists[i][:min(len(lists[i]), readPerSubject)] {
				if f := g.plain(e.Triple); !seen[e.Triple] && !(dir == store.In && g.opaque(f.subject)) {
					seen[e.Triple] = true
					f.about = s
					more = append(more, f)
				}
			}
			if more, err = g.readable(ctx, more); err != nil {
				return err
			}
			candidates[s] = append(candidates[s], more...)
		}
	}
	return nil
}

// readable scores facts and looks through the mediators of the best ones.
func (g *grounding) readable(ctx context.Context, facts []found) ([]found, error) {
	if err := g.score(ctx, facts); err != nil {
		return nil, err
	}
	slices.SortFunc(facts, byScore)
	var clear, veiled []found
	for _, f := range facts {
		if !g.opaque(f.object) {
			clear = append(clear, f)
		} else if len(veiled) < joinPerSubject {
			veiled = append(veiled, f)
		}
	}
	_, joined, err := g.join(ctx, veiled)
	if err != nil {
		return nil, err
	}
	if err := g.score(ctx, joined); err != nil {
		return nil, err
	}
	return append(clear, joined...), nil
}
